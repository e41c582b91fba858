/* SPDX-License-Identifier: MIT
 * Cuts a byte stream into lines, the framing of MCP on stdio, pipes and sockets. Pure.
 *
 * Ends at \n; one \r before it is dropped, blank lines are skipped, a UTF-8 BOM at the
 * start of the stream (or of a line) is dropped. A line over SB_LINE_MAX is reported once,
 * and everything up to its end is skipped without being kept. */
#ifndef SB_SERVER_LINE_H
#define SB_SERVER_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define SB_LINE_MAX           (16u * 1024 * 1024)
#define SB_LINE_TOO_LONG_TEXT "the line is longer than 16 MiB" /* what its sender is told */

struct sb_line_reader {
    struct sb_buf partial; /* of the line that has not ended */
    size_t max;            /* bytes in front of the \n, all counted */
    bool skipping;         /* to the end of a line that is too long */
    bool given;            /* `partial` is the line of the last call */
};

void sb_line_init(struct sb_line_reader *reader, size_t max);
void sb_line_done(struct sb_line_reader *reader);

enum sb_line_kind { SB_LINE_MORE, SB_LINE_WHOLE, SB_LINE_TOO_LONG };
/* Takes bytes from *bytes, *len (both advance). WHOLE: *line is valid until the next call. */
enum sb_line_kind sb_line_next(struct sb_line_reader *reader, const char **bytes, size_t *len,
                               const char **line, size_t *line_len);

#endif
