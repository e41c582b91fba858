/* SPDX-License-Identifier: MIT
 * Asks a program of this host for one line: `bwrap --version`. Loop thread only. */
#ifndef SB_SANDBOX_ASK_H
#define SB_SANDBOX_ASK_H

#include <uv.h>

#include "base/err.h"

#define SB_ASK_BYTES 4096 /* of its answer; the rest is dropped */

/* After `within_ms` the program is killed. on_done comes once, never inside this call: err, or NULL and the
 * first line of its stdout,
 * "" when it said nothing. The program and all it started are gone then. */
void sb_ask_line(uv_loop_t *loop, const char *program, const char *arg, uint64_t within_ms,
                 void (*on_done)(void *ctx, const struct sb_err *err, const char *line), void *ctx);

#endif
