/* SPDX-License-Identifier: MIT
 * platform/process.h: a program in a job, its three pipes and its two ends. The system tells
 * other threads that something ended; they ring one bell, and the loop thread looks. */
#include "platform/process.h"

#include <windows.h>

#include <fcntl.h>
#include <io.h>

#include "base/alloc.h"
#include "boxos.h"
#include "childpipe.h"
#include "jobempty.h"
#include "jobwatch.h"
#include "platform/oserr.h"
#include "spawn.h"

/* What a killed program's exit code is: 128 + 9, as a shell elsewhere would say it. */
#define KILLED_CODE 137

/* A libuv handle that knows its proc, since `data` is the user's. */
struct end {
    union {
        uv_handle_t handle;
        uv_pipe_t pipe;
        uv_async_t bell;
    } u; /* first: a uv_handle_t * is a struct end * */
    struct sb_proc *proc;
};

enum { TO_STDIN, FROM_STDOUT, FROM_STDERR, PIPES, BELL = PIPES, ENDS };

struct sb_proc {
    struct sb_proc_events events;
    struct end ends[ENDS];
    size_t open_ends;
    HANDLE job, process, wait;
    ULONG_PTR watch; /* 0: none */
    DWORD pid;
    bool exited, gone, freed;
    void (*on_closed)(void *ctx);
    void *closed_ctx;
};

static struct sb_proc *proc_of(uv_handle_t *handle)
{
    return ((struct end *)(void *)handle)->proc;
}

static void settle(uv_async_t *bell)
{
    struct sb_proc *proc = proc_of((uv_handle_t *)bell);

    if (!proc->exited && WaitForSingleObject(proc->process, 0) == WAIT_OBJECT_0) {
        DWORD code = 0;
        GetExitCodeProcess(proc->process, &code);
        proc->exited = true;
        proc->events.on_exit(proc->events.ctx, &(struct sb_proc_end){.code = code});
    }
    if (proc->exited && !proc->gone && sb_job_is_empty(proc->job)) {
        proc->gone = true;
        proc->events.on_gone(proc->events.ctx); /* perhaps frees proc */
    }
}

static void CALLBACK on_process_ended(void *bell, BOOLEAN timed_out)
{
    (void)timed_out;
    uv_async_send(bell);
}

static void on_end_closed(uv_handle_t *handle)
{
    struct sb_proc *proc = proc_of(handle);

    proc->open_ends--;
    if (!proc->freed || proc->open_ends > 0)
        return;
    void (*on_closed)(void *ctx) = proc->on_closed;
    void *ctx = proc->closed_ctx;
    sb_free(proc);
    if (on_closed)
        on_closed(ctx);
}

static void close_end(struct end *end)
{
    if (!uv_is_closing(&end->u.handle))
        uv_close(&end->u.handle, on_end_closed);
}

void sb_proc_free(struct sb_proc *proc, void (*on_closed)(void *ctx), void *ctx)
{
    if (proc->wait)
        UnregisterWaitEx(proc->wait, INVALID_HANDLE_VALUE); /* nobody rings after this */
    if (proc->watch)
        sb_job_unwatch(proc->watch);
    if (proc->process)
        CloseHandle(proc->process);
    if (proc->job)
        CloseHandle(proc->job);
    proc->freed = true;
    proc->on_closed = on_closed;
    proc->closed_ctx = ctx;
    for (size_t i = 0; i < ENDS; i++)
        close_end(&proc->ends[i]);
}

/* All ends initialised, so that sb_proc_free can take it from here on. */
static struct sb_proc *new_proc(uv_loop_t *loop, const struct sb_proc_events *events, struct sb_err *err)
{
    struct sb_proc *proc = sb_alloc(sizeof *proc);

    int uv = uv_async_init(loop, &proc->ends[BELL].u.bell, settle);
    if (uv < 0) {
        sb_fail_os_at(err, uv, "cannot watch a program");
        sb_free(proc);
        return NULL;
    }
    for (size_t i = 0; i < PIPES; i++)
        uv_pipe_init(loop, &proc->ends[i].u.pipe, 0);
    for (size_t i = 0; i < ENDS; i++)
        proc->ends[i].proc = proc;
    proc->open_ends = ENDS;
    proc->events = *events;
    return proc;
}

/* libuv takes our end through a descriptor of the C runtime, which then owns the handle. */
static int adopt(struct end *end, struct sb_childpipe *pipe, struct sb_err *err)
{
    int fd = _open_osfhandle((intptr_t)pipe->ours, _O_BINARY);
    if (fd < 0)
        return sb_fail(err, SB_LIMIT, "the C runtime has no descriptor left for a pipe");
    pipe->ours = NULL;
    int uv = uv_pipe_open(&end->u.pipe, fd);
    if (uv < 0) {
        _close(fd);
        return sb_fail_os_at(err, uv, "cannot read and write a pipe");
    }
    return 0;
}

static int take_job(struct sb_proc *proc, const struct sb_box_os *os, struct sb_err *err)
{
    if (!os)
        return sb_job_new(&proc->job, err);
    HANDLE self = GetCurrentProcess();
    if (!DuplicateHandle(self, os->job, self, &proc->job, 0, FALSE, DUPLICATE_SAME_ACCESS))
        return sb_fail_os(err, "cannot share a Job Object");
    return 0;
}

/* Starts it, giving up what the system refuses the box for, as long as there is something. */
static int start(struct sb_proc *proc, const struct sb_launch *launch, const struct sb_childpipe *pipes,
                 struct sb_err *err)
{
    int rc;
    struct sb_spawn_text text;
    const HANDLE std[3] = {pipes[TO_STDIN].theirs, pipes[FROM_STDOUT].theirs, pipes[FROM_STDERR].theirs};

    if (sb_spawn_text(launch->program, launch->argv, launch->env, launch->cwd, &text, err) < 0)
        return -1;
    do {
        HANDLE token = launch->os ? launch->os->token : NULL;
        rc = sb_spawn(&text, proc->job, token, std, &proc->process, &proc->pid, err);
    } while (rc < 0 && launch->os && sb_box_os_relax(launch->os));
    sb_spawn_text_done(&text);
    return rc;
}

int sb_proc_start(uv_loop_t *loop, const struct sb_launch *launch, const struct sb_proc_events *events,
                  struct sb_proc **out, struct sb_err *err)
{
    int rc = -1;
    struct sb_childpipe pipes[PIPES] = {{NULL, NULL}};
    struct sb_proc *proc = NULL;

    if (launch->handle_count > 0)
        return sb_fail(err, SB_UNSUPPORTED, "a program gets no further handles on Windows");
    proc = new_proc(loop, events, err);
    if (!proc)
        return -1;
    for (size_t i = 0; i < PIPES; i++)
        if (sb_childpipe_open(i == TO_STDIN, &pipes[i], err) < 0 || adopt(&proc->ends[i], &pipes[i], err) < 0)
            goto done;
    uv_async_t *bell = &proc->ends[BELL].u.bell;
    if (take_job(proc, launch->os, err) < 0 || sb_job_watch(proc->job, bell, &proc->watch, err) < 0 ||
        start(proc, launch, pipes, err) < 0)
        goto done;
    if (!RegisterWaitForSingleObject(&proc->wait, proc->process, on_process_ended, bell, INFINITE,
                                     WT_EXECUTEONLYONCE)) {
        sb_fail_os(err, "cannot wait for a program");
        goto done;
    }
    *out = proc;
    rc = 0;
done:
    for (size_t i = 0; i < PIPES; i++)
        sb_childpipe_done(&pipes[i]);
    if (rc < 0) {
        sb_proc_kill(proc);
        sb_proc_free(proc, NULL, NULL);
    }
    return rc;
}

uv_stream_t *sb_proc_input(struct sb_proc *proc)
{
    return (uv_stream_t *)&proc->ends[TO_STDIN].u.pipe;
}

uv_stream_t *sb_proc_output(struct sb_proc *proc)
{
    return (uv_stream_t *)&proc->ends[FROM_STDOUT].u.pipe;
}

uv_stream_t *sb_proc_errors(struct sb_proc *proc)
{
    return (uv_stream_t *)&proc->ends[FROM_STDERR].u.pipe;
}

uv_stream_t *sb_proc_info(struct sb_proc *proc)
{
    (void)proc;
    return NULL;
}

long sb_proc_pid(const struct sb_proc *proc)
{
    return (long)proc->pid;
}

int sb_proc_watch_inner(struct sb_proc *proc, long pid, bool *own_pids, struct sb_err *err)
{
    (void)proc;
    (void)own_pids;
    return sb_fail(err, SB_UNSUPPORTED, "process %ld: a program on Windows has no inner process to watch",
                   pid);
}

void sb_proc_kill(struct sb_proc *proc)
{
    if (!proc->job)
        return;
    TerminateJobObject(proc->job, KILLED_CODE);
    /* No message need come: under Wine 8 a job can count a process that never ran (jobempty.c). */
    uv_async_send(&proc->ends[BELL].u.bell);
}

void sb_proc_close_input(struct sb_proc *proc)
{
    close_end(&proc->ends[TO_STDIN]);
}
