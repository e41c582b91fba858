/* SPDX-License-Identifier: MIT
 * Options that several commands have: --config, --backend, --allow-weak of all that serve, and
 * --json too of those that only look. */
#ifndef SB_CLI_CHOICE_H
#define SB_CLI_CHOICE_H

#include <stdbool.h>

#include "cli/command.h"
#include "server/config.h"

struct sb_cli_choice {
    bool json;
    struct sb_config_want want;
};

extern const struct sb_option sb_cli_settings_options[]; /* without --json */
extern const struct sb_option sb_cli_choice_options[];

/* -1: what is wrong has been said, with how to ask for help. */
int sb_cli_choice_parse(const struct sb_command *command, int argc, char **argv, struct sb_cli_choice *out);

#endif
