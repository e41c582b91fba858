/* SPDX-License-Identifier: MIT
 * sb_dir_remove_tree. The one walk through what a box left behind, so it trusts no name: it
 * works from open folder to open folder, opens each entry as itself and never what it links
 * to, and goes through no reparse point of any kind. */
#include <windows.h>
#include <winternl.h>

#include <stdbool.h>
#include <stddef.h>

#include "acl.h"
#include "base/alloc.h"
#include "platform/dirs.h"
#include "platform/oserr.h"
#include "utf16.h"

/* A box may nest deeper than any path is long; each level is one handle of ours. */
#define DEPTH_MAX 100000

/* FileDispositionInfoEx, which the headers of mingw 10 hide behind a wrong version test. */
#define DISPOSITION_EX ((FILE_INFO_BY_HANDLE_CLASS)21)

#define SHARE_ALL (FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)
#define WANTED    (DELETE | FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES | SYNCHRONIZE)
#define AS_ITSELF (FILE_OPEN_REPARSE_POINT | FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_FOR_BACKUP_INTENT)

struct walk {
    HANDLE *folders; /* from the root to where we are */
    size_t depth, cap;
    size_t taken; /* entries that the last pass through this folder removed; SIZE_MAX: none was whole */
    union {
        FILE_FULL_DIR_INFO first; /* for the alignment */
        unsigned char bytes[16 * 1024];
    } page;
};

static void push(struct walk *walk, HANDLE folder)
{
    if (walk->depth == walk->cap) {
        walk->cap = walk->cap ? walk->cap * 2 : 16;
        walk->folders = sb_realloc(walk->folders, walk->cap * sizeof *walk->folders);
    }
    walk->folders[walk->depth++] = folder;
}

static DWORD open_in(HANDLE folder, UNICODE_STRING *name, ACCESS_MASK access, HANDLE *out)
{
    OBJECT_ATTRIBUTES where;
    IO_STATUS_BLOCK status;

    InitializeObjectAttributes(&where, name, 0, folder, NULL);
    return RtlNtStatusToDosError(NtOpenFile(out, access, &where, &status, SHARE_ALL, AS_ITSELF));
}

/* Code in the box may have locked us out by a DACL; its owner (our user) may always replace it. */
static DWORD open_by_force(HANDLE folder, UNICODE_STRING *name, HANDLE *out)
{
    HANDLE entry = NULL;
    PSECURITY_DESCRIPTOR ours = NULL;

    if (open_in(folder, name, WRITE_DAC | SYNCHRONIZE, &entry) != ERROR_SUCCESS)
        return ERROR_ACCESS_DENIED;
    if (sb_acl_make(SB_ACL_DIRECTORY, &ours, NULL) == 0) {
        SetKernelObjectSecurity(entry, DACL_SECURITY_INFORMATION, ours);
        LocalFree(ours);
    }
    CloseHandle(entry);
    return open_in(folder, name, WANTED, out);
}

/* Gone when the handle is closed, or at once where the file system can. */
static bool dispose(HANDLE entry)
{
    FILE_DISPOSITION_INFO_EX now = {FILE_DISPOSITION_FLAG_DELETE | FILE_DISPOSITION_FLAG_POSIX_SEMANTICS |
                                    FILE_DISPOSITION_FLAG_IGNORE_READONLY_ATTRIBUTE};
    FILE_DISPOSITION_INFO on_close = {TRUE};
    FILE_BASIC_INFO plain = {.FileAttributes = FILE_ATTRIBUTE_NORMAL};

    if (SetFileInformationByHandle(entry, DISPOSITION_EX, &now, sizeof now))
        return true;
    /* FAT, network drives, Windows before 1809, Wine 8. */
    SetFileInformationByHandle(entry, FileBasicInfo, &plain, sizeof plain);
    return SetFileInformationByHandle(entry, FileDispositionInfo, &on_close, sizeof on_close);
}

static bool is_plain_folder(DWORD attributes)
{
    return (attributes & FILE_ATTRIBUTE_DIRECTORY) && !(attributes & FILE_ATTRIBUTE_REPARSE_POINT);
}

/* "cannot remove 'FOLDER\NAME'", as far as the names can be had; `name` may be NULL. */
static int fail_at(HANDLE folder, const UNICODE_STRING *name, DWORD os, struct sb_err *err)
{
    wchar_t path[2048] = L"", last[256] = L"";

    GetFinalPathNameByHandleW(folder, path, (DWORD)SB_COUNT(path), FILE_NAME_NORMALIZED);
    if (name)
        wcsncat(last, name->Buffer, min(name->Length / sizeof(wchar_t), SB_COUNT(last) - 1));
    char *at = sb_from_utf16(wcsncmp(path, L"\\\\?\\", 4) == 0 ? path + 4 : path);
    char *entry = sb_from_utf16(last);
    sb_fail_os_at(err, (long)os, "cannot remove '%s%s%s'", at, name ? "\\" : "", entry);
    sb_free(entry);
    sb_free(at);
    return -1;
}

/* Removes one entry, or opens it as the next folder of the walk (*entered). */
static int take_entry(struct walk *walk, FILE_FULL_DIR_INFO *info, bool *entered, struct sb_err *err)
{
    HANDLE entry = NULL, folder = walk->folders[walk->depth - 1];
    FILE_ATTRIBUTE_TAG_INFO seen = {0};
    UNICODE_STRING name = {(USHORT)info->FileNameLength, (USHORT)info->FileNameLength, info->FileName};

    DWORD os = open_in(folder, &name, WANTED, &entry);
    if (os == ERROR_ACCESS_DENIED)
        os = open_by_force(folder, &name, &entry);
    if (os == ERROR_FILE_NOT_FOUND)
        return 0;
    if (os != ERROR_SUCCESS)
        return fail_at(folder, &name, os, err);
    walk->taken++;
    if (!GetFileInformationByHandleEx(entry, FileAttributeTagInfo, &seen, sizeof seen)) {
        os = GetLastError();
    } else if (is_plain_folder(seen.FileAttributes) && is_plain_folder(info->FileAttributes)) {
        if (walk->depth < DEPTH_MAX) {
            push(walk, entry);
            *entered = true;
            return 0;
        }
        os = ERROR_BUFFER_OVERFLOW;
    } else if (!dispose(entry)) {
        os = GetLastError();
    }
    CloseHandle(entry);
    return os == ERROR_SUCCESS ? 0 : fail_at(folder, &name, os, err);
}

static bool is_dots(const FILE_FULL_DIR_INFO *info)
{
    size_t units = info->FileNameLength / sizeof(wchar_t);
    return (units == 1 || units == 2) && info->FileName[0] == L'.' && info->FileName[units - 1] == L'.';
}

/* One pass through the current folder, from its start, since we change it under the reader:
 * *entered a deeper one, or it is *empty. An entry that somebody holds open may be listed and
 * opened again after it was removed (Wine 8): a whole pass that took no fewer entries than the
 * one before it makes no progress and is an error. */
static int empty_folder(struct walk *walk, bool *entered, bool *empty, struct sb_err *err)
{
    HANDLE folder = walk->folders[walk->depth - 1];
    size_t before = walk->taken;

    walk->taken = 0;
    for (FILE_INFO_BY_HANDLE_CLASS how = FileFullDirectoryRestartInfo;; how = FileFullDirectoryInfo) {
        if (!GetFileInformationByHandleEx(folder, how, &walk->page, sizeof walk->page)) {
            DWORD os = GetLastError();
            *empty = os == ERROR_NO_MORE_FILES && walk->taken == 0;
            if (os == ERROR_NO_MORE_FILES && (*empty || walk->taken < before))
                return 0;
            return fail_at(folder, NULL, os == ERROR_NO_MORE_FILES ? ERROR_SHARING_VIOLATION : os, err);
        }
        FILE_FULL_DIR_INFO *info = &walk->page.first;
        for (;;) {
            if (!is_dots(info) && take_entry(walk, info, entered, err) < 0)
                return -1;
            if (*entered) {
                walk->taken = SIZE_MAX; /* neither folder's passes are comparable now */
                return 0;
            }
            if (info->NextEntryOffset == 0)
                break;
            info = (FILE_FULL_DIR_INFO *)(void *)((unsigned char *)info + info->NextEntryOffset);
        }
    }
}

/* Depth first; the handle of a folder is kept while we are below it. */
static int empty_all(struct walk *walk, struct sb_err *err)
{
    while (walk->depth > 0) {
        bool entered = false, empty = false;
        if (empty_folder(walk, &entered, &empty, err) < 0)
            return -1;
        if (!empty)
            continue;
        HANDLE folder = walk->folders[walk->depth - 1];
        if (!dispose(folder))
            return fail_at(folder, NULL, GetLastError(), err);
        CloseHandle(folder);
        walk->depth--;
        walk->taken = SIZE_MAX;
    }
    return 0;
}

int sb_dir_remove_tree(const char *path, struct sb_err *err)
{
    int rc = -1;
    struct walk *walk = NULL;
    FILE_ATTRIBUTE_TAG_INFO seen = {0};

    wchar_t *wide = sb_to_utf16_path(path, err);
    if (!wide)
        return -1;
    HANDLE root = CreateFileW(wide, WANTED, SHARE_ALL, NULL, OPEN_EXISTING,
                              FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    if (root == INVALID_HANDLE_VALUE) {
        DWORD os = GetLastError();
        rc = os == ERROR_FILE_NOT_FOUND || os == ERROR_PATH_NOT_FOUND
                 ? 0
                 : sb_fail_os_at(err, (long)os, "cannot open '%s' to remove it", path);
        goto done;
    }
    walk = sb_alloc(sizeof *walk);
    walk->taken = SIZE_MAX;
    push(walk, root);
    if (!GetFileInformationByHandleEx(root, FileAttributeTagInfo, &seen, sizeof seen))
        rc = sb_fail_os(err, "cannot look at '%s'", path);
    else if (is_plain_folder(seen.FileAttributes))
        rc = empty_all(walk, err);
    else
        rc = dispose(root) ? 0 : sb_fail_os(err, "cannot remove '%s'", path);
done:
    while (walk && walk->depth > 0)
        CloseHandle(walk->folders[--walk->depth]);
    if (walk)
        sb_free(walk->folders);
    sb_free(walk);
    sb_free(wide);
    return rc;
}
