/* SPDX-License-Identifier: MIT */
#include "cli/choice.h"

#include <stddef.h>

enum { OPT_CONFIG, OPT_BACKEND, OPT_ALLOW_WEAK, OPT_JSON }; /* of both tables */

const struct sb_option sb_cli_settings_options[] = {
    [OPT_CONFIG] = {"config", 0, "FILE", "instead of the usual configuration"},
    [OPT_BACKEND] = {"backend", 0, "NAME", "instead of the best one here (see: llm-sandbox doctor)"},
    [OPT_ALLOW_WEAK] = {"allow-weak", 0, NULL, "accepts a backend that keeps less than the default promises"},
    {NULL, 0, NULL, NULL},
};

const struct sb_option sb_cli_choice_options[] = {
    [OPT_CONFIG] = {"config", 0, "FILE", "instead of the usual configuration"},
    [OPT_BACKEND] = {"backend", 0, "NAME", "languages of this backend, not of the best one"},
    [OPT_ALLOW_WEAK] = {"allow-weak", 0, NULL, "also of a weak one"},
    [OPT_JSON] = {"json", 0, NULL, "for programs"},
    {NULL, 0, NULL, NULL},
};

int sb_cli_choice_parse(const struct sb_command *command, int argc, char **argv, struct sb_cli_choice *out)
{
    struct sb_options parser = {.table = command->options, .argc = argc, .at = 1, .argv = argv};
    const char *value = NULL;
    struct sb_err err = {0};
    int found;

    while ((found = sb_options_next(&parser, &value, &err)) >= 0) {
        out->json = out->json || found == OPT_JSON;
        out->want.file = found == OPT_CONFIG ? value : out->want.file;
        out->want.backend = found == OPT_BACKEND ? value : out->want.backend;
        out->want.allow_weak = out->want.allow_weak || found == OPT_ALLOW_WEAK;
    }
    if (found == -1)
        sb_fail(&err, SB_BAD_REQUEST, "'%s' takes no operand ('%.80s')", command->name, value);
    return err.code == SB_OK ? 0 : (sb_cli_usage(command, &err), -1);
}
