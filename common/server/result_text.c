/* SPDX-License-Identifier: MIT */
#include "server/result_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/terminal.h"
#include "sandbox/signal_name.h"
#include "server/excerpt.h"

#define FILES_CHARS  2000 /* of the line that names the files */
#define STREAM_CHARS 16   /* "stdout:" and "stderr:" with their line ends, and those of the streams */

/* What a limit's number counts, and the hint when it was hit. */
static const struct {
    const char *unit, *hint;
} limit_texts[SB_ROW_COUNT] = {
    [SB_ROW_TIMEOUT_MS] = {"s", "a larger timeout (up to 3600 s) lets it run longer"},
    [SB_ROW_MEMORY_MB] = {"MiB", "a larger memory_mb lets it use more"},
    [SB_ROW_PROCESSES] = {"processes and threads", NULL},
    [SB_ROW_WORKSPACE_MB] = {"MiB", NULL},
    [SB_ROW_SHM_MB] = {"MiB", NULL},
    [SB_ROW_OPEN_FILES] = {"files", NULL},
    [SB_ROW_OUTPUT_KEPT] = {"bytes", NULL},
    [SB_ROW_OUTPUT_PRODUCED] = {"bytes", "a program may write large data to files instead"},
};

static void put_limit(const struct sb_run_result *result, struct sb_buf *out)
{
    if (result->status == SB_STATUS_TIMEOUT)
        sb_buf_addf(out, "timeout after %" PRId64 ".%03" PRId64 " s", result->limit / 1000,
                    result->limit % 1000);
    else if (result->limit_row == SB_ROW_TIMEOUT_MS)
        sb_buf_addf(out, "%s at %" PRId64 ".%03" PRId64 " s", sb_status_name(result->status),
                    result->limit / 1000, result->limit % 1000);
    else {
        sb_buf_addf(out, "%s at ", sb_status_name(result->status));
        sb_put_number((uint64_t)result->limit, out);
        sb_buf_addf(out, " %s", limit_texts[result->limit_row].unit);
    }
}

static void put_end(const struct sb_run_result *result, struct sb_buf *out)
{
    switch (result->status) {
    case SB_STATUS_OK:
    case SB_STATUS_ERROR:
        sb_buf_addf(out, "exit %" PRIu32, result->code);
        return;
    case SB_STATUS_SIGNAL:
        if (sb_signal_is_crash(result->code))
            sb_buf_addf(out, "crashed with 0x%08" PRIX32 " (%s)", result->code, sb_signal_name(result->code));
        else
            sb_buf_addf(out, "killed by signal %" PRIu32 " (%s)", result->code, sb_signal_name(result->code));
        return;
    case SB_STATUS_TIMEOUT:
    case SB_STATUS_CPU_LIMIT:
    case SB_STATUS_MEMORY_LIMIT:
    case SB_STATUS_PROCESS_LIMIT:
    case SB_STATUS_DISK_LIMIT:
    case SB_STATUS_OUTPUT_LIMIT:
        put_limit(result, out);
        return;
    case SB_STATUS_CANCELLED:
    case SB_STATUS_HOST_ERROR:
    case SB_STATUS_COUNT:
        sb_buf_adds(out, sb_status_name(result->status));
        return;
    }
}

static void put_status(const struct sb_run_result *result, const char *run_id, struct sb_buf *out)
{
    put_end(result, out);
    sb_buf_addf(out, " | %" PRIu64 " ms | cpu %" PRIu64 " ms", result->wall_us / 1000, result->cpu_us / 1000);
    if (result->peak_bytes > 0)
        sb_buf_addf(out, " | peak %" PRIu64 " MB", (result->peak_bytes + 999999) / 1000000);
    sb_buf_addf(out, " | run %s\n", run_id);
}

static void put_hint(const struct sb_run_result *result, struct sb_buf *out)
{
    if (result->status == SB_STATUS_HOST_ERROR)
        sb_buf_addf(out, "%s%s%s\n", result->err.text, result->mend[0] != '\0' ? "; mend: " : "",
                    result->mend);
    else if (result->not_kept != NULL)
        sb_buf_addf(out, "the output of this run is not kept: %s\n", result->not_kept);
    else if (result->parent_killed)
        sb_buf_adds(out, "the program killed its own run parent\n");
    else if (result->limit > 0 && limit_texts[result->limit_row].hint != NULL)
        sb_buf_addf(out, "%s\n", limit_texts[result->limit_row].hint);
}

/* ---- files -------------------------------------------------------------------------- */

static const char *why_left_out(const struct sb_run_result *result, size_t index)
{
    static const char *const kinds[] = {[SB_ENTRY_FOLDER] = "a folder",
                                        [SB_ENTRY_LINK] = "a symbolic link",
                                        [SB_ENTRY_OTHER] = "not a regular file"};
    const struct sb_wire_entry *file = &result->files[index];

    if (file->type != SB_ENTRY_FILE && file->type < SB_COUNT(kinds))
        return kinds[file->type];
    return result->left_out != NULL ? result->left_out[index] : NULL;
}

/* Names come from the program: they stay on one line. */
static void put_name(const char *name, struct sb_buf *out)
{
    struct sb_terminal terminal = {0};
    size_t start = out->len;

    sb_terminal_filter(&terminal, name, strlen(name), out);
    for (size_t i = start; i < out->len; i++)
        if ((unsigned char)out->data[i] < ' ')
            out->data[i] = '?';
}

static void put_file(const struct sb_run_result *result, size_t index, struct sb_buf *out)
{
    const char *why = why_left_out(result, index);

    put_name(result->files[index].path, out);
    sb_buf_adds(out, " (");
    sb_put_number(result->files[index].size, out);
    sb_buf_addf(out, " bytes%s%s)", why != NULL ? "; left out: " : "", why != NULL ? why : "");
}

static void put_files(const struct sb_run_result *result, const char *run_id, struct sb_buf *out)
{
    size_t start = out->len;

    for (size_t i = 0; i < result->file_count; i++) {
        size_t before = out->len;

        sb_buf_adds(out, i == 0 ? "files: " : ", ");
        put_file(result, i, out);
        if (sb_weigh_text(out->data + start, out->len - start, sb_weigh_one) > FILES_CHARS) {
            out->len = before;
            out->data[out->len] = '\0';
            sb_buf_addf(out, "%s%zu more (list_files run_id=%s)", i == 0 ? "files: " : " and ",
                        result->file_count - i, run_id);
            break;
        }
    }
    if (result->files_cut)
        sb_buf_adds(out, "; more than are listed");
    if (out->len > start)
        sb_buf_addc(out, '\n');
}

/* ---- the whole ---------------------------------------------------------------------- */

static void put_stream(const char *name, const struct sb_buf *text, struct sb_buf *out)
{
    if (text->len == 0)
        return;
    sb_buf_addf(out, "%s:\n", name);
    sb_buf_add(out, text->data, text->len);
    if (text->data[text->len - 1] != '\n')
        sb_buf_addc(out, '\n');
}

/* Within `most` characters, which have room for more than the lines before the streams. */
static void put_result(const struct sb_run_result *result, const char *run_id, size_t most,
                       struct sb_buf *out)
{
    struct sb_excerpt_want want = {.result = result, .run_id = run_id, .weigh = sb_weigh_one};
    size_t start = out->len;
    struct sb_buf streams[2];

    put_status(result, run_id, out);
    put_hint(result, out);
    put_files(result, run_id, out);
    want.room = most - STREAM_CHARS - 2 - sb_weigh_text(out->data + start, out->len - start, sb_weigh_one);
    want.stderr_room = want.room < SB_RESULT_STDERR_CHARS ? want.room : SB_RESULT_STDERR_CHARS;
    sb_excerpt_both(&want, streams);
    put_stream("stdout", &streams[0], out);
    put_stream("stderr", &streams[1], out);
    sb_buf_done(&streams[0]);
    sb_buf_done(&streams[1]);
}

void sb_result_text(const struct sb_run_result *result, const char *run_id, struct sb_buf *out)
{
    put_result(result, run_id, SB_RESULT_CHARS, out);
}

void sb_result_beside(const struct sb_run_result *result, const char *run_id, struct sb_buf *out)
{
    struct sb_run_result rest = *result;

    memset(&rest.output[0], 0, sizeof rest.output[0]);
    put_result(&rest, run_id, SB_RESULT_BESIDE_CHARS, out);
}

void sb_result_so_far(const struct sb_capture *errors, const char *run_id, struct sb_buf *out)
{
    struct sb_run_result result = {.output = {[1] = *errors}};
    const struct sb_excerpt_want want = {.result = &result,
                                         .run_id = run_id,
                                         .room = SB_RESULT_SO_FAR_CHARS,
                                         .stderr_room = SB_RESULT_SO_FAR_CHARS,
                                         .so_far = true,
                                         .weigh = sb_weigh_one};
    struct sb_buf streams[2];

    sb_excerpt_both(&want, streams);
    put_stream("stderr", &streams[1], out);
    sb_buf_done(&streams[0]);
    sb_buf_done(&streams[1]);
}
