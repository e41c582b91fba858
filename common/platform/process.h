/* SPDX-License-Identifier: MIT
 * Starts programs that are boxes: explicit about everything, inheriting nothing.
 *
 * POSIX: clean environment, default signal dispositions and empty mask whatever we
 * inherited, exactly the descriptors of the launch, oom_score_adj 1000, uid of the box.
 * Windows: full path, explicit environment and cwd, handle list, born in the box's Job, no
 * window. Loop thread only: the parent-death signal is per thread. */
#ifndef SB_PLATFORM_PROCESS_H
#define SB_PLATFORM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/argv.h"
#include "base/err.h"

enum sb_handle_kind {
    SB_HANDLE_GUEST, /* the guest program of `text` (a host path), as a sealed read-only copy */
    SB_HANDLE_DATA,  /* a readable descriptor holding `text`, `len` bytes */
    SB_HANDLE_INFO   /* a pipe the program writes and sb_proc gives us as `info` */
};
struct sb_launch_handle {
    int number; /* descriptor in the program, 3..15 */
    enum sb_handle_kind kind;
    const char *text;
    size_t len;
};

struct sb_box_os;

struct sb_launch {
    const char *program; /* absolute host path; no search, no shell */
    char *const *argv;
    char *const *env;    /* the whole environment */
    const char *cwd;     /* absolute */
    const struct sb_launch_handle *handles; /* POSIX only */
    size_t handle_count;
    struct sb_box_os *os; /* NULL: an ordinary child of ours, same walls otherwise (own uid kept) */
};

struct sb_proc;

struct sb_proc_end {
    bool signalled;
    uint32_t code; /* exit code, uncut, or signal number */
};

/* None runs inside sb_proc_start; all on the loop thread. */
struct sb_proc_events {
    void *ctx;
    void (*on_exit)(void *ctx, const struct sb_proc_end *end); /* the started program itself ended */
    void (*on_gone)(void *ctx); /* after on_exit: nothing of the box is left (see sb_proc_watch_inner) */
};

/* On success *out is the caller's until sb_proc_free; on failure nothing was started, and
 * err names the step and the OS error. */
int sb_proc_start(uv_loop_t *loop, const struct sb_launch *launch, const struct sb_proc_events *events,
                  struct sb_proc **out, struct sb_err *err);

/* Our ends, owned by the proc, not yet reading. On POSIX input and output are one socket.
 * info is NULL without SB_HANDLE_INFO. */
uv_stream_t *sb_proc_input(struct sb_proc *proc);
uv_stream_t *sb_proc_output(struct sb_proc *proc);
uv_stream_t *sb_proc_errors(struct sb_proc *proc);
uv_stream_t *sb_proc_info(struct sb_proc *proc);
long sb_proc_pid(const struct sb_proc *proc);

/* POSIX: `pid` is the box's PID 1 as the wrapper told us (bwrap --info-fd). It must be a
 * child of the started program. From then on kill goes to it and on_gone waits for it.
 * *own_pids says whether the kernel shows it as PID 1 of a pid namespace of its own. */
int sb_proc_watch_inner(struct sb_proc *proc, long pid, bool *own_pids, struct sb_err *err);

/* Kills all of it, hard; the events follow. Idempotent. */
void sb_proc_kill(struct sb_proc *proc);
/* Ends the guest's input: it ends the box by itself. */
void sb_proc_close_input(struct sb_proc *proc);
/* Closes the streams and frees; on_closed is the last word. After on_gone, from inside it, or
 * when nobody waits for it any more. */
void sb_proc_free(struct sb_proc *proc, void (*on_closed)(void *ctx), void *ctx);

#endif
