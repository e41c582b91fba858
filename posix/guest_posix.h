/* SPDX-License-Identifier: MIT
 * What the files posix/guest_*.c share: the guest process and its parts. Nobody else
 * includes this, except their unit tests. */
#ifndef SB_POSIX_GUEST_POSIX_H
#define SB_POSIX_GUEST_POSIX_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "guest/guest_os.h"

/* ---- guest_beneath.c: opening below a folder, never through a link ---- */

struct sb_beneath {
    int root;     /* the workspace */
    dev_t device; /* its file system: nothing on another one is opened */
    bool by_hand; /* no openat2 here: component by component, as strict */
};
/* `root` stays the caller's. Looks once whether openat2 works. */
int sb_beneath_init(struct sb_beneath *beneath, int root);
/* Opens `path` ("": the folder itself) below the open folder `folder`. Descriptor, or -1 and
 * errno: ELOOP for a link anywhere in the path, EXDEV for a way out or another file system. */
int sb_beneath_open(const struct sb_beneath *beneath, int folder, const char *path, int flags);
/* The folder that holds `path`, with missing folders made when `make`; *name is its last part. */
int sb_beneath_parent(const struct sb_beneath *beneath, const char *path, bool make, const char **name);

struct stat;
/* Is this a file that is being made? */
bool sb_is_put(const struct sb_gos *gos, const struct stat *st);

/* ---- guest_tree.c: processes and their trees ---- */

#define SB_PROC_MAX 65536 /* processes looked at in one walk of /proc */

struct sb_proc {
    pid_t pid, ppid, group;
    char state;
    uint64_t own_ticks, child_ticks; /* CPU; of the children it has waited for */
};
/* Parses the text of /proc/PID/stat. */
bool sb_proc_parse(const char *text, struct sb_proc *out);
/* All processes in /proc. The caller frees *out with sb_free. Does not return when /proc can't be
 * read: prlimit lets any process of our uid lower our RLIMIT_NOFILE, and who can't see processes
 * must not think that there are none. What a run parent leaves so, the guest kills; what the guest
 * leaves, the kernel (it was PID 1) or its run parents. */
size_t sb_proc_list(struct sb_proc **out);
/* Moves the descendants of `root` (not root itself) to the front of the table, by ascending pid,
 * and returns how many. Processes in `skip` and what is below them do not count. */
size_t sb_proc_descendants(struct sb_proc *table, size_t count, pid_t root, const pid_t *skip,
                           size_t skip_count);

typedef int sb_kill_fn(pid_t pid, int signal);
struct sb_tree {
    pid_t root;
    const pid_t *skip;
    size_t skip_count;
    sb_kill_fn *kill;
};
/* One blow: stops all descendants until no new ones turn up, then kills them. Does not wait
 * for their end. Returns how many were alive. */
size_t sb_tree_strike(const struct sb_tree *tree);
/* Have we any child, dead or alive? Asks the kernel, not /proc. */
bool sb_tree_has_children(void);

/* ---- guest_limits.c ---- */

struct sb_rlimit {
    unsigned char what; /* RLIMIT_*: glibc has an enum for them, musl an int, and this suits both */
    rlim_t value;
};
enum { SB_RLIMITS_MAX = 5 };
/* The resource limits of a program, in the order to set them. `ours` is how many processes of
 * the box belong to us: they count against RLIMIT_NPROC too. */
size_t sb_rlimits(const struct sb_wire_limits *limits, uint32_t ours, struct sb_rlimit out[SB_RLIMITS_MAX]);
/* Never above the hard limit that is there. 0, or -1 and errno. */
int sb_rlimit_set(const struct sb_rlimit *limit);
/* Adds CPU time; the peak is the larger one. */
void sb_usage_add(struct sb_gos_usage *usage, const struct rusage *used);

/* ---- guest_parent.c: the run parent ---- */

enum sb_step { SB_STEP_NONE, SB_STEP_FORK, SB_STEP_STREAMS, SB_STEP_CWD, SB_STEP_LIMITS, SB_STEP_EXEC };
struct sb_failure {
    int step, error; /* enum sb_step, errno */
};
enum { SB_ORDER_KILL = 'K', SB_ORDER_INTERRUPT = 'I' }; /* one byte each, guest to run parent */
enum sb_report_type { SB_REPORT_STARTED = 1, SB_REPORT_FAILED, SB_REPORT_BUSY, SB_REPORT_ENDED };
struct sb_report { /* run parent to guest, one message each */
    int type;      /* enum sb_report_type; BUSY: still killing */
    struct sb_failure failure;
    int status; /* of the program, as wait says it */
    struct sb_gos_usage usage;
};
struct sb_job {
    const struct sb_gos_start *start;
    int control;                /* our end of the socket to the guest */
    int streams[SB_CHAN_COUNT]; /* what becomes the program's 0, 1, 2 */
    int cwd;
    uint32_t ours; /* see sb_rlimits */
};
/* The life of a run parent, in the process that was forked for it. */
_Noreturn void sb_run_parent(const struct sb_job *job);

/* ---- guest_run.c and guest_reap.c ---- */

enum sb_run_state {
    SB_RUN_ALIVE,    /* its run parent lives */
    SB_RUN_ORPHANED, /* the run parent was killed; the tree is being killed */
    SB_RUN_DEAD,     /* SB_GOS_ENDED is due */
    SB_RUN_TOLD
};
struct sb_gos_run {
    struct sb_gos *gos;
    struct sb_gos_run *next;
    enum sb_run_state state;
    pid_t parent;
    int control;
    int streams[SB_CHAN_COUNT]; /* our ends; -1: closed */
    bool want[SB_CHAN_COUNT];
    bool cpu_limited;
    int64_t started_us;
    int64_t kill_us;     /* when the kill was asked for; 0: not */
    int64_t patience_us; /* when the run parent is killed itself; INT64_MAX: never */
    struct sb_gos_end end;
};

/* The run parent ended (`used`: it and all it reaped): takes its last report. */
void sb_run_parent_ended(struct sb_gos_run *run, const struct rusage *used);
/* Time passes: kills a run parent that does not finish a kill. Returns when to look again. */
int64_t sb_run_tick(struct sb_gos_run *run, int64_t now_us);

/* Reaps all that ended; a stopped run parent goes on. */
void sb_gos_reap(struct sb_gos *gos);
/* One blow at the children nobody knows. Returns false when there are none (any more). */
bool sb_gos_kill_strays(struct sb_gos *gos);

/* ---- guest_os.c ---- */

struct sb_gos {
    pid_t pid;
    bool own_pids;
    int host_in, host_out; /* may be one socket */
    int signals;           /* signalfd of SIGCHLD */
    struct sb_beneath beneath;
    bool want_write;
    bool host_gone;     /* writing failed: reading says so too */
    bool strays;        /* there may be children nobody knows */
    bool deadline_told; /* the last event was a deadline */
    size_t turn;        /* who is looked at first, for fairness */
    struct sb_gos_run *runs;
    struct sb_gos_file *puts; /* files being made: not yet there for a walk */
    sb_kill_fn *kill;
};

int sb_signals_open(void); /* signalfd of SIGCHLD, or -1 */
void sb_signals_drain(int signals);
void sb_close(int *fd); /* closes and sets -1; -1 is allowed */
/* Closes everything above 2 except `keep`. */
void sb_close_others(const int *keep, size_t count);

/* ---- guest_err.c ---- */

/* "what: errno's text" with the code that fits; -1 always. */
int sb_fail_errno(struct sb_err *err, int error, const char *fmt, ...) SB_PRINTF(3, 4);

/* guest_janitor.c: serves the pipe on descriptor 0 until it ends; the exit code. */
int sb_guest_janitor(void);

#endif
