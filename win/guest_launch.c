/* SPDX-License-Identifier: MIT
 * Starts one program inside a run's job, with three handles and nothing else of ours. */
#include "guest_win.h"

#include <string.h>

#include "base/alloc.h"
#include "base/argv.h"
#include "base/buf.h"
#include "base/path.h"
#include "envblock.h"
#include "utf16.h"

#define LINE_MAX_UNITS 32766         /* CreateProcessW's, less the NUL */
#define LINE_MAX_BYTES (128u * 1024) /* that many units are never more bytes */
#define PIPE_SIZE      (64u * 1024)

struct plan {
    wchar_t *program, *line, *environment, *folder;
    HANDLE theirs[SB_CHAN_COUNT];
    LPPROC_THREAD_ATTRIBUTE_LIST attributes;
};

static void plan_done(struct plan *plan)
{
    if (plan->attributes)
        DeleteProcThreadAttributeList(plan->attributes);
    sb_free(plan->attributes);
    sb_free(plan->program);
    sb_free(plan->line);
    sb_free(plan->environment);
    sb_free(plan->folder);
    for (size_t i = 0; i < SB_CHAN_COUNT; i++)
        sb_guest_close(&plan->theirs[i]);
}

static void turn_slashes(wchar_t *path)
{
    for (; *path; path++)
        if (*path == '/')
            *path = '\\';
}

static int plan_own_program(struct plan *plan, struct sb_err *err)
{
    const DWORD most = 32768; /* the longest path Windows has */
    DWORD units;

    plan->program = sb_alloc(most * sizeof(wchar_t));
    units = GetModuleFileNameW(NULL, plan->program, most);
    if (units == 0 || units >= most)
        return sb_guest_fail_os(err, GetLastError(), "cannot find the guest's own file");
    return 0;
}

static int plan_program(struct plan *plan, const struct sb_gos_start *start, struct sb_err *err)
{
    const char *name = start->argv[0];

    if (start->guest_itself)
        return plan_own_program(plan, err);
    if (!sb_path_is_absolute(name, SB_PATH_WINDOWS))
        return sb_fail(err, SB_BAD_REQUEST, "the program '%s' is not an absolute path", name);
    plan->program = sb_to_utf16(name, err);
    if (!plan->program)
        return sb_fail_in(err, "the program's path");
    turn_slashes(plan->program);
    if (sb_guest_is_batch(plan->program))
        return sb_fail(err, SB_UNSUPPORTED, "the program '%s' is a batch file: start cmd.exe with it", name);
    return 0;
}

static int plan_line(struct plan *plan, const struct sb_gos_start *start, struct sb_err *err)
{
    struct sb_buf line;
    int rc = -1;

    sb_buf_init(&line, LINE_MAX_BYTES);
    sb_quote_windows(&line, start->argv);
    if (!line.full)
        plan->line = sb_to_utf16(line.data, err);
    if (!line.full && !plan->line)
        sb_fail_in(err, "an argument");
    else if (line.full || wcslen(plan->line) > LINE_MAX_UNITS)
        sb_fail(err, SB_LIMIT, "the arguments are longer than the 32,766 characters that Windows allows");
    else
        rc = 0;
    sb_buf_done(&line);
    return rc;
}

static int plan_folder(struct plan *plan, const struct sb_gos *gos, const char *cwd, struct sb_err *err)
{
    wchar_t *below = sb_to_utf16(cwd, err);
    size_t units;

    if (!below)
        return sb_fail_in(err, "the folder to start in");
    turn_slashes(below);
    units = wcslen(gos->workspace_path) + 1 + wcslen(below) + 1;
    plan->folder = sb_alloc(units * sizeof(wchar_t));
    wcscpy(plan->folder, gos->workspace_path);
    if (*below) {
        wcscat(plan->folder, L"\\");
        wcscat(plan->folder, below);
    }
    sb_free(below);
    return 0;
}

/* Their end can be inherited, by the one program whose list names it; ours can't. */
static int plan_pipe(HANDLE *theirs, HANDLE *ours, bool they_read, struct sb_err *err)
{
    HANDLE reads, writes;

    if (!CreatePipe(&reads, &writes, NULL, PIPE_SIZE))
        return sb_guest_fail_os(err, GetLastError(), "cannot make a pipe");
    *theirs = they_read ? reads : writes;
    *ours = they_read ? writes : reads;
    if (!SetHandleInformation(*theirs, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT))
        return sb_guest_fail_os(err, GetLastError(), "cannot prepare a pipe");
    return 0;
}

static int plan_input(struct plan *plan, bool feed, HANDLE *ours, struct sb_err *err)
{
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};

    if (!feed) {
        plan->theirs[SB_CHAN_IN] = CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                               &inherit, OPEN_EXISTING, 0, NULL);
        if (plan->theirs[SB_CHAN_IN] != INVALID_HANDLE_VALUE)
            return 0;
    }
    /* An AppContainer may not open NUL: a pipe without a writer is as empty. */
    if (plan_pipe(&plan->theirs[SB_CHAN_IN], ours, true, err) < 0)
        return -1;
    if (!feed)
        sb_guest_close(ours);
    return 0;
}

static int list_attributes(struct plan *plan, HANDLE *job, struct sb_err *err)
{
    SIZE_T size = 0;

    InitializeProcThreadAttributeList(NULL, 2, 0, &size);
    plan->attributes = sb_alloc(size);
    if (!InitializeProcThreadAttributeList(plan->attributes, 2, 0, &size)) {
        sb_free(plan->attributes);
        plan->attributes = NULL;
    }
    /* In the job from its first instruction; both values are looked at when the program is made. */
    if (!plan->attributes ||
        !UpdateProcThreadAttribute(plan->attributes, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, plan->theirs,
                                   sizeof plan->theirs, NULL, NULL) ||
        !UpdateProcThreadAttribute(plan->attributes, 0, PROC_THREAD_ATTRIBUTE_JOB_LIST, job, sizeof *job,
                                   NULL, NULL))
        return sb_guest_fail_os(err, GetLastError(), "cannot prepare a program's start");
    return 0;
}

static int create(struct plan *plan, const char *name, struct sb_guest_child *out, struct sb_err *err)
{
    /* A group of its own for CTRL_BREAK, a console of its own because those who share one may send
     * each other its events. */
    const DWORD flags = CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP | CREATE_UNICODE_ENVIRONMENT |
                        EXTENDED_STARTUPINFO_PRESENT;
    STARTUPINFOEXW info = {.StartupInfo = {.cb = sizeof info, .dwFlags = STARTF_USESTDHANDLES}};
    PROCESS_INFORMATION made;

    info.lpAttributeList = plan->attributes;
    info.StartupInfo.hStdInput = plan->theirs[SB_CHAN_IN];
    info.StartupInfo.hStdOutput = plan->theirs[SB_CHAN_OUT];
    info.StartupInfo.hStdError = plan->theirs[SB_CHAN_ERR];
    if (!CreateProcessW(plan->program, plan->line, NULL, NULL, TRUE, flags, plan->environment, plan->folder,
                        &info.StartupInfo, &made))
        return sb_guest_fail_os(err, GetLastError(), "cannot start '%s'", name);
    CloseHandle(made.hThread);
    out->process = made.hProcess;
    out->pid = made.dwProcessId;
    return 0;
}

int sb_guest_launch(struct sb_gos *gos, const struct sb_gos_start *start, HANDLE job,
                    struct sb_guest_child *out, struct sb_err *err)
{
    struct plan plan = {0};
    struct sb_guest_child child = {0};
    int rc = -1;

    if (plan_program(&plan, start, err) < 0 || plan_line(&plan, start, err) < 0 ||
        plan_folder(&plan, gos, start->cwd, err) < 0)
        goto done;
    plan.environment = sb_env_block(start->env, err);
    if (!plan.environment || plan_input(&plan, start->feed_stdin, &child.pipes[SB_CHAN_IN], err) < 0 ||
        plan_pipe(&plan.theirs[SB_CHAN_OUT], &child.pipes[SB_CHAN_OUT], false, err) < 0 ||
        plan_pipe(&plan.theirs[SB_CHAN_ERR], &child.pipes[SB_CHAN_ERR], false, err) < 0 ||
        list_attributes(&plan, &job, err) < 0)
        goto done;
    rc = create(&plan, start->argv[0], &child, err);
    if (rc == 0)
        *out = child;
done:
    if (rc < 0)
        for (size_t i = 0; i < SB_CHAN_COUNT; i++)
            sb_guest_close(&child.pipes[i]);
    plan_done(&plan);
    return rc;
}
