/* SPDX-License-Identifier: MIT */
#include "server/tools/answer.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/mime.h"
#include "server/resource.h"
#include "server/result_text.h"
#include "server/tools/usable.h"

#define TEXT_MAX       ((size_t)16 * 1024 * 1024) /* the JSON form holds whole captures */
#define NAME_MAX_BYTES (SB_PATH_MAX_BYTES + 2)

static const struct {
    const char *magic, *type;
    size_t at, len;
} pictures[] = {
    {"\x89PNG\r\n\x1A\n", "image/png", 0, 8},
    {"\xFF\xD8\xFF", "image/jpeg", 0, 3},
    {"GIF87a", "image/gif", 0, 6},
    {"GIF89a", "image/gif", 0, 6},
    {"WEBP", "image/webp", 8, 4},
};

const char *sb_image_type(const char *bytes, size_t len)
{
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
        if (len >= pictures[i].at + pictures[i].len &&
            memcmp(bytes + pictures[i].at, pictures[i].magic, pictures[i].len) == 0)
            return pictures[i].type;
    return NULL;
}

void sb_artifact_name(const char *path, struct sb_buf *out)
{
    sb_buf_addf(out, "%s%s", path[0] == '@' ? "./" : "", path);
}

static bool may_be_image(const struct sb_wire_entry *file)
{
    return file->type == SB_ENTRY_FILE && file->size > 0 && file->size <= SB_ANSWER_IMAGE_BYTES &&
           strncmp(sb_mime_of(file->path), "image/", 6) == 0;
}

static void add_images(struct sb_call *call, struct sb_job *job, const struct sb_run_result *result)
{
    size_t left = SB_ANSWER_IMAGE_BYTES;
    unsigned count = 0;
    struct sb_buf bytes, name;

    sb_buf_init(&bytes, SB_ANSWER_IMAGE_BYTES);
    sb_buf_init(&name, NAME_MAX_BYTES);
    for (size_t i = 0; i < result->file_count && count < SB_ANSWER_IMAGES; i++) {
        const struct sb_wire_entry *file = &result->files[i];
        const char *type;
        uint64_t total = 0;

        if (!may_be_image(file) || file->size > left)
            continue;
        sb_buf_clear(&name);
        sb_artifact_name(file->path, &name);
        sb_buf_clear(&bytes);
        if (sb_job_read(job, name.data, 0, left, &bytes, &total, NULL) < 0 || total > bytes.len)
            continue; /* not kept */
        type = sb_image_type(bytes.data, bytes.len);
        if (type == NULL)
            continue;
        sb_call_image(call, bytes.data, bytes.len, type);
        left -= bytes.len;
        count++;
    }
    sb_buf_done(&bytes);
    sb_buf_done(&name);
}

static void add_links(struct sb_call *call, const struct sb_job *job, const struct sb_run_result *result)
{
    unsigned count = 0;
    struct sb_buf text, name;

    sb_buf_init(&text, SB_RESOURCE_URI_MAX);
    sb_buf_init(&name, NAME_MAX_BYTES);
    for (size_t i = 0; i < result->file_count; i++) {
        const struct sb_wire_entry *file = &result->files[i];

        sb_buf_clear(&name);
        sb_artifact_name(file->path, &name);
        if (file->type != SB_ENTRY_FILE || (result->left_out != NULL && result->left_out[i] != NULL))
            continue;
        if (++count > SB_ANSWER_LINKS)
            continue;
        sb_buf_clear(&text);
        sb_resource_run_uri(sb_job_id(job), name.data, &text);
        sb_call_link(call, text.data, file->path, sb_mime_of(file->path), file->size);
    }
    if (count > SB_ANSWER_LINKS) {
        sb_buf_clear(&text);
        sb_buf_addf(&text, "[%u more files: list_files run_id=%s]", count - SB_ANSWER_LINKS, sb_job_id(job));
        sb_call_text(call, text.data, text.len);
    }
    sb_buf_done(&text);
    sb_buf_done(&name);
}

void sb_answer_files(struct sb_call *call, struct sb_job *job)
{
    add_images(call, job, sb_job_result(job));
    add_links(call, job, sb_job_result(job));
}

void sb_answer_ended(struct sb_call *call, struct sb_job *job)
{
    const struct sb_run_result *result = sb_job_result(job);
    bool is_error = result->status == SB_STATUS_HOST_ERROR, json = sb_job_json(job);
    struct sb_buf text;

    if (is_error && !json) {
        sb_tool_fail(call, &result->err, result->mend);
        return;
    }
    sb_buf_init(&text, TEXT_MAX);
    if (json)
        sb_result_json(result, sb_job_id(job), &text);
    else
        sb_result_text(result, sb_job_id(job), &text);
    sb_call_text(call, text.data, text.len);
    sb_buf_done(&text);
    if (!is_error)
        sb_answer_files(call, job);
    sb_call_reply(call, is_error);
}

void sb_answer_running(struct sb_call *call, struct sb_job *job)
{
    struct sb_buf text;

    sb_buf_init(&text, 4096);
    sb_buf_addf(&text, "running: call job with job_id=%s (%s, %" PRId64 " s so far)", sb_job_id(job),
                sb_job_state(job), sb_job_elapsed_ms(job) / 1000);
    if (sb_job_last_line(job)[0] != '\0')
        sb_buf_addf(&text, "\nlast line of stdout: %s", sb_job_last_line(job));
    sb_call_text(call, text.data, text.len);
    sb_buf_done(&text);
    sb_call_reply(call, false);
}

void sb_answer_unknown(struct sb_call *call, const char *id)
{
    sb_tool_refuse(
        call,
        "No run '%.40s' is known: runs are kept for 30 minutes after their end, the newest 256 MiB of them. "
        "job without job_id lists those there are.",
        id);
}

struct sb_job *sb_answer_run(struct sb_call *call, const char *run_id, const char *session_id)
{
    struct sb_job *job = NULL;

    if (session_id != NULL)
        sb_tool_later(call, "session_id is");
    else if (run_id == NULL)
        sb_tool_refuse(call, "run_id is missing: give the run (r_...) that execute_code answered with.");
    else if ((job = sb_job_find(sb_host_jobs(sb_call_host(call)), sb_call_peer(call), run_id)) == NULL)
        sb_answer_unknown(call, run_id);
    return job;
}
