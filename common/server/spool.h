/* SPDX-License-Identifier: MIT
 * The files behind kept.h, 0600. Paths are the host's own, never made from a guest's names. */
#ifndef SB_SERVER_SPOOL_H
#define SB_SERVER_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct sb_buf;

/* A new file, open for writing. */
int sb_spool_create(const char *path, int *out_fd, struct sb_err *err);
int sb_spool_write(int fd, const void *bytes, size_t len, struct sb_err *err);
int sb_spool_close(int fd, struct sb_err *err); /* closed also when it fails */
/* All of a new file at once; any thread. */
int sb_spool_put(const char *path, const void *bytes, size_t len, struct sb_err *err);
/* Appends `len` bytes from `offset`, fewer at the end. */
int sb_spool_read(const char *path, uint64_t offset, size_t len, struct sb_buf *out, struct sb_err *err);
void sb_spool_remove(const char *path);        /* a file; never fails */
void sb_spool_remove_folder(const char *path); /* with all files in it; what stays goes with the instance */

#endif
