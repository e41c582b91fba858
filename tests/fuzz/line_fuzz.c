/* SPDX-License-Identifier: MIT
 * Any bytes, in one piece and in pieces: the same lines come out, none has a \n inside or
 * is longer than allowed, and what is kept stays small. The first two bytes are the cap and
 * the size of a piece. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "server/line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void read_all(const char *bytes, size_t len, size_t max, size_t piece, struct sb_buf *seen)
{
    struct sb_line_reader reader;
    const char *line = NULL;
    size_t line_len = 0;

    sb_line_init(&reader, max);
    while (len > 0) {
        size_t left = len < piece ? len : piece;
        const char *at = bytes;
        enum sb_line_kind kind;

        bytes += left;
        len -= left;
        while ((kind = sb_line_next(&reader, &at, &left, &line, &line_len)) != SB_LINE_MORE) {
            if (kind == SB_LINE_WHOLE) {
                require(line_len > 0 && line_len <= max && !memchr(line, '\n', line_len));
                sb_buf_add(seen, line, line_len);
            }
            sb_buf_addc(seen, kind == SB_LINE_WHOLE ? '\n' : '!');
        }
        require(left == 0 && reader.partial.len <= max);
    }
    sb_line_done(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sb_buf whole, pieces;

    if (size < 2)
        return 0;
    sb_buf_init(&whole, 4 * size);
    sb_buf_init(&pieces, 4 * size);
    read_all((const char *)data + 2, size - 2, data[0] + 1u, size, &whole);
    read_all((const char *)data + 2, size - 2, data[0] + 1u, data[1] + 1u, &pieces);
    require(whole.len == pieces.len && memcmp(whole.data, pieces.data, whole.len) == 0);
    sb_buf_done(&whole);
    sb_buf_done(&pieces);
    return 0;
}
