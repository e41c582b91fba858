/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#define FIRST_CAP 64

/* What `data` shows while nothing is allocated (cap 0). Never written to. */
static char nothing[1];

void sb_buf_init(struct sb_buf *buf, size_t max)
{
    *buf = (struct sb_buf){.data = nothing, .max = max < SIZE_MAX ? max : SIZE_MAX - 1};
}

void sb_buf_done(struct sb_buf *buf)
{
    if (buf->cap > 0)
        sb_free(buf->data);
    sb_buf_init(buf, buf->max);
}

/* `cap` counts the NUL, so it ends at max + 1. */
static void grow(struct sb_buf *buf, size_t need)
{
    size_t cap = buf->cap > FIRST_CAP ? buf->cap : FIRST_CAP;

    while (cap < need)
        cap = cap <= SIZE_MAX / 2 ? cap * 2 : SIZE_MAX;
    if (cap > buf->max + 1)
        cap = buf->max + 1;
    buf->data = sb_realloc(buf->cap > 0 ? buf->data : NULL, cap);
    buf->cap = cap;
    buf->data[buf->len] = 0;
}

char *sb_buf_reserve(struct sb_buf *buf, size_t len)
{
    if (len > buf->max - buf->len) {
        buf->full = true;
        return NULL;
    }
    if (buf->len + len + 1 > buf->cap)
        grow(buf, buf->len + len + 1);
    return buf->data + buf->len;
}

void sb_buf_add(struct sb_buf *buf, const void *bytes, size_t len)
{
    char *place = len > 0 ? sb_buf_reserve(buf, len) : NULL;

    if (!place)
        return;
    memcpy(place, bytes, len);
    buf->len += len;
    buf->data[buf->len] = 0;
}

void sb_buf_adds(struct sb_buf *buf, const char *text)
{
    sb_buf_add(buf, text, strlen(text));
}

void sb_buf_addc(struct sb_buf *buf, char c)
{
    sb_buf_add(buf, &c, 1);
}

void sb_buf_addf(struct sb_buf *buf, const char *fmt, ...)
{
    va_list args, again;
    char *place;
    int len;

    va_start(args, fmt);
    va_copy(again, args);
    len = vsnprintf(NULL, 0, fmt, args);
    place = len > 0 ? sb_buf_reserve(buf, (size_t)len) : NULL;
    if (place) {
        vsnprintf(place, (size_t)len + 1, fmt, again);
        buf->len += (size_t)len;
    }
    va_end(again);
    va_end(args);
}

void sb_buf_drop(struct sb_buf *buf, size_t len)
{
    if (len >= buf->len)
        len = buf->len;
    if (len == 0)
        return;
    memmove(buf->data, buf->data + len, buf->len - len);
    buf->len -= len;
    buf->data[buf->len] = 0;
}

void sb_buf_clear(struct sb_buf *buf)
{
    sb_buf_drop(buf, buf->len);
    buf->full = false;
}

char *sb_buf_take(struct sb_buf *buf)
{
    char *text = buf->cap > 0 ? buf->data : sb_strdup("");

    sb_buf_init(buf, buf->max);
    return text;
}
