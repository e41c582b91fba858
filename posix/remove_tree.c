/* SPDX-License-Identifier: MIT
 * Removes a tree that its owner may have made hostile: unreadable directories, links, any
 * depth. Directories below the first level are moved up to it before they are emptied, so we
 * hold two descriptors and no long path however deep the tree is. */
#include "platform/dirs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/oserr.h"

/* A deep tree may take a pass for each level; someone who fills it while we empty it gets no
 * more than these. */
#define MOST_PASSES 100000

struct removal {
    const char *path; /* of the tree, for messages */
    int top;          /* the directory itself */
    unsigned long moved;
};

/* NULL with errno. Never follows a link, and opens what its owner closed to himself. */
static DIR *open_dir(int at, const char *name)
{
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, fd = openat(at, name, flags);
    struct stat status;
    DIR *dir;

    if (fd < 0 && errno == EACCES && fchmodat(at, name, 0700, AT_SYMLINK_NOFOLLOW) == 0)
        fd = openat(at, name, flags);
    if (fd < 0)
        return NULL;
    /* To take entries out takes w and x; a failure shows when the first entry refuses. */
    if (fstat(fd, &status) == 0 && (status.st_mode & 0700) != 0700)
        (void)!fchmod(fd, 0700);
    dir = fdopendir(fd);
    if (!dir)
        close(fd);
    return dir;
}

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Unlinks what is no directory; 1 when it is one that is not empty. */
static int remove_entry(int at, const struct dirent *entry)
{
    if (entry->d_type != DT_DIR) {
        if (unlinkat(at, entry->d_name, 0) == 0 || errno == ENOENT)
            return 0;
        if (errno != EISDIR && errno != EPERM)
            return -1;
    }
    if (unlinkat(at, entry->d_name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return 0;
    if (errno == ENOTDIR)
        errno = EPERM; /* what unlink said: an immutable file */
    return errno == ENOTEMPTY || errno == EEXIST ? 1 : -1;
}

/* Its new parent is in it as "..", so a directory is moved only with the right to write it. */
static int move_up(struct removal *removal, int at, const char *name)
{
    char unused[40];

    for (;;) {
        snprintf(unused, sizeof unused, ".removing-%lu", removal->moved++);
        if (renameat(at, name, removal->top, unused) == 0)
            return 0;
        if (errno == EACCES && fchmodat(at, name, 0700, AT_SYMLINK_NOFOLLOW) == 0 &&
            renameat(at, name, removal->top, unused) == 0)
            return 0;
        if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
            return -1;
    }
}

/* Empties and removes one directory of the first level. */
static int remove_child(struct removal *removal, const char *name, struct sb_err *err)
{
    DIR *dir = open_dir(removal->top, name);
    struct dirent *entry;
    int rc = 0;

    if (!dir)
        return sb_fail_os(err, "cannot open '%s/%s'", removal->path, name);
    while (rc == 0 && (entry = readdir(dir))) {
        if (is_dot(entry->d_name))
            continue;
        rc = remove_entry(dirfd(dir), entry);
        if (rc > 0)
            rc = move_up(removal, dirfd(dir), entry->d_name);
        if (rc < 0)
            sb_fail_os(err, "cannot remove '%s/%s/%s'", removal->path, name, entry->d_name);
    }
    closedir(dir);
    if (rc == 0 && unlinkat(removal->top, name, AT_REMOVEDIR) < 0 && errno != ENOTEMPTY && errno != ENOENT)
        rc = sb_fail_os(err, "cannot remove '%s/%s'", removal->path, name);
    return rc;
}

/* One look at the first level; *found: something was there, look again. */
static int sweep(struct removal *removal, DIR *dir, bool *found, struct sb_err *err)
{
    struct dirent *entry;
    int rc = 0;

    *found = false;
    rewinddir(dir);
    while (rc == 0 && (entry = readdir(dir))) {
        if (is_dot(entry->d_name))
            continue;
        *found = true;
        rc = remove_entry(removal->top, entry);
        if (rc < 0)
            sb_fail_os(err, "cannot remove '%s/%s'", removal->path, entry->d_name);
        else if (rc > 0)
            rc = remove_child(removal, entry->d_name, err);
    }
    return rc;
}

int sb_dir_remove_tree(const char *path, struct sb_err *err)
{
    struct removal removal = {.path = path};
    DIR *dir = open_dir(AT_FDCWD, path);
    bool found = true;
    int rc = 0;

    if (!dir && errno == ENOENT)
        return 0;
    if (!dir && (errno == ENOTDIR || errno == ELOOP)) /* a file or a link: it goes itself */
        return unlink(path) == 0 || errno == ENOENT ? 0 : sb_fail_os(err, "cannot remove '%s'", path);
    if (!dir)
        return sb_fail_os(err, "cannot open '%s'", path);
    removal.top = dirfd(dir);
    for (unsigned pass = 0; rc == 0 && found; pass++) {
        if (pass == MOST_PASSES)
            rc = sb_fail(err, SB_BUSY, "cannot remove '%s': something keeps filling it", path);
        else
            rc = sweep(&removal, dir, &found, err);
    }
    closedir(dir);
    if (rc == 0 && rmdir(path) < 0 && errno != ENOENT)
        rc = sb_fail_os(err, "cannot remove '%s'", path);
    return rc;
}
