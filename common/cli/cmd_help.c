/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/buf.h"
#include "cli/command.h"

#define HELP_MAX 16384

static int print(struct sb_buf *out)
{
    int rc = sb_cli_print(out->data, out->len);

    sb_buf_done(out);
    return rc;
}

static int help_main(int argc, char **argv)
{
    struct sb_buf out;
    struct sb_err err = {0};

    sb_buf_init(&out, HELP_MAX);
    if (argc < 2) {
        sb_buf_adds(&out, "llm-sandbox runs code in a sandbox and passes on its output.\n\n");
        for (size_t i = 0; sb_commands[i] != NULL; i++)
            sb_buf_addf(&out, "  llm-sandbox %-10s %s\n", sb_commands[i]->name, sb_commands[i]->summary);
        sb_buf_adds(&out, "\nMore about one of them: llm-sandbox help COMMAND\n");
        return print(&out);
    }
    for (size_t i = 0; argc == 2 && sb_commands[i] != NULL; i++) {
        if (strcmp(sb_commands[i]->name, argv[1]) != 0)
            continue;
        sb_buf_addf(&out, "llm-sandbox %s %s\n%s\n\n", argv[1], sb_commands[i]->usage, sb_commands[i]->summary);
        sb_options_help(sb_commands[i]->options, &out);
        return print(&out);
    }
    sb_buf_done(&out);
    sb_fail(&err, SB_BAD_REQUEST, argc > 2 ? "'help' takes one command" : "unknown command '%.80s'", argv[1]);
    return sb_cli_usage(NULL, &err);
}

static const struct sb_option options[] = {{NULL, 0, NULL, NULL}};

const struct sb_command sb_command_help = {
    .name = "help", .summary = "shows this, or one command", .usage = "[COMMAND]", .options = options, .main = help_main};
