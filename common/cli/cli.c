/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "cli/command.h"

const struct sb_command *const sb_commands[] = {
    &sb_command_run,     &sb_command_mcp,       &sb_command_serve,
    &sb_command_doctor,  &sb_command_languages, &sb_command_config,
    &sb_command_version, &sb_command_help,      NULL,
};

int sb_cli_fail(const struct sb_err *err, const char *mend)
{
    fprintf(stderr, "llm-sandbox: %s\n", err->text);
    if (mend[0] != '\0')
        fprintf(stderr, "  to mend it: %s\n", mend);
    return SB_EXIT_HOST;
}

int sb_cli_usage(const struct sb_command *command, const struct sb_err *err)
{
    fprintf(stderr, "llm-sandbox: %s\n  see: llm-sandbox help%s%s\n", err->text, command != NULL ? " " : "",
            command != NULL ? command->name : "");
    return SB_EXIT_HOST;
}

int sb_cli_print(const char *bytes, size_t len)
{
    while (len > 0) {
        uv_fs_t request;
        uv_buf_t piece = uv_buf_init((char *)bytes, len < 1u << 20 ? (unsigned)len : 1u << 20);
        int count = uv_fs_write(NULL, &request, 1, &piece, 1, -1, NULL);

        uv_fs_req_cleanup(&request);
        if (count == UV_EAGAIN) { /* non-blocking, and its reader is slow */
            uv_sleep(5);
            continue;
        }
        if (count == UV_EPIPE)
            return SB_EXIT_BROKEN_PIPE;
        if (count <= 0) {
            fprintf(stderr, "llm-sandbox: cannot write the output: %s\n", uv_strerror(count));
            return SB_EXIT_HOST;
        }
        bytes += count;
        len -= (size_t)count;
    }
    return 0;
}

int sb_cli_only_json(const struct sb_command *command, int argc, char **argv, int *json)
{
    struct sb_options options = {.table = command->options, .argc = argc, .at = 1, .argv = argv};
    struct sb_err err = {0};
    const char *value;
    int found;

    while ((found = sb_options_next(&options, &value, &err)) == 0)
        *json = 1;
    if (found == -2 && options.at >= argc)
        return 0;
    if (found != -3)
        sb_fail(&err, SB_BAD_REQUEST, "'%s' takes no operand ('%.80s')", command->name,
                found == -2 ? argv[options.at] : value);
    return sb_cli_usage(command, &err), -1;
}

int sb_cli_main(int argc, char **argv)
{
    /* MCP clients are configured with our path alone, and give us pipes. */
    const char *name = argc > 1 ? argv[1] : uv_guess_handle(0) == UV_TTY ? "help" : "mcp";
    struct sb_err err = {0};

    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0)
        name = "version";
    for (size_t i = 0; sb_commands[i] != NULL; i++) {
        const struct sb_command *command = sb_commands[i];

        if (strcmp(command->name, name) != 0)
            continue;
        if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
            char *help[] = {"help", (char *)command->name, NULL};

            return sb_command_help.main(2, help);
        }
        return argc > 1 ? command->main(argc - 1, argv + 1) : command->main(1, argv);
    }
    sb_fail(&err, SB_BAD_REQUEST, "unknown command '%.80s'", name);
    return sb_cli_usage(NULL, &err);
}
