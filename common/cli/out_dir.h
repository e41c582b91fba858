/* SPDX-License-Identifier: MIT
 * --out DIR: artifacts as files below a folder of the user's. One file at a time; each is
 * written beside its place and renamed, so a link that lies there is replaced, not followed. */
#ifndef SB_CLI_OUT_DIR_H
#define SB_CLI_OUT_DIR_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct sb_out_dir {
    const char *dir;
    int fd; /* -1: no file is open */
    struct sb_buf path, part; /* of the file being written */
    struct sb_err err;        /* the first thing that went wrong with it */
};

void sb_out_dir_init(struct sb_out_dir *out, const char *dir);
void sb_out_dir_done(struct sb_out_dir *out);
/* Bytes of `name`, a workspace path; the first ones open it. */
void sb_out_dir_add(struct sb_out_dir *out, const char *name, const void *bytes, size_t len);
/* All bytes of `name` were added (an empty file: none), or `failed` says why not. */
int sb_out_dir_end(struct sb_out_dir *out, const char *name, const struct sb_err *failed, struct sb_err *err);

#endif
