/* SPDX-License-Identifier: MIT
 * From a launch to a running program: descriptors, child, and the parts that proc.c watches. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "boxos.h"
#include "child.h"
#include "handles.h"
#include "janitor.h"
#include "platform/oserr.h"
#include "proc.h"

/* Our ends, and the child's until it has them. -1: not there. */
struct ends {
    int wire, errors, info, pidfd;
    int child[SB_CHILD_FDS];
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_child_ends(struct ends *ends)
{
    if (ends->child[1] == ends->child[0]) /* one socket for both */
        ends->child[1] = -1;
    for (int i = 0; i < SB_CHILD_FDS; i++)
        close_fd(&ends->child[i]);
}

static void close_our_ends(struct ends *ends)
{
    close_fd(&ends->wire);
    close_fd(&ends->errors);
    close_fd(&ends->info);
    close_fd(&ends->pidfd);
}

static int open_pipe(int *reader, int *writer, struct sb_err *err)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) < 0)
        return sb_fail_os(err, "cannot make a pipe");
    *reader = fds[0];
    *writer = fds[1];
    return 0;
}

static int open_handle(const struct sb_launch_handle *handle, struct ends *ends, struct sb_err *err)
{
    int *fd = &ends->child[handle->number];

    switch (handle->kind) {
    case SB_HANDLE_GUEST:
        return sb_handle_guest(handle->text, fd, err);
    case SB_HANDLE_DATA:
        return sb_handle_data(handle->text, handle->len, fd, err);
    case SB_HANDLE_INFO:
        return ends->info < 0 ? open_pipe(&ends->info, fd, err) : sb_fail(err, SB_BUG, "two info handles");
    }
    return sb_fail(err, SB_BUG, "no such kind of handle");
}

static int open_ends(const struct sb_launch *launch, struct ends *ends, struct sb_err *err)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return sb_fail_os(err, "cannot make a socket pair");
    ends->wire = pair[0];
    ends->child[0] = ends->child[1] = pair[1];
    if (open_pipe(&ends->errors, &ends->child[2], err) < 0)
        return -1;
    for (size_t i = 0; i < launch->handle_count; i++) {
        int number = launch->handles[i].number;

        if (number <= 2 || number >= SB_CHILD_FDS || ends->child[number] >= 0)
            return sb_fail(err, SB_BUG, "a handle can't have number %d", number);
        if (open_handle(&launch->handles[i], ends, err) < 0)
            return -1;
    }
    return 0;
}

static int start_child(const struct sb_launch *launch, struct ends *ends, pid_t *out_pid, struct sb_err *err)
{
    struct sb_child child = {
        .program = launch->program, .cwd = launch->cwd, .argv = launch->argv, .env = launch->env, .tell = -1};
    pid_t pid;

    memcpy(child.fds, ends->child, sizeof child.fds);
    for (size_t i = 0; i < launch->handle_count; i++)
        if (launch->handles[i].kind == SB_HANDLE_GUEST && sb_janitor_open(launch->handles[i].text, &child.tell, err) < 0)
            return -1;
    if (launch->os && launch->os->drop) {
        child.drop = true;
        child.uid = launch->os->uid;
        child.gid = launch->os->gid;
    }
    pid = sb_child_start(&child);
    if (pid < 0)
        return sb_fail_os_at(err, child.error, "%s", sb_child_step_name(child.step));
    ends->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (ends->pidfd < 0) {
        sb_fail_os(err, "pidfd");
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        return -1;
    }
    *out_pid = pid;
    return 0;
}

int sb_proc_start(uv_loop_t *loop, const struct sb_launch *launch, const struct sb_proc_events *events,
                  struct sb_proc **out, struct sb_err *err)
{
    struct ends ends = {.wire = -1, .errors = -1, .info = -1, .pidfd = -1};
    pid_t pid = -1;
    int rc = -1;

    for (int i = 0; i < SB_CHILD_FDS; i++)
        ends.child[i] = -1;
    if (open_ends(launch, &ends, err) == 0 && start_child(launch, &ends, &pid, err) == 0)
        rc = 0;
    close_child_ends(&ends);
    if (rc == 0)
        rc = sb_proc_new(loop, events,
                         &(struct sb_proc_parts){pid, ends.pidfd, ends.wire, ends.errors, ends.info}, out,
                         err);
    else
        close_our_ends(&ends);
    return rc == 0 ? 0 : sb_fail_in(err, "cannot start '%s'", launch->program);
}
