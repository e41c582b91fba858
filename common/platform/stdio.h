/* SPDX-License-Identifier: MIT
 * Standard streams that carry a protocol. */
#ifndef SB_PLATFORM_STDIO_H
#define SB_PLATFORM_STDIO_H

#include "base/err.h"

/* Our stdout as a new descriptor that no child inherits; from then on descriptor 1 and
 * what is printed go to stderr, so that nothing can get between the protocol's lines. */
int sb_stdout_take(int *out_fd, struct sb_err *err);

#endif
