/* SPDX-License-Identifier: MIT */
#include "server/tools/waiting.h"

#include "base/alloc.h"
#include "platform/clock.h"
#include "sandbox/ask.h"
#include "server/tools/usable.h"

#define TELL_EVERY_MS 500 /* sb_call_progress sends fewer */
#define LINE_MS       3000

struct waiting {
    struct sb_call *call; /* NULL: cancelled; what was asked for still comes, and frees this */
    void *args;
    struct sb_job *job; /* NULL: it is something that can't be called off */
    struct sb_job_wait *wait;
    uv_timer_t tell;
    void (*on_ready)(struct sb_call *call, void *args, const struct sb_probe_result *backend);
    void (*on_line)(struct sb_call *call, void *args, const char *line);
    void (*on_ring)(struct sb_call *call, void *args, struct sb_job *job, bool ended);
};

static struct waiting *begin(struct sb_call *call, void *args)
{
    struct waiting *waiting = sb_alloc(sizeof *waiting);

    waiting->call = call;
    waiting->args = args;
    sb_call_set(call, waiting);
    return waiting;
}

/* What was asked for has come. The wait is over; its copy says for whom. */
static struct waiting finish(struct waiting *waiting)
{
    struct waiting copy = *waiting;

    if (copy.call != NULL)
        sb_call_set(copy.call, NULL);
    sb_free(waiting);
    return copy;
}

/* ---- backend, line -------------------------------------------------------------------- */

static void on_backend(void *ctx, const struct sb_probe_result *result)
{
    const struct waiting waiting = finish(ctx);

    if (waiting.call == NULL)
        return;
    if (result->usable)
        waiting.on_ready(waiting.call, waiting.args, result);
    else
        sb_usable_refuse(waiting.call, result);
}

void sb_waiting_backend(struct sb_call *call, void *args,
                        void (*on_ready)(struct sb_call *call, void *args,
                                         const struct sb_probe_result *backend))
{
    struct waiting *waiting = begin(call, args);

    waiting->on_ready = on_ready;
    sb_host_backend(sb_call_host(call), on_backend, waiting);
}

static void on_said(void *ctx, const struct sb_err *err, const char *line)
{
    const struct waiting waiting = finish(ctx);

    if (waiting.call != NULL)
        waiting.on_line(waiting.call, waiting.args, err == NULL ? line : "");
}

void sb_waiting_line(struct sb_call *call, void *args, const char *program, const char *arg,
                     void (*on_line)(struct sb_call *call, void *args, const char *line))
{
    struct waiting *waiting = begin(call, args);

    waiting->on_line = on_line;
    sb_ask_line(sb_host_loop(sb_call_host(call)), program, arg, LINE_MS, on_said, waiting);
}

/* ---- job ------------------------------------------------------------------------------ */

static void on_closed(uv_handle_t *handle)
{
    sb_free(handle->data);
}

static void leave(struct waiting *waiting)
{
    sb_call_set(waiting->call, NULL);
    uv_close((uv_handle_t *)&waiting->tell, on_closed);
}

static void on_tell(uv_timer_t *timer)
{
    struct waiting *waiting = timer->data;

    sb_call_progress(waiting->call, sb_job_elapsed_ms(waiting->job), sb_job_last_line(waiting->job));
}

static void on_job(void *ctx, bool ended)
{
    struct waiting *waiting = ctx;

    leave(waiting);
    waiting->on_ring(waiting->call, waiting->args, waiting->job, ended);
}

void sb_waiting_job(struct sb_call *call, void *args, struct sb_job *job, double wait_s,
                    void (*on_ring)(struct sb_call *call, void *args, struct sb_job *job, bool ended))
{
    int64_t left_ms = (int64_t)(wait_s * 1000) - (sb_clock_us() - sb_call_arrived_us(call)) / 1000;
    struct waiting *waiting;

    if (sb_job_ended(job) || left_ms <= 0) {
        on_ring(call, args, job, sb_job_ended(job));
        return;
    }
    waiting = begin(call, args);
    waiting->job = job;
    waiting->on_ring = on_ring;
    waiting->tell.data = waiting;
    uv_timer_init(sb_host_loop(sb_call_host(call)), &waiting->tell);
    uv_timer_start(&waiting->tell, on_tell, TELL_EVERY_MS, TELL_EVERY_MS);
    waiting->wait = sb_job_wait(job, left_ms, on_job, waiting);
}

struct sb_job *sb_waiting_stop(struct sb_call *call)
{
    struct waiting *waiting = sb_call_get(call);
    struct sb_job *job = waiting != NULL ? waiting->job : NULL;

    if (job != NULL) {
        sb_job_unwait(waiting->wait);
        leave(waiting);
    } else if (waiting != NULL) {
        waiting->call = NULL;
    }
    return job;
}
