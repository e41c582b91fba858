/* SPDX-License-Identifier: MIT */
#include "testprog.h"

#include <windows.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static HANDLE stream_of(int stream)
{
    static const DWORD names[] = {STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};
    return GetStdHandle(names[stream]);
}

int tp_write(int stream, const void *bytes, size_t len)
{
    const char *at = bytes;

    while (len > 0) {
        DWORD n = 0;
        if (!WriteFile(stream_of(stream), at, (DWORD)len, &n, NULL))
            return -1;
        at += n;
        len -= n;
    }
    return 0;
}

long tp_read(void *bytes, size_t cap)
{
    DWORD n = 0;

    if (ReadFile(stream_of(0), bytes, (DWORD)cap, &n, NULL))
        return (long)n;
    return GetLastError() == ERROR_BROKEN_PIPE ? 0 : -1;
}

void tp_close(int stream)
{
    CloseHandle(stream_of(stream));
}

void tp_sleep_ms(unsigned ms)
{
    Sleep(ms);
}

void tp_sleep_for_ever(void)
{
    for (;;)
        Sleep(INFINITE);
}

void tp_exit(uint32_t code)
{
    ExitProcess(code);
}

void tp_crash(void)
{
    volatile int *volatile nowhere = NULL;

    SetErrorMode(SEM_NOGPFAULTERRORBOX | SEM_FAILCRITICALERRORS);
    *nowhere = 1;
    ExitProcess(99);
}

uint64_t tp_cpu_ms(void)
{
    FILETIME made, ended, kernel, user;

    GetProcessTimes(GetCurrentProcess(), &made, &ended, &kernel, &user);
    return ((uint64_t)kernel.dwHighDateTime << 32 | kernel.dwLowDateTime) / 10000 +
           ((uint64_t)user.dwHighDateTime << 32 | user.dwLowDateTime) / 10000;
}

static char *utf8_of(const wchar_t *wide)
{
    int n = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
    char *text = malloc((size_t)n);

    if (text == NULL)
        ExitProcess(98);
    WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, n, NULL, NULL);
    return text;
}

int tp_cwd(char *out, size_t cap)
{
    wchar_t wide[MAX_PATH];
    char *text;

    if (GetCurrentDirectoryW(MAX_PATH, wide) == 0)
        return -1;
    text = utf8_of(wide);
    snprintf(out, cap, "%s", text);
    free(text);
    return 0;
}

void tp_each_env(void (*each)(const char *text))
{
    wchar_t *block = GetEnvironmentStringsW();

    for (wchar_t *at = block; *at != L'\0'; at += wcslen(at) + 1) {
        char *text = utf8_of(at);
        each(text);
        free(text);
    }
    FreeEnvironmentStringsW(block);
}

void tp_ignore_signals(void)
{
    SetConsoleCtrlHandler(NULL, TRUE);
}

int tp_spawn(bool apart, char **argv)
{
    wchar_t program[MAX_PATH], line[1024];
    STARTUPINFOW start = {.cb = sizeof(start), .dwFlags = STARTF_USESTDHANDLES};
    PROCESS_INFORMATION made;
    DWORD flags = apart ? DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP : 0;
    int n;

    GetModuleFileNameW(NULL, program, MAX_PATH);
    n = swprintf(line, 1024, L"testprog");
    for (int i = 0; argv[i] != NULL; i++) /* verbs and tokens: nothing to quote */
        n += swprintf(line + n, 1024 - (size_t)n, L" %hs", argv[i]);
    for (int i = 0; i < 3; i++)
        SetHandleInformation(stream_of(i), HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    start.hStdInput = stream_of(0);
    start.hStdOutput = stream_of(1);
    start.hStdError = stream_of(2);
    if ((!apart || !CreateProcessW(program, line, NULL, NULL, TRUE, flags | CREATE_BREAKAWAY_FROM_JOB, NULL,
                                   NULL, &start, &made)) &&
        !CreateProcessW(program, line, NULL, NULL, TRUE, flags, NULL, NULL, &start, &made))
        return -1;
    CloseHandle(made.hThread);
    CloseHandle(made.hProcess);
    return 0;
}

static BOOL WINAPI on_interrupt(DWORD event)
{
    (void)event;
    tp_write(1, "interrupted", 11);
    ExitProcess(5);
}

void tp_catch_interrupt(void)
{
    SetConsoleCtrlHandler(on_interrupt, TRUE);
}

/* ---- verbs of Windows only ------------------------------------------------------------ */

/* forge RUN_ID PID...: does anyone let us have a handle of that power? */
static int run_forge(int argc, char **argv)
{
    static const struct {
        const char *name;
        DWORD access;
    } powers[] = {
        {"dup_handle", PROCESS_DUP_HANDLE}, {"vm_write", PROCESS_VM_WRITE | PROCESS_VM_OPERATION},
        {"vm_read", PROCESS_VM_READ},       {"create_thread", PROCESS_CREATE_THREAD},
        {"write_dac", WRITE_DAC},           {"terminate", PROCESS_TERMINATE},
    };

    for (int i = 2; i < argc; i++) {
        for (size_t k = 0; k < sizeof(powers) / sizeof(powers[0]); k++) {
            HANDLE got = OpenProcess(powers[k].access, FALSE, (DWORD)strtoul(argv[i], NULL, 10));
            if (got != NULL)
                tp_say("%s %s OPEN\n", powers[k].name, argv[i]);
            else
                tp_say("%s %s denied %lu\n", powers[k].name, argv[i], GetLastError());
            if (got != NULL)
                CloseHandle(got);
        }
    }
    return 7;
}

const struct tp_verb tp_os_verbs[] = {
    {"forge", run_forge},
    {NULL, NULL},
};

int wmain(int argc, wchar_t **wide); /* the C runtime declares no prototype */
int wmain(int argc, wchar_t **wide)
{
    char **argv = calloc((size_t)argc + 1, sizeof(*argv));

    if (argv == NULL)
        return 98;
    for (int i = 0; i < argc; i++)
        argv[i] = utf8_of(wide[i]);
    return tp_main(argc, argv);
}
