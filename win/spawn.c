/* SPDX-License-Identifier: MIT */
#include "spawn.h"

#include <string.h>

#include "base/alloc.h"
#include "base/argv.h"
#include "base/buf.h"
#include "base/path.h"
#include "envblock.h"
#include "platform/oserr.h"
#include "utf16.h"

#define COMMAND_LINE_MAX 32766 /* UTF-16 units without the NUL, the system's limit */

static int check(const char *program, const char *cwd, struct sb_err *err)
{
    if (!sb_path_is_absolute(program, SB_PATH_WINDOWS))
        return sb_fail(err, SB_BAD_REQUEST, "the program '%s' is not an absolute path", program);
    if (_stricmp(sb_path_ending(program, SB_PATH_WINDOWS), ".exe") != 0)
        return sb_fail(err, SB_BAD_REQUEST, "the program '%s' is not an .exe", program);
    if (!sb_path_is_absolute(cwd, SB_PATH_WINDOWS))
        return sb_fail(err, SB_BAD_REQUEST, "the folder '%s' is not an absolute path", cwd);
    return 0;
}

int sb_spawn_text(const char *program, char *const *argv, char *const *env, const char *cwd,
                  struct sb_spawn_text *out, struct sb_err *err)
{
    int rc = -1;
    struct sb_spawn_text text = {NULL, NULL, NULL, NULL};
    struct sb_buf line;

    sb_buf_init(&line, COMMAND_LINE_MAX * 3); /* a unit is at most 3 bytes of UTF-8 */
    if (check(program, cwd, err) < 0)
        goto done;
    sb_quote_windows(&line, argv);
    text.program = sb_to_utf16(program, err);
    text.command_line = text.program ? sb_to_utf16(line.data, err) : NULL;
    text.cwd = text.command_line ? sb_to_utf16(cwd, err) : NULL;
    text.env = text.cwd ? sb_env_block(env, err) : NULL;
    if (!text.env)
        goto done;
    if (line.full || wcslen(text.command_line) > COMMAND_LINE_MAX) {
        sb_fail(err, SB_LIMIT, "the command line is longer than %d characters", COMMAND_LINE_MAX);
        goto done;
    }
    *out = text;
    rc = 0;
done:
    if (rc < 0)
        sb_spawn_text_done(&text);
    sb_buf_done(&line);
    return rc;
}

void sb_spawn_text_done(struct sb_spawn_text *text)
{
    sb_free(text->program);
    sb_free(text->command_line);
    sb_free(text->env);
    sb_free(text->cwd);
    *text = (struct sb_spawn_text){NULL, NULL, NULL, NULL};
}

/* The handles and the job are borrowed until the list is freed. */
static LPPROC_THREAD_ATTRIBUTE_LIST attributes(const HANDLE *std, const HANDLE *job, struct sb_err *err)
{
    SIZE_T size = 0;

    InitializeProcThreadAttributeList(NULL, 2, 0, &size);
    LPPROC_THREAD_ATTRIBUTE_LIST list = sb_alloc(size);
    if (!InitializeProcThreadAttributeList(list, 2, 0, &size)) {
        sb_fail_os(err, "cannot make a process attribute list");
        sb_free(list);
        return NULL;
    }
    if (!UpdateProcThreadAttribute(list, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, (void *)std, 3 * sizeof *std,
                                   NULL, NULL) ||
        !UpdateProcThreadAttribute(list, 0, PROC_THREAD_ATTRIBUTE_JOB_LIST, (void *)job, sizeof *job, NULL,
                                   NULL)) {
        sb_fail_os(err, "cannot set a process attribute");
        DeleteProcThreadAttributeList(list);
        sb_free(list);
        return NULL;
    }
    return list;
}

int sb_spawn(const struct sb_spawn_text *text, HANDLE job, HANDLE token, const HANDLE std[3],
             HANDLE *out_process, DWORD *out_pid, struct sb_err *err)
{
    PROCESS_INFORMATION made;
    STARTUPINFOEXW how = {.StartupInfo = {.cb = sizeof how,
                                          .dwFlags = STARTF_USESTDHANDLES,
                                          .hStdInput = std[0],
                                          .hStdOutput = std[1],
                                          .hStdError = std[2]}};
    DWORD flags = EXTENDED_STARTUPINFO_PRESENT | CREATE_UNICODE_ENVIRONMENT | CREATE_NO_WINDOW;

    how.lpAttributeList = attributes(std, &job, err);
    if (!how.lpAttributeList)
        return -1;
    BOOL ok = token ? CreateProcessAsUserW(token, text->program, text->command_line, NULL, NULL, TRUE, flags,
                                           text->env, text->cwd, &how.StartupInfo, &made)
                    : CreateProcessW(text->program, text->command_line, NULL, NULL, TRUE, flags, text->env,
                                     text->cwd, &how.StartupInfo, &made);
    if (!ok) {
        DWORD os = GetLastError();
        char *name = sb_from_utf16(text->program);
        sb_fail_os_at(err, (long)os, "cannot start '%s'", name);
        sb_free(name);
    }
    DeleteProcThreadAttributeList(how.lpAttributeList);
    sb_free(how.lpAttributeList);
    if (!ok)
        return -1;
    CloseHandle(made.hThread);
    *out_process = made.hProcess;
    *out_pid = made.dwProcessId;
    return 0;
}
