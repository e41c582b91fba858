/* SPDX-License-Identifier: MIT */
#include "server/spool.h"

#include <uv.h>

#include "base/buf.h"
#include "platform/dirs.h"
#include "platform/oserr.h"

#define WRITE_MAX (1u << 30) /* of one call: uv_buf_t counts in 32 bits on Windows */

int sb_spool_create(const char *path, int *out_fd, struct sb_err *err)
{
    uv_fs_t request;
    int fd = uv_fs_open(NULL, &request, path, UV_FS_O_WRONLY | UV_FS_O_CREAT | UV_FS_O_EXCL, 0600, NULL);

    uv_fs_req_cleanup(&request);
    if (fd < 0)
        return sb_fail_os_at(err, fd, "cannot make a file to keep it in");
    *out_fd = fd;
    return 0;
}

int sb_spool_write(int fd, const void *bytes, size_t len, struct sb_err *err)
{
    const char *at = bytes;

    while (len > 0) {
        uv_buf_t piece = uv_buf_init((char *)(uintptr_t)at, (unsigned)(len < WRITE_MAX ? len : WRITE_MAX));
        uv_fs_t request;
        int count = uv_fs_write(NULL, &request, fd, &piece, 1, -1, NULL);

        uv_fs_req_cleanup(&request);
        if (count <= 0)
            return sb_fail_os_at(err, count < 0 ? count : UV_EIO, "cannot write what is kept");
        at += count;
        len -= (size_t)count;
    }
    return 0;
}

int sb_spool_close(int fd, struct sb_err *err)
{
    uv_fs_t request;
    int rc = uv_fs_close(NULL, &request, fd, NULL);

    uv_fs_req_cleanup(&request);
    return rc < 0 ? sb_fail_os_at(err, rc, "cannot write what is kept") : 0;
}

int sb_spool_put(const char *path, const void *bytes, size_t len, struct sb_err *err)
{
    int fd;

    if (sb_spool_create(path, &fd, err) < 0)
        return -1;
    if (sb_spool_write(fd, bytes, len, err) < 0) {
        sb_spool_close(fd, NULL);
        return -1;
    }
    return sb_spool_close(fd, err);
}

int sb_spool_read(const char *path, uint64_t offset, size_t len, struct sb_buf *out, struct sb_err *err)
{
    char *space = sb_buf_reserve(out, len);
    uv_fs_t request;
    uv_buf_t piece;
    int fd, count = 0;

    if (space == NULL)
        return sb_fail(err, SB_LIMIT, "%zu bytes are too many at once", len);
    fd = uv_fs_open(NULL, &request, path, UV_FS_O_RDONLY, 0, NULL);
    uv_fs_req_cleanup(&request);
    if (fd < 0)
        return sb_fail_os_at(err, fd, "cannot read what was kept");
    while (len > 0) {
        piece = uv_buf_init(space, (unsigned)(len < WRITE_MAX ? len : WRITE_MAX));
        count = uv_fs_read(NULL, &request, fd, &piece, 1, (int64_t)offset, NULL);
        uv_fs_req_cleanup(&request);
        if (count <= 0)
            break;
        space += count;
        out->len += (size_t)count;
        offset += (uint64_t)count;
        len -= (size_t)count;
    }
    out->data[out->len] = '\0';
    sb_spool_close(fd, NULL);
    return count < 0 ? sb_fail_os_at(err, count, "cannot read what was kept") : 0;
}

void sb_spool_remove(const char *path)
{
    uv_fs_t request;

    uv_fs_unlink(NULL, &request, path, NULL);
    uv_fs_req_cleanup(&request);
}

void sb_spool_remove_folder(const char *path)
{
    sb_dir_remove_tree(path, NULL);
}
