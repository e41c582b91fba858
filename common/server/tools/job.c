/* SPDX-License-Identifier: MIT
 * job: comes back to a run that outlived its call. */
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "server/tools/answer.h"
#include "server/tools/tools.h"
#include "server/tools/usable.h"
#include "server/tools/waiting.h"

#define LIST_MOST   100 /* rows, the newest */
#define KILL_WAIT_S 5   /* from the call's arrival: a killed box is gone long before */

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

static void on_ring(struct sb_call *call, void *args, struct sb_job *job, bool ended)
{
    (void)args;
    if (ended)
        sb_answer_ended(call, job);
    else
        sb_answer_running(call, job);
}

static void start(struct sb_call *call, void *own)
{
    const struct job_args *args = own;
    bool kill = strcmp(args->action, "kill") == 0;
    struct sb_job *job;

    if (strcmp(args->action, "list") == 0 || (args->job_id == NULL && !kill)) {
        list(call);
        return;
    }
    if (args->job_id == NULL) {
        sb_tool_refuse(call, "kill needs a job_id; job without arguments lists the jobs there are.");
        return;
    }
    if (args->offset_given) {
        sb_tool_later(call, "offset is");
        return;
    }
    job = sb_job_find(sb_host_jobs(sb_call_host(call)), sb_call_peer(call), args->job_id);
    if (job == NULL) {
        sb_answer_unknown(call, args->job_id);
        return;
    }
    if (kill)
        sb_job_kill(job);
    sb_waiting_job(call, own, job, kill && args->wait < KILL_WAIT_S ? KILL_WAIT_S : args->wait, on_ring);
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
     .text = "Output of a running job from this byte on; not available yet."},
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
