/* SPDX-License-Identifier: MIT
 * Ends are told by pidfds in the loop: exact, no signal handler, no race with reused pids. */
#include "janitor.h"
#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "platform/oserr.h"

/* A process we wait for. libuv never owns the descriptor of a poll handle. */
struct watch {
    uv_poll_t handle;
    int pidfd; /* -1: not watched */
    bool ended;
};

/* The handle's own `data` is whoever's reads from the stream. */
struct stream {
    uv_pipe_t pipe;
    struct sb_proc *proc;
};

struct sb_proc {
    pid_t pid;
    struct sb_proc_events events;
    struct stream wire, errors, info;
    bool has_info, told_gone;
    struct watch started, inner;
    unsigned open_handles;
    void (*on_closed)(void *ctx);
    void *closed_ctx;
};

static void count_closed(struct sb_proc *proc)
{
    if (--proc->open_handles > 0)
        return;
    if (proc->on_closed)
        proc->on_closed(proc->closed_ctx);
    sb_free(proc);
}

static void on_stream_closed(uv_handle_t *handle)
{
    count_closed(((struct stream *)handle)->proc);
}

static void on_watch_closed(uv_handle_t *handle)
{
    count_closed(handle->data);
}

static void close_watch(struct watch *watch)
{
    if (watch->pidfd < 0)
        return;
    uv_close((uv_handle_t *)&watch->handle, on_watch_closed);
    close(watch->pidfd); /* uv_close has taken it out of the loop's epoll set */
    watch->pidfd = -1;
}

static void close_all(struct sb_proc *proc)
{
    uv_close((uv_handle_t *)&proc->wire, on_stream_closed);
    uv_close((uv_handle_t *)&proc->errors, on_stream_closed);
    if (proc->has_info)
        uv_close((uv_handle_t *)&proc->info, on_stream_closed);
    close_watch(&proc->started);
    close_watch(&proc->inner);
}

static void tell_if_gone(struct sb_proc *proc)
{
    if (proc->told_gone || !proc->started.ended || (proc->inner.pidfd >= 0 && !proc->inner.ended))
        return;
    proc->told_gone = true;
    sb_janitor_forget((pid_t)proc->pid);
    proc->events.on_gone(proc->events.ctx); /* may free proc */
}

/* A spurious wake-up would make us wait for something that still lives: ask again. */
static bool is_readable(int fd)
{
    struct pollfd ask = {.fd = fd, .events = POLLIN};

    return poll(&ask, 1, 0) > 0;
}

static void on_started_poll(uv_poll_t *handle, int status, int events)
{
    struct sb_proc *proc = handle->data;
    struct sb_proc_end end = {0};
    siginfo_t info = {0};

    (void)status;
    (void)events;
    /* While its number is still its own: what it had just forked, before it could say so. */
    if (is_readable(proc->started.pidfd))
        kill(-(pid_t)proc->pid, SIGKILL);
    if (waitid(P_PID, (id_t)proc->pid, &info, WEXITED | WNOHANG) < 0) {
        if (errno != ECHILD)
            return;
        end.signalled = true; /* someone else reaped it: how it ended is lost */
        end.code = SIGKILL;
    } else if (info.si_pid == 0) {
        return;
    } else {
        end.signalled = info.si_code != CLD_EXITED;
        end.code = (uint32_t)info.si_status;
    }
    uv_poll_stop(handle);
    proc->started.ended = true;
    proc->events.on_exit(proc->events.ctx, &end);
    tell_if_gone(proc);
}

static void on_inner_poll(uv_poll_t *handle, int status, int events)
{
    struct sb_proc *proc = handle->data;

    (void)status;
    (void)events;
    if (!is_readable(proc->inner.pidfd))
        return;
    uv_poll_stop(handle);
    proc->inner.ended = true;
    tell_if_gone(proc);
}

/* Takes pidfd in any case. */
static int start_watch(struct sb_proc *proc, struct watch *watch, int pidfd, uv_poll_cb callback)
{
    int rc = uv_poll_init(proc->wire.pipe.loop, &watch->handle, pidfd);

    if (rc < 0) { /* the loop does not know the handle */
        close(pidfd);
        return rc;
    }
    watch->handle.data = proc;
    watch->pidfd = pidfd;
    proc->open_handles++;
    rc = uv_poll_start(&watch->handle, UV_READABLE, callback);
    if (rc < 0)
        close_watch(watch);
    return rc;
}

/* Takes fd in any case. */
static int open_stream(struct sb_proc *proc, uv_loop_t *loop, struct stream *stream, int fd)
{
    int rc;

    uv_pipe_init(loop, &stream->pipe, 0);
    stream->proc = proc;
    proc->open_handles++;
    rc = uv_pipe_open(&stream->pipe, fd);
    if (rc < 0)
        close(fd);
    return rc;
}

int sb_proc_new(uv_loop_t *loop, const struct sb_proc_events *events, const struct sb_proc_parts *parts,
                struct sb_proc **out, struct sb_err *err)
{
    struct sb_proc *proc = sb_alloc(sizeof *proc);
    int rc, more;

    proc->pid = parts->pid;
    proc->events = *events;
    proc->started.pidfd = proc->inner.pidfd = -1;
    proc->has_info = parts->info >= 0;
    rc = open_stream(proc, loop, &proc->wire, parts->wire);
    more = open_stream(proc, loop, &proc->errors, parts->errors);
    rc = rc < 0 ? rc : more;
    if (proc->has_info) {
        more = open_stream(proc, loop, &proc->info, parts->info);
        rc = rc < 0 ? rc : more;
    }
    if (rc == 0)
        rc = start_watch(proc, &proc->started, parts->pidfd, on_started_poll);
    else
        close(parts->pidfd);
    if (rc == 0) {
        *out = proc;
        return 0;
    }
    kill(parts->pid, SIGKILL);
    while (waitpid(parts->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    close_all(proc);
    return sb_fail_os_at(err, rc, "event loop");
}

uv_stream_t *sb_proc_input(struct sb_proc *proc)
{
    return (uv_stream_t *)&proc->wire;
}

uv_stream_t *sb_proc_output(struct sb_proc *proc)
{
    return (uv_stream_t *)&proc->wire;
}

uv_stream_t *sb_proc_errors(struct sb_proc *proc)
{
    return (uv_stream_t *)&proc->errors;
}

uv_stream_t *sb_proc_info(struct sb_proc *proc)
{
    return proc->has_info ? (uv_stream_t *)&proc->info : NULL;
}

long sb_proc_pid(const struct sb_proc *proc)
{
    return proc->pid;
}

static int read_proc(long pid, const char *file, char *out, size_t cap, struct sb_err *err)
{
    char path[64];
    ssize_t got = -1;
    int fd;

    snprintf(path, sizeof path, "/proc/%ld/%s", pid, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, out, cap - 1);
        close(fd);
    }
    if (got < 0)
        return sb_fail_os(err, "cannot read '%s'", path);
    out[got] = '\0';
    return 0;
}

/* The name in the second field may hold blanks and brackets of its own: the last one ends it. */
static long parent_in_stat(const char *stat)
{
    const char *end = strrchr(stat, ')');
    long parent;

    return end && sscanf(end + 1, " %*c %ld", &parent) == 1 ? parent : -1;
}

/* "NSpid: 4711 1": a number per namespace, the innermost last. */
static bool is_first_of_namespace(const char *status)
{
    const char *line = strstr(status, "\nNSpid:"), *number = NULL;
    unsigned count = 0;

    if (!line)
        return false;
    line += strlen("\nNSpid:");
    for (;;) {
        line += strspn(line, " \t");
        if (*line < '0' || *line > '9')
            break;
        number = line;
        line += strspn(line, "0123456789");
        count++;
    }
    return count >= 2 && number[0] == '1' && line == number + 1;
}

/* Whether `pid` is our program's child, and whether it is PID 1 of a namespace. */
static int look_at_inner(const struct sb_proc *proc, long pid, bool *out_first, struct sb_err *err)
{
    char text[4096];

    if (read_proc(pid, "stat", text, sizeof text, err) < 0)
        return -1;
    if (parent_in_stat(text) != proc->pid)
        return sb_fail(err, SB_DENIED, "process %ld is no child of the started program", pid);
    if (read_proc(pid, "status", text, sizeof text, err) < 0)
        return -1;
    *out_first = is_first_of_namespace(text);
    return 0;
}

int sb_proc_watch_inner(struct sb_proc *proc, long pid, bool *own_pids, struct sb_err *err)
{
    bool first;
    int pidfd, rc;

    if (proc->inner.pidfd >= 0)
        return sb_fail(err, SB_BUG, "the box's first process is known already");
    if (pid <= 1 || pid > INT_MAX)
        return sb_fail(err, SB_DENIED, "%ld is no pid of a box", pid);
    /* The pidfd first, then the look: the other way round the pid might be another's by then. */
    pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
    if (pidfd < 0)
        return sb_fail_os(err, "cannot watch process %ld", pid);
    if (look_at_inner(proc, pid, &first, err) < 0) {
        close(pidfd);
        return -1;
    }
    rc = start_watch(proc, &proc->inner, pidfd, on_inner_poll);
    if (rc < 0)
        return sb_fail_os_at(err, rc, "cannot watch process %ld", pid);
    *own_pids = first;
    return 0;
}

void sb_proc_kill(struct sb_proc *proc)
{
    struct watch *watches[] = {&proc->inner, &proc->started};

    for (size_t i = 0; i < SB_COUNT(watches); i++) {
        if (watches[i]->pidfd >= 0 && !watches[i]->ended)
            syscall(SYS_pidfd_send_signal, watches[i]->pidfd, SIGKILL, NULL, 0);
    }
}

void sb_proc_close_input(struct sb_proc *proc)
{
    uv_os_fd_t fd;

    /* At once, without waiting for what is still to be written: the guest may not be reading. */
    if (uv_fileno((uv_handle_t *)&proc->wire, &fd) == 0)
        shutdown(fd, SHUT_WR);
}

void sb_proc_free(struct sb_proc *proc, void (*on_closed)(void *ctx), void *ctx)
{
    proc->on_closed = on_closed;
    proc->closed_ctx = ctx;
    close_all(proc);
}
