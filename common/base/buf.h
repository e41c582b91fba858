/* SPDX-License-Identifier: MIT
 * A growing byte buffer with a maximum.
 *
 * `data` is never NULL and always NUL-terminated (the NUL is not counted in `len`).
 * An append that would pass `max` changes nothing and sets `full`, so a chain of
 * appends is checked once, at its end. */
#ifndef SB_BASE_BUF_H
#define SB_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct sb_buf {
    char *data;
    size_t len, cap, max;
    bool full;
};

void sb_buf_init(struct sb_buf *buf, size_t max);
void sb_buf_done(struct sb_buf *buf); /* afterwards empty and usable with the same max */

void sb_buf_add(struct sb_buf *buf, const void *bytes, size_t len);
void sb_buf_adds(struct sb_buf *buf, const char *text);
void sb_buf_addc(struct sb_buf *buf, char c);
void sb_buf_addf(struct sb_buf *buf, const char *fmt, ...) SB_PRINTF(2, 3);

/* Room for `len` more bytes at the returned place; the caller fills it and adds to `len`
 * itself. NULL (and `full`) past max. */
char *sb_buf_reserve(struct sb_buf *buf, size_t len);

void sb_buf_drop(struct sb_buf *buf, size_t len); /* removes the first len bytes */
void sb_buf_clear(struct sb_buf *buf);            /* len = 0, full = false, memory kept */
char *sb_buf_take(struct sb_buf *buf);            /* the caller owns the result; buf is empty */

#endif
