/* SPDX-License-Identifier: MIT */
#include "sandbox/capture.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

#define FIRST_BYTES 4096

void sb_capture_init(struct sb_capture *capture, size_t keep)
{
    memset(capture, 0, sizeof *capture);
    capture->half = keep / 2;
}

void sb_capture_done(struct sb_capture *capture)
{
    sb_free(capture->head);
    sb_free(capture->tail);
    memset(capture, 0, sizeof *capture);
}

/* Room for `need` bytes, at most half; doubles. */
static void grow(const struct sb_capture *capture, char **bytes, size_t *cap, size_t need)
{
    size_t larger = *cap == 0 ? FIRST_BYTES : *cap;

    if (need <= *cap)
        return;
    while (larger < need)
        larger *= 2;
    *cap = larger < capture->half ? larger : capture->half;
    *bytes = sb_realloc(*bytes, *cap);
}

static void add_tail(struct sb_capture *capture, const char *bytes, size_t len)
{
    if (len > capture->half) {
        bytes += len - capture->half;
        len = capture->half;
    }
    if (capture->tail_len < capture->half) { /* not a ring yet: fill up */
        size_t piece = capture->half - capture->tail_len;

        if (piece > len)
            piece = len;
        grow(capture, &capture->tail, &capture->tail_cap, capture->tail_len + piece);
        memcpy(capture->tail + capture->tail_len, bytes, piece);
        capture->tail_len += piece;
        bytes += piece;
        len -= piece;
    }
    while (len > 0) {
        size_t piece = capture->half - capture->tail_at;

        if (piece > len)
            piece = len;
        memcpy(capture->tail + capture->tail_at, bytes, piece);
        capture->tail_at = (capture->tail_at + piece) % capture->half;
        bytes += piece;
        len -= piece;
    }
}

void sb_capture_add(struct sb_capture *capture, const void *bytes, size_t len)
{
    size_t piece = capture->half - capture->head_len;

    capture->total += len;
    if (piece > len)
        piece = len;
    if (piece > 0) {
        grow(capture, &capture->head, &capture->head_cap, capture->head_len + piece);
        memcpy(capture->head + capture->head_len, bytes, piece);
        capture->head_len += piece;
    }
    if (len > piece && capture->half > 0)
        add_tail(capture, (const char *)bytes + piece, len - piece);
}

uint64_t sb_capture_omitted(const struct sb_capture *capture)
{
    return capture->total - capture->head_len - capture->tail_len;
}

void sb_capture_head(const struct sb_capture *capture, struct sb_buf *out)
{
    sb_buf_add(out, capture->head != NULL ? capture->head : "", capture->head_len);
}

void sb_capture_tail(const struct sb_capture *capture, struct sb_buf *out)
{
    if (capture->tail_len == 0)
        return;
    sb_buf_add(out, capture->tail + capture->tail_at, capture->tail_len - capture->tail_at);
    sb_buf_add(out, capture->tail, capture->tail_at);
}

/* The bytes that lie at `offset` in one piece; 0: it was dropped, or not seen yet. */
static size_t piece_at(const struct sb_capture *capture, uint64_t offset, const char **bytes)
{
    uint64_t tail = capture->total - capture->tail_len;
    size_t at, ring;

    if (offset < capture->head_len) {
        *bytes = capture->head + offset;
        return capture->head_len - (size_t)offset;
    }
    if (offset < tail || offset >= capture->total)
        return 0;
    at = (size_t)(offset - tail);
    ring = (capture->tail_at + at) % capture->half;
    *bytes = capture->tail + ring;
    at = capture->tail_len - at;
    return at < capture->half - ring ? at : capture->half - ring;
}

void sb_capture_read(const struct sb_capture *capture, uint64_t *offset, size_t most, struct sb_buf *out)
{
    uint64_t at = *offset;
    const char *bytes = "";
    size_t piece;

    if (at >= capture->head_len && at < capture->total - capture->tail_len)
        at = capture->total - capture->tail_len;
    *offset = at;
    while (most > 0 && (piece = piece_at(capture, at, &bytes)) > 0) {
        if (piece > most)
            piece = most;
        sb_buf_add(out, bytes, piece);
        at += piece;
        most -= piece;
    }
}
