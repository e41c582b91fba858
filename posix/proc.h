/* SPDX-License-Identifier: MIT
 * A started program: its streams, its end, and the inner process it told us of. */
#ifndef SB_POSIX_PROC_H
#define SB_POSIX_PROC_H

#include <sys/types.h>

#include "platform/process.h"

struct sb_proc_parts {
    pid_t pid;
    int pidfd, wire, errors;
    int info; /* -1: none */
};

/* Takes the descriptors in any case; on failure the program is killed and reaped. */
int sb_proc_new(uv_loop_t *loop, const struct sb_proc_events *events, const struct sb_proc_parts *parts,
                struct sb_proc **out, struct sb_err *err);

#endif
