/* SPDX-License-Identifier: MIT */
#include "guest_win.h"

#include "base/alloc.h"

struct sb_gos_file {
    HANDLE handle;
};

static int open_as(struct sb_gos *gos, const char *path, enum sb_beneath how, struct sb_gos_file **out,
                   struct sb_err *err)
{
    HANDLE handle;

    if (sb_guest_open_beneath(gos, path, how, &handle, err) < 0)
        return -1;
    *out = sb_alloc(sizeof **out);
    (*out)->handle = handle;
    return 0;
}

int sb_gos_create(struct sb_gos *gos, const char *path, bool executable, struct sb_gos_file **out,
                  struct sb_err *err)
{
    (void)executable; /* any file that the folder's list lets us read may be started */
    return open_as(gos, path, SB_BENEATH_CREATE, out, err);
}

int sb_gos_open_file(struct sb_gos *gos, const char *path, uint64_t offset, struct sb_gos_file **out,
                     struct sb_err *err)
{
    LARGE_INTEGER place = {.QuadPart = (int64_t)offset};
    struct sb_gos_file *file;

    if (offset > INT64_MAX)
        return sb_fail(err, SB_BAD_REQUEST, "offset %llu is past the end of every file",
                       (unsigned long long)offset);
    if (open_as(gos, path, SB_BENEATH_READ, &file, err) < 0)
        return -1;
    if (!SetFilePointerEx(file->handle, place, NULL, FILE_BEGIN)) {
        sb_guest_fail_os(err, GetLastError(), "cannot read '%s' from there", path);
        sb_gos_file_close(file, true, NULL);
        return -1;
    }
    *out = file;
    return 0;
}

long sb_gos_file_read(struct sb_gos_file *file, void *bytes, size_t cap, struct sb_err *err)
{
    DWORD got = 0, want = cap < SB_WIRE_DATA_MAX ? (DWORD)cap : SB_WIRE_DATA_MAX;

    if (!ReadFile(file->handle, bytes, want, &got, NULL))
        return sb_guest_fail_os(err, GetLastError(), "cannot read a file");
    return (long)got;
}

int sb_gos_file_write(struct sb_gos_file *file, const void *bytes, size_t len, struct sb_err *err)
{
    const unsigned char *from = bytes;

    while (len > 0) {
        DWORD put = 0, want = len < SB_WIRE_DATA_MAX ? (DWORD)len : SB_WIRE_DATA_MAX;

        if (!WriteFile(file->handle, from, want, &put, NULL))
            return sb_guest_fail_os(err, GetLastError(), "cannot write a file");
        from += put;
        len -= put;
    }
    return 0;
}

int sb_gos_file_close(struct sb_gos_file *file, bool keep, struct sb_err *err)
{
    DWORD os = 0;

    if (!file)
        return 0;
    if (!keep)
        os = (DWORD)sb_guest_delete(file->handle);
    sb_guest_close(&file->handle);
    sb_free(file);
    return os ? sb_guest_fail_os(err, os, "cannot remove an unfinished file") : 0;
}

int sb_gos_remove(struct sb_gos *gos, const char *path, struct sb_err *err)
{
    HANDLE handle;
    DWORD os;

    if (sb_guest_open_beneath(gos, path, SB_BENEATH_REMOVE, &handle, err) < 0)
        return -1;
    os = (DWORD)sb_guest_delete(handle);
    CloseHandle(handle);
    return os ? sb_guest_fail_os(err, os, "cannot remove '%s'", path) : 0;
}
