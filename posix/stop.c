/* SPDX-License-Identifier: MIT */
#include "platform/stop.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "platform/oserr.h"

/* A box takes about six descriptors. Where only the soft limit is low, we raise it. */
#define WANTED_DESCRIPTORS 4096

static const struct {
    int number;
    enum sb_stop_reason reason;
    bool stays_ignored; /* nohup, and `&` in a script: who started us does not want it to end us */
} watched[] = {
    {SIGINT, SB_STOP_INTERRUPT, true},
    {SIGTERM, SB_STOP_TERMINATE, false},
    {SIGHUP, SB_STOP_HANGUP, true},
};

static struct {
    uv_signal_t handles[SB_COUNT(watched)];
    unsigned open; /* handles that libuv still knows, closing ones too */
    void (*on_stop)(void *ctx, enum sb_stop_reason reason);
    void *ctx;
} watcher;

static void fill_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        /* The lowest free number is this one. Without /dev/null something harmless holds the
         * place: whatever reads or writes it gets EBADF. */
        if (open("/dev/null", O_RDWR) < 0)
            (void)!open("/", O_PATH);
    }
}

void sb_stop_prepare(void)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    struct rlimit files;
    sigset_t none;

    fill_standard_descriptors();
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL); /* a file size limit is an error of the write, not our death */
    action.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &action, NULL); /* inherited as ignored, exit codes would be lost */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    umask(077);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < WANTED_DESCRIPTORS) {
        files.rlim_cur = files.rlim_max < WANTED_DESCRIPTORS ? files.rlim_max : WANTED_DESCRIPTORS;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

static void on_signal(uv_signal_t *handle, int number)
{
    (void)number;
    watcher.on_stop(watcher.ctx, watched[handle - watcher.handles].reason);
}

static void on_closed(uv_handle_t *handle)
{
    (void)handle;
    watcher.open--;
}

static bool is_ignored(int number)
{
    struct sigaction action;

    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int sb_stop_watch(uv_loop_t *loop, void (*on_stop)(void *ctx, enum sb_stop_reason reason), void *ctx,
                  struct sb_err *err)
{
    int rc;

    if (watcher.open)
        return sb_fail(err, SB_BUG, "stop signals are watched already");
    watcher.on_stop = on_stop;
    watcher.ctx = ctx;
    for (size_t i = 0; i < SB_COUNT(watched); i++) {
        bool ignored = watched[i].stays_ignored && is_ignored(watched[i].number);

        rc = uv_signal_init(loop, &watcher.handles[i]);
        if (rc == 0) {
            watcher.open++;
            if (!ignored)
                rc = uv_signal_start(&watcher.handles[i], on_signal, watched[i].number);
            uv_unref((uv_handle_t *)&watcher.handles[i]); /* waiting for a signal is no work */
        }
        if (rc < 0) {
            sb_stop_unwatch();
            return sb_fail_os_at(err, rc, "cannot watch signal %d", watched[i].number);
        }
    }
    return 0;
}

void sb_stop_unwatch(void)
{
    for (unsigned i = 0; i < watcher.open; i++) {
        uv_handle_t *handle = (uv_handle_t *)&watcher.handles[i];

        if (!uv_is_closing(handle))
            uv_close(handle, on_closed);
    }
}

int sb_stop_status(enum sb_stop_reason reason)
{
    for (size_t i = 0; i < SB_COUNT(watched); i++) {
        if (watched[i].reason == reason)
            return 128 + watched[i].number;
    }
    return 128;
}
