/* SPDX-License-Identifier: MIT */
#include "sandbox/run_inner.h"

#include <string.h>

#include "base/alloc.h"
#include "sandbox/run_want.h"

static const signed char next_state[SB_RUN_STATES][SB_RUN_EVENTS] = {
    /*                      START           READY           CANCEL        EXIT               COLLECTED     BROKEN        LATE */
    [SB_RUN_QUEUED] = {SB_RUN_OPENING, -1, SB_RUN_ENDED, -1, -1, SB_RUN_ENDED, -1},
    [SB_RUN_OPENING] = {-1, SB_RUN_RUNNING, SB_RUN_ENDED, -1, -1, SB_RUN_ENDED, -1},
    [SB_RUN_RUNNING] = {-1, -1, SB_RUN_DRAINING, SB_RUN_COLLECTING, -1, SB_RUN_ENDED, SB_RUN_ENDED},
    [SB_RUN_DRAINING] = {-1, -1, -1, SB_RUN_COLLECTING, -1, SB_RUN_ENDED, SB_RUN_ENDED},
    [SB_RUN_COLLECTING] = {-1, -1, SB_RUN_ENDED, -1, SB_RUN_ENDED, SB_RUN_ENDED, SB_RUN_ENDED},
    [SB_RUN_ENDED] = {-1, -1, -1, -1, -1, -1, -1},
};

int sb_run_next(enum sb_run_state state, enum sb_run_event event)
{
    return next_state[state][event];
}

const char *sb_run_state_name(enum sb_run_state state)
{
    static const char *const names[] = {"queued", "opening", "running", "draining", "collecting", "ended"};

    return names[state];
}

const char *sb_status_name(enum sb_status status)
{
    static const char *const names[] = {"ok",           "error",        "signal",     "timeout",
                                        "cpu_limit",    "memory_limit", "process_limit", "disk_limit",
                                        "output_limit", "cancelled",    "host_error"};

    return names[status];
}

/* Output that may still come when the time is up: credit, the guest's queues, two full pipes. */
#define LEFT_OVER_BYTES (4u * 1024 * 1024)

const char *sb_run_id(const struct sb_run *run)
{
    return run->id;
}

const struct sb_capture *sb_run_output(const struct sb_run *run, enum sb_channel channel)
{
    return &run->result.output[channel - SB_CHAN_OUT];
}

enum sb_run_state sb_run_state(const struct sb_run *run)
{
    return run->state;
}

struct sb_box *sb_run_box(struct sb_run *run)
{
    return run->box;
}

struct sb_link *sb_run_link(struct sb_run *run)
{
    return run->box != NULL ? sb_box_link(run->box) : NULL;
}

/* ---- the steps ---------------------------------------------------------------------- */

void sb_run_broken(struct sb_run *run, const struct sb_err *why, const char *mend)
{
    if (run->state == SB_RUN_ENDED)
        return;
    /* A box that dies while artifacts are fetched doesn't undo what the program did. */
    if (run->state != SB_RUN_COLLECTING && !run->cancelled) {
        run->result.status = SB_STATUS_HOST_ERROR;
        run->result.err = *why;
        strncpy(run->result.mend, mend, sizeof run->result.mend - 1);
    }
    sb_run_step(run, SB_RUN_BROKEN);
}

static void on_late(uv_timer_t *timer)
{
    struct sb_run *run = timer->data;
    uint64_t output = run->result.output[0].total + run->result.output[1].total;

    /* The program may long be over and only its output wait for a slow reader: the guest
     * enforces the limit by itself, so that alone is no reason to lose the rest. A guest that
     * goes on talking doesn't enforce it. */
    if (run->late_output == 0)
        run->late_output = output + LEFT_OVER_BYTES;
    if (run->state == SB_RUN_RUNNING && run->unread[SB_CHAN_OUT] + run->unread[SB_CHAN_ERR] > 0 &&
        output <= run->late_output)
        uv_timer_start(timer, on_late, SB_RUN_LATE_MS, 0);
    else
        sb_run_step(run, SB_RUN_LATE);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct sb_run *run = handle->data;

    run->events.on_gone(run->events.ctx);
    for (size_t i = 0; i < 2; i++)
        sb_capture_done(&run->result.output[i]);
    for (size_t i = 0; i < run->file_count; i++)
        sb_free(run->files[i].path);
    sb_free(run->files);
    for (size_t i = 0; i < run->upload_count; i++)
        sb_free(run->uploads[i].path);
    sb_buf_done(&run->code);
    sb_free(run);
}

static void maybe_free(struct sb_run *run)
{
    if (run->ended_told && run->box_gone)
        uv_close((uv_handle_t *)&run->timer, on_timer_closed);
}

static void enter_running(struct sb_run *run)
{
    int64_t timeout = run->grant.value[SB_ROW_TIMEOUT_MS];

    sb_box_step(run->box, SB_BOX_TAKEN);
    if (timeout > 0)
        uv_timer_start(&run->timer, on_late, (uint64_t)timeout + SB_RUN_LATE_MS, 0);
}

static void enter_draining(struct sb_run *run)
{
    struct sb_link *link = sb_run_link(run);

    if (link != NULL) {
        sb_link_kill(link, run->exec);
        sb_link_flush(link);
    }
    uv_timer_start(&run->timer, on_late, SB_RUN_CANCEL_MS, 0);
}

static void enter_collecting(struct sb_run *run)
{
    uv_timer_start(&run->timer, on_late, SB_BOX_OPEN_MS, 0);
    sb_run_collect_next(run);
}

/* The box went before all were fetched: nobody may take the rest for whole. */
static void leave_out_rest(struct sb_run *run)
{
    struct sb_err err = {0};

    sb_fail(&err, SB_CANCELLED, "the box was closed before it was fetched");
    for (; run->collect && run->collecting < run->file_count; run->collecting++)
        run->events.on_artifact_end(run->events.ctx, &run->files[run->collecting], &err);
}

static void on_end_turn(uv_timer_t *timer)
{
    struct sb_run *run = timer->data;

    leave_out_rest(run);
    run->events.on_ended(run->events.ctx, &run->result);
    run->ended_told = true;
    maybe_free(run);
}

/* The reply leaves before the box is gone, and never from inside a caller's call. */
static void enter_ended(struct sb_run *run, enum sb_run_event event)
{
    if (run->cancelled) {
        run->result.status = SB_STATUS_CANCELLED;
    } else if (event == SB_RUN_LATE && !run->judged) {
        run->result.status = SB_STATUS_TIMEOUT;
        run->result.limit_row = SB_ROW_TIMEOUT_MS;
        run->result.limit = run->grant.value[SB_ROW_TIMEOUT_MS];
        run->result.wall_us = (uint64_t)run->grant.value[SB_ROW_TIMEOUT_MS] * 1000;
    }
    run->result.files = run->files;
    run->result.file_count = run->file_count;
    if (run->box != NULL)
        sb_box_close(run->box);
    uv_timer_start(&run->timer, on_end_turn, 0, 0);
}

void sb_run_step(struct sb_run *run, enum sb_run_event event)
{
    int next = sb_run_next(run->state, event);

    if (next < 0)
        return;
    run->state = (enum sb_run_state)next;
    switch (run->state) {
    case SB_RUN_RUNNING:
        enter_running(run);
        break;
    case SB_RUN_DRAINING:
        enter_draining(run);
        break;
    case SB_RUN_COLLECTING:
        enter_collecting(run);
        break;
    case SB_RUN_ENDED:
        enter_ended(run, event);
        break;
    case SB_RUN_QUEUED:
    case SB_RUN_OPENING:
    case SB_RUN_STATES:
        break;
    }
}

void sb_run_cancel(struct sb_run *run)
{
    run->cancelled = true;
    sb_run_step(run, SB_RUN_CANCEL);
}

/* ---- the box ------------------------------------------------------------------------ */

static void on_box_ready(void *ctx)
{
    sb_run_step(ctx, SB_RUN_READY);
}

static void on_box_broken(void *ctx, const struct sb_err *why, const char *mend)
{
    sb_run_broken(ctx, why, mend);
}

static void on_box_gone(void *ctx)
{
    struct sb_run *run = ctx;

    run->box = NULL;
    run->box_gone = true;
    maybe_free(run);
}

/* ---- the program -------------------------------------------------------------------- */

static void on_data(void *ctx, enum sb_channel channel, const void *bytes, size_t len)
{
    struct sb_run *run = ctx;

    sb_capture_add(&run->result.output[channel - SB_CHAN_OUT], bytes, len);
    run->unread[channel] += len;
    if (run->events.on_output != NULL)
        run->events.on_output(run->events.ctx, channel, bytes, len);
    else
        sb_run_consumed(run, channel, len);
}

void sb_run_consumed(struct sb_run *run, enum sb_channel channel, size_t bytes)
{
    struct sb_link *link = sb_run_link(run);

    run->unread[channel] -= bytes;
    if (link != NULL)
        sb_link_credit(link, run->exec, channel, bytes);
}

static void on_program_input(void *ctx)
{
    struct sb_run *run = ctx;

    if (run->events.on_input != NULL)
        run->events.on_input(run->events.ctx);
}

size_t sb_run_send(struct sb_run *run, const void *bytes, size_t len)
{
    struct sb_link *link = sb_run_link(run);

    return link != NULL ? sb_link_send(link, run->exec, bytes, len) : len;
}

void sb_run_send_end(struct sb_run *run)
{
    struct sb_link *link = sb_run_link(run);

    if (link != NULL)
        sb_link_send_end(link, run->exec);
}

static void on_exec_refused(void *ctx, const struct sb_err *err)
{
    struct sb_err why = *err;

    sb_fail_in(&why, "cannot start the program");
    sb_run_broken(ctx, &why, "");
}

/* Which status a limit gives, and the row with its number. */
static const struct {
    enum sb_status status;
    enum sb_limit_row row;
} limits[SB_LIMIT_COUNT] = {
    [SB_LIMIT_WALL] = {SB_STATUS_TIMEOUT, SB_ROW_TIMEOUT_MS},
    [SB_LIMIT_CPU] = {SB_STATUS_CPU_LIMIT, SB_ROW_TIMEOUT_MS},
    [SB_LIMIT_MEMORY] = {SB_STATUS_MEMORY_LIMIT, SB_ROW_MEMORY_MB},
    [SB_LIMIT_PROCESSES] = {SB_STATUS_PROCESS_LIMIT, SB_ROW_PROCESSES},
    [SB_LIMIT_DISK] = {SB_STATUS_DISK_LIMIT, SB_ROW_WORKSPACE_MB},
    [SB_LIMIT_OUTPUT] = {SB_STATUS_OUTPUT_LIMIT, SB_ROW_OUTPUT_PRODUCED},
};

static void judge(struct sb_run *run, const struct sb_wire_exit *exit)
{
    struct sb_run_result *result = &run->result;

    result->code = exit->code;
    result->wall_us = exit->wall_us;
    result->cpu_us = exit->cpu_us;
    result->peak_bytes = exit->peak_bytes;
    result->parent_killed = (exit->flags & SB_EXIT_PARENT_KILLED) != 0;
    result->files_cut = (exit->flags & SB_EXIT_FILES_CUT) != 0;
    if (run->cancelled) {
        result->status = SB_STATUS_CANCELLED;
    } else if (exit->limit != SB_LIMIT_NONE) {
        result->status = limits[exit->limit].status;
        result->limit_row = limits[exit->limit].row;
        result->limit = run->grant.value[result->limit_row];
    } else if (exit->kind != SB_EXITED) {
        result->status = SB_STATUS_SIGNAL;
    } else {
        result->status = exit->code == 0 ? SB_STATUS_OK : SB_STATUS_ERROR;
    }
}

static void on_exit(void *ctx, const struct sb_wire_exit *exit)
{
    struct sb_run *run = ctx;

    judge(run, exit);
    run->judged = true;
    run->files = sb_alloc((exit->file_count + 1) * sizeof *run->files);
    for (size_t i = 0; i < exit->file_count; i++) {
        run->files[i] = exit->files[i];
        run->files[i].path = sb_strdup(exit->files[i].path);
    }
    run->file_count = exit->file_count;
    sb_run_step(run, SB_RUN_EXIT);
}

/* ---- starting ----------------------------------------------------------------------- */

static void fill_exec(const struct sb_run_want *want, struct sb_run *run, struct sb_wire_exec *exec)
{
    const int64_t *granted = want->box.grant->value;

    sb_language_argv(want->language, want->program, want->args, &exec->argv);
    sb_run_want_env(want, sb_box_workspace(run->box), &exec->env);
    exec->flags = (want->feed_stdin ? SB_EXEC_STDIN : 0) |
                  (want->list_files || want->collect_files ? SB_EXEC_FILES : 0);
    exec->limits.wall_ms = (uint64_t)granted[SB_ROW_TIMEOUT_MS];
    exec->limits.output_bytes = (uint64_t)granted[SB_ROW_OUTPUT_PRODUCED];
    exec->limits.open_files = (uint32_t)granted[SB_ROW_OPEN_FILES];
    exec->limits.processes = (uint32_t)granted[SB_ROW_PROCESSES];
}

static int request(struct sb_run *run, const struct sb_run_want *want, struct sb_err *err)
{
    const struct sb_op_events program = {.ctx = run,
                                         .on_data = on_data,
                                         .on_input = on_program_input,
                                         .on_done = on_exec_refused,
                                         .on_exit = on_exit};
    struct sb_link *link = sb_run_link(run);
    struct sb_wire_exec exec = {0};

    if (link == NULL)
        return 0; /* its end is on the way */
    sb_run_plan_uploads(run, want);
    if (sb_run_start_uploads(run, link, err) < 0)
        return -1;
    fill_exec(want, run, &exec);
    run->exec = sb_link_exec(link, &exec, &program, err);
    sb_wire_exec_done(&exec);
    if (run->exec == 0)
        return -1;
    sb_link_flush(link);
    return 0;
}

struct sb_run *sb_run_new(uv_loop_t *loop, const struct sb_run_want *want, const struct sb_run_events *events)
{
    struct sb_run *run = sb_alloc(sizeof *run);
    const struct sb_box_events box_events = {
        .ctx = run, .on_ready = on_box_ready, .on_broken = on_box_broken, .on_gone = on_box_gone};
    struct sb_err err = {0};
    int rc;

    memcpy(run->id, "r_", 2);
    sb_random_id(run->id + 2);
    run->events = *events;
    run->grant = *want->box.grant;
    run->collect = want->collect_files;
    for (size_t i = 0; i < 2; i++)
        sb_capture_init(&run->result.output[i], (size_t)run->grant.value[SB_ROW_OUTPUT_KEPT]);
    sb_buf_init(&run->code, SB_RUN_CODE_MAX);
    sb_language_code(want->language, want->code, want->code_len, &run->code);
    uv_timer_init(loop, &run->timer);
    run->timer.data = run;
    rc = sb_run_check(want, &err);
    if (rc == 0 && run->code.full) /* by the line ends it was given */
        rc = sb_fail(&err, SB_LIMIT, "the code has more than %u bytes", SB_RUN_CODE_MAX);
    if (rc == 0 && sb_box_open(loop, &want->box, &box_events, &run->box, &err) == 0) {
        sb_run_step(run, SB_RUN_START);
        request(run, want, &err);
    }
    run->box_gone = run->box == NULL;
    if (err.code != SB_OK)
        sb_run_broken(run, &err, "");
    return run;
}
