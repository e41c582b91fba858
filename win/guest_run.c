/* SPDX-License-Identifier: MIT
 * A run: one program, its tree in a job of its own (nested in the box's), a thread that waits for
 * its end. The job is the run parent: nothing leaves it, and its last handle kills what is in it. */
#include "guest_win.h"

#include <psapi.h>
#include <string.h>

#include "base/alloc.h"
#include "jobempty.h"

#define HUNDRED_NS_PER_MS 10000u

struct sb_gos_run {
    struct sb_gos *gos;
    HANDLE job, process, waiter;
    DWORD pid;
    struct sb_stream *streams[SB_CHAN_COUNT];
    bool want[SB_CHAN_COUNT];
    struct sb_wire_limits limits;
    int64_t started_us;
    uint64_t peak_seen; /* while it lived */
    bool killed;        /* lock */
    bool ended, told;   /* lock; from `ended` on `end` is final */
    struct sb_gos_end end;
};

/* ---- limits and accounts ---------------------------------------------------------------- */

/* What a job can hold. Windows has no counterpart of file_bytes and open_files. */
static int limit_job(HANDLE job, const struct sb_wire_limits *limits, struct sb_err *err)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION info = {0};
    JOBOBJECT_BASIC_LIMIT_INFORMATION *basic = &info.BasicLimitInformation;

    /* A crash ends the program at once: no error reporting holds it. */
    basic->LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
    if (limits->processes) {
        basic->LimitFlags |= JOB_OBJECT_LIMIT_ACTIVE_PROCESS;
        basic->ActiveProcessLimit = limits->processes;
    }
    if (limits->memory_bytes) {
        basic->LimitFlags |= JOB_OBJECT_LIMIT_JOB_MEMORY;
        info.JobMemoryLimit = limits->memory_bytes;
    }
    if (limits->cpu_ms && limits->cpu_ms <= INT64_MAX / HUNDRED_NS_PER_MS) {
        basic->LimitFlags |=
            JOB_OBJECT_LIMIT_JOB_TIME; /* user time; then all end with ERROR_NOT_ENOUGH_QUOTA */
        basic->PerJobUserTimeLimit.QuadPart = (int64_t)limits->cpu_ms * HUNDRED_NS_PER_MS;
    }
    if (!SetInformationJobObject(job, JobObjectExtendedLimitInformation, &info, sizeof info))
        return sb_guest_fail_os(err, GetLastError(), "cannot set the limits of a run");
    return 0;
}

static bool account(HANDLE job, JOBOBJECT_BASIC_ACCOUNTING_INFORMATION *out)
{
    return QueryInformationJobObject(job, JobObjectBasicAccountingInformation, out, sizeof *out, NULL);
}

/* Wine 8 counts neither processor time (0) nor the job's peak, but knows a living process's. */
static uint64_t peak_of(const struct sb_gos_run *run)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION info = {0};
    PROCESS_MEMORY_COUNTERS counters = {.cb = sizeof counters};
    uint64_t peak = run->peak_seen;

    if (QueryInformationJobObject(run->job, JobObjectExtendedLimitInformation, &info, sizeof info, NULL) &&
        info.PeakProcessMemoryUsed > peak)
        peak = info.PeakProcessMemoryUsed;
    if (info.PeakProcessMemoryUsed == 0 && GetProcessMemoryInfo(run->process, &counters, sizeof counters) &&
        counters.PeakWorkingSetSize > peak)
        peak = counters.PeakWorkingSetSize;
    return peak;
}

static void measure(const struct sb_gos_run *run, struct sb_gos_usage *out)
{
    JOBOBJECT_BASIC_ACCOUNTING_INFORMATION info = {0};

    account(run->job, &info);
    out->wall_us = (uint64_t)(sb_gos_now_us() - run->started_us);
    out->cpu_us = (uint64_t)(info.TotalUserTime.QuadPart + info.TotalKernelTime.QuadPart) / 10;
    out->peak_bytes = peak_of(run);
}

void sb_guest_verdict(uint32_t code, bool killed, const struct sb_wire_limits *limits, uint64_t user_100ns,
                      struct sb_gos_end *out)
{
    out->kind = code >= 0xC0000000u ? SB_CRASHED : SB_EXITED;
    out->code = code;
    if (killed && code == SB_GUEST_KILLED) {
        out->kind = SB_SIGNALLED;
        out->code = 9;
    } else if (limits->cpu_ms && code == ERROR_NOT_ENOUGH_QUOTA &&
               user_100ns / HUNDRED_NS_PER_MS >= limits->cpu_ms) {
        out->kind = SB_SIGNALLED;
        out->code = 9;
        out->limit = SB_LIMIT_CPU;
    }
}

/* ---- its end ---------------------------------------------------------------------------- */

/* A process that was just being made joins the job after the kill, so: until none is left. */
static void empty_job(HANDLE job)
{
    for (DWORD pause_ms = 0; !sb_job_is_empty(job); pause_ms += pause_ms < 10) {
        TerminateJobObject(job, SB_GUEST_KILLED);
        Sleep(pause_ms);
    }
}

static DWORD WINAPI wait_for_end(void *arg)
{
    struct sb_gos_run *run = arg;
    struct sb_gos *gos = run->gos;
    JOBOBJECT_BASIC_ACCOUNTING_INFORMATION info = {0};
    struct sb_gos_end end = {0};
    DWORD code = 0;

    WaitForSingleObject(run->process, INFINITE);
    empty_job(run->job);
    GetExitCodeProcess(run->process, &code);
    account(run->job, &info);
    measure(run, &end.usage);
    AcquireSRWLockExclusive(&gos->lock);
    sb_guest_verdict(code, run->killed, &run->limits, (uint64_t)info.TotalUserTime.QuadPart, &end);
    run->end = end;
    run->ended = true;
    WakeConditionVariable(&gos->changed);
    ReleaseSRWLockExclusive(&gos->lock); /* from here on the run may be freed */
    return 0;
}

/* ---- its start -------------------------------------------------------------------------- */

static struct sb_gos_run **free_place(struct sb_gos *gos)
{
    for (size_t i = 0; i < SB_WIRE_RUNS_MAX; i++)
        if (!gos->runs[i])
            return &gos->runs[i];
    return NULL;
}

static void free_run(struct sb_gos_run *run)
{
    for (size_t i = 0; i < SB_CHAN_COUNT; i++)
        sb_stream_drop(run->streams[i]);
    sb_guest_close(&run->waiter);
    sb_guest_close(&run->process);
    sb_guest_close(&run->job); /* kills what a failed start left */
    sb_free(run);
}

static int open_streams(struct sb_gos_run *run, struct sb_guest_child *child, struct sb_err *err)
{
    for (int i = 0; i < SB_CHAN_COUNT; i++) {
        HANDLE pipe = child->pipes[i];

        child->pipes[i] = NULL;
        if (pipe && sb_stream_open(run->gos, pipe, i == SB_CHAN_IN, &run->streams[i], err) < 0)
            return -1;
    }
    return 0;
}

int sb_gos_run_start(struct sb_gos *gos, const struct sb_gos_start *start, struct sb_gos_run **out,
                     struct sb_err *err)
{
    struct sb_gos_run **place = free_place(gos), *run;
    struct sb_guest_child child = {0};
    int rc = -1;

    if (!place)
        return sb_fail(err, SB_LIMIT, "more than %d runs at once", SB_WIRE_RUNS_MAX);
    run = sb_alloc(sizeof *run);
    run->gos = gos;
    run->limits = start->limits;
    run->started_us = sb_gos_now_us();
    run->job = CreateJobObjectW(NULL, NULL);
    if (!run->job) {
        sb_guest_fail_os(err, GetLastError(), "cannot make the job of a run");
        goto done;
    }
    if (limit_job(run->job, &start->limits, err) < 0 ||
        sb_guest_launch(gos, start, run->job, &child, err) < 0)
        goto done;
    run->process = child.process;
    run->pid = child.pid;
    if (open_streams(run, &child, err) < 0)
        goto done;
    run->waiter = CreateThread(&gos->private_thread, 64 * 1024, wait_for_end, run,
                               STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    if (!run->waiter) {
        sb_guest_fail_os(err, GetLastError(), "cannot start a thread for a run");
        goto done;
    }
    *place = *out = run;
    rc = 0;
done:
    for (size_t i = 0; i < SB_CHAN_COUNT; i++)
        sb_guest_close(&child.pipes[i]);
    if (rc < 0)
        free_run(run);
    return rc;
}

/* ---- its life --------------------------------------------------------------------------- */

bool sb_guest_run_event(struct sb_gos_run *run, unsigned which, struct sb_gos_event *out)
{
    static const struct {
        enum sb_channel channel;
        enum sb_gos_kind kind;
    } events[] = {{SB_CHAN_OUT, SB_GOS_OUTPUT}, {SB_CHAN_ERR, SB_GOS_OUTPUT}, {SB_CHAN_IN, SB_GOS_INPUT}};
    enum sb_channel channel;

    out->run = run;
    if (which >= SB_COUNT(events)) {
        if (!run->ended || run->told)
            return false;
        out->kind = SB_GOS_ENDED;
        run->told = true;
        return true;
    }
    channel = events[which].channel;
    out->kind = events[which].kind;
    out->channel = channel;
    return run->want[channel] && run->streams[channel] && sb_stream_ready(run->streams[channel]);
}

void sb_gos_run_want(struct sb_gos_run *run, enum sb_channel channel, bool want)
{
    run->want[channel] = want; /* only the dispatcher's thread looks at it */
}

long sb_gos_run_read(struct sb_gos_run *run, enum sb_channel channel, void *bytes, size_t cap)
{
    return run->streams[channel] ? sb_stream_read(run->streams[channel], bytes, cap) : -1;
}

long sb_gos_run_write(struct sb_gos_run *run, const void *bytes, size_t len)
{
    return run->streams[SB_CHAN_IN] ? sb_stream_write(run->streams[SB_CHAN_IN], bytes, len) : -1;
}

void sb_gos_run_close_input(struct sb_gos_run *run)
{
    if (run->streams[SB_CHAN_IN])
        sb_stream_finish(run->streams[SB_CHAN_IN]);
}

void sb_gos_run_close_output(struct sb_gos_run *run, enum sb_channel channel)
{
    sb_stream_drop(run->streams[channel]);
    run->streams[channel] = NULL;
}

static BOOL WINAPI stay(DWORD event)
{
    (void)event;
    return TRUE;
}

/* The program has a console of its own without a window; an event reaches it only from inside.
 * The group's number keeps ours from ourselves, `stay` what the program may send meanwhile. A
 * program without a console cannot be asked, and under Wine 8 none: it lets us attach to a console
 * without a window and then has nothing to send to (ERROR_INVALID_HANDLE, measured). */
void sb_gos_run_interrupt(struct sb_gos_run *run)
{
    if (!AttachConsole(run->pid))
        return;
    SetConsoleCtrlHandler(stay, TRUE);
    GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, run->pid);
    SetConsoleCtrlHandler(stay, FALSE);
    FreeConsole();
}

void sb_guest_run_terminate(struct sb_gos_run *run)
{
    TerminateJobObject(run->job, SB_GUEST_KILLED);
}

void sb_gos_run_kill(struct sb_gos_run *run)
{
    AcquireSRWLockExclusive(&run->gos->lock);
    run->killed = true;
    ReleaseSRWLockExclusive(&run->gos->lock);
    sb_guest_run_terminate(run);
}

void sb_gos_run_end(const struct sb_gos_run *run, struct sb_gos_end *out)
{
    *out = run->end;
    if (out->usage.peak_bytes < run->peak_seen)
        out->usage.peak_bytes = run->peak_seen;
}

void sb_gos_run_usage(struct sb_gos_run *run, struct sb_gos_usage *out)
{
    measure(run, out);
    run->peak_seen = out->peak_bytes;
}

void sb_gos_run_free(struct sb_gos_run *run)
{
    struct sb_gos *gos = run->gos;

    AcquireSRWLockExclusive(&gos->lock); /* the waiter has let go of it */
    for (size_t i = 0; i < SB_WIRE_RUNS_MAX; i++)
        if (gos->runs[i] == run)
            gos->runs[i] = NULL;
    ReleaseSRWLockExclusive(&gos->lock);
    free_run(run);
}
