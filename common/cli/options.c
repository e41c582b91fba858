/* SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include <string.h>

#include "base/buf.h"
#include "base/nearest.h"

/* One argument that stands where an option may. `inline_value`: what came behind = or the letter. */
static int find(const struct sb_options *options, const char *argument, const char **inline_value)
{
    const char *equals = strchr(argument, '=');
    size_t len = argument[1] != '-' ? 0 : equals != NULL ? (size_t)(equals - argument) - 2 : strlen(argument) - 2;

    for (int i = 0; options->table[i].name != NULL; i++) {
        const struct sb_option *option = &options->table[i];

        if (len > 0 && strlen(option->name) == len && strncmp(argument + 2, option->name, len) == 0) {
            *inline_value = equals != NULL ? equals + 1 : NULL;
            return i;
        }
        if (len == 0 && option->letter != 0 && argument[1] == option->letter) {
            *inline_value = argument[2] != '\0' ? argument + 2 : NULL;
            return i;
        }
    }
    return -1;
}

static int unknown(const struct sb_options *options, const char *argument, struct sb_err *err)
{
    struct sb_nearest nearest;

    if (argument[1] == '-') {
        sb_nearest_begin(&nearest, argument + 2, strcspn(argument + 2, "="));
        for (const struct sb_option *option = options->table; option->name != NULL; option++)
            sb_nearest_try(&nearest, option->name);
        if (nearest.found != NULL)
            return sb_fail(err, SB_BAD_REQUEST, "unknown option '%.80s': did you mean --%s?", argument,
                           nearest.found);
    }
    return sb_fail(err, SB_BAD_REQUEST, "unknown option '%.80s'", argument);
}

int sb_options_next(struct sb_options *options, const char **value, struct sb_err *err)
{
    const struct sb_option *option;
    const char *argument, *given = NULL;
    int found;

    if (options->at >= options->argc)
        return -2;
    argument = options->argv[options->at++];
    if (strcmp(argument, "--") == 0)
        return -2;
    if (argument[0] != '-' || argument[1] == '\0') {
        *value = argument;
        return -1;
    }
    found = find(options, argument, &given);
    if (found < 0)
        return unknown(options, argument, err), -3;
    option = &options->table[found];
    if (option->value == NULL && given != NULL) {
        sb_fail(err, SB_BAD_REQUEST, "option --%s takes no value ('%.80s')", option->name, argument);
        return -3;
    }
    if (option->value != NULL && given == NULL) {
        if (options->at >= options->argc) {
            sb_fail(err, SB_BAD_REQUEST, "option --%s needs a value: %s", option->name, option->value);
            return -3;
        }
        given = options->argv[options->at++];
    }
    *value = given != NULL ? given : "";
    return found;
}

void sb_options_help(const struct sb_option *table, struct sb_buf *out)
{
    for (; table->name != NULL; table++) {
        size_t start = out->len;

        if (table->letter != 0)
            sb_buf_addf(out, "  -%c, --%s", table->letter, table->name);
        else
            sb_buf_addf(out, "      --%s", table->name);
        if (table->value != NULL)
            sb_buf_addf(out, " %s", table->value);
        while (out->len - start < 28)
            sb_buf_addc(out, ' ');
        sb_buf_addf(out, " %s\n", table->help);
    }
}
