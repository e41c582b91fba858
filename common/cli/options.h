/* SPDX-License-Identifier: MIT
 * Command-line options: one table per command parses and documents. */
#ifndef SB_CLI_OPTIONS_H
#define SB_CLI_OPTIONS_H

#include <stddef.h>

#include "base/err.h"

struct sb_buf;

struct sb_option {
    const char *name;  /* "timeout": --timeout VALUE or --timeout=VALUE */
    char letter;       /* 't': -t VALUE or -tVALUE; 0: none */
    const char *value; /* "SECONDS"; NULL: a flag */
    const char *help;
};

struct sb_options {
    const struct sb_option *table; /* ends with a row without name */
    int argc, at;
    char **argv;
};

/* The next option or operand: its row's index and its value (a flag's is ""), -1 for an
 * operand in *value, -2 at the end (argv[at] and on follow a "--"), -3 with err: which
 * argument, what is allowed, the nearest name. */
int sb_options_next(struct sb_options *options, const char **value, struct sb_err *err);

void sb_options_help(const struct sb_option *table, struct sb_buf *out);

#endif
