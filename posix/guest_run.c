/* SPDX-License-Identifier: MIT
 * Runs as the guest sees them: the pipes of a program and the way to its run parent. */
#include "guest_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

#define START_MS        5000 /* from fork to exec; after that somebody stops our processes on purpose */
#define START_STEP_MS   100
#define PATIENCE_US     300000 /* a run parent asked to kill reports or ends within this, or dies */
#define PATIENCE_MAX_US 800000 /* however busy it says it is */

static const char *const steps[] = {
    [SB_STEP_NONE] = "start",
    [SB_STEP_FORK] = "make a process for",
    [SB_STEP_STREAMS] = "connect the streams of",
    [SB_STEP_CWD] = "enter the folder of",
    [SB_STEP_LIMITS] = "set the limits of",
    [SB_STEP_EXEC] = "start",
};

static uint32_t ours_with_one_more(const struct sb_gos *gos)
{
    uint32_t ours = 2; /* the guest and the new run parent */

    for (const struct sb_gos_run *run = gos->runs; run != NULL; run = run->next)
        ours += run->state == SB_RUN_ALIVE;
    return ours;
}

/* One pipe per stream: ours non-blocking, the program's blocking. They are two descriptions,
 * so what the program does to its end does not touch ours, and no run shares one. */
static int make_stream(enum sb_channel channel, bool feed, int *ours, int *theirs)
{
    int ends[2];

    if (channel == SB_CHAN_IN && !feed) {
        *theirs = open("/dev/null", O_RDONLY | O_CLOEXEC);
        return *theirs < 0 ? -1 : 0;
    }
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    *ours = ends[channel == SB_CHAN_IN];
    *theirs = ends[channel != SB_CHAN_IN];
    return fcntl(*ours, F_SETFL, O_NONBLOCK);
}

/* Everything a run needs before the fork. What was opened stays in run and job on failure. */
static int prepare(struct sb_gos *gos, const struct sb_gos_start *start, struct sb_gos_run *run,
                   struct sb_job *job, struct sb_err *err)
{
    int ends[2];

    job->cwd =
        sb_beneath_open(&gos->beneath, gos->beneath.root, start->cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (job->cwd < 0)
        return sb_fail_errno(err, errno, "cannot open the folder '%s'", start->cwd);
    for (int i = 0; i < SB_CHAN_COUNT; i++)
        if (make_stream((enum sb_channel)i, start->feed_stdin, &run->streams[i], &job->streams[i]) < 0)
            return sb_fail_errno(err, errno, "cannot make a pipe for '%s'", start->argv[0]);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return sb_fail_errno(err, errno, "cannot make a socket for '%s'", start->argv[0]);
    run->control = ends[0];
    job->control = ends[1];
    return 0;
}

/* Waits for the first report, which comes right after exec. User code may stop our processes
 * by signals meanwhile: they are told to go on, a limited number of times, and not when the host
 * has gone. */
static int await_start(struct sb_gos_run *run, struct sb_report *out)
{
    struct pollfd fds[] = {{.fd = run->control, .events = POLLIN},
                           {.fd = run->gos->host_in, .events = POLLRDHUP}};

    for (int waited = 0; waited < START_MS; waited += START_STEP_MS) {
        int ready = poll(fds, SB_COUNT(fds), START_STEP_MS);
        if (ready > 0 && fds[0].revents != 0)
            return recv(run->control, out, sizeof *out, MSG_DONTWAIT) == sizeof *out ? 0 : -1;
        if (ready != 0)
            return -1;
        run->gos->kill(run->parent, SIGCONT);
    }
    return -1;
}

static int start_parent(struct sb_gos_run *run, struct sb_job *job, struct sb_err *err)
{
    const char *name = job->start->argv[0];
    struct sb_report first = {0};

    run->started_us = sb_gos_now_us();
    run->parent = fork();
    if (run->parent == 0)
        sb_run_parent(job);
    if (run->parent < 0)
        return sb_fail_errno(err, errno, "cannot make a process for '%s'", name);
    sb_close(&job->control); /* so that its death reads as an end */
    int rc = await_start(run, &first);
    if (rc == 0 && first.type == SB_REPORT_STARTED)
        return 0;
    /* Whatever it made becomes ours and is killed as a child nobody knows. */
    run->gos->kill(run->parent, SIGKILL);
    waitpid(run->parent, NULL, __WALL);
    run->gos->strays = true;
    if (rc < 0)
        return sb_fail(err, SB_HOST, "cannot start '%s': its parent process was killed or stopped", name);
    return sb_fail_errno(err, first.failure.error, "cannot %s '%s'", steps[first.failure.step], name);
}

static void close_run(struct sb_gos_run *run)
{
    for (int i = 0; i < SB_CHAN_COUNT; i++)
        sb_close(&run->streams[i]);
    sb_close(&run->control);
}

int sb_gos_run_start(struct sb_gos *gos, const struct sb_gos_start *start, struct sb_gos_run **out,
                     struct sb_err *err)
{
    struct sb_job job = {.start = start, .control = -1, .streams = {-1, -1, -1}, .cwd = -1};
    struct sb_gos_run *run = sb_alloc(sizeof *run);
    int rc = -1;

    *run = (struct sb_gos_run){.gos = gos,
                               .control = -1,
                               .streams = {-1, -1, -1},
                               .cpu_limited = start->limits.cpu_ms != 0,
                               .patience_us = INT64_MAX};
    job.ours = ours_with_one_more(gos);
    if (prepare(gos, start, run, &job, err) < 0)
        goto done;
    if (start_parent(run, &job, err) < 0)
        goto done;
    run->next = gos->runs;
    gos->runs = run;
    *out = run;
    rc = 0;
done:
    for (int i = 0; i < SB_CHAN_COUNT; i++)
        sb_close(&job.streams[i]);
    sb_close(&job.control);
    sb_close(&job.cwd);
    if (rc < 0) {
        close_run(run);
        sb_free(run);
    }
    return rc;
}

void sb_gos_run_want(struct sb_gos_run *run, enum sb_channel channel, bool want)
{
    run->want[channel] = want;
}

long sb_gos_run_read(struct sb_gos_run *run, enum sb_channel channel, void *bytes, size_t cap)
{
    ssize_t got = run->streams[channel] < 0 ? 0 : read(run->streams[channel], bytes, cap);

    if (got > 0)
        return (long)got;
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    sb_close(&run->streams[channel]);
    return -1;
}

long sb_gos_run_write(struct sb_gos_run *run, const void *bytes, size_t len)
{
    ssize_t put = run->streams[SB_CHAN_IN] < 0 ? -1 : write(run->streams[SB_CHAN_IN], bytes, len);

    if (put >= 0)
        return (long)put;
    if (run->streams[SB_CHAN_IN] >= 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    sb_gos_run_close_input(run);
    return -1;
}

void sb_gos_run_close_input(struct sb_gos_run *run)
{
    sb_close(&run->streams[SB_CHAN_IN]);
}

void sb_gos_run_close_output(struct sb_gos_run *run, enum sb_channel channel)
{
    sb_close(&run->streams[channel]);
}

static void order(struct sb_gos_run *run, char what)
{
    (void)send(run->control, &what, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void sb_gos_run_interrupt(struct sb_gos_run *run)
{
    if (run->state == SB_RUN_ALIVE)
        order(run, SB_ORDER_INTERRUPT);
}

void sb_gos_run_kill(struct sb_gos_run *run)
{
    if (run->state != SB_RUN_ALIVE || run->kill_us != 0)
        return;
    run->kill_us = sb_gos_now_us();
    run->patience_us = run->kill_us + PATIENCE_US;
    order(run, SB_ORDER_KILL);
    run->gos->kill(run->parent, SIGCONT);
}

static void take_last_report(struct sb_gos_run *run, const struct sb_report *report)
{
    int status = report->status;

    run->end = (struct sb_gos_end){.kind = SB_EXITED, .usage = report->usage};
    if (WIFSIGNALED(status)) {
        run->end.kind = SB_SIGNALLED;
        run->end.code = (uint32_t)WTERMSIG(status);
        if (WTERMSIG(status) == SIGXCPU && run->cpu_limited)
            run->end.limit = SB_LIMIT_CPU;
    } else
        run->end.code = (uint32_t)WEXITSTATUS(status);
    run->state = SB_RUN_DEAD;
}

/* Takes what the run parent has said so far; true when there was anything. */
static bool take_reports(struct sb_gos_run *run)
{
    struct sb_report report;
    bool any = false;

    while (recv(run->control, &report, sizeof report, MSG_DONTWAIT) == sizeof report) {
        any = true;
        if (report.type == SB_REPORT_ENDED)
            take_last_report(run, &report);
    }
    return any;
}

void sb_run_parent_ended(struct sb_gos_run *run, const struct rusage *used)
{
    take_reports(run);
    sb_close(&run->control);
    if (run->state == SB_RUN_DEAD)
        return;
    run->end = (struct sb_gos_end){.kind = SB_SIGNALLED, .code = SIGKILL, .parent_killed = true};
    run->end.usage.wall_us = (uint64_t)(sb_gos_now_us() - run->started_us);
    sb_usage_add(&run->end.usage, used);
    run->state = SB_RUN_ORPHANED;
    run->gos->strays = true;
}

int64_t sb_run_tick(struct sb_gos_run *run, int64_t now_us)
{
    if (run->state != SB_RUN_ALIVE || now_us < run->patience_us)
        return run->state == SB_RUN_ALIVE ? run->patience_us : INT64_MAX;
    if (take_reports(run) && now_us - run->kill_us < PATIENCE_MAX_US) {
        run->patience_us = now_us + PATIENCE_US;
        return run->patience_us;
    }
    run->gos->kill(run->parent, SIGKILL);
    run->patience_us = INT64_MAX;
    return INT64_MAX;
}

void sb_gos_run_end(const struct sb_gos_run *run, struct sb_gos_end *out)
{
    *out = run->end;
}

void sb_gos_run_usage(struct sb_gos_run *run, struct sb_gos_usage *out)
{
    struct sb_proc *table = NULL;
    uint64_t ticks = 0;

    if (run->state != SB_RUN_ALIVE) {
        *out = run->end.usage;
        return;
    }
    size_t count = sb_proc_list(&table);
    for (size_t i = 0; i < count; i++)
        if (table[i].pid == run->parent)
            ticks = table[i].child_ticks;
    count = sb_proc_descendants(table, count, run->parent, NULL, 0);
    for (size_t i = 0; i < count; i++)
        ticks += table[i].own_ticks + table[i].child_ticks;
    sb_free(table);
    /* No peak while it runs: /proc has it only as text of each process, and nobody asks. */
    *out = (struct sb_gos_usage){.wall_us = (uint64_t)(sb_gos_now_us() - run->started_us),
                                 .cpu_us = ticks * 1000000 / (uint64_t)sysconf(_SC_CLK_TCK)};
}

void sb_gos_run_free(struct sb_gos_run *run)
{
    struct sb_gos_run **link = &run->gos->runs;

    while (*link != run)
        link = &(*link)->next;
    *link = run->next;
    close_run(run);
    sb_free(run);
}
