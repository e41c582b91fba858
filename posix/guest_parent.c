/* SPDX-License-Identifier: MIT
 * The run parent: a fork of the guest that starts one program, reaps all that comes of it and
 * sees to it that nothing outlives it. It stays non-dumpable like the guest, has none of the
 * guest's descriptors, and ends when the guest does. */
#include "guest_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRIKE_AGAIN_MS  10  /* time for the struck to die before the next walk of /proc */
#define BUSY_REPORTS_MAX 100 /* leaves room in the socket for the last report */

struct parent {
    int control, signals;
    pid_t program;
    bool killing, ended;
    int status; /* once ended */
    int64_t started_us, ended_us;
};

static void report(const struct parent *parent, const struct sb_report *what)
{
    /* Never blocks: the guest may read the last report only when we are dead. */
    (void)send(parent->control, what, sizeof *what, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int set_limits(const struct sb_job *job)
{
    struct sb_rlimit limits[SB_RLIMITS_MAX];
    size_t count = sb_rlimits(&job->start->limits, job->ours, limits);

    for (size_t i = 0; i < count; i++)
        if (sb_rlimit_set(&limits[i]) < 0)
            return -1;
    return 0;
}

static int connect_streams(const struct sb_job *job)
{
    for (int i = 0; i < SB_CHAN_COUNT; i++)
        if (dup2(job->streams[i], i) < 0)
            return -1;
    return 0;
}

/* In the program's process: becomes the program, or says why not. */
_Noreturn static void become_program(const struct sb_job *job, int failed)
{
    struct sb_failure failure = {SB_STEP_NONE, 0};
    sigset_t none;

    setsid(); /* can't fail: a fresh fork leads no group */
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (connect_streams(job) < 0)
        failure.step = SB_STEP_STREAMS;
    else if (fchdir(job->cwd) < 0)
        failure.step = SB_STEP_CWD;
    else if (set_limits(job) < 0)
        failure.step = SB_STEP_LIMITS;
    else {
        /* All else is close-on-exec. */
        execve(job->start->guest_itself ? "/proc/self/exe" : job->start->argv[0], job->start->argv,
               job->start->env);
        failure.step = SB_STEP_EXEC;
    }
    failure.error = errno;
    (void)!write(failed, &failure, sizeof failure);
    _exit(127);
}

/* Returns when the program runs, or why it does not. */
static struct sb_failure start_program(struct parent *parent, const struct sb_job *job)
{
    struct sb_failure failure = {SB_STEP_FORK, 0};
    int failed[2];

    if (pipe2(failed, O_CLOEXEC) < 0) {
        failure.error = errno;
        return failure;
    }
    parent->started_us = sb_gos_now_us();
    parent->program = fork();
    if (parent->program == 0)
        become_program(job, failed[1]);
    if (parent->program < 0)
        failure.error = errno;
    close(failed[1]);
    if (parent->program > 0) {
        ssize_t got;
        do
            got = read(failed[0], &failure, sizeof failure);
        while (got < 0 && errno == EINTR);
        if (got != sizeof failure) /* closed by exec, or by a sudden death, which is an end like any */
            failure.step = SB_STEP_NONE;
    }
    close(failed[0]);
    return failure;
}

/* Returns false when nobody is left. */
static bool reap(struct parent *parent)
{
    for (;;) {
        int status;
        /* __WALL: clone can give children a death signal of their own, and without it wait
         * would neither reap them nor know of them. */
        pid_t pid = wait4(-1, &status, WNOHANG | __WALL, NULL);
        if (pid <= 0)
            return pid == 0;
        if (pid == parent->program) {
            parent->ended = true;
            parent->ended_us = sb_gos_now_us();
            parent->status = status;
        }
    }
}

static void take_order(struct parent *parent)
{
    char order = SB_ORDER_KILL; /* what the guest's death means */
    ssize_t got = recv(parent->control, &order, 1, MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (order == SB_ORDER_INTERRUPT && !parent->ended)
        kill(-parent->program, SIGINT); /* its group, as a terminal would */
    if (order == SB_ORDER_KILL)
        parent->killing = true;
}

/* Waits for a signal, an order or the time. */
static void doze(struct parent *parent, bool orders, int timeout_ms)
{
    struct pollfd fds[2] = {{.fd = parent->signals, .events = POLLIN},
                            {.fd = orders ? parent->control : -1, .events = POLLIN}};
    int ready = poll(fds, 2, timeout_ms);

    if (ready < 0 && errno != EINTR)
        _exit(1); /* deaf to the guest, which takes over: see sb_proc_list */
    if (ready > 0 && fds[0].revents != 0)
        sb_signals_drain(parent->signals);
    if (ready > 0 && fds[1].revents != 0)
        take_order(parent);
}

static void kill_tree(struct parent *parent)
{
    const struct sb_tree tree = {.root = getpid(), .kill = kill};
    const struct sb_report busy = {.type = SB_REPORT_BUSY};

    for (int strikes = 0; reap(parent); strikes++) {
        if (strikes < BUSY_REPORTS_MAX)
            report(parent, &busy);
        sb_tree_strike(&tree);
        /* By the clock: processes that fork and end all the time leave no quiet moment. */
        int64_t again_us = sb_gos_now_us() + STRIKE_AGAIN_MS * 1000;
        while (reap(parent) && sb_gos_now_us() < again_us)
            doze(parent, false, STRIKE_AGAIN_MS);
    }
}

static struct sb_gos_usage usage_of(const struct parent *parent)
{
    struct sb_gos_usage usage = {.wall_us = (uint64_t)(parent->ended_us - parent->started_us)};
    struct rusage used;

    getrusage(RUSAGE_CHILDREN, &used);
    sb_usage_add(&usage, &used);
    return usage;
}

_Noreturn void sb_run_parent(const struct sb_job *job)
{
    struct parent parent = {.control = job->control, .signals = -1};
    struct sb_report last = {.type = SB_REPORT_FAILED};
    int keep[SB_CHAN_COUNT + 2] = {job->control, job->cwd};

    for (int i = 0; i < SB_CHAN_COUNT; i++)
        keep[2 + i] = job->streams[i];
    sb_close_others(keep, SB_CHAN_COUNT + 2);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    parent.signals = sb_signals_open();
    last.failure = start_program(&parent, job);
    if (last.failure.step != SB_STEP_NONE) {
        report(&parent, &last);
        _exit(1);
    }
    for (size_t i = 1; i < SB_CHAN_COUNT + 2; i++)
        close(keep[i]);
    report(&parent, &(struct sb_report){.type = SB_REPORT_STARTED});

    while (reap(&parent) && !parent.ended && !parent.killing)
        doze(&parent, true, -1);
    kill_tree(&parent);
    last = (struct sb_report){.type = SB_REPORT_ENDED, .status = parent.status, .usage = usage_of(&parent)};
    report(&parent, &last);
    _exit(0);
}
