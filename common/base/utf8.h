/* SPDX-License-Identifier: MIT
 * UTF-8: check and repair. */
#ifndef SB_BASE_UTF8_H
#define SB_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

struct sb_buf;

/* True if all of it is UTF-8 (no surrogates, no overlong forms, nothing above U+10FFFF). */
bool sb_utf8_valid(const char *text, size_t len);

/* The longest prefix of at most `most` bytes that does not cut a character in half. */
size_t sb_utf8_cut(const char *text, size_t len, size_t most);

/* Repairs a stream that arrives in chunks: each maximal invalid part becomes one U+FFFD
 * (the practice of Unicode chapter 3.9), and a character cut by a chunk border is kept
 * until the rest comes. Zero-initialise; one per stream. */
struct sb_utf8_repair {
    unsigned char held[4];
    size_t held_len;
    bool changed; /* something was replaced so far */
};
void sb_utf8_repair(struct sb_utf8_repair *state, const char *bytes, size_t len, struct sb_buf *out);
void sb_utf8_repair_end(struct sb_utf8_repair *state, struct sb_buf *out);

#endif
