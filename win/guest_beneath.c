/* SPDX-License-Identifier: MIT
 * Handles below the workspace. A path is opened name by name, each name relative to the handle of
 * the folder before it, as itself (FILE_OPEN_REPARSE_POINT), and looked at once it is open: what
 * turned out to be a link, junction or other reparse point is refused, and nothing that happens
 * to the names afterwards matters. OBJ_DONT_REPARSE (Windows 10 1709) makes the kernel refuse as
 * well; Wine 8 takes the flag and ignores it (measured), and has no junctions either, but lets
 * POSIX links of the host's file system through. */
#include "guest_win.h"

#include <string.h>
#include <winternl.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "utf16.h"

#define STATUS_REPARSE_MET ((NTSTATUS)0xC000050B) /* STATUS_REPARSE_POINT_ENCOUNTERED */
#define STATUS_NOT_THERE   ((NTSTATUS)0xC0000034) /* STATUS_OBJECT_NAME_NOT_FOUND */
#define STATUS_BAD_FLAG    ((NTSTATUS)0xC000000D) /* STATUS_INVALID_PARAMETER */
#define SHARE_ALL          (FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)

#ifndef OBJ_DONT_REPARSE
#define OBJ_DONT_REPARSE 0x1000
#endif

/* FileDispositionInfoEx of Windows 10 1709, which mingw's headers do not have: the name goes at
 * once even if others have the file open (POSIX semantics), read-only or not. */
#define DISPOSITION_EX  21
#define DISPOSE_AT_ONCE (0x01u | 0x02u | 0x10u)

struct way {
    ACCESS_MASK access;
    ULONG share, disposition, options;
    bool links; /* the name itself may be a link */
};

static const struct way into = {FILE_LIST_DIRECTORY | FILE_TRAVERSE, SHARE_ALL, FILE_OPEN,
                                FILE_DIRECTORY_FILE, false};
static const struct way make = {FILE_LIST_DIRECTORY | FILE_TRAVERSE, SHARE_ALL, FILE_OPEN_IF,
                                FILE_DIRECTORY_FILE, false};
static const struct way old = {DELETE, SHARE_ALL, FILE_OPEN, FILE_NON_DIRECTORY_FILE, false};
static const struct way last[] = {
    [SB_BENEATH_READ] = {FILE_READ_DATA, SHARE_ALL, FILE_OPEN, FILE_NON_DIRECTORY_FILE, false},
    [SB_BENEATH_CREATE] = {FILE_WRITE_DATA | DELETE, FILE_SHARE_READ | FILE_SHARE_DELETE, FILE_CREATE,
                           FILE_NON_DIRECTORY_FILE, false},
    [SB_BENEATH_FOLDER] = {FILE_LIST_DIRECTORY | FILE_TRAVERSE, SHARE_ALL, FILE_OPEN, FILE_DIRECTORY_FILE,
                           false},
    [SB_BENEATH_REMOVE] = {DELETE, SHARE_ALL, FILE_OPEN, 0, true},
};

static NTSTATUS open_name(HANDLE in, const wchar_t *name, size_t len, const struct way *way, ULONG flags,
                          HANDLE *out)
{
    UNICODE_STRING text = {(USHORT)(len * sizeof *name), (USHORT)(len * sizeof *name), (wchar_t *)name};
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK io;

    InitializeObjectAttributes(&object, &text, OBJ_CASE_INSENSITIVE | flags, in, NULL);
    return NtCreateFile(out, way->access | FILE_READ_ATTRIBUTES | SYNCHRONIZE, &object, &io, NULL,
                        FILE_ATTRIBUTE_NORMAL, way->share, way->disposition,
                        way->options | FILE_OPEN_REPARSE_POINT | FILE_SYNCHRONOUS_IO_NONALERT, NULL, 0);
}

/* One name, opened as itself and found to be no link. */
static NTSTATUS step(const struct sb_gos *gos, HANDLE in, const wchar_t *name, size_t len,
                     const struct way *way, HANDLE *out)
{
    HANDLE file = NULL;
    FILE_BASIC_INFO info = {0};
    NTSTATUS status = open_name(in, name, len, way, way->links ? 0 : gos->dont_reparse, &file);

    if (status < 0 || way->links) {
        if (status >= 0)
            *out = file;
        return status;
    }
    if (!GetFileInformationByHandleEx(file, FileBasicInfo, &info, sizeof info) ||
        (info.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT)) {
        CloseHandle(file);
        return STATUS_REPARSE_MET;
    }
    *out = file;
    return status;
}

static int fail(struct sb_err *err, NTSTATUS status, const char *path)
{
    if (status == STATUS_REPARSE_MET)
        return sb_fail(err, SB_DENIED, "cannot open '%s': there is a link in it", path);
    return sb_guest_fail_os(err, RtlNtStatusToDosError(status), "cannot open '%s'", path);
}

void sb_guest_beneath_probe(struct sb_gos *gos)
{
    HANDLE again = NULL;

    gos->dont_reparse = OBJ_DONT_REPARSE;
    if (open_name(gos->workspace, L"", 0, &into, gos->dont_reparse, &again) == STATUS_BAD_FLAG)
        gos->dont_reparse = 0;
    sb_guest_close(&again);
}

int sb_guest_delete(HANDLE file)
{
    ULONG at_once = DISPOSE_AT_ONCE;
    FILE_DISPOSITION_INFO at_close = {TRUE};

    if (SetFileInformationByHandle(file, (FILE_INFO_BY_HANDLE_CLASS)DISPOSITION_EX, &at_once,
                                   sizeof at_once) ||
        SetFileInformationByHandle(file, FileDispositionInfo, &at_close, sizeof at_close))
        return 0;
    return (int)GetLastError();
}

/* A new file gets a new name: an old one may be a second name of something else. */
static NTSTATUS remove_old(const struct sb_gos *gos, HANDLE in, const wchar_t *name, size_t len, DWORD *os)
{
    HANDLE file = NULL;
    NTSTATUS status = step(gos, in, name, len, &old, &file);

    if (status == STATUS_NOT_THERE)
        return 0;
    if (status < 0)
        return status;
    *os = (DWORD)sb_guest_delete(file);
    CloseHandle(file);
    return 0;
}

static int open_last(const struct sb_gos *gos, HANDLE in, const wchar_t *name, enum sb_beneath how,
                     const char *path, HANDLE *out, struct sb_err *err)
{
    DWORD os = 0;
    size_t len = wcslen(name);
    NTSTATUS status = how == SB_BENEATH_CREATE ? remove_old(gos, in, name, len, &os) : 0;

    if (os)
        return sb_guest_fail_os(err, os, "cannot replace '%s'", path);
    if (status >= 0)
        status = step(gos, in, name, len, &last[how], out);
    return status < 0 ? fail(err, status, path) : 0;
}

/* The handle of the folder that holds the last name of `wide`; *name is that name. */
static int open_parents(const struct sb_gos *gos, const wchar_t *wide, bool missing_too, const char *path,
                        HANDLE *out, const wchar_t **name, struct sb_err *err)
{
    const wchar_t *slash;
    HANDLE at = gos->workspace, next = NULL;

    for (*name = wide; (slash = wcschr(*name, '/')) != NULL; *name = slash + 1) {
        NTSTATUS status = step(gos, at, *name, (size_t)(slash - *name), missing_too ? &make : &into, &next);

        if (at != gos->workspace)
            CloseHandle(at);
        if (status < 0)
            return fail(err, status, path);
        at = next;
    }
    *out = at;
    return 0;
}

int sb_guest_open_beneath(struct sb_gos *gos, const char *path, enum sb_beneath how, HANDLE *out,
                          struct sb_err *err)
{
    struct sb_buf plain;
    wchar_t *wide = NULL;
    const wchar_t *name;
    HANDLE in = NULL;
    int rc = -1;

    sb_buf_init(&plain, SB_PATH_MAX_BYTES + 1);
    if (!*path && how == SB_BENEATH_FOLDER) {
        NTSTATUS status = open_name(gos->workspace, L"", 0, &into, 0, out);

        rc = status < 0 ? fail(err, status, ".") : 0;
        goto done;
    }
    /* By the rules of this system, whatever the caller knew of it: to the kernel `a:b` is a stream
     * and `a\..` two names. */
    if (sb_path_plain(path, strlen(path), SB_PATH_WINDOWS, &plain, err) < 0)
        goto done;
    wide = sb_to_utf16(plain.data, err);
    if (!wide || open_parents(gos, wide, how == SB_BENEATH_CREATE, plain.data, &in, &name, err) < 0)
        goto done;
    rc = open_last(gos, in, name, how, plain.data, out, err);
    if (in != gos->workspace)
        CloseHandle(in);
done:
    sb_free(wide);
    sb_buf_done(&plain);
    return rc;
}
