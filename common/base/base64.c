/* SPDX-License-Identifier: MIT */
#include "base/base64.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

void sb_base64(const void *bytes, size_t len, struct sb_buf *out)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = bytes;
    char *place;

    if (len > SIZE_MAX / 2) {
        out->full = true;
        return;
    }
    place = sb_buf_reserve(out, (len + 2) / 3 * 4);
    if (!place)
        return;
    for (size_t i = 0; i < len; i += 3) {
        size_t left = len - i;
        uint32_t group = (uint32_t)in[i] << 16;

        if (left > 1)
            group |= (uint32_t)in[i + 1] << 8;
        if (left > 2)
            group |= in[i + 2];
        *place++ = alphabet[group >> 18];
        *place++ = alphabet[group >> 12 & 63];
        *place++ = left > 1 ? alphabet[group >> 6 & 63] : '=';
        *place++ = left > 2 ? alphabet[group & 63] : '=';
    }
    out->len += (len + 2) / 3 * 4;
    *place = 0;
}

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes four characters; the bytes they hold, or -1. */
static int decode_group(const char *text, bool last, char *place)
{
    int pads = !last || text[3] != '=' ? 0 : text[2] == '=' ? 2 : 1;
    uint32_t group = 0;

    for (int i = 0; i < 4; i++) {
        int value = i < 4 - pads ? value_of(text[i]) : 0;

        if (value < 0)
            return -1;
        group = group << 6 | (uint32_t)value;
    }
    if ((group & ((1u << 8 * pads) - 1)) != 0) /* bits that no byte holds: not what an encoder writes */
        return -1;
    place[0] = (char)(group >> 16);
    if (pads < 2) /* what a pad stands for is not written: there may be no room */
        place[1] = (char)(group >> 8);
    if (pads < 1)
        place[2] = (char)group;
    return 3 - pads;
}

int sb_base64_decode(const char *text, size_t len, struct sb_buf *out, struct sb_err *err)
{
    size_t start = out->len, pads = 0;
    char *place;

    while (pads < 2 && pads < len && text[len - pads - 1] == '=')
        pads++;
    if (len % 4 != 0)
        return sb_fail(err, SB_BAD_REQUEST, "base64 of %zu characters is cut: four make a group", len);
    place = sb_buf_reserve(out, len / 4 * 3 - pads);
    if (!place)
        return sb_fail(err, SB_LIMIT, "base64 of %zu characters is too long here", len);
    for (size_t i = 0; i < len; i += 4) {
        int count = decode_group(text + i, i + 4 == len, place);

        if (count < 0) {
            out->len = start;
            out->data[start] = 0;
            return sb_fail(err, SB_BAD_REQUEST, "no base64 at character %zu: '%.4s'", i, text + i);
        }
        place += count;
        out->len += (size_t)count;
    }
    out->data[out->len] = 0;
    return 0;
}
