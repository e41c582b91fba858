/* SPDX-License-Identifier: MIT
 * read_file: pages of what a run left: its streams and the files it made. */
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/path.h"
#include "server/result_text.h"
#include "server/tools/answer.h"
#include "server/tools/page.h"
#include "server/tools/tools.h"
#include "server/tools/usable.h"

#define PATH_SAID   600
#define TEXT_CHARS  (SB_RESULT_CHARS - SB_PAGE_TAIL - PATH_SAID)
#define NEXT_BYTES  (PATH_SAID + 100)
#define IMAGE_BYTES SB_ANSWER_IMAGE_BYTES

struct read_args {
    char *run_id, *session_id, *path;
    int64_t offset;
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

/* A picture that is small enough is shown; else false. */
static bool give_image(struct sb_call *call, struct sb_page *page)
{
    const char *type = page->from == 0 ? sb_image_type(page->bytes.data, page->bytes.len) : NULL;
    struct sb_buf whole;
    bool shown = false;

    if (type == NULL || page->total > IMAGE_BYTES)
        return false;
    sb_buf_init(&whole, IMAGE_BYTES);
    if (sb_job_read(page->job, page->path, 0, IMAGE_BYTES, &whole, &page->total, NULL) == 0 &&
        whole.len == page->total) {
        sb_call_image(call, whole.data, whole.len, type);
        sb_page_say(call, page, page->total, ", as an image", NULL);
        shown = true;
    }
    sb_buf_done(&whole);
    return shown;
}

static void give(struct sb_call *call, const struct read_args *args, struct sb_page *page)
{
    struct sb_buf next;

    if (give_image(call, page))
        return;
    sb_buf_init(&next, NEXT_BYTES);
    sb_buf_addf(&next, "read_file run_id=%s path=", args->run_id);
    say_path(args->path, &next);
    sb_page_give(call, page, next.data);
    sb_buf_done(&next);
}

static void start(struct sb_call *call, void *own)
{
    const struct read_args *args = own;
    struct sb_page page = {.path = args->path, .room = TEXT_CHARS};
    struct sb_err err = {0};

    page.job = sb_answer_run(call, args->run_id, args->session_id);
    if (page.job == NULL)
        return;
    if (sb_page_read(&page, (uint64_t)args->offset, &err) < 0) {
        sb_tool_refuse(call, "%s. list_files run_id=%s lists what there is.", err.text, args->run_id);
    } else {
        give(call, args, &page);
        sb_call_reply(call, false);
    }
    sb_page_done(&page);
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
