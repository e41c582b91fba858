/* SPDX-License-Identifier: MIT
 * Anonymous pipes can only be waited for by a thread that is blocked in them (named pipes, which
 * could be overlapped, are refused to an AppContainer). So each has a thread and a bounded slot.
 *
 * A stream belongs to its thread and to its opener; the one that leaves last frees it. A thread
 * can miss its cancel between the look at `dropped` and ReadFile; it then stays until the pipe
 * moves or breaks, which at the latest the death of the run's tree brings about. */
#include "guest_win.h"

#include <string.h>

#include "base/alloc.h"

#define SLOT       (64u * 1024)
#define STACK_SIZE (64u * 1024)

struct sb_stream {
    struct sb_gos *gos;
    HANDLE pipe, thread;
    CONDITION_VARIABLE wake; /* the thread's */
    bool writes;
    bool is_pipe;   /* else a file, where no bytes are the end */
    bool finishing; /* writer: no more will come */
    bool dropped;   /* by the opener */
    bool ended;     /* the pipe broke or was finished */
    bool writing;   /* writer: bytes are on their way */
    bool thread_gone;
    size_t at, len; /* the bytes in slot, from `at` */
    unsigned char slot[SLOT];
    unsigned char away[SLOT]; /* writer: what the thread has taken */
};

static void free_stream(struct sb_stream *stream)
{
    sb_guest_close(&stream->pipe);
    sb_guest_close(&stream->thread);
    sb_free(stream);
}

/* Last act of a thread; the lock is held and is released. */
static void leave(struct sb_stream *stream)
{
    struct sb_gos *gos = stream->gos;
    bool last = stream->dropped;

    stream->ended = true;
    stream->thread_gone = true;
    sb_guest_close(&stream->pipe); /* a writer's program sees its end of input here */
    WakeConditionVariable(&gos->changed);
    ReleaseSRWLockExclusive(&gos->lock);
    if (last)
        free_stream(stream);
}

/* No bytes: the end of a file, or of a pipe that a program outside Wine made; but in a pipe of
 * Windows also what somebody gets who writes nothing into it, and then the pipe still lives. */
static bool is_end(const struct sb_stream *stream)
{
    return !stream->is_pipe || !PeekNamedPipe(stream->pipe, NULL, 0, NULL, NULL, NULL);
}

static DWORD WINAPI read_on(void *arg)
{
    struct sb_stream *stream = arg;
    struct sb_gos *gos = stream->gos;

    AcquireSRWLockExclusive(&gos->lock);
    while (!stream->dropped) {
        DWORD got = 0;
        BOOL ok;

        if (stream->len > 0) {
            SleepConditionVariableSRW(&stream->wake, &gos->lock, INFINITE, 0);
            continue;
        }
        ReleaseSRWLockExclusive(&gos->lock);
        ok = ReadFile(stream->pipe, stream->slot, SLOT, &got, NULL); /* the slot is empty: ours */
        if (ok && got == 0 && is_end(stream))
            ok = FALSE;
        AcquireSRWLockExclusive(&gos->lock);
        if (!ok)
            break;
        stream->at = 0;
        stream->len = got;
        WakeConditionVariable(&gos->changed);
    }
    leave(stream);
    return 0;
}

static DWORD WINAPI write_on(void *arg)
{
    struct sb_stream *stream = arg;
    struct sb_gos *gos = stream->gos;

    AcquireSRWLockExclusive(&gos->lock);
    while (!stream->dropped) {
        DWORD len = (DWORD)stream->len, put = 0;
        BOOL ok;

        if (len == 0 && stream->finishing)
            break;
        if (len == 0) {
            SleepConditionVariableSRW(&stream->wake, &gos->lock, INFINITE, 0);
            continue;
        }
        memcpy(stream->away, stream->slot, len);
        stream->len = 0;
        stream->writing = true;
        WakeConditionVariable(&gos->changed);
        ReleaseSRWLockExclusive(&gos->lock);
        ok = WriteFile(stream->pipe, stream->away, len, &put, NULL);
        AcquireSRWLockExclusive(&gos->lock);
        stream->writing = false;
        WakeConditionVariable(&gos->changed);
        if (!ok)
            break;
    }
    leave(stream);
    return 0;
}

int sb_stream_open(struct sb_gos *gos, HANDLE pipe, bool writes, struct sb_stream **out, struct sb_err *err)
{
    struct sb_stream *stream = sb_alloc(sizeof *stream);

    stream->gos = gos;
    stream->pipe = pipe;
    stream->writes = writes;
    stream->is_pipe = GetFileType(pipe) == FILE_TYPE_PIPE;
    InitializeConditionVariable(&stream->wake);
    stream->thread = CreateThread(&gos->private_thread, STACK_SIZE, writes ? write_on : read_on, stream,
                                  STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    if (!stream->thread) {
        DWORD os = GetLastError();

        free_stream(stream);
        return sb_guest_fail_os(err, os, "cannot start a thread for a pipe");
    }
    *out = stream;
    return 0;
}

long sb_stream_read(struct sb_stream *stream, void *bytes, size_t cap)
{
    long result;

    AcquireSRWLockExclusive(&stream->gos->lock);
    if (stream->len > 0) {
        size_t n = stream->len < cap ? stream->len : cap;

        memcpy(bytes, stream->slot + stream->at, n);
        stream->at += n;
        stream->len -= n;
        if (stream->len == 0)
            WakeConditionVariable(&stream->wake);
        result = (long)n;
    } else {
        result = stream->ended ? -1 : 0;
    }
    ReleaseSRWLockExclusive(&stream->gos->lock);
    return result;
}

long sb_stream_write(struct sb_stream *stream, const void *bytes, size_t len)
{
    long result = -1;

    AcquireSRWLockExclusive(&stream->gos->lock);
    if (!stream->ended && !stream->finishing) {
        size_t room = SLOT - stream->len, n = len < room ? len : room;

        memcpy(stream->slot + stream->len, bytes, n);
        stream->len += n;
        WakeConditionVariable(&stream->wake);
        result = (long)n;
    }
    ReleaseSRWLockExclusive(&stream->gos->lock);
    return result;
}

bool sb_stream_ready(const struct sb_stream *stream)
{
    return stream->ended || (stream->writes ? stream->len < SLOT : stream->len > 0);
}

bool sb_stream_idle(const struct sb_stream *stream)
{
    return stream->ended || (stream->len == 0 && !stream->writing);
}

void sb_stream_finish(struct sb_stream *stream)
{
    AcquireSRWLockExclusive(&stream->gos->lock);
    stream->finishing = true;
    WakeConditionVariable(&stream->wake);
    ReleaseSRWLockExclusive(&stream->gos->lock);
}

void sb_stream_drop(struct sb_stream *stream)
{
    struct sb_gos *gos;
    bool last;

    if (!stream)
        return;
    gos = stream->gos;
    AcquireSRWLockExclusive(&gos->lock);
    last = stream->thread_gone;
    stream->dropped = true;
    if (!last) {
        WakeConditionVariable(&stream->wake);
        CancelSynchronousIo(stream->thread);
    }
    ReleaseSRWLockExclusive(&gos->lock);
    if (last)
        free_stream(stream);
}
