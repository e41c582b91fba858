/* SPDX-License-Identifier: MIT
 * The fields that messages are made of. Internal to common/wire.
 *
 * Writing: a message is a frame opened with sb_frame_begin and closed with sb_frame_end,
 * which takes the whole frame back when any of it did not fit. Reading: the first field
 * that is wrong is remembered by name, everything after it reads as zero, and
 * sb_read_end tells. Numbers are little-endian; a text is its u32 length and its bytes. */
#ifndef SB_WIRE_FIELDS_H
#define SB_WIRE_FIELDS_H

#include "wire/wire.h"

size_t sb_frame_begin(struct sb_buf *out, enum sb_msg type, enum sb_channel channel, uint32_t id);
void sb_frame_end(struct sb_buf *out, size_t begin);
/* Takes back what was appended since `begin` if the buffer is full. */
void sb_write_whole(struct sb_buf *out, size_t begin);
/* The most payload bytes of a type; 0 also for an unknown one. */
uint32_t sb_wire_cap(uint8_t type);
const char *sb_wire_name(uint8_t type);

void sb_write_u8(struct sb_buf *out, uint8_t value);
void sb_write_u32(struct sb_buf *out, uint32_t value);
void sb_write_u64(struct sb_buf *out, uint64_t value);
void sb_write_text(struct sb_buf *out, const char *text, size_t most); /* longer: out->full */

uint32_t sb_load_u32(const unsigned char *bytes);

struct sb_reader {
    const unsigned char *at;
    size_t left;
    const char *bad; /* name of the first wrong field; NULL: none */
    bool cut_short;  /* ... and it was wrong only because the bytes ended */
};

uint8_t sb_read_u8(struct sb_reader *r, const char *field, uint8_t lowest, uint8_t highest);
uint32_t sb_read_u32(struct sb_reader *r, const char *field, uint32_t lowest, uint32_t highest);
uint64_t sb_read_u64(struct sb_reader *r, const char *field);
/* Borrowed bytes without a NUL among them; sets *len. */
const char *sb_read_text(struct sb_reader *r, const char *field, size_t most, size_t *len);
/* UTF-8 into an array of most + 1 bytes. */
void sb_read_utf8(struct sb_reader *r, const char *field, char *into, size_t most);
/* A field turned out wrong by a rule of its message. */
void sb_read_fail(struct sb_reader *r, const char *field);
/* 0 when every field was right and nothing is left over. */
int sb_read_end(struct sb_reader *r, const char *message, struct sb_err *err);

#endif
