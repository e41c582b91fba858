/* SPDX-License-Identifier: MIT
 * Any bytes: repaired to the same UTF-8 wherever the chunks end; cut without halving. The
 * first byte is the length of a chunk. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static bool repair(const char *text, size_t len, size_t chunk, struct sb_buf *out)
{
    struct sb_utf8_repair state = {0};

    for (size_t at = 0; at < len; at += chunk)
        sb_utf8_repair(&state, text + at, len - at < chunk ? len - at : chunk, out);
    sb_utf8_repair_end(&state, out);
    return state.changed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data + 1;
    struct sb_buf whole, pieces;
    size_t len = size - 1, chunk, cut;
    bool changed;

    if (size == 0)
        return 0;
    chunk = (size_t)data[0] + 1;
    sb_buf_init(&whole, 64u << 20);
    sb_buf_init(&pieces, 64u << 20);
    changed = repair(text, len, len + 1, &whole);
    require(changed == repair(text, len, chunk, &pieces));
    require(whole.len == pieces.len && memcmp(whole.data, pieces.data, whole.len) == 0);
    require(sb_utf8_valid(whole.data, whole.len));
    require(changed != sb_utf8_valid(text, len));
    require(changed || (whole.len == len && memcmp(whole.data, text, len) == 0));

    cut = sb_utf8_cut(whole.data, whole.len, chunk);
    require(cut <= chunk && sb_utf8_valid(whole.data, cut));
    require(cut == whole.len || chunk - cut < 4);
    cut = sb_utf8_cut(text, len, chunk);
    require(cut <= chunk && (cut == len || chunk - cut < 4));
    sb_buf_done(&whole);
    sb_buf_done(&pieces);
    return 0;
}
