/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <string.h>

#include "base/buf.h"

/* What a first byte says: how long the character is, and which second bytes it takes.
 * The narrow ranges shut out overlong forms (E0, F0), surrogates (ED) and everything
 * above U+10FFFF (F4). Every later byte is 80..BF. The Unicode Standard, table 3-7. */
struct lead {
    unsigned char first, last, len, low, high;
};
static const struct lead leads[] = {
    {0x00, 0x7F, 1, 0, 0},       {0xC2, 0xDF, 2, 0x80, 0xBF}, {0xE0, 0xE0, 3, 0xA0, 0xBF},
    {0xE1, 0xEC, 3, 0x80, 0xBF}, {0xED, 0xED, 3, 0x80, 0x9F}, {0xEE, 0xEF, 3, 0x80, 0xBF},
    {0xF0, 0xF0, 4, 0x90, 0xBF}, {0xF1, 0xF3, 4, 0x80, 0xBF}, {0xF4, 0xF4, 4, 0x80, 0x8F},
};

static const struct lead *lead_of(unsigned char byte)
{
    for (size_t i = 0; i < sizeof leads / sizeof leads[0]; i++)
        if (byte >= leads[i].first && byte <= leads[i].last)
            return &leads[i];
    return NULL;
}

enum look { WHOLE, PARTIAL, BAD };

/* Looks at the character that starts at `text` (len > 0). *used: its bytes when WHOLE, the
 * bytes of the maximal invalid part when BAD, all that there are when PARTIAL. */
static enum look look(const unsigned char *text, size_t len, size_t *used)
{
    const struct lead *lead = lead_of(text[0]);
    size_t i;

    *used = 1;
    if (!lead)
        return BAD;
    for (i = 1; i < lead->len; i++) {
        *used = i;
        if (i == len)
            return PARTIAL;
        if (text[i] < (i == 1 ? lead->low : 0x80) || text[i] > (i == 1 ? lead->high : 0xBF))
            return BAD;
    }
    *used = lead->len;
    return WHOLE;
}

/* The length of the valid front of `text`. */
static size_t valid_front(const unsigned char *text, size_t len)
{
    size_t at = 0, used;

    while (at < len) {
        if (text[at] < 0x80)
            used = 1;
        else if (look(text + at, len - at, &used) != WHOLE)
            break;
        at += used;
    }
    return at;
}

bool sb_utf8_valid(const char *text, size_t len)
{
    return valid_front((const unsigned char *)text, len) == len;
}

size_t sb_utf8_cut(const char *text, size_t len, size_t most)
{
    const unsigned char *bytes = (const unsigned char *)text;
    const struct lead *lead;
    size_t at = most;

    if (len <= most)
        return len;
    for (size_t back = 0; back < 3 && at > 0 && (bytes[at] & 0xC0) == 0x80; back++)
        at--;
    /* Only a character that really reaches over the border moves it. */
    lead = lead_of(bytes[at]);
    return lead && at + lead->len > most ? at : most;
}

static void replace(struct sb_utf8_repair *state, struct sb_buf *out)
{
    state->changed = true;
    sb_buf_adds(out, "\xEF\xBF\xBD");
}

/* Completes the held character with bytes of the new chunk; returns how many it took.
 * A byte that does not fit is not taken: it starts something new. */
static size_t finish_held(struct sb_utf8_repair *state, const unsigned char *bytes, size_t len,
                          struct sb_buf *out)
{
    size_t taken = 0, used;

    while (state->held_len > 0 && taken < len) {
        state->held[state->held_len] = bytes[taken];
        switch (look(state->held, state->held_len + 1, &used)) {
        case WHOLE:
            sb_buf_add(out, state->held, used);
            state->held_len = 0;
            taken++;
            break;
        case PARTIAL:
            state->held_len++;
            taken++;
            break;
        case BAD:
            replace(state, out);
            state->held_len = 0;
            break;
        }
    }
    return taken;
}

void sb_utf8_repair(struct sb_utf8_repair *state, const char *text, size_t len, struct sb_buf *out)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t at = finish_held(state, bytes, len, out), used;

    while (at < len) {
        used = valid_front(bytes + at, len - at);
        sb_buf_add(out, bytes + at, used);
        at += used;
        if (at == len)
            break;
        if (look(bytes + at, len - at, &used) == BAD) {
            replace(state, out);
        } else {
            memcpy(state->held, bytes + at, used);
            state->held_len = used;
        }
        at += used;
    }
}

void sb_utf8_repair_end(struct sb_utf8_repair *state, struct sb_buf *out)
{
    if (state->held_len > 0)
        replace(state, out);
    state->held_len = 0;
}
