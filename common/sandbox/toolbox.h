/* SPDX-License-Identifier: MIT
 * The interpreters of this host that its boxes can use. */
#ifndef SB_SANDBOX_TOOLBOX_H
#define SB_SANDBOX_TOOLBOX_H

#include "base/err.h"
#include "languages/language.h"

struct sb_buf;

/* Appends the path of the row's best program, as the box sees it. A Linux box has the host's
 * /usr and nothing else: a program that is a link to somewhere else (/opt, a home) is passed
 * over. SB_NOT_FOUND: there is none; the text says where was looked. */
int sb_toolbox_find(const struct sb_language *language, struct sb_buf *out_path, struct sb_err *err);

/* Programs of the row on the host's PATH that its boxes don't use, ", " between them: for
 * people who wonder why. Cut at what fits `out`. */
void sb_toolbox_passed_over(const struct sb_language *language, struct sb_buf *out);

#endif
