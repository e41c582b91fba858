/* SPDX-License-Identifier: MIT
 * A job's run: from what the client wants to a box, and its callbacks. */
#include "base/alloc.h"
#include "sandbox/toolbox.h"
#include "server/host.h"
#include "server/job_inner.h"

static int unknown_language(const char *name, enum sb_wire_os os, struct sb_err *err)
{
    const char *nearest = sb_language_nearest(name, os);
    struct sb_buf usable, path;

    sb_buf_init(&usable, 256);
    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    for (size_t i = 0; i < sb_language_count; i++)
        if (sb_languages[i].os == os && sb_toolbox_find(&sb_languages[i], &path, NULL) == 0)
            sb_buf_addf(&usable, "%s%s", usable.len > 0 ? ", " : "", sb_languages[i].name);
    if (nearest != NULL)
        sb_fail(err, SB_BAD_REQUEST, "unknown language '%.60s': did you mean '%s'? Usable here: %s", name,
                nearest, usable.data);
    else
        sb_fail(err, SB_BAD_REQUEST, "unknown language '%.60s'; usable here: %s", name, usable.data);
    sb_buf_done(&usable);
    sb_buf_done(&path);
    return -1;
}

static void fill_want(const struct sb_job *job, struct sb_run_want *want)
{
    *want = (struct sb_run_want){
        .language = job->language,
        .program = job->program.data,
        .code = job->want.code,
        .code_len = job->want.code_len,
        .args = (const char *const *)job->want.args.v,
        .env = (const char *const *)job->want.env.v,
        .files = job->want.files,
        .file_count = job->want.file_count,
        .feed_stdin = job->want.input != NULL,
        .list_files = true,
        .collect_files = true,
        .box = {.backend = job->chosen->backend,
                .facts = &job->chosen->facts,
                .grant = &job->grant,
                .guest = sb_host_guest(job->host),
                .read_only = job->language->read_only,
                .instance = sb_host_instance(job->host)},
    };
}

int sb_job_prepare(struct sb_job *job, const char **mend, struct sb_err *err)
{
    const struct sb_backend *backend = job->chosen->backend;
    const struct sb_target target = backend->target();
    struct sb_ask *ask = &job->want.ask;
    struct sb_run_want want;

    job->rules = sb_target_rules(&target);
    job->language = sb_language_named(job->name, target.os);
    if (job->language == NULL)
        return unknown_language(job->name, target.os, err);
    *mend = job->language->install;
    if (sb_toolbox_find(job->language, &job->program, err) < 0)
        return -1;
    *mend = "";
    fill_want(job, &want);
    if (sb_run_check(&want, err) < 0)
        return -1;
    if (sb_host_config(job->host) != NULL && sb_config_limit(sb_host_config(job->host), ask, err) < 0)
        return -1;
    if (ask->ram_mb == 0)
        ask->ram_mb = (int64_t)(uv_get_total_memory() >> 20);
    return sb_policy_grant(ask, &job->chosen->promises, backend->name, &job->grant, err);
}

static void on_output(void *ctx, enum sb_channel channel, const void *bytes, size_t len)
{
    struct sb_job *job = ctx;

    if (channel == SB_CHAN_OUT)
        sb_last_line_add(&job->last_line, bytes, len);
    sb_run_consumed(job->run, channel, len);
}

static void send_input(struct sb_job *job)
{
    const struct sb_job_want *want = &job->want;
    size_t left = want->input_len - job->input_sent;

    if (want->input == NULL || job->input_ended)
        return;
    job->input_sent += sb_run_send(job->run, want->input + job->input_sent, left);
    if (job->input_sent < want->input_len)
        return;
    job->input_ended = true;
    sb_run_send_end(job->run);
}

static void on_input(void *ctx)
{
    send_input(ctx);
}

static void on_ended(void *ctx, const struct sb_run_result *result)
{
    struct sb_job *job = ctx;

    sb_job_keeping(job);
    sb_job_keep(job, result);
}

static void on_gone(void *ctx)
{
    struct sb_job *job = ctx;

    job->run = NULL;
    sb_job_gone(job);
}

void sb_job_run(struct sb_job *job)
{
    const struct sb_run_events events = {.ctx = job,
                                         .on_output = on_output,
                                         .on_input = on_input,
                                         .on_artifact = sb_job_on_artifact,
                                         .on_artifact_end = sb_job_on_artifact_end,
                                         .on_ended = on_ended,
                                         .on_gone = on_gone};
    struct sb_run_want want;

    fill_want(job, &want);
    job->started = true;
    job->run = sb_run_new(sb_host_loop(job->host), &want, &events);
    send_input(job);
}
