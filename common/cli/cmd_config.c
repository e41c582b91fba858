/* SPDX-License-Identifier: MIT
 * config: what is set and where, whether it is right, and what could be set. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "cli/command.h"
#include "sandbox/backend.h"
#include "server/config.h"

#define TEXT_MAX (512 * 1024)

/* ---- show --------------------------------------------------------------------------- */

static const char *source_of(const struct sb_config *config, int key)
{
    static const char *const names[] = {"default", "file", "environment", "option"};

    return names[config->source[key]];
}

static bool is_unset(const struct sb_config *config, int key)
{
    return !config->given[key] && sb_config_fields[key].fallback == NULL;
}

static void put_strings(struct sb_json_out *json, const char *name, const struct sb_argv *strings)
{
    sb_json_open_array(json, name);
    for (size_t i = 0; i < strings->n; i++)
        sb_json_put_string(json, NULL, strings->v[i]);
    sb_json_close_array(json);
}

/* The value as JSON; null: not set. */
static void put_value(struct sb_json_out *json, const char *name, const struct sb_config *config, int key)
{
    const struct sb_field *field = &sb_config_fields[key];
    const void *place = (const char *)config + field->at;
    char number[40];

    if (is_unset(config, key)) {
        sb_json_put_null(json, name);
    } else if (field->type == SB_FIELD_BOOL) {
        sb_json_put_bool(json, name, *(const bool *)place);
    } else if (field->type == SB_FIELD_STRINGS) {
        put_strings(json, name, place);
    } else if (field->type == SB_FIELD_NUMBER) {
        int len = snprintf(number, sizeof number, "%.15g", *(const double *)place);

        sb_json_put_raw(json, name, number, (size_t)len);
    } else {
        sb_json_put_string(json, name, *(char *const *)place);
    }
}

static void show_json(const struct sb_config *config, struct sb_buf *out)
{
    struct sb_json_out json;

    sb_json_begin(&json, out);
    sb_json_open_object(&json, NULL);
    sb_json_put_string(&json, "file", config->file);
    sb_json_open_array(&json, "settings");
    for (int key = 0; key < SB_KEY_COUNT; key++) {
        bool variable = config->source[key] == SB_FROM_ENVIRONMENT;

        sb_json_open_object(&json, NULL);
        sb_json_put_string(&json, "name", sb_config_fields[key].name);
        put_value(&json, "value", config, key);
        sb_json_put_string(&json, "source", source_of(config, key));
        sb_json_put_string(&json, "variable", variable ? config->variable[key] : NULL);
        sb_json_put_string(&json, "idle", sb_config_idle(config, (enum sb_config_key)key));
        sb_json_close_object(&json);
    }
    sb_json_close_array(&json);
    sb_json_close_object(&json);
    sb_buf_addc(out, '\n');
}

static void show_text(const struct sb_config *config, struct sb_buf *out)
{
    struct sb_json_out json;

    sb_buf_addf(out, "file: %s\n\n", config->file != NULL ? config->file : "none");
    for (int key = 0; key < SB_KEY_COUNT; key++) {
        const char *why = sb_config_idle(config, (enum sb_config_key)key);

        sb_buf_addf(out, "%-17s ", sb_config_fields[key].name);
        sb_json_begin(&json, out);
        if (is_unset(config, key))
            sb_buf_adds(out, "not set");
        else
            put_value(&json, NULL, config, key);
        sb_buf_addf(out, "  (%s%s%s)%s%s\n", source_of(config, key),
                    config->source[key] == SB_FROM_ENVIRONMENT ? " " : "",
                    config->source[key] == SB_FROM_ENVIRONMENT ? config->variable[key] : "",
                    why != NULL ? "  " : "", why != NULL ? why : "");
    }
}

/* ---- check and schema ---------------------------------------------------------------- */

static int check_backend(const struct sb_config *config, struct sb_err *err)
{
    if (strcmp(config->backend, "auto") == 0 || sb_backend_named(config->backend) != NULL)
        return 0;
    return sb_fail(err, SB_BAD_REQUEST, "%s is '%.60s': no such backend here (see: llm-sandbox doctor)",
                   sb_config_origin(config, SB_KEY_BACKEND), config->backend);
}

static void check_report(const struct sb_err *err, const char *file, bool as_json, struct sb_buf *out)
{
    struct sb_json_out json;

    if (!as_json) {
        if (err->code == SB_OK)
            sb_buf_addf(out, "the configuration is right (file: %s)\n", file != NULL ? file : "none");
        return;
    }
    sb_json_begin(&json, out);
    sb_json_open_object(&json, NULL);
    sb_json_put_bool(&json, "ok", err->code == SB_OK);
    sb_json_put_string(&json, "file", file);
    sb_json_put_string(&json, "why", err->code == SB_OK ? NULL : err->text);
    sb_json_close_object(&json);
    sb_buf_addc(out, '\n');
}

static void schema(struct sb_buf *out)
{
    struct sb_json_out json;

    sb_json_begin(&json, out);
    sb_fields_schema(sb_config_fields, NULL, &json);
    sb_buf_addc(out, '\n');
}

/* ---- the command -------------------------------------------------------------------- */

enum { OPT_JSON, OPT_CONFIG, OPT_BACKEND, OPT_ALLOW_WEAK };
static const struct sb_option options[] = {
    [OPT_JSON] = {"json", 0, NULL, "for programs"},
    [OPT_CONFIG] = {"config", 0, "FILE", "instead of the usual configuration"},
    [OPT_BACKEND] = {"backend", 0, "NAME", "as for run and mcp"},
    [OPT_ALLOW_WEAK] = {"allow-weak", 0, NULL, "as for run and mcp"},
    {NULL, 0, NULL, NULL},
};

struct asked {
    const char *action;
    bool json;
    struct sb_config_want want;
};

static int parse(int argc, char **argv, struct asked *out, struct sb_err *err)
{
    struct sb_options parser = {.table = options, .argc = argc, .at = 1, .argv = argv};
    const char *value = NULL;
    int found;

    while ((found = sb_options_next(&parser, &value, err)) >= -1) {
        if (found == -1 && out->action != NULL)
            return sb_fail(err, SB_BAD_REQUEST, "'config' does one thing at a time ('%.80s')", value);
        out->action = found == -1 ? value : out->action;
        out->json = out->json || found == OPT_JSON;
        out->want.file = found == OPT_CONFIG ? value : out->want.file;
        out->want.backend = found == OPT_BACKEND ? value : out->want.backend;
        out->want.allow_weak = out->want.allow_weak || found == OPT_ALLOW_WEAK;
    }
    if (found == -3)
        return -1;
    if (out->action == NULL || (strcmp(out->action, "show") != 0 && strcmp(out->action, "check") != 0 &&
                                strcmp(out->action, "schema") != 0))
        return sb_fail(err, SB_BAD_REQUEST, "'config' needs show, check or schema%s%.80s%s",
                       out->action != NULL ? ", not '" : "", out->action != NULL ? out->action : "",
                       out->action != NULL ? "'" : "");
    return 0;
}

static int look(const struct asked *asked, struct sb_buf *out)
{
    bool show = strcmp(asked->action, "show") == 0;
    struct sb_config config = {0};
    struct sb_err err = {0};

    if (sb_config_load(&asked->want, &config, &err) == 0 && !show)
        check_backend(&config, &err);
    if (!show)
        check_report(&err, config.file, asked->json, out);
    else if (err.code == SB_OK && asked->json)
        show_json(&config, out);
    else if (err.code == SB_OK)
        show_text(&config, out);
    sb_config_done(&config);
    return err.code == SB_OK ? 0 : show || !asked->json ? sb_cli_fail(&err, "") : SB_EXIT_HOST;
}

static int config_main(int argc, char **argv)
{
    struct asked asked = {0};
    struct sb_err err = {0};
    struct sb_buf out;
    int status = 0, printed;

    if (parse(argc, argv, &asked, &err) < 0)
        return sb_cli_usage(&sb_command_config, &err);
    sb_buf_init(&out, TEXT_MAX);
    if (strcmp(asked.action, "schema") == 0)
        schema(&out);
    else
        status = look(&asked, &out);
    printed = sb_cli_print(out.data, out.len);
    sb_buf_done(&out);
    return status != 0 ? status : printed;
}

const struct sb_command sb_command_config = {.name = "config",
                                             .summary =
                                                 "shows and checks the settings, and where they come from",
                                             .usage = "show|check|schema [--json] [--config FILE]",
                                             .options = options,
                                             .main = config_main};
