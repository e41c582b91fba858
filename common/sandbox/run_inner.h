/* SPDX-License-Identifier: MIT
 * What run.c (the life of a run) and run_files.c (files into its box and out of it) share. */
#ifndef SB_SANDBOX_RUN_INNER_H
#define SB_SANDBOX_RUN_INNER_H

#include "base/buf.h"
#include "sandbox/run.h"

/* One file on its way into the box. */
struct sb_run_upload {
    struct sb_run *run;
    uint32_t id;
    char *path;
    const char *bytes;
    size_t len, at;
};

#define UPLOADS_MAX (2 + SB_RUN_FILES_MAX) /* code, runner, files */

struct sb_run {
    enum sb_run_state state;
    char id[2 + SB_ID_LEN + 1];
    struct sb_run_events events;
    uv_timer_t timer;
    struct sb_box *box;
    struct sb_grant grant;
    struct sb_buf code; /* the code as the language wants it */
    struct sb_run_upload uploads[UPLOADS_MAX];
    size_t upload_count;
    uint32_t exec;
    size_t unread[SB_CHAN_COUNT]; /* given to on_output, not yet consumed */
    uint64_t late_output;         /* more than this is no left-over any more; 0: not late yet */
    bool collect, judged, cancelled, ended_told, box_gone;
    struct sb_wire_entry *files;
    size_t file_count, collecting;
    uint32_t get;
    uint64_t collected_bytes;
    struct sb_run_result result;
};

/* The only way a run moves; events its state ignores are dropped. */
void sb_run_step(struct sb_run *run, enum sb_run_event event);
/* Our own inability: the run ends as HOST_ERROR, unless it has ended or was cancelled. */
void sb_run_broken(struct sb_run *run, const struct sb_err *why, const char *mend);
struct sb_link *sb_run_link(struct sb_run *run); /* NULL: no box, or it can't be used any more */

/* Code, runner and the caller's files: decided before the box is there, sent as credit allows. */
void sb_run_plan_uploads(struct sb_run *run, const struct sb_run_want *want);
int sb_run_start_uploads(struct sb_run *run, struct sb_link *link, struct sb_err *err);

/* Fetches the next artifact within the caps, or says COLLECTED. */
void sb_run_collect_next(struct sb_run *run);

#endif
