/* SPDX-License-Identifier: MIT
 * The guest's only seam to its operating system, implemented by posix/guest_*.c and
 * win/guest_*.c. One thread; every call returns at once except sb_gos_next, and
 * sb_gos_run_start, which returns when the program runs (on Linux after 5 s at the most:
 * other programs of the box may hold it up).
 * The dispatcher above it knows no descriptor, pid, signal or HANDLE. */
#ifndef SB_GUEST_GUEST_OS_H
#define SB_GUEST_GUEST_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "wire/wire.h"

struct sb_gos;      /* the guest process */
struct sb_gos_run;  /* one started program and its tree */
struct sb_gos_file; /* one open workspace file */

/* First thing in main: hardens the process (design part 2), takes stdin and stdout away
 * from descriptors 0-2, opens the current folder as the workspace. */
int sb_gos_open(struct sb_gos **out, struct sb_err *err);
/* START said so: PID 1 of a pid namespace may use kill(-1). Ignored when we are not PID 1. */
void sb_gos_own_pids(struct sb_gos *gos, bool own);
uint32_t sb_gos_pid(const struct sb_gos *gos);
enum sb_wire_os sb_gos_os(void);
enum sb_wire_arch sb_gos_arch(void);
int64_t sb_gos_now_us(void); /* awake time, monotonic */

/* Ends the box: kills what it may and knows, then the process. Never returns. */
_Noreturn void sb_gos_end(struct sb_gos *gos, int code);

enum sb_gos_kind {
    SB_GOS_DEADLINE,
    SB_GOS_HOST_READABLE, /* bytes, or the end of our stdin */
    SB_GOS_HOST_WRITABLE, /* only after sb_gos_want_write(true) */
    SB_GOS_OUTPUT,        /* run's channel OUT or ERR has bytes or ended; only while wanted */
    SB_GOS_INPUT,         /* the program's stdin takes more; only while wanted (channel IN) */
    SB_GOS_ENDED          /* the program ended and its tree is dead: sb_gos_run_end is valid */
};
struct sb_gos_event {
    enum sb_gos_kind kind;
    struct sb_gos_run *run;
    enum sb_channel channel;
};
/* Blocks until an event or the deadline (sb_gos_now_us time; INT64_MAX: none). While it
 * waits it reaps, and kills children nobody knows. */
void sb_gos_next(struct sb_gos *gos, int64_t deadline_us, struct sb_gos_event *out);

/* The host's pipe. read: bytes, 0 nothing now, -1 ended. write: bytes accepted (0: full). */
long sb_gos_read(struct sb_gos *gos, void *bytes, size_t cap);
size_t sb_gos_write(struct sb_gos *gos, const void *bytes, size_t len);
void sb_gos_want_write(struct sb_gos *gos, bool want);

struct sb_gos_start {
    char *const *argv;
    char *const *env;
    const char *cwd;      /* workspace path */
    bool guest_itself;    /* SB_EXEC_GUEST */
    bool feed_stdin;      /* else stdin is empty: at once at its end */
    struct sb_wire_limits limits; /* only what the OS enforces per process or tree; wall, cpu_ms
                                     of the tree and output are the dispatcher's */
};
/* A program that can't be started is an error with its errno; nothing is left then. */
int sb_gos_run_start(struct sb_gos *gos, const struct sb_gos_start *start, struct sb_gos_run **out,
                     struct sb_err *err);
void sb_gos_run_want(struct sb_gos_run *run, enum sb_channel channel, bool want);
/* As sb_gos_read. */
long sb_gos_run_read(struct sb_gos_run *run, enum sb_channel channel, void *bytes, size_t cap);
/* Bytes accepted, 0 full, -1 the program closed its stdin. */
long sb_gos_run_write(struct sb_gos_run *run, const void *bytes, size_t len);
void sb_gos_run_close_input(struct sb_gos_run *run);
/* Stops reading an output for good: what a hung writer still holds is dropped. */
void sb_gos_run_close_output(struct sb_gos_run *run, enum sb_channel channel);
void sb_gos_run_interrupt(struct sb_gos_run *run);
/* Asks for the death of the whole tree; SB_GOS_ENDED follows, and what died of it ended
 * SB_SIGNALLED 9 on every system. Idempotent. */
void sb_gos_run_kill(struct sb_gos_run *run);

struct sb_gos_usage {
    uint64_t wall_us, cpu_us, peak_bytes;
};
struct sb_gos_end {
    enum sb_exit_kind kind;
    uint32_t code;
    bool parent_killed;
    enum sb_limit limit; /* what the OS says killed it: SB_LIMIT_CPU by SIGXCPU; else NONE */
    struct sb_gos_usage usage;
};
void sb_gos_run_end(const struct sb_gos_run *run, struct sb_gos_end *out);
/* CPU used so far by the living tree and its reaped children. */
void sb_gos_run_usage(struct sb_gos_run *run, struct sb_gos_usage *out);
void sb_gos_run_free(struct sb_gos_run *run); /* after ENDED */

/* Files, always beneath the workspace, never through a link (not even one that points
 * inside), never opening a FIFO, device or socket. Paths are plain workspace paths
 * (base/path.h), checked by the caller. */
int sb_gos_create(struct sb_gos *gos, const char *path, bool executable, struct sb_gos_file **out,
                  struct sb_err *err);
int sb_gos_open_file(struct sb_gos *gos, const char *path, uint64_t offset, struct sb_gos_file **out,
                     struct sb_err *err);
/* Bytes (0: end of file) or -1. */
long sb_gos_file_read(struct sb_gos_file *file, void *bytes, size_t cap, struct sb_err *err);
int sb_gos_file_write(struct sb_gos_file *file, const void *bytes, size_t len, struct sb_err *err);
/* `keep` false removes a file that was being created. NULL file is allowed. */
int sb_gos_file_close(struct sb_gos_file *file, bool keep, struct sb_err *err);
int sb_gos_remove(struct sb_gos *gos, const char *path, struct sb_err *err);

struct sb_gos_entry {
    const char *path; /* workspace path, UTF-8 (repaired when bad_name); valid during the call */
    enum sb_entry_type type;
    bool bad_name;
    uint64_t size;
    int64_t mtime_ns, change_ns; /* change: ctime, or 0 where there is none */
    uint64_t inode;
};
/* Visits everything below `folder` ("": the workspace), breadth first, so that a large folder
 * hides nothing above it: all of a folder before anything deeper, names in byte order. Without
 * the top-level `.tmp`; follows no link. The visitor returns false to stop. At most `most`
 * entries are visited; *cut says that there are more, or some that guest/folders.h left out.
 * Folders that can't be read are visited but not entered. */
int sb_gos_walk(struct sb_gos *gos, const char *folder, size_t most,
                bool (*visit)(void *ctx, const struct sb_gos_entry *entry), void *ctx, bool *cut,
                struct sb_err *err);

#endif
