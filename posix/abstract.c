/* SPDX-License-Identifier: MIT */
#include "platform/abstract.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "platform/oserr.h"

int sb_abstract_bind(const char *name, int *out_fd, struct sb_err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(name);
    int fd;

    if (len == 0 || len >= sizeof address.sun_path)
        return sb_fail(err, SB_BAD_REQUEST, "an abstract name has 1 to %zu bytes",
                       sizeof address.sun_path - 1);
    memcpy(address.sun_path + 1, name, len);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return sb_fail_os(err, "cannot make a Unix socket");
    if (bind(fd, (const struct sockaddr *)&address,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)) < 0) {
        sb_fail_os(err, "cannot bind the abstract name '%s'", name);
        close(fd);
        return -1;
    }
    *out_fd = fd;
    return 0;
}
