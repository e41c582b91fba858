/* SPDX-License-Identifier: MIT
 * Of a run's output what fits an answer: head and tail of each stream, cut between characters
 * and never inside an escape sequence, with the call that reads the rest between them. Invalid
 * UTF-8 becomes U+FFFD, escape sequences are stripped. Pure. */
#ifndef SB_SERVER_EXCERPT_H
#define SB_SERVER_EXCERPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "sandbox/run.h"

/* How many characters of the answer one character of the stream takes (a whole one, UTF-8). */
typedef size_t sb_weigh(const char *character, size_t len);
size_t sb_weigh_one(const char *character, size_t len); /* one, whatever it is */
size_t sb_char_len(char first);                         /* bytes of the character that starts so */
size_t sb_weigh_text(const char *text, size_t len, sb_weigh *weigh);

struct sb_excerpt_want {
    const struct sb_run_result *result;
    const char *run_id;
    size_t room;        /* characters of both streams */
    size_t stderr_room; /* of them, when both overflow */
    bool so_far;        /* it runs on: the rest can be read later */
    sb_weigh *weigh;
};
/* Initialises and fills both. */
void sb_excerpt_both(const struct sb_excerpt_want *want, struct sb_buf out[2]);

void sb_put_number(uint64_t number, struct sb_buf *out); /* 123,456 */

#endif
