/* SPDX-License-Identifier: MIT
 * Runs: from EXEC over input, outputs and limits to EXIT. */
#include "guest/dispatch.h"

#include <string.h>

#include "base/alloc.h"
#include "base/path.h"

static int64_t later(int64_t now_us, uint64_t ms)
{
    const uint64_t most = (uint64_t)1 << 50; /* no sum of such times overflows */
    return now_us + (int64_t)(ms < most ? ms * 1000 : most * 1000);
}

/* ---- start ---- */

static int start(struct sb_guest *guest, struct sb_guest_op *op, struct sb_err *err)
{
    struct sb_guest_exec *run = op->run;
    struct sb_wire_exec *exec = &run->asked;
    const struct sb_wire_limits *limits = &exec->limits;
    char *no_env[] = {NULL};
    struct sb_gos_start start = {.argv = exec->argv.v,
                                 .env = exec->env.n > 0 ? exec->env.v : no_env,
                                 .cwd = exec->cwd,
                                 .guest_itself = exec->flags & SB_EXEC_GUEST,
                                 .feed_stdin = op->has_input,
                                 .limits = *limits};
    if (exec->flags & SB_EXEC_FILES)
        sb_changes_before(&run->changes, guest->gos);
    if (sb_gos_run_start(guest->gos, &start, &run->os, err) < 0)
        return -1;
    int64_t now = sb_gos_now_us();
    run->wall_us = limits->wall_ms ? later(now, limits->wall_ms) : INT64_MAX;
    run->cpu_us = limits->cpu_ms ? later(now, SB_GUEST_CPU_MS) : INT64_MAX;
    run->input_open = op->has_input;
    sb_wire_exec_done(exec);
    if (op->has_input)
        sb_guest_exec_input(guest, op);
    return 0;
}

static void refuse(struct sb_guest *guest, struct sb_guest_op *op, const struct sb_err *err)
{
    sb_guest_send_error(guest, op->id, err);
    sb_guest_op_free(guest, op);
}

static void refuse_for_put(struct sb_guest *guest, struct sb_guest_op *op, const struct sb_err *why)
{
    struct sb_err err = *why;
    sb_fail_in(&err, "not started, a file it needs was not written");
    refuse(guest, op, &err);
}

static bool is_waiting(const struct sb_guest_op *op)
{
    return op->run && !op->run->os;
}

static void start_if_ready(struct sb_guest *guest, struct sb_guest_op *op)
{
    struct sb_err err;
    if (!is_waiting(op))
        return;
    for (size_t i = 0; i < guest->op_count && guest->ops[i]->id < op->id; i++)
        if (guest->ops[i]->kind == SB_MSG_PUT)
            return;
    if (start(guest, op, &err) < 0)
        refuse(guest, op, &err);
}

/* A failed PUT fails one run: the first after it, here already or yet to come. */
void sb_guest_exec_put_over(struct sb_guest *guest, uint32_t id, const struct sb_err *err)
{
    size_t i = 0;
    if (err) {
        while (i < guest->op_count && (guest->ops[i]->id < id || !is_waiting(guest->ops[i])))
            i++;
        if (i < guest->op_count) {
            refuse_for_put(guest, guest->ops[i], err);
        } else {
            guest->failed_put = id;
            guest->put_error = *err;
        }
    }
    sb_guest_each(guest, start_if_ready);
}

static int check(struct sb_wire_exec *exec, struct sb_err *err)
{
    struct sb_buf cwd;
    sb_buf_init(&cwd, SB_WIRE_PATH_MAX);
    int rc = sb_path_plain_folder(exec->cwd, strlen(exec->cwd), sb_guest_path_rules(), &cwd, err);
    if (rc == 0)
        memcpy(exec->cwd, cwd.data, cwd.len + 1);
    sb_buf_done(&cwd);
    if (rc == 0 && !(exec->flags & SB_EXEC_GUEST) &&
        !sb_path_is_absolute(exec->argv.v[0], sb_guest_path_rules()))
        rc = sb_fail(err, SB_BAD_REQUEST, "the program '%s' is not an absolute path", exec->argv.v[0]);
    return rc;
}

void sb_guest_exec_new(struct sb_guest *guest, uint32_t id, struct sb_wire_exec *exec)
{
    struct sb_err err;
    struct sb_guest_op *op = sb_guest_op_new(guest, id, SB_MSG_EXEC);
    op->run = sb_alloc(sizeof *op->run);
    op->run->asked = *exec;
    op->has_input = exec->flags & SB_EXEC_STDIN;
    if (guest->failed_put) {
        guest->failed_put = 0;
        refuse_for_put(guest, op, &guest->put_error);
    } else if (check(&op->run->asked, &err) < 0) {
        refuse(guest, op, &err);
    } else {
        start_if_ready(guest, op);
    }
}

void sb_guest_exec_free(struct sb_guest_exec *run)
{
    if (!run)
        return;
    if (run->os)
        sb_gos_run_free(run->os);
    sb_wire_exec_done(&run->asked);
    sb_changes_done(&run->changes);
    sb_free(run);
}

/* ---- input ---- */

static void want_input(struct sb_guest_exec *run, bool want)
{
    if (run->input_wanted == want)
        return;
    run->input_wanted = want;
    sb_gos_run_want(run->os, SB_CHAN_IN, want);
}

static void close_input(struct sb_guest_exec *run)
{
    if (!run->input_open)
        return;
    want_input(run, false);
    run->input_open = false;
    sb_gos_run_close_input(run->os);
}

void sb_guest_exec_input(struct sb_guest *guest, struct sb_guest_op *op)
{
    struct sb_guest_exec *run = op->run;
    size_t used = op->bytes.len;
    if (!run->os)
        return;
    if (run->input_open && op->bytes.len > 0) {
        long n = sb_gos_run_write(run->os, op->bytes.data, op->bytes.len);
        if (n < 0)
            close_input(run); /* the program reads no more; the rest is dropped */
        else
            used = (size_t)n;
    }
    sb_buf_drop(&op->bytes, used);
    sb_guest_used(guest, op, used);
    if (op->bytes.len == 0 && op->input_ended)
        close_input(run);
    if (run->input_open)
        want_input(run, op->bytes.len > 0);
}

/* ---- kill ---- */

static void kill_run(struct sb_guest_exec *run, enum sb_limit why)
{
    if (run->killed)
        return;
    run->killed = true;
    run->limit = why;
    if (!run->ended)
        sb_gos_run_kill(run->os);
}

void sb_guest_exec_kill(struct sb_guest *guest, struct sb_guest_op *op)
{
    struct sb_err err;
    if (op->run->os) {
        if (!op->run->ended)
            kill_run(op->run, SB_LIMIT_NONE);
        return;
    }
    sb_fail(&err, SB_CANCELLED, "killed before it was started");
    refuse(guest, op, &err);
}

/* ---- outputs ---- */

/* At the limit we go on reading, to see whether there is more, and drop it. */
static bool is_full(const struct sb_guest_exec *run, const struct sb_guest_output *output)
{
    return run->asked.limits.output_bytes && output->produced >= run->asked.limits.output_bytes;
}

/* How much may be read now. */
static size_t appetite(const struct sb_guest *guest, const struct sb_guest_op *op, enum sb_channel channel)
{
    const struct sb_guest_exec *run = op->run;
    const struct sb_guest_output *output = &run->outputs[channel];
    uint64_t limit = run->asked.limits.output_bytes, most = SB_WIRE_DATA_MAX;
    if (output->ended)
        return 0;
    if (is_full(run, output))
        return SB_WIRE_DATA_MAX;
    if (!sb_guest_has_room(guest))
        return 0;
    if (limit && most > limit - output->produced)
        most = limit - output->produced;
    if (most > op->may_send[channel])
        most = op->may_send[channel];
    return (size_t)most;
}

static void read_output(struct sb_guest *guest, struct sb_guest_op *op, enum sb_channel channel)
{
    struct sb_guest_exec *run = op->run;
    struct sb_guest_output *output = &run->outputs[channel];
    size_t most = appetite(guest, op, channel);
    long n = most > 0 ? sb_gos_run_read(run->os, channel, guest->scratch, most) : 0;
    if (n < 0)
        output->ended = true;
    if (n <= 0)
        return;
    if (is_full(run, output))
        kill_run(run, SB_LIMIT_OUTPUT);
    else
        sb_guest_send_data(guest, op, channel, guest->scratch, (size_t)n);
    output->produced += (uint64_t)n;
    output->quiet_us = later(guest->now_us, SB_GUEST_QUIET_MS);
    if (run->ended)
        output->drained += (uint64_t)n;
}

/* The tree is dead; whatever still holds this pipe is not the program's (a descriptor sent
 * to another run's process, say). What is in the pipe is taken, for the rest nobody waits. */
static void drain(struct sb_guest *guest, struct sb_guest_op *op, enum sb_channel channel)
{
    struct sb_guest_output *output = &op->run->outputs[channel];
    uint64_t before = output->produced;
    if (!output->wanted || appetite(guest, op, channel) == 0)
        return; /* it waits for the host */
    if (output->drained < SB_GUEST_DRAIN_MAX) {
        if (guest->now_us < output->quiet_us)
            return;
        read_output(guest, op, channel); /* the deadline may have come before the event */
        if (output->ended || output->produced > before)
            return;
    }
    sb_gos_run_close_output(op->run->os, channel);
    output->ended = true;
}

static void watch(struct sb_guest *guest, struct sb_guest_op *op, enum sb_channel channel)
{
    struct sb_guest_output *output = &op->run->outputs[channel];
    bool want = appetite(guest, op, channel) > 0;
    if (output->wanted == want)
        return;
    output->wanted = want;
    output->quiet_us = later(guest->now_us, SB_GUEST_QUIET_MS);
    sb_gos_run_want(op->run->os, channel, want);
}

void sb_guest_exec_watch(struct sb_guest *guest, struct sb_guest_op *op)
{
    if (!op->run || !op->run->os)
        return;
    watch(guest, op, SB_CHAN_OUT);
    watch(guest, op, SB_CHAN_ERR);
}

/* ---- limits and the end ---- */

static void look_at_limits(struct sb_guest *guest, struct sb_guest_exec *run)
{
    struct sb_gos_usage usage = {0, 0, 0};
    if (guest->now_us >= run->wall_us)
        kill_run(run, SB_LIMIT_WALL);
    if (guest->now_us < run->cpu_us)
        return;
    sb_gos_run_usage(run->os, &usage);
    if (usage.cpu_us / 1000 >= run->asked.limits.cpu_ms)
        kill_run(run, SB_LIMIT_CPU);
    run->cpu_us = later(guest->now_us, SB_GUEST_CPU_MS);
}

static void finish(struct sb_guest *guest, struct sb_guest_op *op)
{
    struct sb_guest_exec *run = op->run;
    struct sb_gos_end end = {.kind = SB_EXITED};
    sb_gos_run_end(run->os, &end);
    struct sb_wire_exit exit = {.kind = end.kind,
                                .code = end.code,
                                .limit = run->limit ? run->limit : end.limit,
                                .flags = end.parent_killed ? SB_EXIT_PARENT_KILLED : 0,
                                .wall_us = end.usage.wall_us,
                                .cpu_us = end.usage.cpu_us,
                                .peak_bytes = end.usage.peak_bytes,
                                .out_bytes = run->outputs[SB_CHAN_OUT].produced,
                                .err_bytes = run->outputs[SB_CHAN_ERR].produced};
    if (run->asked.flags & SB_EXEC_FILES)
        sb_changes_after(&run->changes, guest->gos, &exit);
    /* Only now, so that the host wakes up once for all three. */
    sb_guest_send_end(guest, op->id, SB_CHAN_OUT);
    sb_guest_send_end(guest, op->id, SB_CHAN_ERR);
    sb_wire_put_exit(&guest->out, op->id, &exit);
    sb_wire_exit_done(&exit);
    sb_guest_op_free(guest, op);
}

void sb_guest_exec_step(struct sb_guest *guest, struct sb_guest_op *op)
{
    struct sb_guest_exec *run = op->run;
    if (!run || !run->os)
        return;
    if (run->ended) {
        drain(guest, op, SB_CHAN_OUT);
        drain(guest, op, SB_CHAN_ERR);
    } else if (!run->killed) {
        look_at_limits(guest, run);
    }
    if (run->ended && run->outputs[SB_CHAN_OUT].ended && run->outputs[SB_CHAN_ERR].ended)
        finish(guest, op);
}

int64_t sb_guest_exec_deadline(const struct sb_guest_exec *run)
{
    int64_t next = INT64_MAX;
    if (!run->os)
        return next;
    if (!run->ended && !run->killed)
        return run->wall_us < run->cpu_us ? run->wall_us : run->cpu_us;
    for (int channel = SB_CHAN_OUT; run->ended && channel <= SB_CHAN_ERR; channel++) {
        const struct sb_guest_output *output = &run->outputs[channel];
        if (output->wanted && !output->ended && output->quiet_us < next)
            next = output->quiet_us;
    }
    return next;
}

static void on_ended(struct sb_guest *guest, struct sb_guest_op *op)
{
    struct sb_guest_exec *run = op->run;
    run->ended = true;
    close_input(run);
    sb_guest_exec_input(guest, op); /* drops what it did not read */
    for (int channel = SB_CHAN_OUT; channel <= SB_CHAN_ERR; channel++)
        run->outputs[channel].quiet_us = later(guest->now_us, SB_GUEST_QUIET_MS);
}

void sb_guest_exec_event(struct sb_guest *guest, const struct sb_gos_event *event)
{
    for (size_t i = 0; i < guest->op_count; i++) {
        struct sb_guest_op *op = guest->ops[i];
        if (!op->run || op->run->os != event->run)
            continue;
        if (event->kind == SB_GOS_ENDED)
            on_ended(guest, op);
        else if (event->kind == SB_GOS_INPUT)
            sb_guest_exec_input(guest, op);
        else
            read_output(guest, op, event->channel);
        return;
    }
}
