/* SPDX-License-Identifier: MIT */
#include "boxos.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "platform/dirs.h"
#include "platform/lock.h"
#include "platform/oserr.h"
#include "uids.h"

#define SYSTEM_FILE_BYTES (8u * 1024 * 1024) /* of /etc/passwd and its like */

static int read_file(const char *path, struct sb_buf *out, struct sb_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc = -1;
    ssize_t got;

    if (fd < 0)
        return errno == ENOENT ? 0 : sb_fail_os(err, "cannot open '%s'", path);
    for (;;) {
        char *room = sb_buf_reserve(out, 16384);

        if (!room) {
            sb_fail(err, SB_LIMIT, "'%s' is larger than %u bytes", path, SYSTEM_FILE_BYTES);
            break;
        }
        got = read(fd, room, 16384);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            rc = got < 0 ? sb_fail_os(err, "cannot read '%s'", path) : 0;
            break;
        }
        out->len += (size_t)got;
        out->data[out->len] = '\0';
    }
    close(fd);
    return rc;
}

/* Read anew for each box: a user may have been added since. */
static int read_pool(uint32_t *pool, size_t *out_n, struct sb_err *err)
{
    static const char *const paths[] = {"/etc/passwd", "/etc/group",         "/etc/subuid",
                                        "/etc/subgid", "/proc/self/uid_map", "/proc/self/gid_map"};
    struct sb_buf texts[SB_COUNT(paths)];
    struct sb_uid_files files;
    int rc = 0;

    for (size_t i = 0; i < SB_COUNT(paths); i++)
        sb_buf_init(&texts[i], SYSTEM_FILE_BYTES);
    for (size_t i = 0; i < SB_COUNT(paths) && rc == 0; i++)
        rc = read_file(paths[i], &texts[i], err);
    if (rc == 0) {
        files = (struct sb_uid_files){texts[0].data, texts[1].data, texts[2].data,
                                      texts[3].data, texts[4].data, texts[5].data};
        *out_n = sb_uid_pool(&files, pool);
    }
    for (size_t i = 0; i < SB_COUNT(paths); i++)
        sb_buf_done(&texts[i]);
    return rc;
}

/* The directory of uid locks belongs to root alone, whoever made it first. */
static int open_lock_dir(const char *runtime_dir, struct sb_buf *out, struct sb_err *err)
{
    struct sb_err made;
    struct stat status;

    sb_buf_init(out, 4096);
    sb_buf_addf(out, "%s/uids", runtime_dir);
    if (out->full)
        return sb_fail(err, SB_BAD_REQUEST, "the runtime directory's path is too long");
    if (sb_dir_make(out->data, 0, &made) < 0 && made.code != SB_BUSY) {
        if (err)
            *err = made;
        return -1;
    }
    if (lstat(out->data, &status) < 0)
        return sb_fail_os(err, "cannot look at '%s'", out->data);
    if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077))
        return sb_fail(err, SB_DENIED, "'%s' is not a directory of root's alone", out->data);
    return 0;
}

/* Starts at a random number, so that the uid of a box that just died is hardly met again, not
 * even when its host was killed and can't say whether its last process is gone. */
static int take_uid(struct sb_box_os *os, const char *runtime_dir, struct sb_err *err)
{
    uint32_t *pool = sb_alloc(SB_UIDS_COUNT * sizeof *pool);
    struct sb_buf dir;
    struct sb_err why = {0};
    size_t n = 0;
    uint32_t start = 0;
    int rc = -1;

    if (open_lock_dir(runtime_dir, &dir, err) < 0 || read_pool(pool, &n, err) < 0)
        goto done;
    if (n == 0) {
        sb_fail(err, SB_UNSUPPORTED,
                "no uid is left for a box: all that /proc/self/uid_map and gid_map map are in use by "
                "/etc/passwd, /etc/group, /etc/subuid, /etc/subgid or the system");
        goto done;
    }
    (void)!getrandom(&start, sizeof start, GRND_NONBLOCK); /* 0 is no harm: the lock decides */
    for (size_t i = 0; i < n && rc < 0; i++) {
        uint32_t uid = pool[(start + i) % n];
        char *path = sb_asprintf("%s/%u", dir.data, uid);

        rc = sb_lock_take(path, &os->lock, &why);
        sb_free(path);
        os->uid = os->gid = uid;
        if (rc < 0 && why.code != SB_BUSY)
            break;
    }
    if (rc < 0 && why.code == SB_BUSY)
        sb_fail(err, SB_LIMIT, "all %zu uids for boxes are in use", n);
    else if (rc < 0 && err)
        *err = why;
done:
    sb_buf_done(&dir);
    sb_free(pool);
    return rc;
}

bool sb_box_os_drops_uid(void)
{
    return geteuid() == 0;
}

int sb_box_os_open(const struct sb_box_os_want *want, struct sb_box_os **out, struct sb_err *err)
{
    struct sb_box_os *os = sb_alloc(sizeof *os);

    os->drop = sb_box_os_drops_uid();
    if (os->drop && take_uid(os, want->runtime_dir, err) < 0) {
        sb_free(os);
        return -1;
    }
    *out = os;
    return 0;
}

void sb_box_os_close(struct sb_box_os *os)
{
    if (!os)
        return;
    sb_lock_free(os->lock, 1);
    sb_free(os);
}
