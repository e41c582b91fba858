/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"
#include "cli/choice.h"
#include "cli/host.h"
#include "sandbox/toolbox.h"

#define TEXT_MAX (64 * 1024)

struct command {
    struct sb_cli_host host;
    bool json;
    int status;
    struct sb_buf out;
};

static void put_json(struct sb_json_out *json, const struct sb_language *language, const char *path,
                     const struct sb_err *missing)
{
    bool usable = missing->code == SB_OK;

    sb_json_open_object(json, NULL);
    sb_json_put_string(json, "name", language->name);
    sb_json_open_array(json, "aliases");
    for (size_t i = 0; i < SB_LANGUAGE_NAMES && language->aliases[i] != NULL; i++)
        sb_json_put_string(json, NULL, language->aliases[i]);
    sb_json_close_array(json);
    sb_json_put_bool(json, "usable", usable);
    sb_json_put_string(json, "path", usable ? path : NULL);
    sb_json_put_string(json, "why", usable ? NULL : missing->text);
    sb_json_put_string(json, "mend", usable ? NULL : language->install);
    sb_json_close_object(json);
}

static void list(struct command *c, const struct sb_target *target)
{
    struct sb_json_out json;
    struct sb_buf path;

    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    sb_json_begin(&json, &c->out);
    if (c->json) {
        sb_json_open_object(&json, NULL);
        sb_json_open_array(&json, "languages");
    }
    for (size_t i = 0; i < sb_language_count; i++) {
        const struct sb_language *language = &sb_languages[i];
        struct sb_err missing = {0};

        if (language->os != target->os)
            continue;
        sb_buf_clear(&path);
        sb_toolbox_find(language, &path, &missing);
        if (c->json)
            put_json(&json, language, path.data, &missing);
        else if (missing.code == SB_OK)
            sb_buf_addf(&c->out, "%-12s %s\n", language->name, path.data);
        else
            sb_buf_addf(&c->out, "%-12s missing: %s (%s)\n", language->name, missing.text, language->install);
    }
    if (c->json) {
        sb_json_close_array(&json);
        sb_json_close_object(&json);
        sb_buf_addc(&c->out, '\n');
    }
    sb_buf_done(&path);
}

static void on_chosen(void *ctx, const struct sb_probe_result *result)
{
    struct command *c = ctx;

    if (result->usable) {
        struct sb_target target = result->backend->target();

        list(c, &target);
    } else {
        c->status = sb_cli_fail(&result->why, result->mend);
    }
}

static void on_stop(void *ctx, enum sb_stop_reason reason)
{
    struct command *c = ctx;

    sb_cli_host_leave(&c->host, reason);
}

static int languages_main(int argc, char **argv)
{
    struct command *c = sb_alloc(sizeof *c);
    struct sb_cli_choice choice = {0};
    struct sb_err err = {0};
    int status = SB_EXIT_HOST;

    sb_buf_init(&c->out, TEXT_MAX);
    if (sb_cli_choice_parse(&sb_command_languages, argc, argv, &choice) < 0)
        goto done;
    c->json = choice.json;
    if (sb_cli_host_open(&c->host, &choice.want, on_stop, c, &err) < 0) {
        sb_cli_fail(&err, "");
        goto done;
    }
    sb_cli_host_choose(&c->host, on_chosen, c);
    sb_cli_host_run(&c->host);
    status = c->status != 0 ? c->status : sb_cli_print(c->out.data, c->out.len);
done:
    sb_buf_done(&c->out);
    sb_free(c);
    return status;
}

const struct sb_command sb_command_languages = {
    .name = "languages",
    .summary = "lists the languages usable here",
    .usage = "[--json] [--config FILE] [--backend NAME [--allow-weak]]",
    .options = sb_cli_choice_options,
    .main = languages_main};
