/* SPDX-License-Identifier: MIT
 * Where the product looks for interpreters and tools of this host. */
#ifndef SB_PLATFORM_FIND_H
#define SB_PLATFORM_FIND_H

#include "base/err.h"

struct sb_buf;

/* Looks for NAME: on POSIX in /usr/local/bin, /usr/bin and /bin, never in PATH; on Windows as
 * NAME.exe in the absolute folders of PATH, without WindowsApps, whose programs are links
 * into the store that start nothing in a box. Appends the absolute path of a regular
 * executable file; SB_NOT_FOUND when there is none. */
int sb_find_program(const char *name, struct sb_buf *out_path, struct sb_err *err);

#endif
