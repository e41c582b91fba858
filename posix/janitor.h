/* SPDX-License-Identifier: MIT
 * Who ends boxes whose host was killed while it started them.
 *
 * The parent-death signal reaches bwrap, but not the process bwrap has just forked, which
 * then waits for ever for a word of a parent that is gone (seen: one in ten hosts killed
 * within 150 ms of their start left one). So each host that opens boxes has one small
 * companion, the guest's janitor mode: it hears the number of every started process group
 * by a pipe, and when the pipe ends, the host being gone, kills those that are left. */
#ifndef SB_POSIX_JANITOR_H
#define SB_POSIX_JANITOR_H

#include <sys/types.h>

#include "base/err.h"

/* The pipe that a new process writes its pid_t to before it runs anything, close-on-exec,
 * ours for life; starts the janitor from the guest program when there is none. Loop thread. */
int sb_janitor_open(const char *guest, int *out_fd, struct sb_err *err);

/* Nothing of the process group is left: its number may be somebody else's from now on. */
void sb_janitor_forget(pid_t group);

#endif
