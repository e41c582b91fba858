/* SPDX-License-Identifier: MIT
 * An isolation technology: a const struct whose only job is "start this argv with three
 * pipes". Files, limits of a run, output and exit codes are the guest's work. */
#ifndef SB_SANDBOX_BACKEND_H
#define SB_SANDBOX_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/argv.h"
#include "base/err.h"
#include "platform/process.h"
#include "sandbox/policy.h"
#include "sandbox/promise.h"
#include "sandbox/target.h"

#define SB_PLAN_HANDLES 12

/* What the probe learned about this host that the plan depends on. */
struct sb_backend_facts {
    char program[1024]; /* absolute path of the backend's executable; "" when it needs none */
    char version[64];
    bool guest_by_data; /* bubblewrap: the guest can't be executed from a memfd here */
    bool root;          /* the host is root: boxes get their own uid */
    bool own_pids;      /* boxes have a pid namespace of their own */
    char system_root[260]; /* Windows boxes: C:\Windows; else "" */
};

struct sb_plan_want {
    const struct sb_backend_facts *facts;
    const struct sb_grant *grant;
    const char *guest;     /* host path of the guest program */
    const char *workspace; /* host folder of the box, where the backend uses one; else "" */
    const char *const *read_only; /* further host paths shown read-only; NULL-terminated */
};

/* One program to start; handles' texts are owned by the plan. Today's backends need one
 * step; containers will need more. */
struct sb_plan {
    char *program;
    struct sb_argv argv, env;
    char *cwd;
    struct sb_launch_handle handles[SB_PLAN_HANDLES];
    size_t handle_count;
};
void sb_plan_done(struct sb_plan *plan);
/* The plan as text, for tests and `doctor`: program, argv quoted, env, handles. */
void sb_plan_text(const struct sb_plan *plan, struct sb_buf *out);

struct sb_backend {
    const char *name;
    const char *isolation; /* one line for people */
    bool weak;             /* never chosen by `auto`; needs allow_weak */
    bool host_workspace;   /* the box's workspace is a host folder the box makes for it */

    struct sb_target (*target)(void);

    /* Looks; never changes the host, never waits for a process: finds the executable and
     * fills facts, or says why not, and the command that mends it, in err and mend.
     * What needs running (versions, canaries) is probe.c's. */
    int (*find)(struct sb_backend_facts *facts, char *mend, size_t mend_cap, struct sb_err *err);

    /* `program VERSION-ARGS` whose first output line is the version; NULL: none. */
    const char *version_arg;
    int (*check_version)(const char *line, struct sb_backend_facts *facts, char *mend, size_t mend_cap,
                         struct sb_err *err);

    /* Pure. Fills an initialised (zeroed) plan. */
    void (*plan)(const struct sb_plan_want *want, struct sb_plan *out);

    /* Pure: what the wrapper wrote to SB_HANDLE_INFO so far; 1 pid is known, 0 more needed, -1 bad. */
    int (*inner_pid)(const char *info, size_t len, long *pid);

    /* Pure: a box that died before HELLO. From the wrapper's stderr and exit to a sentence
     * and a mend. Always fills err; SB_DENIED: the guest itself could not be executed. */
    void (*explain)(const char *errors, const struct sb_proc_end *end, char *mend, size_t mend_cap,
                    struct sb_err *err);
};

/* The backends of this operating system, in the order `auto` tries them; NULL-terminated.
 * Defined by posix/backends.c and win/backends.c. */
extern const struct sb_backend *const sb_backends[];
const struct sb_backend *sb_backend_named(const char *name); /* NULL: none here */

#endif
