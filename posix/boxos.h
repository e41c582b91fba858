/* SPDX-License-Identifier: MIT
 * What the launcher applies of a box's OS part between fork and exec. */
#ifndef SB_POSIX_BOXOS_H
#define SB_POSIX_BOXOS_H

#include <stdbool.h>
#include <sys/types.h>

#include "platform/boxos.h"

struct sb_lock;

struct sb_box_os {
    bool drop; /* to uid and gid; else the program keeps ours */
    uid_t uid;
    gid_t gid;
    struct sb_lock *lock;
};

#endif
