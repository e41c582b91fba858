/* SPDX-License-Identifier: MIT */
#include "platform/stdio.h"

#include <windows.h>

#include <fcntl.h>
#include <io.h>
#include <stdio.h>

#include "platform/oserr.h"

int sb_stdout_take(int *out_fd, struct sb_err *err)
{
    int fd = _dup(1);

    if (fd < 0)
        return sb_fail(err, SB_HOST, "cannot duplicate stdout");
    fflush(stdout);
    /* _dup makes handles that children inherit. */
    SetHandleInformation((HANDLE)_get_osfhandle(fd), HANDLE_FLAG_INHERIT, 0);
    _setmode(fd, _O_BINARY);
    if (_dup2(2, 1) < 0) {
        _close(fd);
        return sb_fail(err, SB_HOST, "cannot lay stderr over stdout");
    }
    SetStdHandle(STD_OUTPUT_HANDLE, (HANDLE)_get_osfhandle(1)); /* _dup2 does so only in console programs */
    *out_fd = fd;
    return 0;
}
