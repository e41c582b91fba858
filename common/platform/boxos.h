/* SPDX-License-Identifier: MIT
 * What the operating system itself holds for one box: on POSIX its unprivileged uid (when
 * we are root) and oom score, later its cgroup; on Windows its Job Object. It is the opaque
 * OS part of a launch. */
#ifndef SB_PLATFORM_BOXOS_H
#define SB_PLATFORM_BOXOS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct sb_box_os;

struct sb_box_os_want {
    const char *runtime_dir; /* SB_DIR_RUNTIME: uid locks live in `uids` below it */
    const char *box_id;
    /* A new, empty host folder: made writable for the programs of the box, with the `.tmp`
     * that their environment names in it. NULL: the workspace is not on the host. */
    const char *workspace;
    uint64_t memory_bytes; /* 0: not asked */
    uint32_t processes;    /* 0: not asked */
};

/* Worker or loop thread, short. On failure nothing is held. */
int sb_box_os_open(const struct sb_box_os_want *want, struct sb_box_os **out, struct sb_err *err);
/* After the box is GONE: its uid may be used again. NULL is allowed. */
void sb_box_os_close(struct sb_box_os *os);

/* True when boxes get a uid of their own (we are root). */
bool sb_box_os_drops_uid(void);

#endif
