/* SPDX-License-Identifier: MIT
 * The guest as parent of all: as PID 1 or as subreaper it inherits what a killed run parent
 * leaves behind. All its own children are run parents, so any other child has to die. */
#include "guest_posix.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

#define END_US      1000000 /* the most that sb_gos_end takes to kill what it knows */
#define END_STEP_MS 10

static struct sb_gos_run *find_run(const struct sb_gos *gos, pid_t parent)
{
    struct sb_gos_run *run = gos->runs;

    while (run != NULL && (run->state != SB_RUN_ALIVE || run->parent != parent))
        run = run->next;
    return run;
}

/* A child nobody knows. Its use of the machine belongs to the run that lost its parent. */
static void stray_ended(struct sb_gos *gos, const struct rusage *used)
{
    struct sb_gos_run *run = gos->runs;

    gos->strays = true; /* where one was, there may be more */
    while (run != NULL && run->state != SB_RUN_ORPHANED)
        run = run->next;
    if (run != NULL)
        sb_usage_add(&run->end.usage, used);
}

void sb_gos_reap(struct sb_gos *gos)
{
    for (;;) {
        struct rusage used;
        int status;
        pid_t pid = wait4(-1, &status, WNOHANG | WUNTRACED | __WALL, &used);
        if (pid <= 0)
            return;
        struct sb_gos_run *run = find_run(gos, pid);
        if (run != NULL && WIFSTOPPED(status))
            gos->kill(pid, SIGCONT); /* user code did that; its own tree is none of its business */
        else if (run != NULL)
            sb_run_parent_ended(run, &used);
        else if (!WIFSTOPPED(status))
            stray_ended(gos, &used);
    }
}

bool sb_gos_kill_strays(struct sb_gos *gos)
{
    pid_t known[SB_WIRE_OPS_MAX];
    size_t count = 0;

    if (!sb_tree_has_children())
        return false;
    for (const struct sb_gos_run *run = gos->runs; run != NULL && count < SB_COUNT(known); run = run->next)
        if (run->state == SB_RUN_ALIVE)
            known[count++] = run->parent;
    if (count == 0 && gos->pid == 1 && gos->own_pids) {
        /* In one step for the kernel: no fork bomb outruns it. */
        gos->kill(-1, SIGKILL);
        return true;
    }
    const struct sb_tree tree = {.root = gos->pid, .skip = known, .skip_count = count, .kill = gos->kill};
    return sb_tree_strike(&tree) > 0;
}

static void end_trees(struct sb_gos *gos)
{
    const struct sb_tree tree = {.root = gos->pid, .kill = gos->kill};
    int64_t give_up_us = sb_gos_now_us() + END_US;

    while (sb_tree_has_children() && sb_gos_now_us() < give_up_us) {
        struct pollfd child = {.fd = gos->signals, .events = POLLIN};
        sb_tree_strike(&tree);
        if (poll(&child, 1, END_STEP_MS) > 0)
            sb_signals_drain(gos->signals);
        while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
            continue;
    }
}

_Noreturn void sb_gos_end(struct sb_gos *gos, int code)
{
    if (gos->pid != 1) /* of a pid namespace whose first process ends, the kernel kills the rest */
        end_trees(gos);
    _exit(code);
}
