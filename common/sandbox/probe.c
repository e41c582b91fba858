/* SPDX-License-Identifier: MIT
 * Steps: look, ask the version, open a box, send the canaries group by group, close the box,
 * judge. Each callback starts the next one; `end` is where all of them lead. */
#include "sandbox/probe.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "platform/clock.h"
#include "sandbox/ask.h"
#include "sandbox/bait.h"
#include "sandbox/box.h"
#include "sandbox/probe_cache.h"
#include "sandbox/verdict.h"

#define VERSION_MS   3000                   /* for the version */
#define GROUP_MS     4000                   /* wall time of one group of canaries */
#define OUTPUT_BYTES 4096                   /* of one group: a few short lines */
#define GONE_MS      (SB_BOX_GONE_MS - 500) /* the box lets go after SB_BOX_GONE_MS, gone or not */

/* A box so small that each limit is hit at once. */
static const struct sb_grant SMALL = {
    .value[SB_ROW_MEMORY_MB] = 64,
    .value[SB_ROW_PROCESSES] = 32,
    .value[SB_ROW_WORKSPACE_MB] = 2,
    .value[SB_ROW_SHM_MB] = 1,
};

struct probe {
    uv_loop_t *loop;
    struct sb_instance *instance;
    char *guest;
    bool fresh;
    struct sb_probe_result result;
    char key[SB_PROBE_KEY];
    uv_timer_t timer; /* rings for the first step, then for the end of our patience */
    struct sb_bait *bait;
    struct sb_box *box;
    bool again; /* the guest could not be executed from its descriptor: once more, as a file */
    size_t group;
    struct sb_buf output;
    struct sb_verdict verdict;
    struct sb_verdict_seen seen;
    int64_t closed_at;
    void (*on_done)(void *ctx, const struct sb_probe_result *result);
    void *ctx;
};

/* ---- the end ------------------------------------------------------------------------ */

static void on_timer_closed(uv_handle_t *handle)
{
    struct probe *probe = handle->data;

    probe->on_done(probe->ctx, &probe->result);
    sb_buf_done(&probe->output);
    sb_free(probe->guest);
    sb_free(probe);
}

static void on_bait_closed(void *ctx)
{
    struct probe *probe = ctx;

    uv_close((uv_handle_t *)&probe->timer, on_timer_closed);
}

static void end(struct probe *probe)
{
    uv_timer_stop(&probe->timer);
    if (probe->bait)
        sb_bait_close(probe->bait, on_bait_closed, probe);
    else
        on_bait_closed(probe);
}

static bool failed(const struct probe *probe)
{
    return probe->result.why.code != SB_OK;
}

static void fail_with(struct probe *probe, const struct sb_err *why, const char *mend)
{
    if (failed(probe))
        return; /* the first reason is the true one */
    probe->result.why = *why;
    snprintf(probe->result.mend, sizeof probe->result.mend, "%s", mend);
}

/* For a program that hangs or fails before it says anything of use. */
static void fail_strange(struct probe *probe, const struct sb_err *why)
{
    const char *program = probe->result.facts.program, *arg = probe->result.backend->version_arg;
    char mend[480] = "";

    if (program[0] && arg)
        snprintf(mend, sizeof mend, "see by hand what '%.200s %s' says; if that is nothing, install it again",
                 program, arg);
    fail_with(probe, why, mend);
}

static void on_late(uv_timer_t *timer)
{
    struct probe *probe = timer->data;
    struct sb_err why = {0};

    sb_fail(&why, SB_TIMEOUT, "backend %s could not be probed within %d s", probe->result.backend->name,
            SB_PROBE_MS / 1000);
    fail_strange(probe, &why);
    if (probe->box)
        sb_box_close(probe->box); /* else the version is asked, which has an end of its own */
}

/* ---- canaries ----------------------------------------------------------------------- */

static void close_box(struct probe *probe)
{
    probe->seen.own_pids = sb_box_own_pids(probe->box);
    probe->closed_at = sb_clock_us();
    sb_box_close(probe->box);
}

static void push_walls(const struct sb_bait *bait, struct sb_argv *argv)
{
    sb_argv_pushf(argv, "read-outside=%s", bait->readable);
    sb_argv_pushf(argv, "write-outside=%s", bait->writable);
    sb_argv_pushf(argv, "network=%d", bait->port);
    sb_argv_pushf(argv, "endpoint=%s", bait->endpoint);
    if (bait->abstract)
        sb_argv_pushf(argv, "endpoint=%s", bait->abstract);
    sb_argv_push(argv, "identity");
    sb_argv_push(argv, "disk=4");
}

/* One run of the guest's canary mode each. `kill` is the last: it leaves a process behind. */
static const struct {
    const char *canary; /* NULL: the walls */
    uint32_t processes;
} GROUPS[] = {{NULL, 0}, {"processes", 1}, {"memory=128", 0}, {"kill", 0}};

static void send_group(struct probe *probe);

static void next_group(struct probe *probe)
{
    sb_verdict_read(&probe->verdict, probe->output.data, probe->output.len);
    sb_buf_clear(&probe->output);
    probe->group++;
    if (probe->group < SB_COUNT(GROUPS))
        send_group(probe);
    else
        close_box(probe);
}

static void on_data(void *ctx, enum sb_channel channel, const void *bytes, size_t len)
{
    struct probe *probe = ctx;

    if (channel == SB_CHAN_OUT)
        sb_buf_add(&probe->output, bytes, len);
}

static void on_group_refused(void *ctx, const struct sb_err *err)
{
    (void)err; /* no answer is an answer: the verdict says which canary gave none */
    next_group(ctx);
}

static void on_group_exit(void *ctx, const struct sb_wire_exit *exit)
{
    (void)exit;
    next_group(ctx);
}

static void send_group(struct probe *probe)
{
    const struct sb_op_events events = {
        .ctx = probe, .on_data = on_data, .on_done = on_group_refused, .on_exit = on_group_exit};
    struct sb_link *link = sb_box_link(probe->box);
    struct sb_wire_exec exec = {
        .flags = SB_EXEC_GUEST,
        .limits = {.wall_ms = GROUP_MS,
                   .output_bytes = SB_WIRE_WINDOW, /* so no credit is ever needed */
                   .processes = GROUPS[probe->group].processes},
    };

    sb_argv_push(&exec.argv, "llm-sandbox-guest");
    sb_argv_push(&exec.argv, "canary");
    if (GROUPS[probe->group].canary)
        sb_argv_push(&exec.argv, GROUPS[probe->group].canary);
    else
        push_walls(probe->bait, &exec.argv);
    sb_env_set(&exec.env, "SystemRoot",
               probe->result.facts.system_root); /* no sockets without it on Windows */
    if (!link || sb_link_exec(link, &exec, &events, NULL) == 0)
        sb_box_close(probe->box); /* it is broken: on_broken has said why, or will */
    sb_wire_exec_done(&exec);
}

/* ---- the box ------------------------------------------------------------------------ */

static void judge(struct probe *probe)
{
    probe->seen.network = probe->bait->network_seen;
    probe->seen.endpoint = probe->bait->endpoint_seen;
    probe->seen.gone = probe->closed_at && sb_clock_us() - probe->closed_at < GONE_MS * INT64_C(1000);
    probe->seen.left_behind_dead =
        probe->verdict.left_behind && uv_kill((int)probe->verdict.left_behind, 0) == UV_ESRCH;
    probe->result.usable = true;
    if (sb_verdict_judge(&probe->verdict, &probe->seen, &probe->result.promises))
        sb_probe_cache_store(probe->key, &probe->result);
}

static void open_box(struct probe *probe);

static void on_ready(void *ctx)
{
    send_group(ctx);
}

static void on_broken(void *ctx, const struct sb_err *why, const char *mend)
{
    struct probe *probe = ctx;

    /* also when what answers is no guest of ours: it is then refused twice */
    if (why->code == SB_DENIED && probe->group == 0 && !probe->result.facts.guest_by_data)
        probe->again = true;
    else if (!mend[0] && (why->code == SB_TIMEOUT || why->code == SB_DENIED))
        fail_strange(probe, why);
    else
        fail_with(probe, why, mend);
}

static void on_gone(void *ctx)
{
    struct probe *probe = ctx;

    probe->box = NULL;
    if (probe->again && !failed(probe)) {
        probe->again = false;
        probe->result.facts.guest_by_data = true;
        open_box(probe);
        return;
    }
    if (!failed(probe))
        judge(probe);
    end(probe);
}

static void open_box(struct probe *probe)
{
    const struct sb_box_want want = {.backend = probe->result.backend,
                                     .facts = &probe->result.facts,
                                     .grant = &SMALL,
                                     .guest = probe->guest,
                                     .instance = probe->instance};
    const struct sb_box_events events = {
        .ctx = probe, .on_ready = on_ready, .on_broken = on_broken, .on_gone = on_gone};
    struct sb_err why = {0};

    if (sb_box_open(probe->loop, &want, &events, &probe->box, &why) < 0) {
        fail_with(probe, &why, "");
        end(probe);
    }
}

/* ---- before the box ----------------------------------------------------------------- */

static void on_version(void *ctx, const struct sb_err *err, const char *line)
{
    struct probe *probe = ctx;
    char mend[480] = "";
    struct sb_err why = {0};

    if (err)
        fail_strange(probe, err);
    else if (probe->result.backend->check_version(line, &probe->result.facts, mend, sizeof mend, &why) < 0)
        fail_with(probe, &why, mend);
    if (failed(probe))
        end(probe);
    else
        open_box(probe);
}

static void look(uv_timer_t *timer)
{
    struct probe *probe = timer->data;
    struct sb_probe_result *result = &probe->result;
    char mend[480] = "";
    struct sb_err why = {0};

    if (result->backend->find(&result->facts, mend, sizeof mend, &why) < 0) {
        fail_with(probe, &why, mend);
        end(probe);
        return;
    }
    sb_probe_cache_key(result, sb_instance_dir(probe->instance), probe->key);
    if (!probe->fresh && sb_probe_cache_load(probe->key, result) == 0) {
        result->usable = result->cached = true;
        end(probe);
        return;
    }
    if (sb_bait_open(probe->loop, sb_instance_dir(probe->instance), &probe->bait, &why) < 0) {
        fail_with(probe, &why, "");
        end(probe);
        return;
    }
    uv_timer_start(&probe->timer, on_late, SB_PROBE_MS, 0);
    if (result->backend->version_arg)
        sb_ask_line(probe->loop, result->facts.program, result->backend->version_arg, VERSION_MS, on_version,
                    probe);
    else
        open_box(probe);
}

void sb_probe_start(uv_loop_t *loop, const struct sb_probe_want *want,
                    void (*on_done)(void *ctx, const struct sb_probe_result *result), void *ctx)
{
    struct probe *probe = sb_alloc(sizeof *probe);

    probe->loop = loop;
    probe->instance = want->instance;
    probe->guest = sb_strdup(want->guest);
    probe->fresh = want->fresh;
    probe->result.backend = want->backend;
    probe->on_done = on_done;
    probe->ctx = ctx;
    sb_buf_init(&probe->output, OUTPUT_BYTES);
    uv_timer_init(loop, &probe->timer);
    probe->timer.data = probe;
    uv_timer_start(&probe->timer, look, 0, 0);
}
