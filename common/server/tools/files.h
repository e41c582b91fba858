/* SPDX-License-Identifier: MIT
 * The `files` argument: what is put into the workspace before the program starts. */
#ifndef SB_SERVER_TOOLS_FILES_H
#define SB_SERVER_TOOLS_FILES_H

#include "base/fields.h"
#include "base/path.h"
#include "sandbox/run.h"

#define SB_FILES_MOST  64
#define SB_FILES_BYTES (12u * 1024 * 1024) /* of all files of one call, decoded */

struct sb_file_args {
    char *path, *text, *base64;
};
extern const struct sb_field sb_file_fields[];

/* Decodes elements of sb_file_args. `taken`: the code file, which no file may replace. The
 * error names the file. *out is the caller's, as sb_job_want wants it; NULL when there is none. */
int sb_files_decode(const struct sb_field_list *list, const char *taken, enum sb_path_rules rules,
                    struct sb_run_file **out, size_t *out_count, struct sb_err *err);

#endif
