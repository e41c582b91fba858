/* SPDX-License-Identifier: MIT */
#include "testprog_forge.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testprog.h"

#define MOST_FDS 64

static unsigned char frame[12]; /* END on channel OUT */

static void make_frame(uint32_t id)
{
    frame[4] = 129;
    frame[5] = 1;
    for (int i = 0; i < 4; i++)
        frame[8 + i] = (unsigned char)(id >> (8 * i));
}

/* Each attack: 0 open, else the errno of the refusal. */

static int by_pidfd_getfd(pid_t pid)
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), why = ESRCH, got;

    for (int fd = 0; fd < MOST_FDS; fd++) {
        got = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
        if (got >= 0) {
            why = 0;
            if (write(got, frame, sizeof(frame)) < 0)
                continue;
        } else if (why != 0 && errno != EBADF) {
            why = errno;
        }
    }
    return why;
}

static int by_proc_fd(pid_t pid)
{
    char path[64];
    int why = ENOENT;

    for (int fd = 0; fd < MOST_FDS; fd++) {
        snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
        int got = open(path, O_WRONLY | O_NONBLOCK);
        /* ENXIO: a socket. It can't be opened so, but we got as far as trying. */
        if (got >= 0 || errno == ENXIO)
            why = 0;
        else if (why != 0 && errno != ENOENT)
            why = errno;
        if (got >= 0 && write(got, frame, sizeof(frame)) < 0)
            continue;
    }
    return why;
}

static int by_proc_mem(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
    return open(path, O_RDWR) >= 0 ? 0 : errno;
}

static int by_proc_maps(pid_t pid)
{
    char path[64], text[16];
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    fd = open(path, O_RDONLY);
    return fd >= 0 && read(fd, text, sizeof(text)) > 0 ? 0 : errno;
}

static int by_proc_environ(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    return open(path, O_RDONLY) >= 0 ? 0 : errno;
}

static int by_seize(pid_t pid)
{
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
        return errno;
    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
    waitpid(pid, NULL, __WALL);
    ptrace(PTRACE_DETACH, pid, NULL, NULL);
    return 0;
}

static int by_attach(pid_t pid)
{
    if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) < 0)
        return errno;
    waitpid(pid, NULL, __WALL);
    ptrace(PTRACE_DETACH, pid, NULL, NULL);
    return 0;
}

static int by_vm_write(pid_t pid)
{
    char byte = 0;
    struct iovec here = {&byte, 1}, there = {(void *)16, 1};

    /* Rights are checked before the address, which is a bad one on purpose. */
    if (process_vm_writev(pid, &here, 1, &there, 1, 0) >= 0 || errno == EFAULT)
        return 0;
    return errno;
}

static const struct {
    const char *name;
    int (*attack)(pid_t pid);
} attacks[] = {
    {"pidfd_getfd", by_pidfd_getfd}, {"proc_fd", by_proc_fd},           {"proc_mem", by_proc_mem},
    {"proc_maps", by_proc_maps},     {"proc_environ", by_proc_environ}, {"seize", by_seize},
    {"attach", by_attach},           {"vm_write", by_vm_write},
};

static void attack_all(pid_t pid)
{
    for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
        int why = attacks[i].attack(pid);
        if (why == 0)
            tp_say("%s %d OPEN\n", attacks[i].name, (int)pid);
        else
            tp_say("%s %d denied %d\n", attacks[i].name, (int)pid, why);
    }
}

int tp_forge(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    make_frame((uint32_t)strtoul(argv[1], NULL, 10));
    for (int fd = 0; fd < 1024; fd++) { /* all it has: among them stdout, where it is data */
        if (fd != 2 && write(fd, frame, sizeof(frame)) < 0)
            continue;
    }
    for (int i = 2; i < argc; i++) {
        pid_t pid = (pid_t)strtol(argv[i], NULL, 10);
        attack_all(pid == 0 ? getppid() : pid);
    }
    return 7;
}

int tp_forge_control(int argc, char **argv)
{
    int ends[2];
    pid_t victim;
    char got;

    if (argc != 2 || pipe(ends) < 0)
        return 2;
    make_frame((uint32_t)strtoul(argv[1], NULL, 10));
    victim = fork();
    if (victim == 0) {
        close(0);
        close(1);
        close(2);
        if (write(ends[1], "", 1) == 1)
            tp_sleep_for_ever();
        _exit(1);
    }
    if (victim < 0 || read(ends[0], &got, 1) != 1) /* it has closed what it shared with us */
        return 2;
    attack_all(victim);
    kill(victim, SIGKILL);
    waitpid(victim, NULL, 0);
    /* The forged frame came out of the victim's pipe. */
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    tp_say("forged frame %s\n", read(ends[0], &got, 1) == 1 ? "arrived" : "lost");
    return 0;
}
