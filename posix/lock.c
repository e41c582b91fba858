/* SPDX-License-Identifier: MIT
 * flock: it goes with the last descriptor, and ours are close-on-exec. */
#include "platform/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "platform/oserr.h"

/* So often may the file be removed by its last holder between our open and our flock. */
#define TRIES 100

struct sb_lock {
    int fd;
    char *path;
};

/* A holder removes the file before it lets go; then what we locked has no name any more and
 * protects nothing. */
static bool still_named(int fd, const char *path)
{
    struct stat held, named;

    return fstat(fd, &held) == 0 && lstat(path, &named) == 0 && held.st_dev == named.st_dev &&
           held.st_ino == named.st_ino;
}

int sb_lock_take(const char *path, struct sb_lock **out, struct sb_err *err)
{
    for (int i = 0; i < TRIES; i++) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);

        if (fd < 0)
            return sb_fail_os(err, "cannot open the lock file '%s'", path);
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
            int number = errno;

            close(fd);
            if (number == EWOULDBLOCK)
                return sb_fail(err, SB_BUSY, "'%s' is locked by another process", path);
            return sb_fail_os_at(err, number, "cannot lock '%s'", path);
        }
        if (still_named(fd, path)) {
            *out = sb_alloc(sizeof **out);
            (*out)->fd = fd;
            (*out)->path = sb_strdup(path);
            return 0;
        }
        close(fd);
    }
    return sb_fail(err, SB_BUSY, "'%s' is removed whenever it is locked", path);
}

void sb_lock_free(struct sb_lock *lock, int remove_file)
{
    if (!lock)
        return;
    if (remove_file)
        unlink(lock->path);
    close(lock->fd);
    sb_free(lock->path);
    sb_free(lock);
}
