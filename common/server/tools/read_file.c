/* SPDX-License-Identifier: MIT
 * read_file: pages of what a run left: its streams and the files it made. */
#include <inttypes.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/path.h"
#include "base/utf8.h"
#include "server/result_text.h"
#include "server/tools/answer.h"
#include "server/tools/tools.h"
#include "server/tools/usable.h"

#define TAIL_MOST   900 /* characters of the last line; a longer path is not repeated */
#define PATH_SAID   600
#define TEXT_BYTES  (SB_RESULT_CHARS - TAIL_MOST)
#define CODED_BYTES (TEXT_BYTES / 4 * 3)
#define BACK_MOST   3                            /* bytes from inside a character to its first */
#define PAGE_BYTES  (BACK_MOST + TEXT_BYTES + 4) /* what follows shows whether the last character is whole */
#define IMAGE_BYTES SB_ANSWER_IMAGE_BYTES

struct read_args {
    char *run_id, *session_id, *path;
    int64_t offset;
};

struct page {
    const struct read_args *args;
    struct sb_job *job;
    uint64_t from, total; /* of the file */
    struct sb_buf bytes;  /* from `from` on */
};

/* What the next call must say, where that is short and needs no thought about quoting. */
static void say_path(const char *path, struct sb_buf *out)
{
    struct sb_json_out json;
    struct sb_buf quoted;

    sb_buf_init(&quoted, PATH_SAID);
    sb_json_begin(&json, &quoted);
    sb_json_put_string(&json, NULL, path);
    if (quoted.full)
        sb_buf_adds(out, "(the same)");
    else if (strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@._-+/") ==
             strlen(path))
        sb_buf_adds(out, path);
    else
        sb_buf_adds(out, quoted.data);
    sb_buf_done(&quoted);
}

static void say_where(const struct page *page, uint64_t to, const char *coding, struct sb_buf *out)
{
    sb_buf_addf(out, "[bytes %" PRIu64 "-%" PRIu64 " of %" PRIu64 "%s; ", page->from, to, page->total,
                coding);
    if (to < page->total) {
        sb_buf_addf(out, "next: read_file run_id=%s path=", page->args->run_id);
        say_path(page->args->path, out);
        sb_buf_addf(out, " offset=%" PRIu64 "]", to);
    } else {
        sb_buf_adds(out, "end]");
    }
}

/* The content is a block of its own, so that it is exact; then where to go on. */
static void reply(struct sb_call *call, const struct page *page, size_t used, const char *coding,
                  const struct sb_buf *content)
{
    struct sb_buf where;

    sb_buf_init(&where, TAIL_MOST);
    say_where(page, page->from + used, coding, &where);
    if (content->len > 0)
        sb_call_text(call, content->data, content->len);
    sb_call_text(call, where.data, where.len);
    sb_buf_done(&where);
    sb_call_reply(call, false);
}

/* The whole characters at the front; 0 when it is not text. */
static size_t text_length(const struct page *page)
{
    const struct sb_buf *bytes = &page->bytes;
    size_t len = sb_utf8_cut(bytes->data, bytes->len, TEXT_BYTES);

    return sb_utf8_valid(bytes->data, len) && memchr(bytes->data, '\0', len) == NULL ? len : 0;
}

static void reply_bytes(struct sb_call *call, struct page *page)
{
    size_t len = text_length(page);
    struct sb_buf content;

    sb_buf_init(&content, SB_RESULT_CHARS);
    if (len > 0 || page->bytes.len == 0) {
        sb_buf_add(&content, page->bytes.data, len);
        reply(call, page, len, "", &content);
    } else {
        len = page->bytes.len < CODED_BYTES ? page->bytes.len : CODED_BYTES;
        sb_base64(page->bytes.data, len, &content);
        reply(call, page, len, ", binary: as base64", &content);
    }
    sb_buf_done(&content);
}

/* A picture that is small enough is shown; else false. */
static bool reply_image(struct sb_call *call, struct page *page)
{
    const char *type = page->from == 0 ? sb_image_type(page->bytes.data, page->bytes.len) : NULL;
    struct sb_buf whole;
    bool shown = false;

    if (type == NULL || page->total > IMAGE_BYTES)
        return false;
    sb_buf_init(&whole, IMAGE_BYTES);
    if (sb_job_read(page->job, page->args->path, 0, IMAGE_BYTES, &whole, &page->total, NULL) == 0 &&
        whole.len == page->total) {
        struct sb_buf where;

        sb_buf_init(&where, TAIL_MOST);
        say_where(page, page->total, ", as an image", &where);
        sb_call_image(call, whole.data, whole.len, type);
        sb_call_text(call, where.data, where.len);
        sb_buf_done(&where);
        sb_call_reply(call, false);
        shown = true;
    }
    sb_buf_done(&whole);
    return shown;
}

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

/* Reads a page; an offset inside a character goes back to the character's first byte. */
static int read_page(struct page *page, struct sb_err *err)
{
    uint64_t offset = (uint64_t)page->args->offset;
    size_t back = offset < BACK_MOST ? (size_t)offset : BACK_MOST, skip;

    if (sb_job_read(page->job, page->args->path, offset - back, PAGE_BYTES, &page->bytes, &page->total, err) <
        0)
        return -1;
    if (offset > page->total)
        return sb_fail(err, SB_BAD_REQUEST,
                       "offset %" PRIu64 " is behind the end: '%.200s' has %" PRIu64 " bytes", offset,
                       page->args->path, page->total);
    skip = character_start(&page->bytes, back < page->bytes.len ? back : page->bytes.len);
    sb_buf_drop(&page->bytes, skip);
    page->from = offset - back + skip;
    return 0;
}

static void start(struct sb_call *call, void *own)
{
    const struct read_args *args = own;
    struct page page = {.args = args};
    struct sb_err err = {0};

    page.job = sb_answer_run(call, args->run_id, args->session_id);
    if (page.job == NULL)
        return;
    sb_buf_init(&page.bytes, PAGE_BYTES);
    if (read_page(&page, &err) < 0)
        sb_tool_refuse(call, "%s. list_files run_id=%s lists what there is.", err.text, args->run_id);
    else if (!reply_image(call, &page))
        reply_bytes(call, &page);
    sb_buf_done(&page.bytes);
}

static void cancel(struct sb_call *call)
{
    (void)call; /* it replies at once */
}

static const struct sb_field fields[] = {
    {.name = "run_id",
     .type = SB_FIELD_STRING,
     .at = offsetof(struct read_args, run_id),
     .most = 60,
     .text = "A finished run (r_...)."},
    {.name = "session_id",
     .type = SB_FIELD_STRING,
     .at = offsetof(struct read_args, session_id),
     .most = 60,
     .text = "Instead of run_id; not available yet."},
    {.name = "path",
     .type = SB_FIELD_STRING,
     .flags = SB_FIELD_REQUIRED,
     .at = offsetof(struct read_args, path),
     .most = SB_PATH_MAX_BYTES,
     .text = "@stdout, @stderr, or a file the run made or changed (./@stdout: a file of that name)."},
    {.name = "offset",
     .type = SB_FIELD_INT,
     .at = offsetof(struct read_args, offset),
     .most = 9007199254740991.0,
     .fallback = "0",
     .text = "First byte to read."},
    {.name = NULL},
};

const struct sb_tool sb_tool_read_file = {
    .name = "read_file",
    .title = "Read output or a file",
    .description = "Reads a run's output or files, up to 10,000 characters at once; the last line names the "
                   "next offset. "
                   "Binary comes as base64, pictures as images.",
    .read_only = true,
    .always_load = true,
    .fields = fields,
    .args_size = sizeof(struct read_args),
    .start = start,
    .cancel = cancel,
};
