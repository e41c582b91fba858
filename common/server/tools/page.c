/* SPDX-License-Identifier: MIT */
#include "server/tools/page.h"

#include <inttypes.h>
#include <string.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "server/excerpt.h"

#define CHAR_BYTES 4                /* of the longest character */
#define BACK_MOST  (CHAR_BYTES - 1) /* from inside a character to its first byte */
#define NEXT_MOST  1000

static bool is_inside(char c) /* of a character, not its first byte */
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* The first byte of the character that `at` lies in; `at` itself where there is none. */
static size_t character_start(const struct sb_buf *bytes, size_t at)
{
    size_t first = at, len;

    while (first > 0 && first < bytes->len && is_inside(bytes->data[first]))
        first--;
    len = at - first + 1;
    while (first + len < bytes->len && is_inside(bytes->data[first + len]))
        len++;
    return first < at && first + len <= bytes->len && sb_utf8_valid(bytes->data + first, len) ? first : at;
}

/* The rest of a character whose beginning was dropped. */
static size_t rest_of_character(const struct sb_buf *bytes)
{
    size_t len = 0;

    while (len < BACK_MOST && len < bytes->len && is_inside(bytes->data[len]))
        len++;
    return len;
}

/* Bytes from *at, which goes on over what was dropped. What follows the content shows whether its
 * last character is whole. */
static int read_bytes(struct sb_page *page, uint64_t *at, struct sb_err *err)
{
    size_t most = BACK_MOST + page->room + CHAR_BYTES;

    sb_buf_clear(&page->bytes);
    if (page->path != NULL)
        return sb_job_read(page->job, page->path, *at, most, &page->bytes, &page->total, err);
    sb_job_peek(page->job, at, most, &page->bytes, &page->total);
    return 0;
}

int sb_page_read(struct sb_page *page, uint64_t offset, struct sb_err *err)
{
    uint64_t at = offset - (offset < BACK_MOST ? offset : BACK_MOST);
    size_t skip;

    sb_buf_init(&page->bytes, BACK_MOST + page->room + CHAR_BYTES);
    if (read_bytes(page, &at, err) < 0)
        return -1;
    if (offset > page->total)
        return sb_fail(err, SB_BAD_REQUEST,
                       "offset %" PRIu64 " is behind the end: '%.200s' has %" PRIu64 " bytes%s", offset,
                       page->path != NULL ? page->path : "@stdout", page->total,
                       page->path != NULL ? "" : " so far");
    if (at + page->bytes.len <= offset) { /* what was dropped begins at it; or it is the end */
        at = offset;
        if (read_bytes(page, &at, err) < 0)
            return -1;
    }
    if (at > offset)
        skip = rest_of_character(&page->bytes);
    else
        skip = character_start(&page->bytes, (size_t)(offset - at));
    sb_buf_drop(&page->bytes, skip);
    page->from = at + skip;
    page->dropped = page->from > offset ? page->from - offset : 0;
    return 0;
}

void sb_page_done(struct sb_page *page)
{
    sb_buf_done(&page->bytes);
}

/* The bytes at the end that may become a character yet. */
static size_t unfinished(const struct sb_buf *bytes)
{
    for (size_t back = 1; back < CHAR_BYTES && back <= bytes->len; back++) {
        unsigned char byte = (unsigned char)bytes->data[bytes->len - back];

        if (byte >= 0xC2)
            return back < sb_char_len((char)byte) ? back : 0;
        if (byte < 0x80)
            return 0;
    }
    return 0;
}

/* While more comes, half a character at the end waits for its rest; but that may have been dropped. */
static size_t whole_length(const struct sb_page *page)
{
    size_t len = page->bytes.len, rest = page->path == NULL ? unfinished(&page->bytes) : 0;

    return rest < len || page->from + len == page->total ? len - rest : len;
}

/* The whole characters at the front; 0 when it is not text. */
static size_t text_length(const struct sb_page *page, size_t len)
{
    const struct sb_buf *bytes = &page->bytes;

    len = sb_utf8_cut(bytes->data, len, page->room);
    return sb_utf8_valid(bytes->data, len) && memchr(bytes->data, '\0', len) == NULL ? len : 0;
}

/* As many bytes as have room in base64. The next page goes back to the first byte of a character:
 * this one ends there, so that no byte comes twice. */
static size_t coded_length(const struct sb_page *page, size_t len)
{
    size_t most = page->room / 4 * 3;

    return len <= most ? len : character_start(&page->bytes, most);
}

void sb_page_say(struct sb_call *call, const struct sb_page *page, uint64_t to, const char *coding,
                 const char *next)
{
    bool grows = page->path == NULL;
    struct sb_buf line;

    sb_buf_init(&line, SB_PAGE_TAIL + NEXT_MOST);
    sb_buf_addf(&line, "[bytes %" PRIu64 "-%" PRIu64 " of %" PRIu64 "%s%s; ", page->from, to, page->total,
                grows ? " so far" : "", coding);
    if (page->dropped > 0)
        sb_buf_addf(&line, "%" PRIu64 " bytes before them were not kept; ", page->dropped);
    if (grows || to < page->total)
        sb_buf_addf(&line, "next: %s offset=%" PRIu64 "]", next, to);
    else
        sb_buf_adds(&line, "end]");
    sb_call_text(call, line.data, line.len);
    sb_buf_done(&line);
}

void sb_page_give(struct sb_call *call, const struct sb_page *page, const char *next)
{
    size_t there = whole_length(page), len = text_length(page, there);
    const char *coding = "";
    struct sb_buf content;

    sb_buf_init(&content, page->room + CHAR_BYTES);
    if (len > 0) {
        sb_buf_add(&content, page->bytes.data, len);
    } else if (there > 0) {
        len = coded_length(page, there);
        sb_base64(page->bytes.data, len, &content);
        coding = ", binary: as base64";
    }
    if (content.len > 0)
        sb_call_text(call, content.data, content.len);
    sb_page_say(call, page, page->from + len, coding, next);
    sb_buf_done(&content);
}
