/* SPDX-License-Identifier: MIT
 * The operating system's error text, in English where it can be had. */
#ifndef SB_PLATFORM_OSERR_H
#define SB_PLATFORM_OSERR_H

#include "base/err.h"

/* "WHAT: no such file or directory", with errno / GetLastError(); returns -1. The code is
 * NOT_FOUND, DENIED or HOST by the number. */
int sb_fail_os(struct sb_err *err, const char *fmt, ...) SB_PRINTF(2, 3);
/* The same for a number from somewhere else (a negative libuv code too). */
int sb_fail_os_at(struct sb_err *err, long os, const char *fmt, ...) SB_PRINTF(3, 4);

#endif
