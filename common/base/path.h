/* SPDX-License-Identifier: MIT
 * Lexical path rules: text in, text out, no file system.
 *
 * A workspace path is what tools, the wire and artifacts use: relative to the
 * workspace, `/`-separated, UTF-8. `x`, `./x` and `/sandbox/x` mean the same on
 * every system, and both systems' rules can be asked for on either. */
#ifndef SB_BASE_PATH_H
#define SB_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct sb_buf;

#define SB_PATH_MAX_BYTES 4095 /* Linux PATH_MAX less the NUL */
#define SB_PATH_MAX_PART  255  /* NAME_MAX of every file system we meet */
#define SB_PATH_MAX_DEPTH 64

enum sb_path_rules { SB_PATH_POSIX, SB_PATH_WINDOWS };

/* Replaces *out by the plain form of `path` (`a/b`, no `.` parts, no doubled slashes).
 * Refused with a sentence that quotes the path: empty, the workspace itself (`.`), `..`
 * parts, absolute (except below /sandbox/), NUL (len counts), not UTF-8, too long, too
 * deep, a trailing slash; with Windows rules also backslash, colon and streams, reserved
 * names (CON, com1.txt, LPT¹), short names (PROGRA~1), trailing dot or blank, control
 * characters, <>"|?*. `~` and `%2e` mean nothing: programs do make files of such names.
 * Backslash is an ordinary character under POSIX rules, but `..\x`, `C:\x` and `\\srv\s`
 * are refused there too: no client means a file of that name. */
int sb_path_plain(const char *path, size_t len, enum sb_path_rules rules, struct sb_buf *out,
                  struct sb_err *err);

/* The same for a folder: a trailing slash is allowed; `.`, an empty path and /sandbox give "". */
int sb_path_plain_folder(const char *path, size_t len, enum sb_path_rules rules, struct sb_buf *out,
                         struct sb_err *err);

bool sb_path_is_absolute(const char *path, enum sb_path_rules rules);
const char *sb_path_base(const char *path, enum sb_path_rules rules);   /* after the last separator */
const char *sb_path_ending(const char *path, enum sb_path_rules rules); /* ".py", or "" */

/* Joins two host paths with the separator of `rules`, unless `dir` ends in one. */
void sb_path_join(struct sb_buf *out, const char *dir, const char *name, enum sb_path_rules rules);

#endif
