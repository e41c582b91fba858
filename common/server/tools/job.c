/* SPDX-License-Identifier: MIT
 * job: comes back to a run that outlived its call. */
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "server/result_text.h"
#include "server/tools/answer.h"
#include "server/tools/page.h"
#include "server/tools/tools.h"
#include "server/tools/usable.h"
#include "server/tools/waiting.h"

#define LIST_MOST   100 /* rows, the newest */
#define KILL_WAIT_S 5   /* from the call's arrival: a killed box is gone long before */
#define NEXT_BYTES  100 /* of the next call */
#define PAGE_CHARS  (SB_RESULT_CHARS - SB_RESULT_BESIDE_CHARS - SB_PAGE_TAIL - NEXT_BYTES)

struct job_args {
    char *job_id, *action;
    double wait;
    int64_t offset;
    bool offset_given;
};

static void list(struct sb_call *call)
{
    struct sb_jobs *jobs = sb_host_jobs(sb_call_host(call));
    const char *peer = sb_call_peer(call);
    struct sb_job *job = NULL;
    size_t count = 0, skip;
    struct sb_buf text;

    while ((job = sb_job_next(jobs, peer, job)) != NULL)
        count++;
    skip = count > LIST_MOST ? count - LIST_MOST : 0;
    sb_buf_init(&text, 64 * 1024);
    sb_buf_addf(&text, "%zu job%s%s", count, count == 1 ? "" : "s", skip > 0 ? ", the newest of them:" : "");
    while ((job = sb_job_next(jobs, peer, job)) != NULL) {
        if (skip > 0) {
            skip--;
            continue;
        }
        sb_buf_addf(&text, "\n%s %s", sb_job_id(job),
                    sb_job_ended(job) ? sb_status_name(sb_job_result(job)->status) : sb_job_state(job));
        sb_buf_addf(&text, " %" PRId64 " ms", sb_job_elapsed_ms(job));
    }
    sb_call_text(call, text.data, text.len);
    sb_buf_done(&text);
    sb_call_reply(call, false);
}

/* ---- its stdout in pages ---------------------------------------------------------------- */

static void give_page(struct sb_call *call, const struct sb_page *page, const char *tool_and_id)
{
    struct sb_buf next;

    sb_buf_init(&next, NEXT_BYTES);
    sb_buf_addf(&next, "%s%s%s", tool_and_id, sb_job_id(page->job),
                page->path != NULL ? " path=@stdout" : "");
    sb_page_give(call, page, next.data);
    sb_buf_done(&next);
}

static void answer_so_far(struct sb_call *call, struct sb_page *page)
{
    struct sb_job *job = page->job;
    struct sb_capture errors;
    struct sb_buf text;

    sb_buf_init(&text, 4 * SB_RESULT_CHARS);
    sb_buf_addf(&text, "running (%s, %" PRId64 " s so far)\n", sb_job_state(job),
                sb_job_elapsed_ms(job) / 1000);
    sb_job_stderr(job, &errors);
    sb_result_so_far(&errors, sb_job_id(job), &text);
    sb_call_text(call, text.data, text.len);
    give_page(call, page, "job job_id=");
    sb_call_reply(call, false);
    sb_capture_done(&errors);
    sb_buf_done(&text);
}

/* From here on read_file goes on: its pages are larger, and repeat nothing. */
static void answer_last(struct sb_call *call, struct sb_page *page)
{
    const struct sb_run_result *result = sb_job_result(page->job);
    struct sb_buf text;

    sb_buf_init(&text, 4 * SB_RESULT_CHARS);
    sb_result_beside(result, sb_job_id(page->job), &text);
    sb_call_text(call, text.data, text.len);
    sb_answer_files(call, page->job);
    give_page(call, page, "read_file run_id=");
    sb_call_reply(call, result->status == SB_STATUS_HOST_ERROR);
    sb_buf_done(&text);
}

/* An offset counts what the program wrote, also when its middle was dropped. */
static int read_page(struct sb_page *page, uint64_t offset, struct sb_err *err)
{
    uint64_t total;

    if (!sb_job_ended(page->job))
        return sb_page_read(page, offset, err);
    total = sb_job_result(page->job)->output[0].total;
    if (offset > total)
        return sb_fail(err, SB_BAD_REQUEST,
                       "offset %" PRIu64 " is behind the end: stdout had %" PRIu64 " bytes", offset, total);
    page->path = "@stdout";
    return sb_page_read(page, sb_job_kept_at(page->job, offset), err);
}

static void answer_page(struct sb_call *call, struct sb_job *job, uint64_t offset)
{
    struct sb_page page = {.job = job, .room = PAGE_CHARS};
    struct sb_err err = {0};

    if (read_page(&page, offset, &err) == 0 && page.path == NULL)
        answer_so_far(call, &page);
    else if (err.code == SB_OK)
        answer_last(call, &page);
    else if (err.code == SB_BAD_REQUEST)
        sb_tool_refuse(call, "%s. Go on where the last answer said, or begin with offset=0.", err.text);
    else
        sb_answer_ended(call, job); /* nothing is kept: it says why */
    sb_page_done(&page);
}

/* There is no need to wait: a full page is there already, or never comes. */
static bool page_is_due(struct sb_job *job, uint64_t offset)
{
    uint64_t at = offset, total = 0;
    struct sb_buf bytes;
    bool due;

    sb_buf_init(&bytes, PAGE_CHARS);
    sb_job_peek(job, &at, PAGE_CHARS, &bytes, &total);
    due = bytes.len == PAGE_CHARS || offset > total;
    sb_buf_done(&bytes);
    return due;
}

/* ---- waiting ------------------------------------------------------------------------------ */

static void on_ring(struct sb_call *call, void *own, struct sb_job *job, bool ended)
{
    const struct job_args *args = own;

    if (args->offset_given)
        answer_page(call, job, (uint64_t)args->offset);
    else if (ended)
        sb_answer_ended(call, job);
    else
        sb_answer_running(call, job);
}

static double wait_of(const struct job_args *args, struct sb_job *job, bool kill)
{
    if (kill)
        return args->wait < KILL_WAIT_S ? KILL_WAIT_S : args->wait;
    return args->offset_given && page_is_due(job, (uint64_t)args->offset) ? 0 : args->wait;
}

static void start(struct sb_call *call, void *own)
{
    const struct job_args *args = own;
    bool kill = strcmp(args->action, "kill") == 0;
    struct sb_job *job;

    if (args->job_id == NULL && (kill || args->offset_given)) {
        sb_tool_refuse(call, "%s needs a job_id; job without arguments lists the jobs there are.",
                       kill ? "kill" : "offset");
        return;
    }
    if (strcmp(args->action, "list") == 0 || args->job_id == NULL) {
        list(call);
        return;
    }
    job = sb_job_find(sb_host_jobs(sb_call_host(call)), sb_call_peer(call), args->job_id);
    if (job == NULL) {
        sb_answer_unknown(call, args->job_id);
        return;
    }
    if (kill)
        sb_job_kill(job);
    sb_waiting_job(call, own, job, wait_of(args, job, kill), on_ring);
}

/* Whoever stops waiting does not kill the job. */
static void cancel(struct sb_call *call)
{
    sb_waiting_stop(call);
}

static const char *const actions[] = {"wait", "kill", "list", NULL};

static const struct sb_field fields[] = {
    {.name = "job_id",
     .type = SB_FIELD_STRING,
     .at = offsetof(struct job_args, job_id),
     .most = 60,
     .text = "The run (r_...); without it all jobs are listed."},
    {.name = "action",
     .type = SB_FIELD_STRING,
     .at = offsetof(struct job_args, action),
     .words = actions,
     .fallback = "\"wait\"",
     .text = "wait answers with the result, or with the state when `wait` is over."},
    {.name = "wait",
     .type = SB_FIELD_NUMBER,
     .at = offsetof(struct job_args, wait),
     .most = SB_WAIT_MOST_S,
     .fallback = "45",
     .text = "Seconds."},
    {.name = "offset",
     .type = SB_FIELD_INT,
     .at = offsetof(struct job_args, offset),
     .given_at = offsetof(struct job_args, offset_given),
     .most = 9007199254740991.0,
     .text = "Follows a long run: stdout from this byte on, the first from 0; the answer names the next."},
    {.name = NULL},
};

const struct sb_tool sb_tool_job = {
    .name = "job",
    .title = "Wait for a job",
    .description =
        "Waits for, kills or lists runs of execute_code that answered \"running\". Results are kept for 30 "
        "minutes.",
    .always_load = true,
    .fields = fields,
    .args_size = sizeof(struct job_args),
    .start = start,
    .cancel = cancel,
};
