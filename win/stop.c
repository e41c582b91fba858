/* SPDX-License-Identifier: MIT */
#include "platform/stop.h"

#include <windows.h>

#include <fcntl.h>
#include <io.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/alloc.h"
#include "platform/oserr.h"

static SRWLOCK lock = SRWLOCK_INIT; /* guards all below against the system's threads */
static struct {
    bool watching;
    uv_async_t bell;
    unsigned counts[SB_STOP_HANGUP + 1]; /* events of each reason that did not ring yet */
    void (*on_stop)(void *ctx, enum sb_stop_reason reason);
    void *ctx;
} stop;

/* Descriptor, stream and handle alike: a program of the desktop is started without all three. */
static void mend_stream(int fd, FILE *stream, DWORD which)
{
    HANDLE handle = GetStdHandle(which);
    if (handle == NULL || handle == INVALID_HANDLE_VALUE || GetFileType(handle) == FILE_TYPE_UNKNOWN) {
        /* Wine's freopen gives up on a stream that never was open. */
        if (!freopen("NUL", fd == 0 ? "rb" : "wb", stream)) {
            int null = _open("NUL", fd == 0 ? _O_RDONLY : _O_WRONLY);
            if (null >= 0 && null != fd) {
                _dup2(null, fd);
                _close(null);
            }
        }
        SetStdHandle(which, (HANDLE)_get_osfhandle(fd));
    }
    _setmode(fd, _O_BINARY);
}

void sb_stop_prepare(void)
{
    /* No dialogs, neither ours nor those of what we start, which inherits this. */
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
    mend_stream(0, stdin, STD_INPUT_HANDLE);
    mend_stream(1, stdout, STD_OUTPUT_HANDLE);
    mend_stream(2, stderr, STD_ERROR_HANDLE);
    /* An ignored Ctrl-C is inherited from whoever started us in a group of its own. */
    SetConsoleCtrlHandler(NULL, FALSE);
}

static bool note(enum sb_stop_reason reason)
{
    AcquireSRWLockExclusive(&lock);
    bool watching = stop.watching;
    if (watching) {
        stop.counts[reason]++;
        uv_async_send(&stop.bell);
    }
    ReleaseSRWLockExclusive(&lock);
    return watching;
}

/* A thread of the system's. */
static BOOL WINAPI on_console(DWORD event)
{
    static const enum sb_stop_reason reasons[] = {
        [CTRL_C_EVENT] = SB_STOP_INTERRUPT,        [CTRL_BREAK_EVENT] = SB_STOP_TERMINATE,
        [CTRL_CLOSE_EVENT] = SB_STOP_HANGUP,       [CTRL_LOGOFF_EVENT] = SB_STOP_HANGUP,
        [CTRL_SHUTDOWN_EVENT] = SB_STOP_TERMINATE,
    };
    if (event >= SB_COUNT(reasons) || reasons[event] == 0 || !note(reasons[event]))
        return FALSE;
    /* After these the system ends the process as soon as we return, or after some seconds:
     * the loop thread needs them. */
    if (event == CTRL_CLOSE_EVENT || event == CTRL_LOGOFF_EVENT || event == CTRL_SHUTDOWN_EVENT)
        Sleep(INFINITE);
    return TRUE;
}

static unsigned take_count(enum sb_stop_reason reason)
{
    AcquireSRWLockExclusive(&lock);
    unsigned n = stop.counts[reason];
    stop.counts[reason] = 0;
    ReleaseSRWLockExclusive(&lock);
    return n;
}

static void on_bell(uv_async_t *bell)
{
    (void)bell;
    for (enum sb_stop_reason reason = SB_STOP_INTERRUPT; reason <= SB_STOP_HANGUP; reason++)
        for (unsigned n = take_count(reason); n > 0 && stop.watching; n--)
            stop.on_stop(stop.ctx, reason);
}

int sb_stop_watch(uv_loop_t *loop, void (*on_stop)(void *ctx, enum sb_stop_reason reason), void *ctx,
                  struct sb_err *err)
{
    static bool registered;

    int uv = uv_async_init(loop, &stop.bell, on_bell);
    if (uv < 0)
        return sb_fail_os_at(err, uv, "cannot watch for the end");
    uv_unref((uv_handle_t *)&stop.bell); /* waiting for a reason to stop is no reason to go on */
    stop.on_stop = on_stop;
    stop.ctx = ctx;
    /* Never taken back: the system may hold its list of handlers while one of them sleeps. */
    if (!registered && !SetConsoleCtrlHandler(on_console, TRUE)) {
        sb_fail_os(err, "cannot watch the console");
        uv_close((uv_handle_t *)&stop.bell, NULL);
        return -1;
    }
    registered = true;
    AcquireSRWLockExclusive(&lock);
    stop.watching = true;
    ReleaseSRWLockExclusive(&lock);
    return 0;
}

void sb_stop_unwatch(void)
{
    if (!stop.watching)
        return;
    AcquireSRWLockExclusive(&lock);
    stop.watching = false;
    ReleaseSRWLockExclusive(&lock);
    uv_close((uv_handle_t *)&stop.bell, NULL);
}

int sb_stop_status(enum sb_stop_reason reason)
{
    static const int statuses[] = {
        [SB_STOP_INTERRUPT] = 130, [SB_STOP_TERMINATE] = 143, [SB_STOP_HANGUP] = 129};
    return statuses[reason];
}
