/* SPDX-License-Identifier: MIT */
#include "platform/stdio.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "platform/oserr.h"

int sb_stdout_take(int *out_fd, struct sb_err *err)
{
    int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

    if (fd < 0)
        return sb_fail_os(err, "cannot duplicate stdout");
    fflush(stdout);
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        sb_fail_os(err, "cannot lay stderr over stdout");
        close(fd);
        return -1;
    }
    *out_fd = fd;
    return 0;
}
