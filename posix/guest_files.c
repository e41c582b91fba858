/* SPDX-License-Identifier: MIT
 * Files of the workspace: made, read, removed.
 *
 * A new file is written under a name of its own in the same folder and renamed when it is
 * complete. So nobody sees half a file, another name (hard link) of a replaced file keeps its
 * content, and a program that is running just now can be replaced (opening it for writing says
 * ETXTBSY). Walks do not show it before. */
#include "guest_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

#define TEMP_TRIES 16

struct sb_gos_file {
    struct sb_gos *gos;
    struct sb_gos_file *next; /* in gos->puts, while it is made */
    int fd, folder;           /* folder: -1 for a file that is read */
    dev_t device;
    ino_t inode;
    char temp[32];
    char *path;
    const char *name; /* within path */
};

static const char *kind_of(mode_t mode)
{
    return S_ISREG(mode)    ? "a file"
           : S_ISDIR(mode)  ? "a folder"
           : S_ISLNK(mode)  ? "a link"
           : S_ISFIFO(mode) ? "a FIFO"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

static void file_free(struct sb_gos_file *file)
{
    for (struct sb_gos_file **link = &file->gos->puts; *link != NULL; link = &(*link)->next)
        if (*link == file) {
            *link = file->next;
            break;
        }
    sb_close(&file->fd);
    sb_close(&file->folder);
    sb_free(file->path);
    sb_free(file);
}

static struct sb_gos_file *file_new(struct sb_gos *gos, const char *path)
{
    struct sb_gos_file *file = sb_alloc(sizeof *file);

    *file = (struct sb_gos_file){.gos = gos, .fd = -1, .folder = -1, .path = sb_strdup(path)};
    return file;
}

/* Makes the file under a name that nobody has: O_EXCL follows no link, either. */
static int make_temp(struct sb_gos_file *file, mode_t mode)
{
    static unsigned serial;
    struct stat st;

    for (int i = 0; i < TEMP_TRIES && file->fd < 0; i++) {
        snprintf(file->temp, sizeof file->temp, ".llm-sandbox-%u", ++serial);
        file->fd =
            openat(file->folder, file->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (file->fd < 0 && errno != EEXIST)
            return -1;
    }
    if (file->fd < 0 || fstat(file->fd, &st) < 0)
        return -1;
    file->device = st.st_dev;
    file->inode = st.st_ino;
    return 0;
}

int sb_gos_create(struct sb_gos *gos, const char *path, bool executable, struct sb_gos_file **out,
                  struct sb_err *err)
{
    struct sb_gos_file *file = file_new(gos, path);
    const char *name = NULL;
    struct stat st;
    int rc = -1;

    file->folder = sb_beneath_parent(&gos->beneath, file->path, true, &name);
    if (file->folder < 0) {
        sb_fail_errno(err, errno, "cannot open the folder of '%s'", path);
        goto done;
    }
    file->name = name;
    if (fstatat(file->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode)) {
        sb_fail(err, SB_DENIED, "cannot write '%s': there is %s of that name", path, kind_of(st.st_mode));
        goto done;
    }
    if (make_temp(file, executable ? 0755 : 0644) < 0) {
        sb_fail_errno(err, errno, "cannot make '%s'", path);
        goto done;
    }
    file->next = gos->puts;
    gos->puts = file;
    *out = file;
    file = NULL;
    rc = 0;
done:
    if (file != NULL)
        file_free(file);
    return rc;
}

/* Looks at a path by a descriptor that opens nothing: opening a FIFO would wake its writer. */
static int look(struct sb_gos *gos, const char *path, struct stat *st)
{
    int fd = sb_beneath_open(&gos->beneath, gos->beneath.root, path, O_PATH | O_CLOEXEC);
    int rc = fd < 0 ? -1 : fstat(fd, st);
    int error = errno;

    sb_close(&fd);
    errno = error;
    return rc;
}

int sb_gos_open_file(struct sb_gos *gos, const char *path, uint64_t offset, struct sb_gos_file **out,
                     struct sb_err *err)
{
    struct sb_gos_file *file = file_new(gos, path);
    struct stat st;
    int rc = -1;

    if (look(gos, path, &st) < 0) {
        sb_fail_errno(err, errno, "cannot open '%s'", path);
        goto done;
    }
    /* Should it become a FIFO after the look, O_NONBLOCK keeps us from hanging and the second
     * look refuses it. */
    if (S_ISREG(st.st_mode)) {
        file->fd = sb_beneath_open(&gos->beneath, gos->beneath.root, path,
                                   O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (file->fd < 0 || fstat(file->fd, &st) < 0) {
            sb_fail_errno(err, errno, "cannot open '%s'", path);
            goto done;
        }
    }
    if (!S_ISREG(st.st_mode)) {
        sb_fail(err, SB_DENIED, "cannot read '%s': it is %s", path, kind_of(st.st_mode));
        goto done;
    }
    if (offset > INT64_MAX || lseek(file->fd, (off_t)offset, SEEK_SET) < 0) {
        sb_fail(err, SB_BAD_REQUEST, "cannot read '%s' from there on", path);
        goto done;
    }
    *out = file;
    file = NULL;
    rc = 0;
done:
    if (file != NULL)
        file_free(file);
    return rc;
}

long sb_gos_file_read(struct sb_gos_file *file, void *bytes, size_t cap, struct sb_err *err)
{
    ssize_t got = read(file->fd, bytes, cap);

    return got < 0 ? sb_fail_errno(err, errno, "cannot read '%s'", file->path) : (long)got;
}

int sb_gos_file_write(struct sb_gos_file *file, const void *bytes, size_t len, struct sb_err *err)
{
    for (const char *at = bytes; len > 0;) {
        ssize_t put = write(file->fd, at, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return sb_fail_errno(err, errno, "cannot write '%s'", file->path);
        at += put;
        len -= (size_t)put;
    }
    return 0;
}

int sb_gos_file_close(struct sb_gos_file *file, bool keep, struct sb_err *err)
{
    int rc = 0;

    if (file == NULL)
        return 0;
    if (file->folder >= 0 && keep && renameat(file->folder, file->temp, file->folder, file->name) < 0)
        rc = sb_fail_errno(err, errno, "cannot put '%s' in its place", file->path);
    if (file->folder >= 0 && (!keep || rc < 0))
        unlinkat(file->folder, file->temp, 0);
    file_free(file);
    return rc;
}

int sb_gos_remove(struct sb_gos *gos, const char *path, struct sb_err *err)
{
    const char *name = NULL;
    int folder = sb_beneath_parent(&gos->beneath, path, false, &name);
    int rc = folder < 0 ? -1 : unlinkat(folder, name, 0);

    if (folder >= 0 && rc < 0 && errno == EISDIR)
        rc = unlinkat(folder, name, AT_REMOVEDIR);
    if (rc < 0)
        sb_fail_errno(err, errno, "cannot remove '%s'", path);
    sb_close(&folder);
    return rc;
}

bool sb_is_put(const struct sb_gos *gos, const struct stat *st)
{
    for (const struct sb_gos_file *file = gos->puts; file != NULL; file = file->next)
        if (file->inode == st->st_ino && file->device == st->st_dev)
            return true;
    return false;
}
