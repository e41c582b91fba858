/* SPDX-License-Identifier: MIT
 * Trees of processes, read from /proc. Only walked when a tree has to die or its CPU time is
 * asked for; the normal end of a program needs no walk. */
#include "guest_posix.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "guest/guest.h"

/* A fork bomb has to be stopped before it can be killed, and each pass may find children born
 * during the one before. */
#define STOP_PASSES_MAX 16

bool sb_proc_parse(const char *text, struct sb_proc *out)
{
    /* The name is in brackets and may hold anything, brackets and line ends too. */
    const char *after = strrchr(text, ')');
    int pid, ppid, group;
    char state;
    unsigned long long user, system;
    long long child_user, child_system;

    if (after == NULL || sscanf(text, "%d (", &pid) != 1)
        return false;
    if (sscanf(after, ") %c %d %d %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu %lld %lld", &state, &ppid, &group,
               &user, &system, &child_user, &child_system) != 7)
        return false;
    *out = (struct sb_proc){.pid = pid,
                            .ppid = ppid,
                            .group = group,
                            .state = state,
                            .own_ticks = user + system,
                            .child_ticks = (uint64_t)child_user + (uint64_t)child_system};
    return true;
}

static bool read_stat(int proc, const char *pid, struct sb_proc *out)
{
    char path[32], text[1024];

    snprintf(path, sizeof path, "%.10s/stat", pid);
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT && errno != ESRCH)
        _exit(SB_GUEST_BROKEN);
    if (fd < 0)
        return false; /* it ended since readdir */
    ssize_t len = read(fd, text, sizeof text - 1);
    close(fd);
    if (len <= 0)
        return false;
    text[len] = '\0';
    return sb_proc_parse(text, out);
}

size_t sb_proc_list(struct sb_proc **out)
{
    struct sb_proc *table = NULL;
    size_t count = 0, room = 0;
    const struct dirent *entry;
    DIR *proc = opendir("/proc");

    if (proc == NULL)
        _exit(SB_GUEST_BROKEN);
    while (count < SB_PROC_MAX && (entry = readdir(proc)) != NULL) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        if (count == room) {
            room = room == 0 ? 64 : room * 2;
            table = sb_realloc(table, room * sizeof *table);
        }
        if (read_stat(dirfd(proc), entry->d_name, &table[count]))
            count++;
    }
    closedir(proc);
    *out = table;
    return count;
}

static int by_pid(const void *a, const void *b)
{
    const struct sb_proc *x = a, *y = b;

    return (x->pid > y->pid) - (x->pid < y->pid);
}

static const struct sb_proc *find(const struct sb_proc *table, size_t count, pid_t pid)
{
    struct sb_proc key = {.pid = pid};

    return count == 0 ? NULL : bsearch(&key, table, count, sizeof *table, by_pid);
}

static bool is_in(pid_t pid, const pid_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == pid)
            return true;
    return false;
}

size_t sb_proc_descendants(struct sb_proc *table, size_t count, pid_t root, const pid_t *skip,
                           size_t skip_count)
{
    bool *below = sb_alloc(count + 1);
    bool found = true;
    size_t kept = 0;

    if (count > 0)
        qsort(table, count, sizeof *table, by_pid);
    /* Children mostly have higher pids than their parents, so one or two rounds do. */
    while (found) {
        found = false;
        for (size_t i = 0; i < count; i++) {
            if (below[i] || table[i].pid == root || is_in(table[i].pid, skip, skip_count))
                continue;
            const struct sb_proc *parent = find(table, count, table[i].ppid);
            below[i] = table[i].ppid == root || (parent != NULL && below[parent - table]);
            found = found || below[i];
        }
    }
    for (size_t i = 0; i < count; i++)
        if (below[i])
            table[kept++] = table[i];
    sb_free(below);
    return kept;
}

static bool is_alive(const struct sb_proc *proc)
{
    return proc->state != 'Z' && proc->state != 'X';
}

/* The living descendants, now. */
static size_t living(const struct sb_tree *tree, struct sb_proc **out)
{
    size_t alive = 0, count = sb_proc_list(out);

    count = sb_proc_descendants(*out, count, tree->root, tree->skip, tree->skip_count);
    for (size_t i = 0; i < count; i++)
        if (is_alive(&(*out)[i]))
            (*out)[alive++] = (*out)[i];
    return alive;
}

/* Signals the group of a process: the kernel does that in one step, so a process that forks and
 * exits faster than we read /proc is hit as well. A program leads a session of its own, which no
 * group leaves, so all of the group are of its tree. Ours, and groups of outside the namespace
 * (0), are not: there only the process is meant. */
static void hit(const struct sb_tree *tree, const struct sb_proc *proc, pid_t *last_group, int signal)
{
    if (proc->group <= 1 || proc->group == getpgrp())
        tree->kill(proc->pid, signal);
    else if (proc->group != *last_group)
        tree->kill(-proc->group, signal);
    *last_group = proc->group;
}

size_t sb_tree_strike(const struct sb_tree *tree)
{
    struct sb_proc *stopped = NULL, *now = NULL;
    size_t stopped_count = 0, count = 0;
    bool more = true;
    pid_t last_group;

    /* A process that has a signal pending can't fork any more, so one pass that finds nobody
     * new has them all; it need not be seen in state T. A parent waiting in vfork never gets
     * there, but is killed like any other. */
    for (int pass = 0; more && pass < STOP_PASSES_MAX; pass++) {
        count = living(tree, &now);
        more = false;
        last_group = 0;
        for (size_t i = 0; i < count; i++) {
            if (find(stopped, stopped_count, now[i].pid) != NULL)
                continue;
            hit(tree, &now[i], &last_group, SIGSTOP);
            more = true;
        }
        sb_free(stopped);
        stopped = now;
        stopped_count = count;
        now = NULL;
    }
    last_group = 0;
    for (size_t i = 0; i < stopped_count; i++)
        hit(tree, &stopped[i], &last_group, SIGKILL);
    sb_free(stopped);
    return stopped_count;
}

bool sb_tree_has_children(void)
{
    siginfo_t info;

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}
