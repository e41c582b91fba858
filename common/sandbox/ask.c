/* SPDX-License-Identifier: MIT */
#include "sandbox/ask.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "platform/process.h"

struct ask {
    char *program, *arg;
    uint64_t within_ms;
    struct sb_proc *proc; /* NULL: could not be started */
    uv_timer_t timer;
    bool output_ended, gone;
    struct sb_buf answer;
    struct sb_err err;
    char space[2][1024]; /* of stdout, of stderr */
    void (*on_done)(void *ctx, const struct sb_err *err, const char *line);
    void *ctx;
};

static void on_timer_closed(uv_handle_t *handle)
{
    struct ask *ask = handle->data;

    ask->answer.data[strcspn(ask->answer.data, "\r\n")] = '\0';
    ask->on_done(ask->ctx, ask->err.code == SB_OK ? NULL : &ask->err, ask->answer.data);
    sb_buf_done(&ask->answer);
    sb_free(ask->program);
    sb_free(ask->arg);
    sb_free(ask);
}

static void on_proc_closed(void *ctx)
{
    struct ask *ask = ctx;

    uv_close((uv_handle_t *)&ask->timer, on_timer_closed);
}

/* What it said is read to its end before its process is let go. */
static void finish_when_over(struct ask *ask)
{
    if (ask->gone && ask->output_ended) {
        uv_timer_stop(&ask->timer);
        sb_proc_free(ask->proc, on_proc_closed, ask);
    }
}

static void on_late(uv_timer_t *timer)
{
    struct ask *ask = timer->data;

    if (ask->err.code == SB_OK)
        sb_fail(&ask->err, SB_TIMEOUT, "'%s %s' did not end within %u ms", ask->program, ask->arg,
                (unsigned)ask->within_ms);
    ask->output_ended = true; /* whoever holds the pipe open now is not waited for */
    sb_proc_kill(ask->proc);
    finish_when_over(ask);
}

static void on_exit(void *ctx, const struct sb_proc_end *end)
{
    struct ask *ask = ctx;

    if (ask->err.code == SB_OK && (end->signalled || end->code != 0))
        sb_fail(&ask->err, SB_HOST, "'%s %s' ended with %s %u", ask->program, ask->arg,
                end->signalled ? "signal" : "exit", (unsigned)end->code);
}

static void on_gone(void *ctx)
{
    struct ask *ask = ctx;

    ask->gone = true;
    finish_when_over(ask);
}

static void on_output_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    struct ask *ask = handle->data;

    (void)suggested;
    *out = uv_buf_init(ask->space[0], sizeof ask->space[0]);
}

static void on_output(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf)
{
    struct ask *ask = stream->data;

    if (count > 0 && !ask->answer.full)
        sb_buf_add(&ask->answer, buf->base, (size_t)count);
    if (count >= 0)
        return;
    uv_read_stop(stream);
    ask->output_ended = true;
    finish_when_over(ask);
}

static void on_errors_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    struct ask *ask = handle->data;

    (void)suggested;
    *out = uv_buf_init(ask->space[1], sizeof ask->space[1]);
}

static void on_errors(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf)
{
    (void)buf; /* drained, so that it can't block on it */
    if (count < 0)
        uv_read_stop(stream);
}

static void listen_to(struct ask *ask)
{
    uv_stream_t *output = sb_proc_output(ask->proc), *errors = sb_proc_errors(ask->proc);

    output->data = errors->data = ask;
    ask->output_ended = uv_read_start(output, on_output_alloc, on_output) < 0;
    uv_read_start(errors, on_errors_alloc, on_errors);
    uv_timer_start(&ask->timer, on_late, ask->within_ms, 0);
}

static void on_not_started(uv_timer_t *timer)
{
    uv_close((uv_handle_t *)timer, on_timer_closed);
}

void sb_ask_line(uv_loop_t *loop, const char *program, const char *arg, uint64_t within_ms,
                 void (*on_done)(void *ctx, const struct sb_err *err, const char *line), void *ctx)
{
    struct ask *ask = sb_alloc(sizeof *ask);
    const struct sb_proc_events events = {.ctx = ask, .on_exit = on_exit, .on_gone = on_gone};
    char path[] = "PATH=/usr/bin:/bin", *env[] = {path, NULL};

    ask->program = sb_strdup(program);
    ask->arg = sb_strdup(arg);
    ask->within_ms = within_ms;
    ask->on_done = on_done;
    ask->ctx = ctx;
    sb_buf_init(&ask->answer, SB_ASK_BYTES);
    uv_timer_init(loop, &ask->timer);
    ask->timer.data = ask;
    const struct sb_launch launch = {
        .program = program, .argv = (char *[]){ask->program, ask->arg, NULL}, .env = env, .cwd = "/"};
    if (sb_proc_start(loop, &launch, &events, &ask->proc, &ask->err) == 0)
        listen_to(ask);
    else
        uv_timer_start(&ask->timer, on_not_started, 0, 0);
}
