/* SPDX-License-Identifier: MIT
 * Descriptors with content that a launch hands over. All are close-on-exec. */
#ifndef SB_POSIX_HANDLES_H
#define SB_POSIX_HANDLES_H

#include <stddef.h>

#include "base/err.h"

#define SB_GUEST_BYTES (64u * 1024 * 1024) /* of the guest program; ours has less than one MB */

/* A read-only descriptor of a sealed copy of the program at `path`, executable for every uid.
 * The copy is made once and anew when the file changes. Loop thread only. */
int sb_handle_guest(const char *path, int *out_fd, struct sb_err *err);

/* A descriptor from which `bytes` can be read. */
int sb_handle_data(const void *bytes, size_t len, int *out_fd, struct sb_err *err);

#endif
