/* SPDX-License-Identifier: MIT */
#include "server/last_line.h"

#include <stdbool.h>

#include "base/terminal.h"
#include "base/utf8.h"

/* Of one chunk only its end is looked at: lines before it are over already. */
#define LOOK_BYTES 4096

void sb_last_line_init(struct sb_last_line *line)
{
    sb_buf_init(&line->whole, SB_LAST_LINE_BYTES);
    sb_buf_init(&line->growing, SB_LAST_LINE_BYTES);
}

void sb_last_line_done(struct sb_last_line *line)
{
    sb_buf_done(&line->whole);
    sb_buf_done(&line->growing);
}

static bool says_something(const struct sb_buf *line)
{
    for (size_t i = 0; i < line->len; i++)
        if ((unsigned char)line->data[i] > ' ')
            return true;
    return false;
}

void sb_last_line_add(struct sb_last_line *line, const char *bytes, size_t len)
{
    if (len > LOOK_BYTES) {
        bytes += len - LOOK_BYTES;
        len = LOOK_BYTES;
        sb_buf_clear(&line->growing);
    }
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != '\n' && bytes[i] != '\r') {
            sb_buf_addc(&line->growing, bytes[i]);
            continue;
        }
        if (says_something(&line->growing)) {
            sb_buf_clear(&line->whole);
            sb_buf_add(&line->whole, line->growing.data, line->growing.len);
        }
        sb_buf_clear(&line->growing);
    }
}

void sb_last_line_text(const struct sb_last_line *line, struct sb_buf *out)
{
    const struct sb_buf *shown = says_something(&line->growing) ? &line->growing : &line->whole;
    struct sb_utf8_repair repair = {0};
    struct sb_terminal terminal = {0};
    struct sb_buf text;

    sb_buf_init(&text, 3 * SB_LAST_LINE_BYTES + 8); /* each byte may become U+FFFD */
    sb_utf8_repair(&repair, shown->data, shown->len, &text); /* not its end: the line may go on, or is cut */
    sb_buf_clear(out);
    sb_terminal_filter(&terminal, text.data, text.len, out);
    for (size_t i = 0; i < out->len; i++)
        if (out->data[i] == '\t' || out->data[i] == '\b')
            out->data[i] = ' ';
    sb_buf_done(&text);
}
