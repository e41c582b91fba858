/* SPDX-License-Identifier: MIT
 * What stays of a job: artifacts as they come, then its output; of its result, what an answer
 * can show. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "server/host.h"
#include "server/job_inner.h"
#include "server/spool.h"

#define ANSWER_HALF 20480u       /* of each end of a stream: 5,000 characters of 4 bytes */
#define LOOP_BYTES  (256u * 1024) /* more than this is written by a worker */
#define GAP_BYTES   80u

/* ---- artifacts ---------------------------------------------------------------------- */

/* A file may be called "@stdout". */
static char *artifact_name(const struct sb_wire_entry *file)
{
    return sb_asprintf("./%s", file->path);
}

void sb_job_on_artifact(void *ctx, const struct sb_wire_entry *file, const void *bytes, size_t len)
{
    struct sb_job *job = ctx;
    char *name;

    if (job->artifact_failed.code != SB_OK)
        return;
    name = artifact_name(file);
    sb_kept_add(job->kept, name, bytes, len, &job->artifact_failed);
    sb_free(name);
}

void sb_job_on_artifact_end(void *ctx, const struct sb_wire_entry *file, const struct sb_err *failed)
{
    struct sb_job *job = ctx;
    struct sb_err *err = &job->artifact_failed;
    char *name = artifact_name(file);

    if (failed != NULL) {
        *err = *failed;
        sb_kept_forget(job->kept, name);
    } else if (err->code == SB_OK) {
        sb_kept_end(job->kept, name, err);
    }
    job->left_out = sb_realloc(job->left_out, (job->artifacts + 1) * sizeof *job->left_out);
    job->left_out[job->artifacts++] = err->code != SB_OK ? sb_strdup(err->text) : NULL;
    memset(err, 0, sizeof *err);
    sb_free(name);
}

/* ---- the result --------------------------------------------------------------------- */

static size_t bytes_kept(const struct sb_capture *capture)
{
    return capture->head_len + capture->tail_len;
}

/* The ends of a capture, small enough to stay. */
static void copy_ends(const struct sb_capture *from, struct sb_capture *to)
{
    struct sb_buf bytes;
    bool dropped = sb_capture_omitted(from) > 0;

    sb_capture_init(to, 2 * (from->half < ANSWER_HALF ? from->half : ANSWER_HALF));
    sb_buf_init(&bytes, from->half + 1);
    sb_capture_head(from, &bytes);
    sb_capture_add(to, bytes.data, dropped ? to->half : bytes.len);
    sb_buf_clear(&bytes);
    sb_capture_tail(from, &bytes);
    sb_capture_add(to, bytes.data, bytes.len);
    to->total = from->total;
    sb_buf_done(&bytes);
}

static void copy_result(struct sb_job *job, const struct sb_run_result *from)
{
    struct sb_run_result *to = &job->result;
    struct sb_wire_entry *files = sb_alloc((from->file_count + 1) * sizeof *files);

    *to = *from;
    for (size_t i = 0; i < 2; i++)
        copy_ends(&from->output[i], &to->output[i]);
    for (size_t i = 0; i < from->file_count; i++) {
        files[i] = from->files[i];
        files[i].path = sb_strdup(from->files[i].path);
    }
    to->files = files;
    /* One reason each, also for those the run said nothing about. */
    job->left_out =
        sb_realloc(job->left_out, (from->file_count + job->artifacts + 1) * sizeof *job->left_out);
    for (; job->artifacts < from->file_count; job->artifacts++)
        job->left_out[job->artifacts] = sb_strdup("it was not fetched");
    to->left_out = (const char *const *)job->left_out;
}

uint64_t sb_job_memory(const struct sb_job *job)
{
    uint64_t sum = sizeof *job;

    for (size_t i = 0; i < 2; i++)
        sum += job->result.output[i].head_cap + job->result.output[i].tail_cap;
    for (size_t i = 0; i < job->result.file_count; i++)
        sum += sizeof *job->result.files + strlen(job->result.files[i].path);
    return sum;
}

void sb_job_keep_done(struct sb_job *job)
{
    for (size_t i = 0; i < job->result.file_count; i++)
        sb_free(job->result.files[i].path);
    sb_free((void *)(uintptr_t)job->result.files);
    for (size_t i = 0; i < job->artifacts; i++)
        sb_free(job->left_out[i]);
    sb_free(job->left_out);
    for (size_t i = 0; i < 2; i++)
        sb_capture_done(&job->result.output[i]);
}

/* ---- output ------------------------------------------------------------------------- */

static const char *const stream_names[] = {"@stdout", "@stderr"};

/* One worker's work: bytes and paths are its own. */
struct writing {
    uv_work_t request;
    struct sb_job *job;
    const char *path[2]; /* the job's; NULL: nothing to write */
    struct sb_buf bytes[2];
    struct sb_err err;
};

static void on_worker(uv_work_t *request)
{
    struct writing *writing = request->data;

    for (size_t i = 0; i < 2 && writing->err.code == SB_OK; i++)
        if (writing->path[i] != NULL)
            sb_spool_put(writing->path[i], writing->bytes[i].data, writing->bytes[i].len, &writing->err);
}

/* Half of the output would be a riddle: all of it or nothing. */
static void written(struct writing *writing)
{
    struct sb_job *job = writing->job;

    if (writing->err.code != SB_OK) {
        job->not_kept = writing->err;
        job->result.not_kept = job->not_kept.text;
        for (size_t i = 0; i < 2; i++)
            sb_kept_forget(job->kept, stream_names[i]);
    }
    for (size_t i = 0; i < 2; i++)
        sb_buf_done(&writing->bytes[i]);
    sb_free(writing);
    sb_job_kept(job);
}

static void on_worker_done(uv_work_t *request, int status)
{
    struct writing *writing = request->data;

    (void)status; /* never cancelled */
    written(writing);
}

static void put_stream(const struct sb_capture *capture, struct sb_buf *out)
{
    sb_buf_init(out, bytes_kept(capture) + GAP_BYTES);
    sb_capture_head(capture, out);
    if (sb_capture_omitted(capture) > 0)
        sb_buf_addf(out, "\n[... %" PRIu64 " bytes were not kept ...]\n", sb_capture_omitted(capture));
    sb_capture_tail(capture, out);
}

static int keep_now(struct sb_kept *kept, const char *name, const struct sb_buf *bytes, struct sb_err *err)
{
    return sb_kept_add(kept, name, bytes->data, bytes->len, err) < 0 ? -1 : sb_kept_end(kept, name, err);
}

static void note_stdout(struct sb_job *job, const struct sb_capture *capture, const struct sb_buf *bytes)
{
    job->kept_stdout.head = capture->head_len;
    job->kept_stdout.gap = bytes->len - bytes_kept(capture);
    job->kept_stdout.tail = capture->tail_len;
}

void sb_job_keep(struct sb_job *job, const struct sb_run_result *result)
{
    struct writing *writing = sb_alloc(sizeof *writing);
    bool large = bytes_kept(&result->output[0]) + bytes_kept(&result->output[1]) > LOOP_BYTES;

    copy_result(job, result);
    writing->job = job;
    writing->request.data = writing;
    for (size_t i = 0; i < 2; i++) {
        struct sb_buf *bytes = &writing->bytes[i];

        put_stream(&result->output[i], bytes);
        if (i == 0)
            note_stdout(job, &result->output[i], bytes);
        if (writing->err.code != SB_OK)
            continue;
        if (large && bytes->len > SB_KEPT_SMALL)
            sb_kept_reserve(job->kept, stream_names[i], bytes->len, &writing->path[i], &writing->err);
        else
            keep_now(job->kept, stream_names[i], bytes, &writing->err);
    }
    if (large && writing->err.code == SB_OK &&
        uv_queue_work(sb_host_loop(job->host), &writing->request, on_worker, on_worker_done) == 0)
        return;
    on_worker(&writing->request); /* what no worker took */
    written(writing);
}

/* ---- so far ------------------------------------------------------------------------- */

/* NULL: not started, or over. */
static const struct sb_capture *output_of(const struct sb_job *job, enum sb_channel channel)
{
    return job->run != NULL && !job->keeping && !job->ended ? sb_run_output(job->run, channel) : NULL;
}

void sb_job_peek(const struct sb_job *job, uint64_t *offset, size_t most, struct sb_buf *out, uint64_t *total)
{
    const struct sb_capture *capture = output_of(job, SB_CHAN_OUT);

    if (capture != NULL)
        sb_capture_read(capture, offset, most, out);
    *total = capture != NULL ? capture->total : job->result.output[0].total;
}

uint64_t sb_job_kept_at(const struct sb_job *job, uint64_t offset)
{
    const struct sb_kept_stdout *kept = &job->kept_stdout;
    uint64_t tail = job->result.output[0].total - kept->tail;

    if (offset < tail)
        return offset < kept->head ? offset : kept->head;
    return kept->head + kept->gap + (offset - tail);
}

void sb_job_stderr(const struct sb_job *job, struct sb_capture *out)
{
    const struct sb_capture *capture = output_of(job, SB_CHAN_ERR);

    copy_ends(capture != NULL ? capture : &job->result.output[1], out);
}
