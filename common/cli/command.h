/* SPDX-License-Identifier: MIT
 * What the commands share: their table, their errors, their exit statuses. */
#ifndef SB_CLI_COMMAND_H
#define SB_CLI_COMMAND_H

#include "base/err.h"
#include "cli/options.h"

struct sb_buf;

/* Exit statuses of our own (design part 11); a program's own status is passed on. */
enum {
    SB_EXIT_UNUSABLE = 3, /* doctor: no backend runs Python */
    SB_EXIT_TIMEOUT = 124,
    SB_EXIT_HOST = 125, /* host_error and usage */
    SB_EXIT_CANCELLED = 130,
    SB_EXIT_MEMORY = 137,
    SB_EXIT_BROKEN_PIPE = 141, /* what a shell shows for SIGPIPE */
    SB_EXIT_TOO_MUCH = 153     /* disk_limit, output_limit, process_limit */
};

struct sb_command {
    const char *name;
    const char *summary; /* one line */
    const char *usage;   /* after "llm-sandbox NAME " */
    const struct sb_option *options;
    int (*main)(int argc, char **argv); /* argv[0] is the command; returns the exit status */
};
extern const struct sb_command *const sb_commands[]; /* NULL-terminated */

extern const struct sb_command sb_command_run, sb_command_mcp, sb_command_doctor, sb_command_languages,
    sb_command_config, sb_command_serve, sb_command_version, sb_command_help;

/* "llm-sandbox: TEXT" and, when not empty, the mend on a second line, to stderr; returns SB_EXIT_HOST. */
int sb_cli_fail(const struct sb_err *err, const char *mend);
/* The same with how to ask for help: about `command`, or in general (NULL). */
int sb_cli_usage(const struct sb_command *command, const struct sb_err *err);

/* Writes all of it to our stdout at once; 0, or an exit status after saying why not. */
int sb_cli_print(const char *bytes, size_t len);

/* Only flags allowed (`--json`): sets *json, or prints what is wrong and returns -1. */
int sb_cli_only_json(const struct sb_command *command, int argc, char **argv, int *json);

#endif
