/* SPDX-License-Identifier: MIT */
#include "cli/run_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/mime.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "sandbox/signal_name.h"

/* The exit status of each status; 0: the program's own code, -1: 128 + its signal. */
static const int exit_statuses[SB_STATUS_COUNT] = {
    [SB_STATUS_SIGNAL] = -1,
    [SB_STATUS_TIMEOUT] = SB_EXIT_TIMEOUT,
    [SB_STATUS_CPU_LIMIT] = SB_EXIT_TIMEOUT,
    [SB_STATUS_MEMORY_LIMIT] = SB_EXIT_MEMORY,
    [SB_STATUS_PROCESS_LIMIT] = SB_EXIT_TOO_MUCH,
    [SB_STATUS_DISK_LIMIT] = SB_EXIT_TOO_MUCH,
    [SB_STATUS_OUTPUT_LIMIT] = SB_EXIT_TOO_MUCH,
    [SB_STATUS_CANCELLED] = SB_EXIT_CANCELLED,
    [SB_STATUS_HOST_ERROR] = SB_EXIT_HOST,
};

static bool is_crash(const struct sb_run_result *result)
{
    return result->status == SB_STATUS_SIGNAL && sb_signal_is_crash(result->code);
}

int sb_run_exit_status(const struct sb_run_result *result)
{
    int status = exit_statuses[result->status];

    if (status == 0 || is_crash(result))
        return (int)result->code;
    return status > 0 ? status : 128 + (int)(result->code & 0x7f);
}

void sb_run_sentence(const struct sb_run_result *result, struct sb_buf *out)
{
    switch (result->status) {
    case SB_STATUS_OK:
    case SB_STATUS_ERROR:
    case SB_STATUS_CANCELLED:
        return;
    case SB_STATUS_SIGNAL:
        if (is_crash(result))
            sb_buf_addf(out, "the program crashed with 0x%08X (%s)", (unsigned)result->code,
                        sb_signal_name(result->code));
        else
            sb_buf_addf(out, "the program was killed by signal %u (%s)%s", (unsigned)result->code,
                        sb_signal_name(result->code), result->parent_killed ? ": it killed its own run parent" : "");
        return;
    case SB_STATUS_HOST_ERROR:
        sb_buf_adds(out, result->err.text);
        return;
    case SB_STATUS_TIMEOUT:
    case SB_STATUS_CPU_LIMIT:
    case SB_STATUS_MEMORY_LIMIT:
    case SB_STATUS_PROCESS_LIMIT:
    case SB_STATUS_DISK_LIMIT:
    case SB_STATUS_OUTPUT_LIMIT:
    case SB_STATUS_COUNT:
        break;
    }
    if (result->status == SB_STATUS_TIMEOUT)
        sb_buf_addf(out, "timeout: killed after %" PRId64 ".%03" PRId64 " s", result->limit / 1000,
                    result->limit % 1000);
    else
        sb_buf_addf(out, "%s: killed at %" PRId64 " (%s)", sb_status_name(result->status), result->limit,
                    sb_limit_row_name(result->limit_row));
}

/* One stream: its text with what was omitted said in the middle, and its bytes where text can't carry them. */
static void put_stream(struct sb_json_out *json, const char *name, const char *name_base64,
                       const struct sb_capture *capture)
{
    struct sb_utf8_repair repair = {0};
    struct sb_buf raw, text;

    sb_buf_init(&raw, 2 * capture->half + 1);
    sb_buf_init(&text, 6 * capture->half + 256);
    sb_capture_head(capture, &raw);
    sb_utf8_repair(&repair, raw.data, raw.len, &text);
    if (sb_capture_omitted(capture) > 0) {
        sb_utf8_repair_end(&repair, &text);
        sb_buf_addf(&text, "\n[... %" PRIu64 " bytes omitted ...]\n", sb_capture_omitted(capture));
    }
    sb_buf_clear(&raw);
    sb_capture_tail(capture, &raw);
    sb_utf8_repair(&repair, raw.data, raw.len, &text);
    sb_utf8_repair_end(&repair, &text);
    sb_json_put_bytes(json, name, text.data, text.len);
    if (repair.changed) {
        sb_buf_clear(&raw);
        sb_buf_clear(&text);
        sb_capture_head(capture, &raw);
        sb_capture_tail(capture, &raw);
        sb_base64(raw.data, raw.len, &text);
        sb_json_put_bytes(json, name_base64, text.data, text.len);
    }
    sb_buf_done(&raw);
    sb_buf_done(&text);
}

static void put_files(struct sb_json_out *json, const struct sb_run_result *result)
{
    sb_json_open_array(json, "artifacts");
    for (size_t i = 0; i < result->file_count; i++) {
        const struct sb_wire_entry *file = &result->files[i];

        if (file->type != SB_ENTRY_FILE)
            continue;
        sb_json_open_object(json, NULL);
        sb_json_put_string(json, "path", file->path);
        sb_json_put_int(json, "bytes", (int64_t)file->size);
        sb_json_put_string(json, "mime", sb_mime_of(file->path));
        sb_json_close_object(json);
    }
    sb_json_close_array(json);
    sb_json_open_array(json, "skipped");
    for (size_t i = 0; i < result->file_count; i++) {
        const struct sb_wire_entry *file = &result->files[i];

        if (file->type == SB_ENTRY_FILE)
            continue;
        sb_json_open_object(json, NULL);
        sb_json_put_string(json, "path", file->path);
        sb_json_put_string(json, "why", file->type == SB_ENTRY_LINK ? "a symbolic link" : "not a regular file");
        sb_json_close_object(json);
    }
    sb_json_close_array(json);
}

static void put_end(struct sb_json_out *json, const struct sb_run_result *result)
{
    bool has_code = result->status == SB_STATUS_OK || result->status == SB_STATUS_ERROR || is_crash(result);

    sb_json_put_string(json, "status", sb_status_name(result->status));
    if (has_code)
        sb_json_put_int(json, "exit_code", result->code);
    else
        sb_json_put_null(json, "exit_code");
    if (result->status == SB_STATUS_SIGNAL && !has_code)
        sb_json_put_int(json, "signal", result->code);
    else
        sb_json_put_null(json, "signal");
    if (result->status == SB_STATUS_HOST_ERROR) {
        sb_json_put_string(json, "error", result->err.text);
        sb_json_put_string(json, "mend", result->mend[0] != '\0' ? result->mend : NULL);
    }
    sb_json_put_int(json, "duration_ms", (int64_t)(result->wall_us / 1000));
    sb_json_put_int(json, "cpu_ms", (int64_t)(result->cpu_us / 1000));
    if (result->peak_bytes > 0) {
        sb_json_put_int(json, "peak_bytes", (int64_t)result->peak_bytes);
        sb_json_put_string(json, "peak_source", "largest process");
    } else {
        sb_json_put_null(json, "peak_bytes");
        sb_json_put_null(json, "peak_source");
    }
    if (result->limit > 0) {
        sb_json_open_object(json, "limit");
        sb_json_put_string(json, "name", sb_limit_row_name(result->limit_row));
        sb_json_put_int(json, "value", result->limit);
        sb_json_close_object(json);
    } else {
        sb_json_put_null(json, "limit");
    }
}

void sb_run_json(const struct sb_run_result *result, const char *run_id, const char *backend, struct sb_buf *out)
{
    struct sb_json_out json;
    bool cut = sb_capture_omitted(&result->output[0]) + sb_capture_omitted(&result->output[1]) > 0;

    sb_json_begin(&json, out);
    sb_json_open_object(&json, NULL);
    put_end(&json, result);
    put_stream(&json, "stdout", "stdout_base64", &result->output[0]);
    put_stream(&json, "stderr", "stderr_base64", &result->output[1]);
    sb_json_put_int(&json, "stdout_bytes", (int64_t)result->output[0].total);
    sb_json_put_int(&json, "stderr_bytes", (int64_t)result->output[1].total);
    sb_json_put_bool(&json, "truncated", cut);
    sb_json_put_string(&json, "run_id", run_id);
    sb_json_put_string(&json, "backend", backend);
    put_files(&json, result);
    sb_json_put_bool(&json, "artifacts_truncated", result->files_cut);
    sb_json_close_object(&json);
    sb_buf_addc(out, '\n');
}
