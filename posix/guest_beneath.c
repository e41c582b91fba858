/* SPDX-License-Identifier: MIT
 * Opening files below the workspace and nowhere else. User code may rename folders and
 * plant links under our hands at any time, so nothing here looks first and opens later:
 * either the kernel resolves the whole path under openat2's rules, or each part is opened
 * from the descriptor of the one before it. */
#include "guest_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "guest_sys.h"

#define FOLDER (O_PATH | O_DIRECTORY | O_CLOEXEC)

static int open_by_kernel(int folder, const char *path, int flags)
{
    struct sb_open_how how = {.flags = (uint64_t)(unsigned)flags,
                              .resolve = SB_RESOLVE_BENEATH | SB_RESOLVE_NO_SYMLINKS |
                                         SB_RESOLVE_NO_MAGICLINKS | SB_RESOLVE_NO_XDEV};
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

int sb_beneath_init(struct sb_beneath *beneath, int root)
{
    struct stat st;

    if (fstat(root, &st) < 0)
        return -1;
    beneath->root = root;
    beneath->device = st.st_dev;
    /* ENOSYS from an old kernel; EPERM from a container's seccomp list that is older than the call. */
    int fd = open_by_kernel(root, ".", FOLDER);
    beneath->by_hand = fd < 0;
    if (fd >= 0)
        close(fd);
    return 0;
}

/* One part, without following it. The check of the device stands for RESOLVE_NO_XDEV: it misses
 * bind mounts of the same file system, which nobody in a box can make. */
static int open_part(const struct sb_beneath *beneath, int folder, const char *part, int flags)
{
    struct stat st;
    int fd = openat(folder, part, flags | O_NOFOLLOW);

    if (fd < 0) {
        int error = errno;
        if (error == ENOTDIR && fstatat(folder, part, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
            error = ELOOP; /* as openat2 says it */
        errno = error;
        return -1;
    }
    int error = fstat(fd, &st) < 0 ? errno : 0;
    if (error == 0 && st.st_dev != beneath->device)
        error = EXDEV;
    if (error == 0 && S_ISLNK(st.st_mode)) /* O_PATH opens the link itself */
        error = ELOOP;
    if (error == 0)
        return fd;
    close(fd);
    errno = error;
    return -1;
}

/* Copies the next part of *path and steps over it; false at the end. The caller has seen to
 * it that each part fits. */
static bool next_part(const char **path, char part[SB_PATH_MAX_PART + 1])
{
    size_t len = strcspn(*path, "/");

    if (len == 0)
        return false;
    memcpy(part, *path, len);
    part[len] = '\0';
    *path += len;
    *path += strspn(*path, "/");
    return true;
}

static int open_by_hand(const struct sb_beneath *beneath, int folder, const char *path, int flags)
{
    char part[SB_PATH_MAX_PART + 1];
    int at = -1;

    if (*path == '\0')
        return openat(folder, ".", flags);
    while (next_part(&path, part)) {
        int next = open_part(beneath, at < 0 ? folder : at, part, *path == '\0' ? flags : FOLDER);
        int error = errno;
        if (at >= 0)
            close(at);
        errno = error;
        if (next < 0)
            return -1;
        at = next;
    }
    return at;
}

/* 0, or the errno of a path that is not plain. Callers have checked already; this is the
 * last gate before the kernel. */
static int refuse(const char *path)
{
    if (*path == '/')
        return EXDEV;
    while (*path != '\0') {
        size_t len = strcspn(path, "/");
        if (len > SB_PATH_MAX_PART)
            return ENAMETOOLONG;
        if (len == 0 || (len == 1 && path[0] == '.') || (len == 2 && path[0] == '.' && path[1] == '.'))
            return EXDEV;
        path += len;
        if (*path == '/')
            path++;
    }
    return 0;
}

int sb_beneath_open(const struct sb_beneath *beneath, int folder, const char *path, int flags)
{
    int error = refuse(path);

    if (error != 0) {
        errno = error;
        return -1;
    }
    if (beneath->by_hand)
        return open_by_hand(beneath, folder, path, flags);
    return open_by_kernel(folder, *path == '\0' ? "." : path, flags);
}

/* Opens folder after folder, making those that are missing. */
static int make_folders(const struct sb_beneath *beneath, const char *path)
{
    char part[SB_PATH_MAX_PART + 1];
    int at = sb_beneath_open(beneath, beneath->root, "", FOLDER);

    while (at >= 0 && next_part(&path, part)) {
        int next = -1;
        if (mkdirat(at, part, 0755) == 0 || errno == EEXIST)
            next = sb_beneath_open(beneath, at, part, FOLDER);
        int error = errno;
        close(at);
        errno = error;
        at = next;
    }
    return at;
}

int sb_beneath_parent(const struct sb_beneath *beneath, const char *path, bool make, const char **name)
{
    const char *slash = strrchr(path, '/');
    char folder[SB_PATH_MAX_BYTES + 1] = "";
    size_t len = slash == NULL ? 0 : (size_t)(slash - path);
    int error = len > SB_PATH_MAX_BYTES ? ENAMETOOLONG : refuse(path);

    if (error == 0 && path[slash == NULL ? 0 : len + 1] == '\0')
        error = EINVAL; /* no name to work on */
    if (error != 0) {
        errno = error;
        return -1;
    }
    memcpy(folder, path, len);
    *name = slash == NULL ? path : slash + 1;
    int fd = sb_beneath_open(beneath, beneath->root, folder, FOLDER);
    if (fd < 0 && errno == ENOENT && make)
        fd = make_folders(beneath, folder);
    return fd;
}
