/* SPDX-License-Identifier: MIT
 * A NULL-terminated list of strings that owns its strings: argv and environments. */
#ifndef SB_BASE_ARGV_H
#define SB_BASE_ARGV_H

#include <stddef.h>

#include "base/err.h"

struct sb_buf;

struct sb_argv {
    char **v; /* NULL-terminated; never NULL after the first push */
    size_t n;
};

void sb_argv_push(struct sb_argv *argv, const char *text);
void sb_argv_pushf(struct sb_argv *argv, const char *fmt, ...) SB_PRINTF(2, 3);
void sb_argv_pushv(struct sb_argv *argv, const char *const *texts); /* up to its NULL */
void sb_argv_done(struct sb_argv *argv);

/* NAME=value, replacing an earlier NAME. */
void sb_env_set(struct sb_argv *env, const char *name, const char *value);
const char *sb_env_get(const struct sb_argv *env, const char *name); /* NULL: not there */

/* One line a POSIX shell reads back as the same argv; for people and messages. */
void sb_quote_posix(struct sb_buf *out, char *const *argv);

/* One command line that CommandLineToArgvW and the C runtime split into the same argv.
 * Never for cmd.exe and batch files, whose parsing no quoting survives: see win/launch.c.
 * A `"` in argv[0] cannot be said and is left out; no Windows path has one. */
void sb_quote_windows(struct sb_buf *out, char *const *argv);

#endif
