/* SPDX-License-Identifier: MIT
 * list_files: what of a run can be read. */
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/mime.h"
#include "base/path.h"
#include "server/result_text.h"
#include "server/tools/answer.h"
#include "server/tools/tools.h"
#include "server/tools/usable.h"

struct list_args {
    char *run_id, *session_id, *path;
};

static void add_stream(struct sb_job *job, const char *name, struct sb_buf *out)
{
    struct sb_err why = {0};
    struct sb_buf first;
    uint64_t total = 0;

    sb_buf_init(&first, 1);
    if (sb_job_read(job, name, 0, 1, &first, &total, &why) == 0)
        sb_buf_addf(out, "\n%s %" PRIu64 " bytes", name, total);
    else
        sb_buf_addf(out, "\n%s (not kept: %s)", name, why.text);
    sb_buf_done(&first);
}

static void add_file(const struct sb_run_result *result, size_t at, struct sb_buf *out)
{
    const struct sb_wire_entry *file = &result->files[at];
    const char *left_out = result->left_out != NULL ? result->left_out[at] : NULL;

    sb_buf_addc(out, '\n');
    sb_artifact_name(file->path, out);
    if (left_out != NULL)
        sb_buf_addf(out, " (not kept: %s)", left_out);
    else if (file->type != SB_ENTRY_FILE)
        sb_buf_addf(out, " (not kept: %s)", file->type == SB_ENTRY_LINK ? "a link" : "no plain file");
    else
        sb_buf_addf(out, " %" PRIu64 " bytes, %s", file->size, sb_mime_of(file->path));
}

static bool is_below(const char *path, const char *folder)
{
    size_t len = strlen(folder);

    return len == 0 || strcmp(path, folder) == 0 || (strncmp(path, folder, len) == 0 && path[len] == '/');
}

static void list(struct sb_job *job, const char *folder, struct sb_buf *out)
{
    const struct sb_run_result *result = sb_job_ended(job) ? sb_job_result(job) : NULL;
    size_t left_out = 0;
    struct sb_buf row;

    sb_buf_init(&row, 2 * SB_PATH_MAX_BYTES);
    if (folder[0] == '\0') {
        add_stream(job, "@stdout", out);
        add_stream(job, "@stderr", out);
    }
    for (size_t i = 0; result != NULL && i < result->file_count; i++) {
        if (result->files[i].type == SB_ENTRY_FOLDER || !is_below(result->files[i].path, folder))
            continue;
        sb_buf_clear(&row);
        add_file(result, i, &row);
        if (left_out > 0 || out->len + row.len > SB_RESULT_CHARS - 200)
            left_out++;
        else
            sb_buf_add(out, row.data, row.len);
    }
    if (left_out > 0)
        sb_buf_addf(out, "\n[%zu more files: name a folder as path to see those in it]", left_out);
    if (result != NULL && result->files_cut)
        sb_buf_adds(out, "\n[the program made more files than are listed]");
    if (result == NULL)
        sb_buf_adds(out, "\n[still running: files are listed when it has ended]");
    sb_buf_done(&row);
}

static void start(struct sb_call *call, void *own)
{
    const struct list_args *args = own;
    struct sb_err err = {0};
    struct sb_buf text, folder;
    struct sb_job *job;

    job = sb_answer_run(call, args->run_id, args->session_id);
    if (job == NULL)
        return;
    sb_buf_init(&folder, SB_PATH_MAX_BYTES);
    sb_buf_init(&text, SB_RESULT_CHARS);
    if (sb_path_plain_folder(args->path, strlen(args->path), SB_PATH_POSIX, &folder, &err) < 0) {
        sb_tool_refuse(call, "%s.", err.text);
    } else {
        sb_buf_addf(&text, "run %s", sb_job_id(job));
        list(job, folder.data, &text);
        sb_call_text(call, text.data, text.len);
        sb_call_reply(call, false);
    }
    sb_buf_done(&folder);
    sb_buf_done(&text);
}

static void cancel(struct sb_call *call)
{
    (void)call; /* it replies at once */
}

static const struct sb_field fields[] = {
    {.name = "run_id",
     .type = SB_FIELD_STRING,
     .at = offsetof(struct list_args, run_id),
     .most = 60,
     .text = "A run (r_...)."},
    {.name = "session_id",
     .type = SB_FIELD_STRING,
     .at = offsetof(struct list_args, session_id),
     .most = 60,
     .text = "Instead of run_id; not available yet."},
    {.name = "path",
     .type = SB_FIELD_STRING,
     .at = offsetof(struct list_args, path),
     .most = SB_PATH_MAX_BYTES,
     .fallback = "\"\"",
     .text = "Only what is in this folder."},
    {.name = NULL},
};

const struct sb_tool sb_tool_list_files = {
    .name = "list_files",
    .title = "List a run's files",
    .description =
        "Lists a run's captured output and the files it made or changed, with sizes, for read_file.",
    .read_only = true,
    .fields = fields,
    .args_size = sizeof(struct list_args),
    .start = start,
    .cancel = cancel,
};
