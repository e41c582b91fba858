/* SPDX-License-Identifier: MIT */
#include "janitor.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "platform/oserr.h"

static struct {
    pid_t pid; /* 0: none */
    int fd;
} janitor = {0, -1};

static int start(const char *guest, struct sb_err *err)
{
    char *argv[] = {"llm-sandbox-guest", "janitor", NULL}, *env[] = {NULL};
    struct sb_child child = {.program = guest, .cwd = "/", .argv = argv, .env = env, .tell = -1, .outlives = true};
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return sb_fail_os(err, "cannot make a pipe");
    for (int i = 0; i < SB_CHILD_FDS; i++)
        child.fds[i] = i == 0 ? ends[0] : -1;
    pid = sb_child_start(&child);
    close(ends[0]);
    if (pid < 0) {
        close(ends[1]);
        return sb_fail_os_at(err, child.error, "cannot start '%s janitor': %s", guest, sb_child_step_name(child.step));
    }
    janitor.pid = pid;
    janitor.fd = ends[1];
    return 0;
}

int sb_janitor_open(const char *guest, int *out_fd, struct sb_err *err)
{
    if (janitor.pid > 0 && waitpid(janitor.pid, NULL, WNOHANG) != 0) { /* somebody killed it */
        janitor.pid = 0;
        close(janitor.fd);
    }
    if (janitor.pid == 0 && start(guest, err) < 0)
        return -1;
    *out_fd = janitor.fd;
    return 0;
}

void sb_janitor_forget(pid_t group)
{
    pid_t gone = -group;

    if (janitor.pid > 0)
        (void)!write(janitor.fd, &gone, sizeof gone);
}
