/* SPDX-License-Identifier: MIT
 * Where the guest program is. */
#ifndef SB_SANDBOX_GUEST_IMAGE_H
#define SB_SANDBOX_GUEST_IMAGE_H

#include "base/err.h"

struct sb_buf;

/* The guest of this system: beside our own executable, then in ../libexec/llm-sandbox.
 * Replaces *out by its path. */
int sb_guest_find(struct sb_buf *out, struct sb_err *err);
/* The same, beside the executable `program`. */
int sb_guest_find_beside(const char *program, struct sb_buf *out, struct sb_err *err);

#endif
