/* SPDX-License-Identifier: MIT */
#include "cli/out_dir.h"

#include <fcntl.h>
#include <string.h>
#include <uv.h>

#include "platform/hostpath.h"
#include "platform/random.h"

static int failed_at(struct sb_err *err, int code, const char *what, const char *path)
{
    return sb_fail(err, SB_HOST, "cannot %s '%.300s': %s", what, path, uv_strerror(code));
}

static int make_folder(const char *path, struct sb_err *err)
{
    uv_fs_t request;
    int rc = uv_fs_mkdir(NULL, &request, path, 0777, NULL);

    uv_fs_req_cleanup(&request);
    return rc < 0 && rc != UV_EEXIST ? failed_at(err, rc, "make folder", path) : 0;
}

/* Every folder on the way to `path`, from the user's own on. */
static int make_folders(struct sb_out_dir *out, struct sb_err *err)
{
    char *at = out->path.data + strlen(out->dir);

    if (make_folder(out->dir, err) < 0)
        return -1;
    while (*at == '/')
        at++;
    while ((at = strchr(at, '/')) != NULL) {
        int rc;

        *at = '\0';
        rc = make_folder(out->path.data, err);
        *at++ = '/';
        if (rc < 0)
            return -1;
    }
    return 0;
}

/* Beside its place, under a name that nobody else has: the user's own "x.part" stays, and "x"
 * may be as long as a name can be. */
static void name_part(struct sb_out_dir *out)
{
    const char *slash = strrchr(out->path.data, '/'); /* there is one, behind dir */
    char id[SB_ID_LEN + 1];

    sb_random_id(id);
    sb_buf_addf(&out->part, "%.*s/.llm-sandbox-%s.part", (int)(slash - out->path.data), out->path.data, id);
}

static int open_file(struct sb_out_dir *out, const char *name, struct sb_err *err)
{
    struct sb_buf plain;
    uv_fs_t request;
    int rc;

    sb_buf_init(&plain, SB_PATH_MAX_BYTES);
    rc = sb_path_plain(name, strlen(name), sb_host_rules(), &plain, err);
    if (rc == 0) {
        sb_buf_clear(&out->path);
        sb_buf_clear(&out->part);
        sb_buf_addf(&out->path, "%s/%s", out->dir, plain.data);
        name_part(out);
        if (out->part.full)
            rc = sb_fail(err, SB_LIMIT, "the path of '%.200s' is too long", name);
    }
    sb_buf_done(&plain);
    if (rc < 0 || make_folders(out, err) < 0)
        return -1;
    out->fd = uv_fs_open(NULL, &request, out->part.data, UV_FS_O_WRONLY | UV_FS_O_CREAT | UV_FS_O_EXCL, 0666, NULL);
    uv_fs_req_cleanup(&request);
    return out->fd < 0 ? failed_at(err, out->fd, "write", out->part.data) : 0;
}

void sb_out_dir_init(struct sb_out_dir *out, const char *dir)
{
    memset(out, 0, sizeof *out);
    out->dir = dir;
    out->fd = -1;
    sb_buf_init(&out->path, 2 * SB_PATH_MAX_BYTES);
    sb_buf_init(&out->part, 2 * SB_PATH_MAX_BYTES);
}

void sb_out_dir_done(struct sb_out_dir *out)
{
    struct sb_err cut = {.code = SB_CANCELLED}, ignored = {0};

    if (out->fd >= 0)
        sb_out_dir_end(out, "", &cut, &ignored);
    sb_buf_done(&out->path);
    sb_buf_done(&out->part);
}

void sb_out_dir_add(struct sb_out_dir *out, const char *name, const void *bytes, size_t len)
{
    if (out->err.code != SB_OK || (out->fd < 0 && open_file(out, name, &out->err) < 0))
        return;
    while (len > 0) {
        uv_fs_t request;
        uv_buf_t piece = uv_buf_init((char *)bytes, (unsigned)len);
        int count = uv_fs_write(NULL, &request, out->fd, &piece, 1, -1, NULL);

        uv_fs_req_cleanup(&request);
        if (count <= 0) {
            failed_at(&out->err, count, "write", out->part.data);
            return;
        }
        bytes = (const char *)bytes + count;
        len -= (size_t)count;
    }
}

int sb_out_dir_end(struct sb_out_dir *out, const char *name, const struct sb_err *failed, struct sb_err *err)
{
    uv_fs_t request;
    struct sb_err first = out->err;
    int rc;

    memset(&out->err, 0, sizeof out->err);
    if (failed != NULL)
        first = *failed;
    if (first.code == SB_OK && out->fd < 0)
        open_file(out, name, &first);
    if (out->fd >= 0) {
        uv_fs_close(NULL, &request, out->fd, NULL);
        uv_fs_req_cleanup(&request);
        out->fd = -1;
        if (first.code == SB_OK) {
            rc = uv_fs_rename(NULL, &request, out->part.data, out->path.data, NULL);
            uv_fs_req_cleanup(&request);
            if (rc < 0)
                failed_at(&first, rc, "write", out->path.data);
        }
        if (first.code != SB_OK) {
            uv_fs_unlink(NULL, &request, out->part.data, NULL);
            uv_fs_req_cleanup(&request);
        }
    }
    if (first.code == SB_OK)
        return 0;
    *err = first;
    return -1;
}
