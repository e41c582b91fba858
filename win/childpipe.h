/* SPDX-License-Identifier: MIT
 * A pipe between us and a program we start. Anonymous pipes can't be overlapped, which
 * libuv needs at our end, so it is a named pipe that only we could have opened. */
#ifndef SB_WIN_CHILDPIPE_H
#define SB_WIN_CHILDPIPE_H

#include <stdbool.h>
#include <windows.h>

#include "base/err.h"

struct sb_childpipe {
    HANDLE ours;   /* overlapped, not inheritable */
    HANDLE theirs; /* synchronous (plain ReadFile and WriteFile), inheritable */
};

/* `we_write`: the program's stdin; else one of its outputs. */
int sb_childpipe_open(bool we_write, struct sb_childpipe *out, struct sb_err *err);
void sb_childpipe_done(struct sb_childpipe *pipe); /* closes what is not NULL */

#endif
