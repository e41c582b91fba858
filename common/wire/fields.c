/* SPDX-License-Identifier: MIT */
#include "wire/fields.h"

#include <string.h>

#include "base/utf8.h"

static void store_u32(unsigned char *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
}

uint32_t sb_load_u32(const unsigned char *bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++)
        value |= (uint32_t)bytes[i] << (8 * i);
    return value;
}

size_t sb_frame_begin(struct sb_buf *out, enum sb_msg type, enum sb_channel channel, uint32_t id)
{
    size_t begin = out->len;
    sb_write_u32(out, 0);
    sb_write_u8(out, (uint8_t)type);
    sb_write_u8(out, (uint8_t)channel);
    sb_write_u8(out, 0);
    sb_write_u8(out, 0);
    sb_write_u32(out, id);
    return begin;
}

void sb_frame_end(struct sb_buf *out, size_t begin)
{
    if (!out->full) {
        unsigned char *frame = (unsigned char *)out->data + begin;
        size_t payload = out->len - begin - SB_WIRE_HEADER;
        if (payload > sb_wire_cap(frame[4]))
            out->full = true;
        else
            store_u32(frame, (uint32_t)payload);
    }
    sb_write_whole(out, begin);
}

void sb_write_whole(struct sb_buf *out, size_t begin)
{
    if (!out->full || out->len == begin)
        return;
    out->len = begin;
    out->data[begin] = '\0';
}

void sb_write_u8(struct sb_buf *out, uint8_t value)
{
    sb_buf_addc(out, (char)value);
}

void sb_write_u32(struct sb_buf *out, uint32_t value)
{
    unsigned char bytes[4];
    store_u32(bytes, value);
    sb_buf_add(out, bytes, sizeof bytes);
}

void sb_write_u64(struct sb_buf *out, uint64_t value)
{
    sb_write_u32(out, (uint32_t)value);
    sb_write_u32(out, (uint32_t)(value >> 32));
}

void sb_write_text(struct sb_buf *out, const char *text, size_t most)
{
    size_t len = strlen(text);
    if (len > most) {
        out->full = true;
        return;
    }
    sb_write_u32(out, (uint32_t)len);
    sb_buf_add(out, text, len);
}

void sb_read_fail(struct sb_reader *r, const char *field)
{
    if (!r->bad)
        r->bad = field;
}

static const unsigned char *take(struct sb_reader *r, const char *field, size_t len)
{
    const unsigned char *at = r->at;
    if (r->bad)
        return NULL;
    if (len > r->left) {
        r->bad = field;
        r->cut_short = true;
        return NULL;
    }
    r->at += len;
    r->left -= len;
    return at;
}

uint8_t sb_read_u8(struct sb_reader *r, const char *field, uint8_t lowest, uint8_t highest)
{
    const unsigned char *at = take(r, field, 1);
    if (!at)
        return 0;
    if (*at < lowest || *at > highest) {
        sb_read_fail(r, field);
        return 0;
    }
    return *at;
}

uint32_t sb_read_u32(struct sb_reader *r, const char *field, uint32_t lowest, uint32_t highest)
{
    const unsigned char *at = take(r, field, 4);
    if (!at)
        return 0;
    uint32_t value = sb_load_u32(at);
    if (value < lowest || value > highest) {
        sb_read_fail(r, field);
        return 0;
    }
    return value;
}

uint64_t sb_read_u64(struct sb_reader *r, const char *field)
{
    const unsigned char *at = take(r, field, 8);
    return at ? sb_load_u32(at) | (uint64_t)sb_load_u32(at + 4) << 32 : 0;
}

const char *sb_read_text(struct sb_reader *r, const char *field, size_t most, size_t *len)
{
    *len = sb_read_u32(r, field, 0, (uint32_t)most);
    const char *text = (const char *)take(r, field, *len);
    if (text && memchr(text, '\0', *len))
        sb_read_fail(r, field);
    if (r->bad) {
        *len = 0;
        return "";
    }
    return text;
}

void sb_read_utf8(struct sb_reader *r, const char *field, char *into, size_t most)
{
    size_t len;
    const char *text = sb_read_text(r, field, most, &len);
    if (!sb_utf8_valid(text, len)) {
        sb_read_fail(r, field);
        len = 0;
    }
    memcpy(into, text, len);
    into[len] = '\0';
}

int sb_read_end(struct sb_reader *r, const char *message, struct sb_err *err)
{
    if (r->bad)
        return sb_fail(err, SB_BAD_REQUEST, "bad %s message: field '%s' is %s", message, r->bad,
                       r->cut_short ? "missing" : "wrong");
    if (r->left > 0)
        return sb_fail(err, SB_BAD_REQUEST, "bad %s message: %lu bytes too many", message,
                       (unsigned long)r->left);
    return 0;
}
