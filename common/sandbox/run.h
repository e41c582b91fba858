/* SPDX-License-Identifier: MIT
 * A run: one program in a box of its own, from code to result. Loop thread only.
 *
 * States are rows of a table in run.c: callbacks ring, sb_run_step decides. INSTALLING and
 * COMPILING of the design join with packages and compiled languages. */
#ifndef SB_SANDBOX_RUN_H
#define SB_SANDBOX_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "languages/language.h"
#include "platform/random.h"
#include "sandbox/box.h"
#include "sandbox/capture.h"

enum sb_run_state {
    SB_RUN_QUEUED,
    SB_RUN_OPENING,
    SB_RUN_RUNNING,
    SB_RUN_DRAINING,   /* killed by us: waits for the guest's last word */
    SB_RUN_COLLECTING, /* fetches artifacts */
    SB_RUN_ENDED,
    SB_RUN_STATES
};
enum sb_run_event {
    SB_RUN_START,
    SB_RUN_READY,     /* the box has its guest */
    SB_RUN_CANCEL,
    SB_RUN_EXIT,      /* the guest says how it ended */
    SB_RUN_COLLECTED,
    SB_RUN_BROKEN,    /* box, upload or start failed */
    SB_RUN_LATE,      /* the host's own timer */
    SB_RUN_EVENTS
};
int sb_run_next(enum sb_run_state state, enum sb_run_event event); /* -1: ignored */
const char *sb_run_state_name(enum sb_run_state state);

enum sb_status {
    SB_STATUS_OK,
    SB_STATUS_ERROR,
    SB_STATUS_SIGNAL, /* killed by a signal; on Windows a crash, code >= 0xC0000000 */
    SB_STATUS_TIMEOUT,
    SB_STATUS_CPU_LIMIT,
    SB_STATUS_MEMORY_LIMIT,
    SB_STATUS_PROCESS_LIMIT,
    SB_STATUS_DISK_LIMIT,
    SB_STATUS_OUTPUT_LIMIT,
    SB_STATUS_CANCELLED,
    SB_STATUS_HOST_ERROR, /* our own inability */
    SB_STATUS_COUNT
};
const char *sb_status_name(enum sb_status status); /* "ok", "error", ... */

#define SB_RUN_LATE_MS       1000 /* after the guest should have ended the run; then the box is killed */
#define SB_RUN_CANCEL_MS     200  /* from a cancel to the end of the box, whatever its guest does */
#define SB_RUN_CODE_MAX      (4u * 1024 * 1024)
#define SB_RUN_FILES_MAX     64                  /* put into the box beside the code */
#define SB_RUN_FILES_BYTES   (8u * 1024 * 1024)  /* of all of them */
#define SB_RUN_ENV_MAX       256                 /* variables beyond the language's own */
#define SB_RUN_ENV_BYTES     (64u * 1024)
#define SB_RUN_ARGS_MAX      4000
#define SB_RUN_ARGS_BYTES    (1024u * 1024)
#define SB_RUN_ARTIFACTS     64
#define SB_RUN_ARTIFACTS_MAX (32u * 1024 * 1024) /* bytes of all artifacts together */

/* A file put into the workspace before the program starts. */
struct sb_run_file {
    char *path; /* workspace path */
    char *bytes;
    size_t len;
};

struct sb_run_want {
    const struct sb_language *language;
    const char *program; /* the interpreter, as the target has it */
    const char *code;    /* borrowed until on_ended */
    size_t code_len;
    const char *const *args; /* NULL-terminated, or NULL */
    const char *const *env;  /* NAME=value in place of the language's own; NULL-terminated, or NULL */
    const struct sb_run_file *files; /* borrowed until on_ended */
    size_t file_count;
    bool feed_stdin;     /* else the program's stdin is empty */
    bool list_files;     /* the result lists files the program made or changed */
    bool collect_files;  /* and they are fetched, within SB_RUN_ARTIFACTS* */
    struct sb_box_want box;
};

struct sb_run_result {
    enum sb_status status;
    struct sb_err err; /* HOST_ERROR: why; and the command that mends it, if known */
    char mend[480];
    uint32_t code;     /* exit code or signal number, uncut */
    bool parent_killed;
    uint64_t wall_us, cpu_us, peak_bytes; /* peak: largest process of the run; 0: not known */
    int64_t limit;     /* the number that was hit, in the unit of its row; 0: none */
    enum sb_limit_row limit_row;
    struct sb_capture output[2]; /* stdout, stderr */
    const struct sb_wire_entry *files;
    size_t file_count;
    bool files_cut;
    /* Filled by who keeps output and files beyond the run. */
    const char *const *left_out; /* per file: why it is not kept; NULL: it is */
    const char *not_kept;        /* why output is not kept; NULL: it is */
};

struct sb_run_events {
    void *ctx;
    /* Live output, channel OUT or ERR; NULL: only captured. The receiver answers each byte
     * by sb_run_consumed, at once or later: that is the back-pressure. */
    void (*on_output)(void *ctx, enum sb_channel channel, const void *bytes, size_t len);
    void (*on_input)(void *ctx); /* sb_run_send takes more */
    /* One artifact after the other; `err` at its end: NULL when it is whole. */
    void (*on_artifact)(void *ctx, const struct sb_wire_entry *file, const void *bytes, size_t len);
    void (*on_artifact_end)(void *ctx, const struct sb_wire_entry *file, const struct sb_err *err);
    void (*on_ended)(void *ctx, const struct sb_run_result *result); /* result valid during the call */
    void (*on_gone)(void *ctx); /* the last word: box gone, run freed after it returns */
};

struct sb_run;

/* Looks at code, files, args and env before anything is started: a size over its cap, a path
 * that is bad, doubled, the code's own or temporary, a variable without name or doubled. Of
 * `want` it needs these and the language. What it passes fails by no fault of the caller's. */
int sb_run_check(const struct sb_run_want *want, struct sb_err *err);

/* Opens the box and sends everything in one write. Nothing runs inside this call; a
 * failure to open, or a want that sb_run_check refuses, arrives by on_ended as HOST_ERROR. */
struct sb_run *sb_run_new(uv_loop_t *loop, const struct sb_run_want *want, const struct sb_run_events *events);
void sb_run_cancel(struct sb_run *run);
size_t sb_run_send(struct sb_run *run, const void *bytes, size_t len); /* stdin; returns what was taken */
void sb_run_send_end(struct sb_run *run);
void sb_run_consumed(struct sb_run *run, enum sb_channel channel, size_t bytes);
const char *sb_run_id(const struct sb_run *run); /* r_... */
enum sb_run_state sb_run_state(const struct sb_run *run);
const struct sb_capture *sb_run_output(const struct sb_run *run, enum sb_channel channel); /* so far */
struct sb_box *sb_run_box(struct sb_run *run);   /* NULL before it is open */

#endif
