/* SPDX-License-Identifier: MIT */
#include "platform/lock.h"

#include <windows.h>

#include <stdbool.h>

#include "base/alloc.h"
#include "platform/oserr.h"
#include "utf16.h"

struct sb_lock {
    HANDLE file;
};

/* A holder that removes its file leaves it pending until its handle is closed: who opened it
 * in between must not think that it holds the name. */
static bool goes_away(HANDLE file)
{
    FILE_STANDARD_INFO info;
    return !GetFileInformationByHandleEx(file, FileStandardInfo, &info, sizeof info) || info.DeletePending;
}

int sb_lock_take(const char *path, struct sb_lock **out, struct sb_err *err)
{
    int rc = -1;
    HANDLE file = INVALID_HANDLE_VALUE;
    OVERLAPPED whole = {0};

    wchar_t *wide = sb_to_utf16_path(path, err);
    if (!wide)
        return -1;
    file = CreateFileW(wide, GENERIC_READ | GENERIC_WRITE | DELETE,
                       FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_ALWAYS,
                       FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    if (file == INVALID_HANDLE_VALUE) {
        sb_fail_os(err, "cannot open the lock '%s'", path);
        goto done;
    }
    if (!LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &whole)) {
        DWORD os = GetLastError();
        if (os == ERROR_LOCK_VIOLATION || os == ERROR_IO_PENDING)
            sb_fail(err, SB_BUSY, "another process holds '%s'", path);
        else
            sb_fail_os_at(err, (long)os, "cannot lock '%s'", path);
        goto done;
    }
    if (goes_away(file)) {
        sb_fail(err, SB_BUSY, "'%s' is being removed", path);
        goto done;
    }
    *out = sb_alloc(sizeof **out);
    (*out)->file = file;
    file = INVALID_HANDLE_VALUE;
    rc = 0;
done:
    if (file != INVALID_HANDLE_VALUE)
        CloseHandle(file);
    sb_free(wide);
    return rc;
}

void sb_lock_free(struct sb_lock *lock, int remove_file)
{
    FILE_DISPOSITION_INFO gone = {TRUE};

    if (!lock)
        return;
    if (remove_file)
        SetFileInformationByHandle(lock->file, FileDispositionInfo, &gone, sizeof gone);
    CloseHandle(lock->file);
    sb_free(lock);
}
