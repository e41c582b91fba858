/* SPDX-License-Identifier: MIT
 * Jobs over made-up runs, a made-up probe and a clock of the test's own; the store is real. For
 * job_test.c only. */
#ifndef SB_TEST_JOB_RIG_H
#define SB_TEST_JOB_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "platform/clock.h"
#include "platform/hostpath.h"
#include "sandbox/choose.h"
#include "sandbox/toolbox.h"
#include "server/host.h"
#include "server/result_text.h"
#include "unit/sandbox/tempdir.h"

#define KEPT_HALF ((size_t)1024 * 1024)

/* ---- the world below the jobs ------------------------------------------------------- */

static int64_t clock_us;

int64_t sb_clock_us(void)
{
    return clock_us;
}

struct sb_run {
    struct sb_run_want want; /* its texts are the job's until on_ended */
    struct sb_run_events events;
    struct sb_run_result result;
    enum sb_run_state state;
    struct sb_buf input;
    size_t takes; /* bytes of input at once */
    bool input_ended, cancelled;
    size_t consumed;
};
static struct sb_run *runs[100];
static size_t run_count;
static size_t next_takes;

struct sb_run *sb_run_new(uv_loop_t *loop, const struct sb_run_want *want, const struct sb_run_events *events)
{
    struct sb_run *run = sb_alloc(sizeof *run);

    (void)loop;
    run->want = *want;
    run->events = *events;
    run->state = SB_RUN_OPENING;
    run->takes = next_takes;
    sb_buf_init(&run->input, 1000);
    for (size_t i = 0; i < 2; i++)
        sb_capture_init(&run->result.output[i], 2 * KEPT_HALF);
    runs[run_count++] = run;
    return run;
}

void sb_run_cancel(struct sb_run *run)
{
    run->cancelled = true;
}

size_t sb_run_send(struct sb_run *run, const void *bytes, size_t len)
{
    size_t piece = len < run->takes ? len : run->takes;

    sb_buf_add(&run->input, bytes, piece);
    return piece;
}

void sb_run_send_end(struct sb_run *run)
{
    assert_false(run->input_ended);
    run->input_ended = true;
}

void sb_run_consumed(struct sb_run *run, enum sb_channel channel, size_t bytes)
{
    (void)channel;
    run->consumed += bytes;
}

enum sb_run_state sb_run_state(const struct sb_run *run)
{
    return run->state;
}

const struct sb_capture *sb_run_output(const struct sb_run *run, enum sb_channel channel)
{
    return &run->result.output[channel - SB_CHAN_OUT];
}

const char *sb_run_state_name(enum sb_run_state state)
{
    static const char *const names[] = {"queued", "opening", "running", "draining", "collecting", "ended"};

    return names[state];
}

const char *sb_status_name(enum sb_status status)
{
    (void)status;
    return "status";
}

static void print(struct sb_run *run, enum sb_channel channel, const char *bytes, size_t len)
{
    sb_capture_add(&run->result.output[channel - SB_CHAN_OUT], bytes, len);
    run->events.on_output(run->events.ctx, channel, bytes, len);
}

static void end_run(struct sb_run *run, enum sb_status status)
{
    run->result.status = status;
    run->events.on_ended(run->events.ctx, &run->result);
    for (size_t i = 0; i < 2; i++)
        sb_capture_done(&run->result.output[i]);
}

static void gone(struct sb_run *run)
{
    run->events.on_gone(run->events.ctx);
    sb_buf_done(&run->input);
    sb_free(run);
}

static void bring(struct sb_run *run, const struct sb_wire_entry *file, const char *bytes, size_t len,
                  const struct sb_err *err)
{
    if (len > 0)
        run->events.on_artifact(run->events.ctx, file, bytes, len);
    run->events.on_artifact_end(run->events.ctx, file, err);
}

static void (*on_chosen)(void *ctx, const struct sb_probe_result *result);
static void *chosen_ctx;
static unsigned probes;

void sb_choose(uv_loop_t *loop, const struct sb_choose_want *want,
               void (*on_done)(void *ctx, const struct sb_probe_result *result), void *ctx)
{
    (void)loop;
    (void)want;
    on_chosen = on_done;
    chosen_ctx = ctx;
    probes++;
}

int sb_toolbox_find(const struct sb_language *language, struct sb_buf *out_path, struct sb_err *err)
{
    if (strcmp(language->name, "javascript") == 0)
        return sb_fail(err, SB_NOT_FOUND, "javascript is not installed");
    sb_buf_addf(out_path, "/usr/bin/%s", language->programs[0]);
    return 0;
}

static struct sb_target target(void)
{
    return (struct sb_target){.os = SB_WIRE_LINUX, .workspace = "/sandbox"};
}

static const struct sb_backend backend = {.name = "made-up", .target = target};

static void tell_probe(bool usable)
{
    struct sb_probe_result result = {.backend = &backend, .usable = usable};

    for (size_t i = 0; i < SB_PROMISE_COUNT; i++)
        result.promises.of[i] = SB_KERNEL;
    if (!usable) {
        sb_fail(&result.why, SB_UNSUPPORTED, "no sandbox here");
        strncpy(result.mend, "apt-get install one", sizeof result.mend - 1);
    }
    on_chosen(chosen_ctx, &result);
}

/* ---- the rig ------------------------------------------------------------------------ */

struct rig {
    char *home;
    uv_loop_t loop;
    struct sb_instance *instance;
    struct sb_host *host;
    struct sb_jobs *jobs;
    unsigned stopped;
};

static const struct sb_probe_result *seen;

static void on_seen(void *ctx, const struct sb_probe_result *result)
{
    (void)ctx;
    seen = result;
}

static void rig_open(struct rig *rig, bool probed)
{
    struct sb_err err = {0};

    memset(rig, 0, sizeof *rig);
    run_count = probes = 0;
    next_takes = SIZE_MAX;
    clock_us = 1000000;
    rig->home = tempdir_new();
    assert_int_equal(uv_loop_init(&rig->loop), 0);
    if (sb_instance_open_in(rig->home, &rig->instance, &err) < 0)
        fail_msg("%s", err.text);
    rig->host = sb_host_new(&(const struct sb_host_want){.loop = &rig->loop,
                                                         .instance = rig->instance,
                                                         .guest = "guest",
                                                         .kept_in = sb_instance_dir(rig->instance)});
    rig->jobs = sb_host_jobs(rig->host);
    if (!probed)
        return;
    sb_host_backend(rig->host, on_seen, NULL); /* as after the first call */
    tell_probe(true);
}

static void on_stopped(void *ctx)
{
    ((struct rig *)ctx)->stopped++;
}

/* After the host has stopped. */
static void rig_free(struct rig *rig)
{
    uv_run(&rig->loop, UV_RUN_DEFAULT);
    assert_int_equal(rig->stopped, 1);
    sb_host_free(rig->host);
    sb_instance_close(rig->instance);
    assert_int_equal(uv_loop_close(&rig->loop), 0);
    tempdir_free(rig->home);
}

static void rig_close(struct rig *rig)
{
    sb_host_stop(rig->host, on_stopped, rig);
    rig_free(rig);
}

static struct sb_job_want want_of(const char *peer, const char *language)
{
    return (struct sb_job_want){.peer = peer, .language = language, .code = sb_strdup("code"), .code_len = 4};
}

static struct sb_job *start(struct rig *rig, const char *peer)
{
    struct sb_job_want want = want_of(peer, "python");
    struct sb_job *job = NULL;
    struct sb_err err = {0};

    if (sb_job_start(rig->jobs, &want, &job, &err) < 0)
        fail_msg("%s", err.text);
    return job;
}

static struct sb_job *start_language(struct rig *rig, const char *language)
{
    struct sb_job_want want = want_of("ann", language);
    struct sb_job *job = NULL;

    assert_int_equal(sb_job_start(rig->jobs, &want, &job, NULL), 0);
    return job;
}

static void check_read(struct sb_job *job, const char *path, uint64_t offset, const char *bytes)
{
    struct sb_err err = {0};
    struct sb_buf out;
    uint64_t total;

    sb_buf_init(&out, 1000);
    if (sb_job_read(job, path, offset, 1000, &out, &total, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(out.data, bytes);
    sb_buf_done(&out);
}

static void check_no(struct sb_job *job, const char *path)
{
    struct sb_err err = {0};
    struct sb_buf out;
    uint64_t total;

    sb_buf_init(&out, 10);
    assert_int_equal(sb_job_read(job, path, 0, 1, &out, &total, &err), -1);
    assert_int_equal(err.code, SB_NOT_FOUND);
}

/* The path of a file of the store. */
static char *stored(const struct rig *rig, const char *id, const char *number)
{
    struct sb_buf path, all;
    char *text;

    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    sb_buf_init(&all, SB_PATH_MAX_BYTES);
    sb_path_join(&path, sb_instance_dir(rig->instance), "kept-", sb_host_rules());
    sb_buf_adds(&path, sb_instance_id(rig->instance));
    sb_buf_add(&all, path.data, path.len);
    for (size_t i = 0; i < 2; i++) {
        const char *part = i == 0 ? id : number;

        if (part == NULL)
            break;
        sb_buf_clear(&path);
        sb_buf_add(&path, all.data, all.len);
        sb_buf_clear(&all);
        sb_path_join(&all, path.data, part, sb_host_rules());
    }
    text = sb_buf_take(&all);
    sb_buf_done(&path);
    return text;
}

#endif
