/* SPDX-License-Identifier: MIT
 * The guest process on Windows: its walls, its clock, its one wait. */
#include "guest_win.h"

#include <fcntl.h>
#include <io.h>
#include <sddl.h>
#include <string.h>

#include "base/alloc.h"

#define FLUSH_MS 100 /* what the host has not read by then it does not want */

/* Our own programs run as our own user, who owns this process. Without an entry for OWNER RIGHTS
 * (S-1-3-4) the owner could always write a new list; with it, and with the list protected, the
 * owner may see that the process lives and nothing else: no memory, no handles (the protocol's
 * pipes), no threads, no kill. The host has the handle CreateProcessW gave it. Wine stores the
 * list and does not enforce it. */
#define PRIVATE L"D:P(A;;0x101000;;;S-1-3-4)" /* SYNCHRONIZE, PROCESS_QUERY_LIMITED_INFORMATION */

void sb_guest_close(HANDLE *handle)
{
    if (*handle && *handle != INVALID_HANDLE_VALUE)
        CloseHandle(*handle);
    *handle = NULL;
}

static int harden(struct sb_gos *gos, struct sb_err *err)
{
    PSECURITY_DESCRIPTOR only_owner;

    if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(PRIVATE, SDDL_REVISION_1, &only_owner, NULL))
        return sb_guest_fail_os(err, GetLastError(), "cannot read the guest's own access list");
    gos->private_thread.nLength = sizeof gos->private_thread;
    gos->private_thread.lpSecurityDescriptor = only_owner; /* for as long as we live */
    if (!SetKernelObjectSecurity(GetCurrentProcess(), DACL_SECURITY_INFORMATION, only_owner) ||
        !SetKernelObjectSecurity(GetCurrentThread(), DACL_SECURITY_INFORMATION, only_owner))
        return sb_guest_fail_os(err, GetLastError(), "cannot close the guest's process to its user");
    /* Inherited by the programs: a crash ends them, no dialog waits for a click. */
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
    /* A console shared with the programs would let them send us its events. */
    FreeConsole();
    return 0;
}

/* Takes a standard handle away from where programs and the C library look for it. */
static int take_standard(DWORD which, int descriptor, HANDLE *out, struct sb_err *err)
{
    HANDLE was = GetStdHandle(which), self = GetCurrentProcess();

    if (!was || was == INVALID_HANDLE_VALUE ||
        !DuplicateHandle(self, was, self, out, 0, FALSE, DUPLICATE_SAME_ACCESS))
        return sb_fail(err, SB_HOST, "standard handle %d is not open", descriptor);
    _close(descriptor); /* closes `was` as well */
    SetStdHandle(which, NULL);
    return 0;
}

static int take_pipes(struct sb_gos *gos, struct sb_err *err)
{
    HANDLE input = NULL, output = NULL, errors = GetStdHandle(STD_ERROR_HANDLE);
    int rc = -1;

    if (take_standard(STD_INPUT_HANDLE, 0, &input, err) < 0 ||
        take_standard(STD_OUTPUT_HANDLE, 1, &output, err) < 0)
        goto done;
    if (errors && errors != INVALID_HANDLE_VALUE)
        SetHandleInformation(errors, HANDLE_FLAG_INHERIT, 0);
    rc = sb_stream_open(gos, input, false, &gos->input, err);
    input = NULL;
    if (rc < 0)
        goto done;
    rc = sb_stream_open(gos, output, true, &gos->output, err);
    output = NULL;
done:
    sb_guest_close(&input);
    sb_guest_close(&output);
    return rc;
}

static int open_workspace(struct sb_gos *gos, struct sb_err *err)
{
    DWORD units = GetCurrentDirectoryW(0, NULL);

    gos->workspace_path = sb_alloc((units + 1) * sizeof(wchar_t));
    if (units == 0 || GetCurrentDirectoryW(units, gos->workspace_path) >= units)
        return sb_guest_fail_os(err, GetLastError(), "cannot find the workspace");
    gos->workspace = CreateFileW(gos->workspace_path, FILE_LIST_DIRECTORY | FILE_TRAVERSE | SYNCHRONIZE,
                                 FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                                 FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (gos->workspace == INVALID_HANDLE_VALUE)
        return sb_guest_fail_os(err, GetLastError(), "cannot open the workspace");
    sb_guest_beneath_probe(gos);
    return 0;
}

/* One guest per process, which ends by sb_gos_end: nothing here is ever given back. */
int sb_gos_open(struct sb_gos **out, struct sb_err *err)
{
    struct sb_gos *gos = sb_alloc(sizeof *gos);

    InitializeSRWLock(&gos->lock);
    InitializeConditionVariable(&gos->changed);
    if (harden(gos, err) < 0 || open_workspace(gos, err) < 0 || take_pipes(gos, err) < 0)
        return -1;
    *out = gos;
    return 0;
}

void sb_gos_own_pids(struct sb_gos *gos, bool own)
{
    (void)gos; /* what dies with a run stands in its job, whatever pids it has */
    (void)own;
}

uint32_t sb_gos_pid(const struct sb_gos *gos)
{
    (void)gos;
    return GetCurrentProcessId();
}

enum sb_wire_os sb_gos_os(void)
{
    return SB_WIRE_WINDOWS;
}

enum sb_wire_arch sb_gos_arch(void)
{
#if defined(_M_ARM64) || defined(__aarch64__)
    return SB_WIRE_AARCH64;
#else
    return SB_WIRE_X86_64;
#endif
}

int64_t sb_gos_now_us(void)
{
    ULONGLONG now_100ns = 0;

    QueryUnbiasedInterruptTime(&now_100ns);
    return (int64_t)(now_100ns / 10);
}

/* Gives what was written a moment to leave: an ERROR says why the box ends. */
static void flush(struct sb_gos *gos)
{
    int64_t deadline_us = sb_gos_now_us() + FLUSH_MS * 1000;

    AcquireSRWLockExclusive(&gos->lock);
    while (!sb_stream_idle(gos->output) && sb_gos_now_us() < deadline_us)
        SleepConditionVariableSRW(&gos->changed, &gos->lock, FLUSH_MS, 0);
    ReleaseSRWLockExclusive(&gos->lock);
}

_Noreturn void sb_gos_end(struct sb_gos *gos, int code)
{
    for (size_t i = 0; i < SB_WIRE_RUNS_MAX; i++)
        if (gos->runs[i])
            sb_guest_run_terminate(gos->runs[i]);
    flush(gos);
    /* Not ExitProcess, which waits for locks that a thread in ReadFile may hold. The jobs' last
     * handles close here: what was born meanwhile dies. */
    TerminateProcess(GetCurrentProcess(), (UINT)code);
    for (;;)
        Sleep(INFINITE);
}

/* ---- the one wait ----------------------------------------------------------------------- */

#define RUN_EVENTS 4u
#define ALL_EVENTS (2u + SB_WIRE_RUNS_MAX * RUN_EVENTS)

static bool due(struct sb_gos *gos, unsigned which, struct sb_gos_event *out)
{
    struct sb_gos_run *run;

    memset(out, 0, sizeof *out);
    if (which == 0) {
        out->kind = SB_GOS_HOST_READABLE;
        return sb_stream_ready(gos->input);
    }
    if (which == 1) {
        out->kind = SB_GOS_HOST_WRITABLE;
        return gos->want_write && sb_stream_ready(gos->output);
    }
    run = gos->runs[(which - 2) / RUN_EVENTS];
    return run && sb_guest_run_event(run, (which - 2) % RUN_EVENTS, out);
}

static bool any_due(struct sb_gos *gos, struct sb_gos_event *out)
{
    for (unsigned i = 0; i < ALL_EVENTS; i++) {
        unsigned which = (gos->turn + i) % ALL_EVENTS;

        if (due(gos, which, out)) {
            gos->turn = (which + 1) % ALL_EVENTS;
            return true;
        }
    }
    return false;
}

static DWORD patience_ms(int64_t deadline_us, int64_t now_us)
{
    int64_t ms = (deadline_us - now_us + 999) / 1000;

    return ms > 60000 ? 60000 : (DWORD)ms; /* then we look again */
}

void sb_gos_next(struct sb_gos *gos, int64_t deadline_us, struct sb_gos_event *out)
{
    AcquireSRWLockExclusive(&gos->lock);
    while (!any_due(gos, out)) {
        int64_t now_us = sb_gos_now_us();

        if (now_us >= deadline_us) {
            memset(out, 0, sizeof *out);
            out->kind = SB_GOS_DEADLINE;
            break;
        }
        SleepConditionVariableSRW(&gos->changed, &gos->lock,
                                  deadline_us == INT64_MAX ? INFINITE : patience_ms(deadline_us, now_us), 0);
    }
    ReleaseSRWLockExclusive(&gos->lock);
}

/* ---- the host's pipe -------------------------------------------------------------------- */

long sb_gos_read(struct sb_gos *gos, void *bytes, size_t cap)
{
    return sb_stream_read(gos->input, bytes, cap);
}

size_t sb_gos_write(struct sb_gos *gos, const void *bytes, size_t len)
{
    long n = sb_stream_write(gos->output, bytes, len);

    /* A host that no longer reads is gone, and our stdin will say so; until then its bytes vanish. */
    return n < 0 ? len : (size_t)n;
}

void sb_gos_want_write(struct sb_gos *gos, bool want)
{
    gos->want_write = want; /* only the dispatcher's thread looks at it */
}
