/* SPDX-License-Identifier: MIT
 * What job.c (the life of a job), job_run.c (its run) and job_keep.c (what stays of it) share. */
#ifndef SB_SERVER_JOB_INNER_H
#define SB_SERVER_JOB_INNER_H

#include "base/path.h"
#include "sandbox/probe.h"
#include "server/job.h"
#include "server/kept.h"
#include "server/last_line.h"

struct sb_job {
    struct sb_job *next; /* the older ones come first */
    struct sb_jobs *jobs;
    struct sb_host *host;
    char id[2 + SB_ID_LEN + 1];
    char *peer, *name; /* of the language, as the client said it */
    struct sb_job_want want;
    size_t input_sent;

    /* How far it is: each of the three calls back, and the job lives until then. */
    bool asking, started, keeping; /* for the backend; taken from the queue; a worker writes */
    bool killed, input_ended, ended;
    bool dropped; /* nobody can find it any more */
    struct sb_run *run;
    int64_t started_us, ended_us;

    const struct sb_probe_result *chosen;
    const struct sb_language *language;
    enum sb_path_rules rules;
    struct sb_buf program;
    struct sb_grant grant;

    struct sb_kept *kept;
    struct sb_err not_kept, artifact_failed; /* the second: of the artifact that comes just now */
    char **left_out; /* per artifact that came: why it is not kept, or NULL */
    size_t artifacts;
    struct sb_run_result result;
    struct sb_kept_stdout {
        uint64_t head, gap, tail; /* bytes; the gap is the line about what was dropped */
    } kept_stdout;
    struct sb_last_line last_line;
    struct sb_buf last_line_text;
    struct sb_job_wait *waits;
};

/* ---- job_run.c ---- */

/* The language, its interpreter, what is granted; or why not, and what mends it. */
int sb_job_prepare(struct sb_job *job, const char **mend, struct sb_err *err);
void sb_job_run(struct sb_job *job); /* sb_job_keeping, sb_job_kept and sb_job_gone follow */

/* ---- job_keep.c ---- */

void sb_job_on_artifact(void *ctx, const struct sb_wire_entry *file, const void *bytes, size_t len);
void sb_job_on_artifact_end(void *ctx, const struct sb_wire_entry *file, const struct sb_err *err);
/* Takes over what stays of the result, then calls sb_job_kept, at once or later. */
void sb_job_keep(struct sb_job *job, const struct sb_run_result *result);
uint64_t sb_job_memory(const struct sb_job *job); /* bytes of it that stay in memory */
void sb_job_keep_done(struct sb_job *job);

/* ---- job.c ---- */

void sb_job_keeping(struct sb_job *job); /* the program is over; its input is freed */
void sb_job_kept(struct sb_job *job);    /* nothing more is to be kept: the job has ended */
void sb_job_gone(struct sb_job *job);    /* nothing is left of its box */

#endif
