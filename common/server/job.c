/* SPDX-License-Identifier: MIT */
#include "server/job.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "platform/clock.h"
#include "platform/hostpath.h"
#include "server/host.h"
#include "server/job_inner.h"
#include "server/kept_folder.h"
#include "server/queue.h"

#define BOXES_LEAST                                                                                          \
    8u /* running boxes of one host: two per processor within these; more than one peer has                  \
        */
#define BOXES_MOST 16u

struct sb_jobs {
    struct sb_host *host;
    struct sb_queue *queue;
    struct sb_kept_store *store;
    char *kept_in;                      /* NULL: the cache directory */
    struct sb_kept_folder *kept_folder; /* NULL until there is a file */
    struct sb_job *first;
    size_t asking, busy; /* jobs that wait for the backend; runs and workers not yet gone */
    uv_timer_t *expiry;  /* NULL once it is closed */
    bool stopping;
    void (*on_stopped)(void *ctx);
    void *stopped_ctx;
};

struct sb_job_wait {
    struct sb_job_wait *next;
    struct sb_job *job;
    uv_timer_t timer;
    void (*on_ring)(void *ctx, bool ended);
    void *ctx;
};

static int64_t now_ms(void)
{
    return sb_clock_us() / 1000;
}

/* ---- all jobs ----------------------------------------------------------------------- */

static void on_drop(void *owner);

static int make_kept_folder(void *ctx, struct sb_buf *out, struct sb_err *err)
{
    struct sb_jobs *jobs = ctx;
    const char *id = sb_instance_id(sb_host_instance(jobs->host));

    if (sb_kept_folder_make(jobs->kept_in, id, &jobs->kept_folder, err) < 0)
        return -1;
    sb_buf_adds(out, sb_kept_folder_path(jobs->kept_folder));
    return 0;
}

struct sb_jobs *sb_jobs_new(struct sb_host *host, const char *kept_in)
{
    struct sb_jobs *jobs = sb_alloc(sizeof *jobs);
    unsigned boxes = 2 * uv_available_parallelism();
    const struct sb_queue_caps caps = {.running = boxes < BOXES_LEAST  ? BOXES_LEAST
                                                  : boxes > BOXES_MOST ? BOXES_MOST
                                                                       : boxes,
                                       .peer_running = SB_JOBS_RUNNING,
                                       .peer_queued = SB_JOBS_QUEUED,
                                       .peer_bytes = SB_JOBS_QUEUED_BYTES};
    struct sb_kept_want keep = {.make_folder = make_kept_folder,
                                .ctx = jobs,
                                .peer_bytes = SB_KEPT_BYTES,
                                .peer_runs = SB_KEPT_RUNS,
                                .ms = SB_KEPT_MS,
                                .on_drop = on_drop};

    jobs->host = host;
    jobs->kept_in = kept_in != NULL ? sb_strdup(kept_in) : NULL;
    jobs->queue = sb_queue_new(&caps);
    jobs->store = sb_kept_store_new(&keep);
    jobs->expiry = sb_alloc(sizeof *jobs->expiry);
    uv_timer_init(sb_host_loop(host), jobs->expiry);
    uv_unref((uv_handle_t *)jobs->expiry);
    jobs->expiry->data = jobs;
    return jobs;
}

static void expire(struct sb_jobs *jobs);

static void on_expiry(uv_timer_t *timer)
{
    expire(timer->data);
}

static void expire(struct sb_jobs *jobs)
{
    int64_t now = now_ms(), next = sb_kept_expire(jobs->store, now);

    if (next >= 0 && !jobs->stopping)
        uv_timer_start(jobs->expiry, on_expiry, (uint64_t)(next - now), 0);
}

static void tell_if_stopped(struct sb_jobs *jobs)
{
    if (jobs->stopping && jobs->expiry == NULL && jobs->asking == 0 && jobs->busy == 0)
        jobs->on_stopped(jobs->stopped_ctx);
}

static void on_expiry_closed(uv_handle_t *handle)
{
    struct sb_jobs *jobs = handle->data;

    jobs->expiry = NULL;
    sb_free(handle);
    tell_if_stopped(jobs);
}

static struct sb_job *to_kill(struct sb_jobs *jobs)
{
    struct sb_job *job = jobs->first;

    while (job != NULL && (job->ended || job->killed))
        job = job->next;
    return job;
}

void sb_jobs_stop(struct sb_jobs *jobs, void (*on_stopped)(void *ctx), void *ctx)
{
    jobs->stopping = true;
    jobs->on_stopped = on_stopped;
    jobs->stopped_ctx = ctx;
    uv_close((uv_handle_t *)jobs->expiry, on_expiry_closed);
    for (struct sb_job *job = to_kill(jobs); job != NULL; job = to_kill(jobs))
        sb_job_kill(job);
}

static void free_job(struct sb_job *job);

void sb_jobs_free(struct sb_jobs *jobs)
{
    while (jobs->first != NULL) {
        struct sb_job *job = jobs->first;

        jobs->first = job->next;
        sb_kept_free(job->kept);
        free_job(job);
    }
    sb_kept_store_free(jobs->store);
    sb_kept_folder_remove(jobs->kept_folder);
    sb_free(jobs->kept_in);
    sb_queue_free(jobs->queue);
    sb_free(jobs);
}

/* ---- one job's memory --------------------------------------------------------------- */

/* What only its program needed. */
static void free_input(struct sb_job *job)
{
    struct sb_job_want *want = &job->want;

    for (size_t i = 0; i < want->file_count; i++) {
        sb_free(want->files[i].path);
        sb_free(want->files[i].bytes);
    }
    sb_free(want->files);
    sb_free(want->code);
    sb_free(want->input);
    sb_argv_done(&want->args);
    sb_argv_done(&want->env);
    want->files = NULL;
    want->file_count = 0;
    want->code = want->input = NULL;
}

static void free_job(struct sb_job *job)
{
    free_input(job);
    sb_job_keep_done(job);
    sb_last_line_done(&job->last_line);
    sb_buf_done(&job->last_line_text);
    sb_buf_done(&job->program);
    sb_free(job->peer);
    sb_free(job->name);
    sb_free(job);
}

static void free_if_done(struct sb_job *job)
{
    if (job->dropped && !job->asking && job->run == NULL)
        free_job(job);
}

/* The store gives it up: nobody finds it any more. */
static void on_drop(void *owner)
{
    struct sb_job *job = owner;
    struct sb_job **link = &job->jobs->first;

    while (*link != job)
        link = &(*link)->next;
    *link = job->next;
    job->dropped = true;
    free_if_done(job);
}

/* ---- the end of a job --------------------------------------------------------------- */

static void unlink_wait(struct sb_job_wait *wait)
{
    struct sb_job_wait **link = &wait->job->waits;

    while (*link != wait)
        link = &(*link)->next;
    *link = wait->next;
}

static void on_wait_closed(uv_handle_t *handle)
{
    sb_free(handle->data);
}

static void ring(struct sb_job_wait *wait, bool ended)
{
    void (*on_ring)(void *ctx, bool rung) = wait->on_ring;
    void *ctx = wait->ctx;

    sb_job_unwait(wait);
    on_ring(ctx, ended);
}

/* Seals last: what this makes the store drop is never the job that ends. */
static void end(struct sb_job *job)
{
    job->ended = true;
    job->ended_us = sb_clock_us();
    free_input(job);
    sb_kept_seal(job->kept, now_ms(), sb_job_memory(job));
    expire(job->jobs);
    while (job->waits != NULL)
        ring(job->waits, true);
}

void sb_job_keeping(struct sb_job *job)
{
    job->keeping = true;
    job->jobs->busy++;
    free_input(job);
}

void sb_job_kept(struct sb_job *job)
{
    struct sb_jobs *jobs = job->jobs;

    job->keeping = false;
    jobs->busy--;
    end(job);
    tell_if_stopped(jobs);
}

/* Ends a job that has no run. */
static void end_unstarted(struct sb_job *job, enum sb_status status, const struct sb_err *err,
                          const char *mend)
{
    sb_queue_remove(job->jobs->queue, job->peer, job);
    job->result.status = status;
    if (err != NULL)
        job->result.err = *err;
    snprintf(job->result.mend, sizeof job->result.mend, "%s", mend);
    end(job);
}

/* ---- from the queue to the box ------------------------------------------------------ */

/* Nothing starts while a job waits for the backend: it may be the one whose turn it is. */
static void start_next(struct sb_jobs *jobs)
{
    struct sb_job *job;

    while (!jobs->stopping && jobs->asking == 0 && (job = sb_queue_next(jobs->queue)) != NULL) {
        jobs->busy++;
        sb_job_run(job);
    }
}

void sb_job_gone(struct sb_job *job)
{
    struct sb_jobs *jobs = job->jobs;

    jobs->busy--;
    sb_queue_done(jobs->queue, job->peer);
    free_if_done(job);
    start_next(jobs);
    tell_if_stopped(jobs);
}

static void on_backend(void *ctx, const struct sb_probe_result *result)
{
    struct sb_job *job = ctx;
    struct sb_jobs *jobs = job->jobs;
    struct sb_err err = {0};
    const char *mend = "";

    job->asking = false;
    jobs->asking--;
    if (job->ended) { /* killed meanwhile */
        free_if_done(job);
    } else if (!result->usable) {
        end_unstarted(job, SB_STATUS_HOST_ERROR, &result->why, result->mend);
    } else {
        job->chosen = result;
        if (sb_job_prepare(job, &mend, &err) < 0)
            end_unstarted(job, SB_STATUS_HOST_ERROR, &err, mend);
    }
    start_next(jobs);
    tell_if_stopped(jobs);
}

static struct sb_job *new_job(struct sb_jobs *jobs, const struct sb_job_want *want)
{
    struct sb_job *job = sb_alloc(sizeof *job);

    memcpy(job->id, "r_", 2);
    sb_random_id(job->id + 2);
    job->jobs = jobs;
    job->host = jobs->host;
    job->want = *want;
    job->peer = sb_strdup(want->peer);
    job->name = sb_strdup(want->language);
    job->started_us = sb_clock_us();
    sb_buf_init(&job->program, SB_PATH_MAX_BYTES);
    sb_buf_init(&job->last_line_text, 3 * SB_LAST_LINE_BYTES + 8);
    sb_last_line_init(&job->last_line);
    return job;
}

static size_t bytes_of(const struct sb_job_want *want)
{
    size_t sum = want->code_len + want->input_len;

    for (size_t i = 0; i < want->file_count; i++)
        sum += want->files[i].len;
    return sum;
}

int sb_job_start(struct sb_jobs *jobs, struct sb_job_want *want, struct sb_job **out, struct sb_err *err)
{
    struct sb_job *job = new_job(jobs, want), **last;
    int rc;

    if (jobs->stopping)
        rc = sb_fail(err, SB_CANCELLED, "the server is stopping");
    else
        rc = sb_queue_add(jobs->queue, job->peer, job, bytes_of(want), err);
    if (rc < 0) {
        free_job(job);
        return -1;
    }
    job->kept = sb_kept_new(jobs->store, job->peer, job->id, job);
    for (last = &jobs->first; *last != NULL; last = &(*last)->next)
        ;
    *last = job;
    *out = job;
    job->asking = true;
    jobs->asking++;
    sb_host_backend(jobs->host, on_backend, job);
    return 0;
}

void sb_job_kill(struct sb_job *job)
{
    job->killed = true;
    if (job->ended || job->keeping)
        return;
    if (job->started)
        sb_run_cancel(job->run);
    else
        end_unstarted(job, SB_STATUS_CANCELLED, NULL, "");
}

/* ---- waiting ------------------------------------------------------------------------ */

static void on_wait_over(uv_timer_t *timer)
{
    ring(timer->data, false);
}

struct sb_job_wait *sb_job_wait(struct sb_job *job, int64_t wait_ms, void (*on_ring)(void *ctx, bool ended),
                                void *ctx)
{
    struct sb_job_wait *wait;

    if (job->ended) {
        on_ring(ctx, true);
        return NULL;
    }
    wait = sb_alloc(sizeof *wait);
    wait->job = job;
    wait->on_ring = on_ring;
    wait->ctx = ctx;
    wait->next = job->waits;
    job->waits = wait;
    uv_timer_init(sb_host_loop(job->host), &wait->timer);
    wait->timer.data = wait;
    uv_timer_start(&wait->timer, on_wait_over, wait_ms > 0 ? (uint64_t)wait_ms : 0, 0);
    return wait;
}

void sb_job_unwait(struct sb_job_wait *wait)
{
    unlink_wait(wait);
    uv_close((uv_handle_t *)&wait->timer, on_wait_closed);
}

/* ---- what others see ---------------------------------------------------------------- */

struct sb_job *sb_job_find(struct sb_jobs *jobs, const char *peer, const char *id)
{
    struct sb_job *job;

    expire(jobs);
    for (job = jobs->first; job != NULL; job = job->next)
        if (strcmp(job->id, id) == 0 && strcmp(job->peer, peer) == 0)
            break;
    return job;
}

struct sb_job *sb_job_next(struct sb_jobs *jobs, const char *peer, struct sb_job *previous)
{
    struct sb_job *job;

    if (previous == NULL)
        expire(jobs);
    job = previous != NULL ? previous->next : jobs->first;
    while (job != NULL && strcmp(job->peer, peer) != 0)
        job = job->next;
    return job;
}

const char *sb_job_id(const struct sb_job *job)
{
    return job->id;
}

bool sb_job_json(const struct sb_job *job)
{
    return job->want.json;
}

bool sb_job_ended(const struct sb_job *job)
{
    return job->ended;
}

const char *sb_job_state(const struct sb_job *job)
{
    if (job->ended)
        return sb_run_state_name(SB_RUN_ENDED);
    if (!job->started)
        return sb_run_state_name(SB_RUN_QUEUED);
    return sb_run_state_name(job->keeping ? SB_RUN_COLLECTING : sb_run_state(job->run));
}

int64_t sb_job_elapsed_ms(const struct sb_job *job)
{
    return ((job->ended ? job->ended_us : sb_clock_us()) - job->started_us) / 1000;
}

const char *sb_job_last_line(struct sb_job *job)
{
    sb_last_line_text(&job->last_line, &job->last_line_text);
    return job->last_line_text.data;
}

const char *sb_job_backend(const struct sb_job *job)
{
    return job->chosen != NULL ? job->chosen->backend->name : "";
}

const struct sb_run_result *sb_job_result(const struct sb_job *job)
{
    return &job->result;
}

/* As the store names it: "./" before an artifact, which may be called "@stdout". A program
 * may also make files whose names no client would mean. */
static int kept_name(const struct sb_job *job, const char *path, struct sb_buf *out, struct sb_err *err)
{
    struct sb_buf plain;
    int rc = 0;

    if (strcmp(path, "@stdout") == 0 || strcmp(path, "@stderr") == 0) {
        sb_buf_adds(out, path);
        return 0;
    }
    sb_buf_addf(out, "./%s", path);
    if (sb_kept_has(job->kept, out->data))
        return 0;
    sb_buf_init(&plain, SB_PATH_MAX_BYTES);
    rc = sb_path_plain(path, strlen(path), job->rules, &plain, err);
    sb_buf_clear(out);
    sb_buf_addf(out, "./%s", plain.data);
    sb_buf_done(&plain);
    return rc;
}

int sb_job_read(struct sb_job *job, const char *path, uint64_t offset, size_t most, struct sb_buf *out,
                uint64_t *total, struct sb_err *err)
{
    struct sb_buf name;
    int rc = -1;

    if (!job->ended)
        return sb_fail(err, SB_NOT_FOUND,
                       "run %s has not ended: its output and files can be read then, its stdout "
                       "so far by job with an offset",
                       job->id);
    sb_buf_init(&name, SB_PATH_MAX_BYTES + 2);
    if (kept_name(job, path, &name, err) == 0)
        rc = sb_kept_read(job->kept, name.data, offset, most, out, total, err);
    sb_buf_done(&name);
    return rc;
}
