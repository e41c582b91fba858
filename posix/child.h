/* SPDX-License-Identifier: MIT
 * The few steps between fork and exec. */
#ifndef SB_POSIX_CHILD_H
#define SB_POSIX_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#define SB_CHILD_FDS 16 /* numbers a program can be given: 0 to 15 */

enum sb_child_step {
    SB_CHILD_NO_STEP,
    SB_CHILD_FORK,
    SB_CHILD_DESCRIPTORS,
    SB_CHILD_GROUPS,
    SB_CHILD_GID,
    SB_CHILD_UID,
    SB_CHILD_PARENT,
    SB_CHILD_CWD,
    SB_CHILD_EXEC
};

struct sb_child {
    const char *program, *cwd;
    char *const *argv, *const *env;
    int fds[SB_CHILD_FDS]; /* our descriptor that becomes this number, close-on-exec; -1: closed */
    bool drop;             /* to uid and gid, without further groups */
    uid_t uid;
    gid_t gid;
    int tell;      /* a pipe that hears its pid_t before it runs anything (janitor.h); -1: none */
    bool outlives; /* it isn't killed when we end, nor first for the OOM killer */

    /* What failed. */
    enum sb_child_step step;
    int error;
};

/* Starts it and waits until it has become the program (well below a millisecond) or has failed.
 * The pid, or -1 with step and error; then it is reaped and nothing is left of it. */
pid_t sb_child_start(struct sb_child *child);

/* "exec", "chdir", ... */
const char *sb_child_step_name(enum sb_child_step step);

#endif
