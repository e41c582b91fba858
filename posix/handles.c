/* SPDX-License-Identifier: MIT */
#include "handles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "platform/oserr.h"

/* Linux 6.3; kernels before refuse them and need none. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

/* Boxes share the pages of this copy. */
static struct {
    char *path;
    struct stat source;
    int fd; /* read-only, since a program open for writing can't be executed */
} guest;

static int make_memfd(const char *name, unsigned exec_flag)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | exec_flag);

    return fd < 0 && errno == EINVAL ? memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING) : fd;
}

/* Another open file: its offset and its mode are its own. */
static int reopen(int fd)
{
    char path[40];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static bool is_current(const char *path, const struct stat *now)
{
    return guest.path && strcmp(guest.path, path) == 0 && guest.source.st_dev == now->st_dev &&
           guest.source.st_ino == now->st_ino && guest.source.st_size == now->st_size &&
           guest.source.st_mtim.tv_sec == now->st_mtim.tv_sec &&
           guest.source.st_mtim.tv_nsec == now->st_mtim.tv_nsec;
}

static int copy(int from, int to, off_t size)
{
    while (size > 0) {
        ssize_t sent = sendfile(to, from, NULL, (size_t)size);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent == 0)
            errno = EIO; /* the file was cut while we read it */
        if (sent <= 0)
            return -1;
        size -= sent;
    }
    return 0;
}

static int make_guest(const char *path, int source, const struct stat *status, struct sb_err *err)
{
    int writer = make_memfd("llm-sandbox-guest", MFD_EXEC), reader = -1, rc = -1;
    mode_t mode = 0555;

    if (writer < 0 && errno == EACCES) { /* vm.memfd_noexec=2: good enough to be copied into the box */
        writer = make_memfd("llm-sandbox-guest", MFD_NOEXEC_SEAL);
        mode = 0444;
    }
    if (writer < 0)
        return sb_fail_os(err, "cannot make the guest's memfd");
    if (copy(source, writer, status->st_size) < 0)
        sb_fail_os(err, "cannot copy the guest '%s'", path);
    else if (fchmod(writer, mode) < 0 ||
             fcntl(writer, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
        sb_fail_os(err, "cannot seal the guest's memfd");
    else if ((reader = reopen(writer)) < 0)
        sb_fail_os(err, "cannot open the guest's memfd in /proc/self/fd");
    else
        rc = 0;
    close(writer);
    if (rc < 0)
        return -1;
    if (guest.path)
        close(guest.fd);
    sb_free(guest.path);
    guest.path = sb_strdup(path);
    guest.source = *status;
    guest.fd = reader;
    return 0;
}

int sb_handle_guest(const char *path, int *out_fd, struct sb_err *err)
{
    int source = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), fd, rc = -1;
    struct stat status;

    if (source < 0)
        return sb_fail_os(err, "cannot open the guest '%s'", path);
    if (fstat(source, &status) < 0)
        sb_fail_os(err, "cannot look at the guest '%s'", path);
    else if (!S_ISREG(status.st_mode) || status.st_size > (off_t)SB_GUEST_BYTES)
        sb_fail(err, SB_LIMIT, "the guest '%s' is not a file of at most %u bytes", path, SB_GUEST_BYTES);
    else
        rc = is_current(path, &status) ? 0 : make_guest(path, source, &status, err);
    close(source);
    if (rc < 0)
        return -1;
    fd = reopen(guest.fd);
    if (fd < 0)
        return sb_fail_os(err, "cannot open the guest's memfd in /proc/self/fd");
    *out_fd = fd;
    return 0;
}

int sb_handle_data(const void *bytes, size_t len, int *out_fd, struct sb_err *err)
{
    int fd = make_memfd("llm-sandbox-data", MFD_NOEXEC_SEAL);
    size_t done = 0;

    if (fd < 0)
        return sb_fail_os(err, "cannot make a memfd");
    while (done < len) {
        ssize_t put = pwrite(fd, (const char *)bytes + done, len - done, (off_t)done); /* offset stays 0 */

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            sb_fail_os(err, "cannot fill a memfd with %zu bytes", len);
            close(fd);
            return -1;
        }
        done += (size_t)put;
    }
    *out_fd = fd;
    return 0;
}
