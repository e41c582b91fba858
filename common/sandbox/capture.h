/* SPDX-License-Identifier: MIT
 * What is kept of one output stream: its first and its last half; what lies between is
 * counted and dropped. */
#ifndef SB_SANDBOX_CAPTURE_H
#define SB_SANDBOX_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

struct sb_buf;

struct sb_capture {
    size_t half;        /* bytes kept of each end */
    uint64_t total;     /* bytes seen */
    char *head, *tail;  /* tail is a ring of `half` bytes */
    size_t head_len, head_cap, tail_cap, tail_len, tail_at;
};

/* `keep` bytes in all; memory grows with what arrives. */
void sb_capture_init(struct sb_capture *capture, size_t keep);
void sb_capture_done(struct sb_capture *capture);
void sb_capture_add(struct sb_capture *capture, const void *bytes, size_t len);

uint64_t sb_capture_omitted(const struct sb_capture *capture);
/* Head, then tail, in order. */
void sb_capture_head(const struct sb_capture *capture, struct sb_buf *out);
void sb_capture_tail(const struct sb_capture *capture, struct sb_buf *out);
/* At most `most` bytes from byte *offset of all that were seen, up to what was dropped; inside
 * of that, *offset goes on to its end. */
void sb_capture_read(const struct sb_capture *capture, uint64_t *offset, size_t most, struct sb_buf *out);

#endif
