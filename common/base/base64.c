/* SPDX-License-Identifier: MIT */
#include "base/base64.h"

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
