/* SPDX-License-Identifier: MIT
 * The last line of a stream so far, for people who wait. Pure. */
#ifndef SB_SERVER_LAST_LINE_H
#define SB_SERVER_LAST_LINE_H

#include <stddef.h>

#include "base/buf.h"

#define SB_LAST_LINE_BYTES 200 /* of a longer line its beginning */

/* A bare \r ends a line too: progress bars. */
struct sb_last_line {
    struct sb_buf whole, growing; /* the last one that said something; the one that grows */
};
void sb_last_line_init(struct sb_last_line *line);
void sb_last_line_done(struct sb_last_line *line);
void sb_last_line_add(struct sb_last_line *line, const char *bytes, size_t len);
/* Replaces *out: UTF-8 without escape sequences and control characters, or "". */
void sb_last_line_text(const struct sb_last_line *line, struct sb_buf *out);

#endif
