/* SPDX-License-Identifier: MIT
 * The product's own directories (design part 10, "Places"), made on first use. */
#ifndef SB_PLATFORM_DIRS_H
#define SB_PLATFORM_DIRS_H

#include "base/err.h"

struct sb_buf;

enum sb_dir {
    SB_DIR_STATE,
    SB_DIR_CACHE,
    SB_DIR_RUNTIME /* instances live in `instances` below it */
};

/* The path of `which`, created with its parents: 0700 for an ordinary user (0755 for
 * root's, whose boxes have uids of their own). An existing one must belong to us and be
 * writable by nobody else, else an error that says whose it is. A user without HOME or
 * runtime directory gets /tmp/llm-sandbox-UID/{state,cache,run}. */
int sb_dir(enum sb_dir which, struct sb_buf *out, struct sb_err *err);

/* Where configuration is read from, not created: PATH/config.json. */
int sb_dir_config_file(struct sb_buf *out, struct sb_err *err);

/* mkdir PATH for our eyes only (0700; a protected DACL). With `others_pass` 0711: a box
 * uid may reach a name it knows. Existing: SB_BUSY. */
int sb_dir_make(const char *path, int others_pass, struct sb_err *err);

/* Removes a tree without following a link, working down by directory handles. Missing is
 * fine. What can't be removed is an error that names the first such path. */
int sb_dir_remove_tree(const char *path, struct sb_err *err);

#endif
