/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "cli/command.h"

#define HELP_MAX 32768

static int print(struct sb_buf *out)
{
    int rc = sb_cli_print(out->data, out->len);

    sb_buf_done(out);
    return rc;
}

static void put_options(struct sb_json_out *json, const struct sb_option *option)
{
    sb_json_open_array(json, "options");
    for (; option->name != NULL; option++) {
        const char letter[] = {option->letter, '\0'};

        sb_json_open_object(json, NULL);
        sb_json_put_string(json, "name", option->name);
        sb_json_put_string(json, "letter", option->letter != 0 ? letter : NULL);
        sb_json_put_string(json, "value", option->value);
        sb_json_put_string(json, "help", option->help);
        sb_json_close_object(json);
    }
    sb_json_close_array(json);
}

/* All commands, or the one of that name. */
static void put_json(struct sb_buf *out, const char *name)
{
    struct sb_json_out json;

    sb_json_begin(&json, out);
    sb_json_open_object(&json, NULL);
    sb_json_open_array(&json, "commands");
    for (size_t i = 0; sb_commands[i] != NULL; i++) {
        if (name != NULL && strcmp(sb_commands[i]->name, name) != 0)
            continue;
        sb_json_open_object(&json, NULL);
        sb_json_put_string(&json, "name", sb_commands[i]->name);
        sb_json_put_string(&json, "summary", sb_commands[i]->summary);
        sb_json_put_string(&json, "usage", sb_commands[i]->usage);
        put_options(&json, sb_commands[i]->options);
        sb_json_close_object(&json);
    }
    sb_json_close_array(&json);
    sb_json_close_object(&json);
    sb_buf_addc(out, '\n');
}

static void put_list(struct sb_buf *out)
{
    sb_buf_adds(out, "llm-sandbox runs code in a sandbox and passes on its output.\n\n");
    for (size_t i = 0; sb_commands[i] != NULL; i++)
        sb_buf_addf(out, "  llm-sandbox %-10s %s\n", sb_commands[i]->name, sb_commands[i]->summary);
    sb_buf_adds(out, "\nMore about one of them: llm-sandbox help COMMAND\n");
}

static void put_command(struct sb_buf *out, const struct sb_command *command)
{
    sb_buf_addf(out, "llm-sandbox %s %s\n%s\n\n", command->name, command->usage, command->summary);
    sb_options_help(command->options, out);
}

static const struct sb_command *find(const char *name)
{
    for (size_t i = 0; sb_commands[i] != NULL; i++)
        if (strcmp(sb_commands[i]->name, name) == 0)
            return sb_commands[i];
    return NULL;
}

static int help_main(int argc, char **argv)
{
    struct sb_options parser = {.table = sb_command_help.options, .argc = argc, .at = 1, .argv = argv};
    const char *value, *name = NULL;
    struct sb_err err = {0};
    struct sb_buf out;
    bool json = false;
    int found;

    while (err.code == SB_OK && (found = sb_options_next(&parser, &value, &err)) >= -1) {
        json = json || found == 0;
        if (found == -1 && name != NULL)
            sb_fail(&err, SB_BAD_REQUEST, "'help' takes one command");
        else if (found == -1 && find(value) == NULL)
            sb_fail(&err, SB_BAD_REQUEST, "unknown command '%.80s'", value);
        else if (found == -1)
            name = value;
    }
    if (err.code != SB_OK)
        return sb_cli_usage(NULL, &err);
    sb_buf_init(&out, HELP_MAX);
    if (json)
        put_json(&out, name);
    else if (name != NULL)
        put_command(&out, find(name));
    else
        put_list(&out);
    return print(&out);
}

static const struct sb_option options[] = {{"json", 0, NULL, "for programs"}, {NULL, 0, NULL, NULL}};

const struct sb_command sb_command_help = {.name = "help",
                                           .summary = "shows this, or one command",
                                           .usage = "[COMMAND] [--json]",
                                           .options = options,
                                           .main = help_main};
