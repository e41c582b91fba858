/* SPDX-License-Identifier: MIT
 * What the win/guest_*.c files share. The guest has one thread that thinks (the dispatcher's)
 * and small ones that wait: one per pipe (guest_stream.c), one per run (guest_run.c). They meet
 * in `lock`; whoever changes something the dispatcher may wait for wakes `changed`. */
#ifndef SB_WIN_GUEST_WIN_H
#define SB_WIN_GUEST_WIN_H

#include <windows.h>

#include "guest/guest_os.h"

struct sb_stream;

struct sb_gos {
    SRWLOCK lock;
    CONDITION_VARIABLE changed;
    SECURITY_ATTRIBUTES private_thread; /* nobody of our user opens the thread */
    struct sb_stream *input, *output;   /* the host */
    bool want_write;
    HANDLE workspace;
    wchar_t *workspace_path;
    ULONG dont_reparse; /* OBJ_DONT_REPARSE where the system knows it, else 0 */
    struct sb_gos_run *runs[SB_WIRE_RUNS_MAX];
    unsigned turn; /* where sb_gos_next looks first: nobody starves */
};

/* ---- guest_text.c: errors and names ---------------------------------------------------- */

/* "WHAT: access is denied" with the code by the number; returns -1. */
int sb_guest_fail_os(struct sb_err *err, DWORD os, const char *fmt, ...) SB_PRINTF(3, 4);
/* True for what CreateProcessW would hand to cmd.exe, whose parsing no quoting survives. */
bool sb_guest_is_batch(const wchar_t *program);

/* ---- guest_stream.c: one end of a pipe and the thread that waits at it ------------------ */

/* Takes `pipe`, also on failure. `writes`: bytes go to the pipe, else they come from it. */
int sb_stream_open(struct sb_gos *gos, HANDLE pipe, bool writes, struct sb_stream **out, struct sb_err *err);
/* As sb_gos_read and sb_gos_run_write. */
long sb_stream_read(struct sb_stream *stream, void *bytes, size_t cap);
long sb_stream_write(struct sb_stream *stream, const void *bytes, size_t len);
bool sb_stream_ready(const struct sb_stream *stream); /* lock held: the call above would not say 0 */
/* Lock held: all that was written has left, or never will. */
bool sb_stream_idle(const struct sb_stream *stream);
void sb_stream_finish(struct sb_stream *stream); /* writes what it has, then closes the pipe */
void sb_stream_drop(struct sb_stream *stream);   /* closes without waiting and frees; NULL is allowed */

/* ---- guest_launch.c: one program ------------------------------------------------------------ */

struct sb_guest_child {
    HANDLE process;
    DWORD pid;
    HANDLE pipes[SB_CHAN_COUNT]; /* our ends; IN is NULL when stdin is empty */
};
int sb_guest_launch(struct sb_gos *gos, const struct sb_gos_start *start, HANDLE job,
                    struct sb_guest_child *out, struct sb_err *err);

/* ---- guest_run.c ------------------------------------------------------------------------ */

#define SB_GUEST_KILLED 0x5342004Bu /* exit code of what we terminate */

/* The kind, code and limit of an ended program. user_100ns: user time of the run's job. */
void sb_guest_verdict(uint32_t code, bool killed, const struct sb_wire_limits *limits, uint64_t user_100ns,
                      struct sb_gos_end *out);
/* Of the run's four kinds of event, number `which` (0..3), if it is due; lock held. */
bool sb_guest_run_event(struct sb_gos_run *run, unsigned which, struct sb_gos_event *out);
void sb_guest_run_terminate(struct sb_gos_run *run);

/* ---- guest_beneath.c: handles below the workspace, never through a link ------------------ */

enum sb_beneath { SB_BENEATH_READ, SB_BENEATH_CREATE, SB_BENEATH_FOLDER, SB_BENEATH_REMOVE };

/* Finds out what the system's OBJ_DONT_REPARSE does; once, with the workspace open. */
void sb_guest_beneath_probe(struct sb_gos *gos);
/* Opens a workspace path; "" only as a folder. CREATE makes the folders on the way and a new
 * file in place of an old one. */
int sb_guest_open_beneath(struct sb_gos *gos, const char *path, enum sb_beneath how, HANDLE *out,
                          struct sb_err *err);
int sb_guest_delete(HANDLE file);

void sb_guest_close(HANDLE *handle); /* NULL and INVALID_HANDLE_VALUE are allowed; becomes NULL */

#endif
