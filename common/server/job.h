/* SPDX-License-Identifier: MIT
 * Jobs: runs that outlive their request. Queue and fairness per peer, and what is kept of a
 * run after its box: output, artifacts, for 30 minutes. Loop thread only.
 *
 * A job id is the run id. Nothing of one peer's is seen by another. */
#ifndef SB_SERVER_JOB_H
#define SB_SERVER_JOB_H

#include <stdbool.h>
#include <uv.h>

#include "base/argv.h"
#include "base/buf.h"
#include "sandbox/run.h"

#define SB_JOBS_RUNNING      4                           /* of one peer at once */
#define SB_JOBS_QUEUED       64                          /* waiting behind them; then busy */
#define SB_JOBS_QUEUED_BYTES ((size_t)128 * 1024 * 1024) /* code, files and input of what waits */
#define SB_KEPT_MS           (30 * 60 * 1000)
#define SB_KEPT_RUNS         256                    /* of one peer; the oldest go first */
#define SB_KEPT_BYTES        (256ull * 1024 * 1024) /* of one peer; the oldest go first */

struct sb_host;
struct sb_jobs; /* all of one host */
struct sb_job;

struct sb_job_want {
    const char *peer;
    const char *language; /* as the client said it */
    char *code;           /* owned by the job from now on, also on failure */
    size_t code_len;
    struct sb_argv args, env;  /* owned by the job from now on, also on failure */
    struct sb_run_file *files; /* the same */
    size_t file_count;
    char *input; /* stdin; NULL: empty */
    size_t input_len;
    struct sb_ask ask;
    bool json; /* how its result is to be told, whoever comes for it */
};

struct sb_jobs *sb_jobs_new(struct sb_host *host, const char *kept_in); /* as in sb_host_want */
/* Kills all; on_stopped, never inside this call, when nothing of them is left. */
void sb_jobs_stop(struct sb_jobs *jobs, void (*on_stopped)(void *ctx), void *ctx);
void sb_jobs_free(struct sb_jobs *jobs); /* only after on_stopped */

/* Queues or starts it. SB_BUSY: too many of this peer ("busy, retry in N s"). Everything else
 * that goes wrong is the job's result, HOST_ERROR; it may have ended on return.
 *
 * A job that has ended is good until its caller returns to the loop: later it is found by id,
 * or not any more. */
int sb_job_start(struct sb_jobs *jobs, struct sb_job_want *want, struct sb_job **out, struct sb_err *err);
/* NULL: unknown, expired, or somebody else's: all the same to the asker. */
struct sb_job *sb_job_find(struct sb_jobs *jobs, const char *peer, const char *id);
/* First with NULL; oldest first. */
struct sb_job *sb_job_next(struct sb_jobs *jobs, const char *peer, struct sb_job *previous);
void sb_job_kill(struct sb_job *job);

/* Rings once when the job has ended (if it has, at once, inside this call, which then returns
 * NULL), or, with `ended` false, after wait_ms. sb_job_unwait takes it back; not after the ring. */
struct sb_job_wait;
struct sb_job_wait *sb_job_wait(struct sb_job *job, int64_t wait_ms, void (*on_ring)(void *ctx, bool ended),
                                void *ctx);
void sb_job_unwait(struct sb_job_wait *wait);

const char *sb_job_id(const struct sb_job *job);
bool sb_job_json(const struct sb_job *job); /* it was asked to be told as the reference's JSON */
bool sb_job_ended(const struct sb_job *job);
const char *sb_job_state(const struct sb_job *job);   /* "queued", "opening", "running", ... */
int64_t sb_job_elapsed_ms(const struct sb_job *job);  /* from sb_job_start to now, or to its end */
const char *sb_job_last_line(struct sb_job *job);     /* of stdout so far, cut, UTF-8; "" */
const char *sb_job_backend(const struct sb_job *job); /* "" before one is chosen */
/* Only when ended. Its captures are the head and tail for the answer; all of what is kept is
 * read by sb_job_read. */
const struct sb_run_result *sb_job_result(const struct sb_job *job);

/* Kept bytes of "@stdout", "@stderr" or an artifact's path, from `offset`, at most `most`.
 * *total is the size of all that is kept: of a stream, whose middle was dropped, its two
 * halves with a line between them that says so. SB_NOT_FOUND names what there is. */
int sb_job_read(struct sb_job *job, const char *path, uint64_t offset, size_t most, struct sb_buf *out,
                uint64_t *total, struct sb_err *err);

/* While the job runs: at most `most` bytes of its stdout from *offset, which goes on over what was
 * dropped; *total is what came so far. Nothing comes between the program's end and the job's. */
void sb_job_peek(const struct sb_job *job, uint64_t *offset, size_t most, struct sb_buf *out,
                 uint64_t *total);
/* When it has ended: where byte `offset` of all its stdout lies in what sb_job_read reads of it; what
 * was dropped is the line that says so. */
uint64_t sb_job_kept_at(const struct sb_job *job, uint64_t offset);
/* The ends of stderr so far, enough for an answer; the caller's. */
void sb_job_stderr(const struct sb_job *job, struct sb_capture *out);

#endif
