/* SPDX-License-Identifier: MIT
 * The guest process: the one place where it waits, and the host's pipe. */
#include "guest_posix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "guest/guest.h"
#include "guest_sys.h"

#define STRAYS_AGAIN_US 10000 /* time for struck strays to die before the next blow */
#define SLOTS_MAX       (3 + SB_WIRE_OPS_MAX * SB_CHAN_COUNT)

/* What poll looks at: index i of one belongs to index i of the other. */
struct slots {
    struct pollfd fds[SLOTS_MAX];
    struct sb_gos_event events[SLOTS_MAX];
    size_t count;
};

void sb_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static bool is_kept(int fd, const int *keep, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (keep[i] == fd)
            return true;
    return false;
}

/* Before Linux 5.9: by the list of what is open. Closing while reading may skip entries, so
 * until a round finds nothing. */
static void close_others_by_list(const int *keep, size_t count)
{
    bool more = true;

    while (more) {
        DIR *open_now = opendir("/proc/self/fd");
        const struct dirent *entry;
        more = false;
        while (open_now != NULL && (entry = readdir(open_now)) != NULL) {
            int fd = (int)strtol(entry->d_name, NULL, 10);
            if (fd > 2 && fd != dirfd(open_now) && !is_kept(fd, keep, count)) {
                close(fd);
                more = true;
            }
        }
        if (open_now != NULL)
            closedir(open_now);
    }
}

void sb_close_others(const int *keep, size_t count)
{
    unsigned from = 3;

    for (;;) {
        unsigned next = ~0u; /* the lowest to keep at or above `from` */
        for (size_t i = 0; i < count; i++)
            if (keep[i] >= 0 && (unsigned)keep[i] >= from && (unsigned)keep[i] < next)
                next = (unsigned)keep[i];
        if (next > from && syscall(SYS_close_range, from, next == ~0u ? next : next - 1, 0) < 0) {
            close_others_by_list(keep, count);
            return;
        }
        if (next == ~0u)
            return;
        from = next + 1;
    }
}

int sb_signals_open(void)
{
    sigset_t child;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

void sb_signals_drain(int signals)
{
    struct signalfd_siginfo info;

    while (read(signals, &info, sizeof info) > 0)
        continue;
}

void sb_gos_own_pids(struct sb_gos *gos, bool own)
{
    gos->own_pids = own;
}

uint32_t sb_gos_pid(const struct sb_gos *gos)
{
    return (uint32_t)gos->pid;
}

enum sb_wire_os sb_gos_os(void)
{
    return SB_WIRE_LINUX;
}

enum sb_wire_arch sb_gos_arch(void)
{
#if defined(__aarch64__)
    return SB_WIRE_AARCH64;
#elif defined(__x86_64__)
    return SB_WIRE_X86_64;
#else
#error "the wire has no number for this architecture"
#endif
}

int64_t sb_gos_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now); /* stands still while the machine sleeps */
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

long sb_gos_read(struct sb_gos *gos, void *bytes, size_t cap)
{
    ssize_t got = gos->host_gone ? 0 : read(gos->host_in, bytes, cap);

    if (got > 0)
        return (long)got;
    return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

size_t sb_gos_write(struct sb_gos *gos, const void *bytes, size_t len)
{
    ssize_t put = write(gos->host_out, bytes, len);

    if (put >= 0)
        return (size_t)put;
    if (errno != EAGAIN && errno != EINTR)
        gos->host_gone = true;
    return 0;
}

void sb_gos_want_write(struct sb_gos *gos, bool want)
{
    gos->want_write = want;
}

static void add_slot(struct slots *slots, int fd, short events, struct sb_gos_event event)
{
    if (fd < 0 || slots->count == SLOTS_MAX)
        return;
    slots->fds[slots->count] = (struct pollfd){.fd = fd, .events = events};
    slots->events[slots->count++] = event;
}

/* Slot 0 is the signals, which are no event. */
static void fill_slots(const struct sb_gos *gos, struct slots *slots)
{
    slots->count = 0;
    add_slot(slots, gos->signals, POLLIN, (struct sb_gos_event){0});
    add_slot(slots, gos->host_in, POLLIN, (struct sb_gos_event){.kind = SB_GOS_HOST_READABLE});
    if (gos->want_write)
        add_slot(slots, gos->host_out, POLLOUT, (struct sb_gos_event){.kind = SB_GOS_HOST_WRITABLE});
    for (struct sb_gos_run *run = gos->runs; run != NULL; run = run->next)
        for (int i = 0; i < SB_CHAN_COUNT; i++)
            if (run->want[i])
                add_slot(slots, run->streams[i], i == SB_CHAN_IN ? POLLOUT : POLLIN,
                         (struct sb_gos_event){i == SB_CHAN_IN ? SB_GOS_INPUT : SB_GOS_OUTPUT, run,
                                               (enum sb_channel)i});
}

/* The next ready slot after the one served last, so that none starves. */
static bool take_ready(struct sb_gos *gos, const struct slots *slots, struct sb_gos_event *out)
{
    for (size_t i = 0; i < slots->count; i++) {
        size_t at = (gos->turn + i) % slots->count;
        if (at == 0 || slots->fds[at].revents == 0)
            continue;
        gos->turn = at + 1;
        *out = slots->events[at];
        return true;
    }
    return false;
}

/* What needs no waiting: ends that are known, the host's end. */
static bool take_known(struct sb_gos *gos, struct sb_gos_event *out)
{
    for (struct sb_gos_run *run = gos->runs; run != NULL; run = run->next) {
        if (run->state != SB_RUN_DEAD)
            continue;
        run->state = SB_RUN_TOLD;
        *out = (struct sb_gos_event){.kind = SB_GOS_ENDED, .run = run};
        return true;
    }
    if (gos->host_gone)
        *out = (struct sb_gos_event){.kind = SB_GOS_HOST_READABLE};
    return gos->host_gone;
}

/* Kills what has to be killed by now; returns when to look again. */
static int64_t do_chores(struct sb_gos *gos, int64_t now_us)
{
    int64_t again_us = INT64_MAX;

    for (struct sb_gos_run *run = gos->runs; run != NULL; run = run->next) {
        int64_t at_us = sb_run_tick(run, now_us);
        again_us = at_us < again_us ? at_us : again_us;
    }
    if (!gos->strays)
        return again_us;
    if (sb_gos_kill_strays(gos))
        return now_us + STRAYS_AGAIN_US < again_us ? now_us + STRAYS_AGAIN_US : again_us;
    gos->strays = false;
    for (struct sb_gos_run *run = gos->runs; run != NULL; run = run->next)
        if (run->state == SB_RUN_ORPHANED)
            run->state = SB_RUN_DEAD;
    return again_us;
}

static int timeout_ms(int64_t until_us, int64_t now_us)
{
    if (until_us == INT64_MAX)
        return -1;
    if (until_us <= now_us)
        return 0;
    int64_t ms = (until_us - now_us - 1) / 1000 + 1;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

void sb_gos_next(struct sb_gos *gos, int64_t deadline_us, struct sb_gos_event *out)
{
    struct slots slots;

    for (;;) {
        int64_t now_us = sb_gos_now_us();
        int64_t again_us = do_chores(gos, now_us);
        if (take_known(gos, out))
            return;
        /* A passed deadline goes before all that is ready, but not twice in a row. */
        bool late = deadline_us <= now_us;
        if (late && !gos->deadline_told)
            break;
        gos->deadline_told = false;

        fill_slots(gos, &slots);
        int64_t until_us = deadline_us < again_us ? deadline_us : again_us;
        int ready = poll(slots.fds, (nfds_t)slots.count, timeout_ms(until_us, now_us));
        if (ready < 0 && errno != EINTR)
            sb_gos_end(gos, SB_GUEST_BROKEN); /* deaf to the host's end: see sb_proc_list */
        if (ready > 0) {
            if (slots.fds[0].revents != 0) {
                sb_signals_drain(gos->signals);
                sb_gos_reap(gos);
            }
            if (take_ready(gos, &slots, out))
                return;
        }
        if (late)
            break;
    }
    gos->deadline_told = true;
    *out = (struct sb_gos_event){.kind = SB_GOS_DEADLINE};
}
