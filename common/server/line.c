/* SPDX-License-Identifier: MIT */
#include "server/line.h"

#include <string.h>

#define KEPT_BYTES (64u * 1024) /* of memory, from one line to the next */

void sb_line_init(struct sb_line_reader *reader, size_t max)
{
    *reader = (struct sb_line_reader){.max = max};
    sb_buf_init(&reader->partial, max);
}

void sb_line_done(struct sb_line_reader *reader)
{
    sb_buf_done(&reader->partial);
}

static void forget(struct sb_line_reader *reader)
{
    if (reader->partial.cap > KEPT_BYTES)
        sb_buf_done(&reader->partial);
    else
        sb_buf_clear(&reader->partial);
}

/* Without \r and BOM; false if nothing but blanks is left. */
static bool trim(const char **line, size_t *len)
{
    if (*len > 0 && (*line)[*len - 1] == '\r')
        --*len;
    if (*len >= 3 && memcmp(*line, "\xEF\xBB\xBF", 3) == 0) {
        *line += 3;
        *len -= 3;
    }
    for (size_t i = 0; i < *len; i++)
        if ((*line)[i] != ' ' && (*line)[i] != '\t')
            return true;
    return false;
}

/* The next `len` bytes of the stream, without \n; `end` says that it came behind them. */
static enum sb_line_kind take(struct sb_line_reader *reader, const char *bytes, size_t len, bool end,
                              const char **line, size_t *line_len)
{
    if (reader->skipping) {
        reader->skipping = !end;
        return SB_LINE_MORE;
    }
    if (len > reader->max - reader->partial.len) {
        forget(reader);
        reader->skipping = !end;
        return SB_LINE_TOO_LONG;
    }
    if (!end || reader->partial.len > 0) {
        sb_buf_add(&reader->partial, bytes, len);
        if (!end)
            return SB_LINE_MORE;
        reader->given = true;
        bytes = reader->partial.data;
        len = reader->partial.len;
    }
    if (!trim(&bytes, &len))
        return SB_LINE_MORE;
    *line = bytes;
    *line_len = len;
    return SB_LINE_WHOLE;
}

enum sb_line_kind sb_line_next(struct sb_line_reader *reader, const char **bytes, size_t *len,
                               const char **line, size_t *line_len)
{
    while (*len > 0) {
        const char *start = *bytes, *end = memchr(start, '\n', *len);
        size_t front = end ? (size_t)(end - start) : *len, used = end ? front + 1 : front;
        enum sb_line_kind kind;

        if (reader->given)
            forget(reader);
        reader->given = false;
        *bytes += used;
        *len -= used;
        kind = take(reader, start, front, end != NULL, line, line_len);
        if (kind != SB_LINE_MORE)
            return kind;
    }
    return SB_LINE_MORE;
}
