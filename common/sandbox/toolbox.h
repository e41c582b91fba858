/* SPDX-License-Identifier: MIT
 * Which interpreter a language has in boxes that show the host's own programs. */
#ifndef SB_SANDBOX_TOOLBOX_H
#define SB_SANDBOX_TOOLBOX_H

#include "base/buf.h"
#include "base/err.h"
#include "languages/language.h"

/* The absolute path for argv[0] of a run. SB_NOT_FOUND names what was looked for, where,
 * and what was seen and passed over (say a pyenv below a home). */
int sb_toolbox_find(const struct sb_language *language, struct sb_buf *out, struct sb_err *err);

/* What `doctor` shows beside a usable language: interpreters of its names on the user's own
 * PATH that boxes don't use, comma-separated; "" when there are none. */
void sb_toolbox_passed_over(const struct sb_language *language, struct sb_buf *out);

#endif
