/* SPDX-License-Identifier: MIT
 * The canary: what a hostile program would try, tried on purpose. Whatever the system answers
 * instead of doing it counts as denied, a path that is not there too: it may be hidden. */
#include <winsock2.h>

#include <windows.h>

#include <fcntl.h>
#include <io.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "guest/guest.h"
#include "utf16.h"

#define MIB        (1024u * 1024)
#define MIB_MAX    65536 /* of memory and disk */
#define PATIENCE_S 2

#define NAP    "nap"  /* what `kill` leaves behind */
#define NAP_MS 120000 /* outside a box it ends by itself */

/* Each returns 0 when the attack worked, else the Windows error that stopped it. */

static DWORD open_file(const char *path, DWORD access, DWORD how, DWORD flags, HANDLE *out)
{
    wchar_t *wide = sb_to_utf16(path, NULL);
    DWORD os = 0;

    if (!wide)
        return ERROR_INVALID_NAME;
    *out = CreateFileW(wide, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, how, flags,
                       NULL);
    if (*out == INVALID_HANDLE_VALUE)
        os = GetLastError();
    sb_free(wide);
    return os;
}

static DWORD try_open(const char *path, DWORD access, DWORD how, DWORD flags)
{
    HANDLE file;
    DWORD os = open_file(path, access, how, flags, &file);

    if (!os)
        CloseHandle(file);
    return os;
}

static DWORD read_outside(const char *path)
{
    return try_open(path, GENERIC_READ, OPEN_EXISTING, 0);
}

static DWORD write_outside(const char *path)
{
    return try_open(path, GENERIC_WRITE, OPEN_ALWAYS, 0);
}

static DWORD endpoint(const char *path)
{
    DWORD os = try_open(path, GENERIC_READ | GENERIC_WRITE, OPEN_EXISTING,
                        SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION);

    return os == ERROR_PIPE_BUSY ? 0 : os; /* busy: seen and allowed, only others were first */
}

/* The socket does not block; waits for the answer. */
static DWORD connect_to(SOCKET s, const struct sockaddr_in *address)
{
    u_long on = 1;
    int error = 0, size = sizeof error;
    fd_set done, failed;
    struct timeval patience = {PATIENCE_S, 0};

    ioctlsocket(s, (long)FIONBIO, &on);
    if (connect(s, (const struct sockaddr *)address, sizeof *address) == 0)
        return 0;
    if (WSAGetLastError() != WSAEWOULDBLOCK)
        return (DWORD)WSAGetLastError();
    done.fd_count = failed.fd_count = 1;
    done.fd_array[0] = failed.fd_array[0] = s;
    if (select(0, NULL, &done, &failed, &patience) <= 0)
        return WSAETIMEDOUT;
    getsockopt(s, SOL_SOCKET, SO_ERROR, (char *)&error, &size);
    return (DWORD)error;
}

static DWORD network(const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((u_short)strtoul(port, NULL, 10))};
    WSADATA data;
    SOCKET s;
    DWORD os;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    os = (DWORD)WSAStartup(MAKEWORD(2, 2), &data);
    if (os)
        return os;
    s = socket(AF_INET, SOCK_STREAM, 0);
    os = s == INVALID_SOCKET ? (DWORD)WSAGetLastError() : connect_to(s, &address);
    if (s != INVALID_SOCKET)
        closesocket(s);
    WSACleanup();
    return os;
}

static DWORD integrity_of(HANDLE token)
{
    union {
        TOKEN_MANDATORY_LABEL label;
        char bytes[128];
    } u;
    DWORD size;

    if (!GetTokenInformation(token, TokenIntegrityLevel, &u, sizeof u, &size))
        return SECURITY_MANDATORY_HIGH_RID; /* not known to be low */
    return *GetSidSubAuthority(u.label.Label.Sid, *GetSidSubAuthorityCount(u.label.Label.Sid) - 1u);
}

/* Do we run with all that our user may? */
static DWORD identity(const char *arg)
{
    HANDLE token;
    DWORD contained = 0, size, os = 0;

    (void)arg;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        return GetLastError();
    if (!GetTokenInformation(token, TokenIsAppContainer, &contained, sizeof contained, &size))
        contained = 0;
    if (contained || IsTokenRestricted(token) || integrity_of(token) < SECURITY_MANDATORY_MEDIUM_RID)
        os = ERROR_ACCESS_DENIED;
    CloseHandle(token);
    return os;
}

/* Ourselves once more, as `canary MODE`; nothing is inherited. */
static DWORD start_self(const wchar_t *mode, DWORD flags, PROCESS_INFORMATION *out)
{
    STARTUPINFOW info = {.cb = sizeof info};
    wchar_t line[64], *program = sb_alloc(32768 * sizeof *program);
    DWORD os = 0;

    swprintf(line, SB_COUNT(line), L"canary canary %ls", mode);
    if (GetModuleFileNameW(NULL, program, 32768) == 0 ||
        !CreateProcessW(program, line, NULL, NULL, FALSE, flags, NULL, NULL, &info, out))
        os = GetLastError();
    sb_free(program);
    return os;
}

static DWORD processes(const char *arg)
{
    PROCESS_INFORMATION made;
    DWORD code = 1, os = start_self(L"", CREATE_NO_WINDOW, &made);

    (void)arg;
    if (os)
        return os;
    if (WaitForSingleObject(made.hProcess, 5 * PATIENCE_S * 1000) == WAIT_OBJECT_0)
        GetExitCodeProcess(made.hProcess, &code);
    CloseHandle(made.hThread);
    CloseHandle(made.hProcess);
    return code; /* 0: it ran to its end */
}

static DWORD memory(const char *mib)
{
    size_t size = strtoul(mib, NULL, 10) * (size_t)MIB;
    volatile unsigned char *block = VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);

    if (!block)
        return GetLastError();
    for (size_t at = 0; at < size; at += 4096)
        block[at] = 1;
    VirtualFree((void *)block, 0, MEM_RELEASE);
    return 0;
}

static DWORD disk(const char *mib)
{
    unsigned long left = strtoul(mib, NULL, 10);
    char *block;
    HANDLE file;
    DWORD put, os = open_file("canary-disk", GENERIC_WRITE, CREATE_ALWAYS, FILE_FLAG_DELETE_ON_CLOSE, &file);

    if (os)
        return os;
    block = sb_alloc(MIB);
    memset(block, 0x5A, MIB); /* not zeros, which a file system may leave out */
    for (; left > 0 && !os; left--)
        if (!WriteFile(file, block, MIB, &put, NULL))
            os = GetLastError();
    sb_free(block);
    CloseHandle(file);
    return os;
}

/* The worst child: in a group of its own, without a console, out of our job if that is allowed. */
static DWORD leave_behind(const char *arg)
{
    const DWORD flags = CREATE_NEW_PROCESS_GROUP | DETACHED_PROCESS;
    PROCESS_INFORMATION made;
    DWORD os = start_self(L"" NAP, flags | CREATE_BREAKAWAY_FROM_JOB, &made);

    (void)arg;
    if (os == ERROR_ACCESS_DENIED)
        os = start_self(L"" NAP, flags, &made);
    if (os)
        return os;
    printf("kill pid %lu\n", made.dwProcessId);
    CloseHandle(made.hThread);
    CloseHandle(made.hProcess);
    return 0;
}

/* ---- the list --------------------------------------------------------------------------- */

enum argument { NONE, TEXT_ARGUMENT, NUMBER };

static const struct attack {
    const char *name;
    enum argument argument;
    unsigned long most; /* of a number */
    DWORD (*try)(const char *arg);
} attacks[] = {
    {"read-outside", TEXT_ARGUMENT, 0, read_outside},
    {"write-outside", TEXT_ARGUMENT, 0, write_outside},
    {"network", NUMBER, 65535, network},
    {"endpoint", TEXT_ARGUMENT, 0, endpoint},
    {"identity", NONE, 0, identity},
    {"processes", NONE, 0, processes},
    {"memory", NUMBER, MIB_MAX, memory},
    {"disk", NUMBER, MIB_MAX, disk},
    {"kill", NONE, 0, leave_behind},
};

/* The row of "NAME" or "NAME=VALUE"; NULL: no such attack. */
static const struct attack *find(const char *text)
{
    size_t len = strcspn(text, "=");

    for (size_t i = 0; i < SB_COUNT(attacks); i++)
        if (strlen(attacks[i].name) == len && strncmp(attacks[i].name, text, len) == 0 &&
            (attacks[i].argument != NONE) == (text[len] == '='))
            return &attacks[i];
    return NULL;
}

static bool is_number(const char *text, unsigned long most)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);

    return !*end && number > 0 && number <= most;
}

static void attempt(const struct attack *attack, const char *text)
{
    const char *arg = text + strcspn(text, "=") + (attack->argument != NONE);
    DWORD os;

    if (attack->argument == NUMBER && !is_number(arg, attack->most)) {
        printf("%s error not a number from 1 to %lu\n", attack->name, attack->most);
        return;
    }
    os = attack->try(arg);
    if (os)
        printf("%s denied %lu\n", attack->name, os);
    else if (attack->try != leave_behind) /* it has said what it did */
        printf("%s open\n", attack->name);
}

int sb_guest_canary(int count, char *const *names)
{
    if (count == 1 && strcmp(names[0], NAP) == 0) {
        Sleep(NAP_MS);
        return 0;
    }
    for (int i = 0; i < count; i++)
        if (!find(names[i]))
            return 2; /* before any attack is made */
    _setmode(_fileno(stdout), _O_BINARY);
    for (int i = 0; i < count; i++) {
        attempt(find(names[i]), names[i]);
        fflush(stdout); /* the next one may get us killed */
    }
    return 0;
}
