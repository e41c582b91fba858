/* SPDX-License-Identifier: MIT
 * Kernel structs and numbers that musl does not declare and whose kernel headers
 * musl-gcc does not see. Included by posix/guest_*.c only. */
#ifndef SB_POSIX_GUEST_SYS_H
#define SB_POSIX_GUEST_SYS_H

#include <stdint.h>
#include <sys/syscall.h>

#ifndef SYS_close_range
#define SYS_close_range 436 /* the same number on every architecture since Linux 5.9 */
#endif
#ifndef SYS_openat2
#define SYS_openat2 437 /* since Linux 5.6 */
#endif

struct sb_open_how {
    uint64_t flags, mode, resolve;
};

enum {
    SB_RESOLVE_NO_XDEV = 0x01,
    SB_RESOLVE_NO_MAGICLINKS = 0x02,
    SB_RESOLVE_NO_SYMLINKS = 0x04,
    SB_RESOLVE_BENEATH = 0x08
};

#endif
