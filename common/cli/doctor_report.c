/* SPDX-License-Identifier: MIT */
#include "cli/doctor_report.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"
#include "sandbox/toolbox.h"

void sb_doctor_done(struct sb_doctor *doctor)
{
    for (size_t i = 0; i < doctor->language_count; i++) {
        sb_free(doctor->languages[i].path);
        sb_free(doctor->languages[i].passed_over);
    }
    memset(doctor, 0, sizeof *doctor);
}

void sb_doctor_backend(struct sb_doctor *doctor, const struct sb_probe_result *result)
{
    if (doctor->backend_count < SB_DOCTOR_BACKENDS)
        doctor->backends[doctor->backend_count++] = *result;
}

void sb_doctor_language(struct sb_doctor *doctor, const struct sb_language *language, const char *path,
                        const struct sb_err *why)
{
    struct sb_doctor_language *row = &doctor->languages[doctor->language_count];
    struct sb_buf passed_over;

    if (doctor->language_count == SB_DOCTOR_LANGUAGES)
        return;
    doctor->language_count++;
    sb_buf_init(&passed_over, 4096);
    sb_toolbox_passed_over(language, &passed_over);
    row->language = language;
    row->path = sb_strdup(path);
    row->passed_over = sb_buf_take(&passed_over);
    row->why = *why;
}

static void add_idle(struct sb_doctor *doctor, const char *name, const char *why)
{
    if (doctor->idle_count == SB_DOCTOR_SETTINGS)
        return;
    doctor->idle[doctor->idle_count][0] = name;
    doctor->idle[doctor->idle_count++][1] = why;
}

/* A name that outlives the configuration. */
static const char *variable_named(const char *name)
{
    const struct sb_variable *variable = sb_config_variables;

    while (strcmp(variable->name, name) != 0)
        variable++;
    return variable->name;
}

void sb_doctor_settings(struct sb_doctor *doctor, const struct sb_config *config)
{
    for (int key = 0; key < SB_KEY_COUNT; key++) {
        const char *why = sb_config_idle(config, (enum sb_config_key)key);

        if (why != NULL)
            add_idle(doctor, sb_config_origin(config, (enum sb_config_key)key), why);
    }
    for (size_t i = 0; i < config->shadowed.n; i++)
        add_idle(doctor, variable_named(config->shadowed.v[i]),
                 "no effect: a variable that wins over it is set");
}

const struct sb_probe_result *sb_doctor_choose(const struct sb_doctor *doctor, const char *name,
                                               bool allow_weak)
{
    bool automatic = name == NULL || strcmp(name, "auto") == 0;

    for (size_t i = 0; i < doctor->backend_count; i++) {
        const struct sb_probe_result *result = &doctor->backends[i];

        if (!result->usable || (result->backend->weak && (automatic || !allow_weak)))
            continue;
        if (automatic || strcmp(name, result->backend->name) == 0)
            return result;
    }
    return NULL;
}

bool sb_doctor_runs_python(const struct sb_doctor *doctor)
{
    for (size_t i = 0; i < doctor->language_count; i++)
        if (strcmp(doctor->languages[i].language->name, "python") == 0 &&
            doctor->languages[i].why.code == SB_OK)
            return true;
    return false;
}

/* ---- text --------------------------------------------------------------------------- */

static void backend_text(const struct sb_probe_result *result, struct sb_buf *out)
{
    const char *version = result->facts.version;

    if (!result->usable) {
        sb_buf_addf(out, "%-12s no: %s\n", result->backend->name, result->why.text);
        if (result->mend[0] != '\0')
            sb_buf_addf(out, "%12s   mend: %s\n", "", result->mend);
        return;
    }
    sb_buf_addf(out, "%-12s yes%s%s%s: %s\n", result->backend->name, version[0] != '\0' ? ", version " : "",
                version, result->backend->weak ? ", weak" : "", result->backend->isolation);
    for (int i = 0; i < SB_PROMISE_COUNT; i++)
        sb_buf_addf(out, "%12s   %-14s %s%s%s\n", "", sb_promise_name((enum sb_promise)i),
                    sb_strength_name(result->promises.of[i]), result->promises.why[i][0] != '\0' ? ": " : "",
                    result->promises.why[i]);
}

static void language_text(const struct sb_doctor_language *row, struct sb_buf *out)
{
    if (row->why.code == SB_OK)
        sb_buf_addf(out, "%-12s yes: %s\n", row->language->name, row->path);
    else
        sb_buf_addf(out, "%-12s no: %s\n%12s   mend: %s\n", row->language->name, row->why.text, "",
                    row->language->install);
    if (row->passed_over[0] != '\0')
        sb_buf_addf(out, "%12s   on your PATH, not used in boxes: %s\n", "", row->passed_over);
}

static void service_text(const struct sb_doctor *doctor, struct sb_buf *out)
{
    sb_buf_adds(out, doctor->service == SB_JOIN_NONE  ? "Service: none runs here; mcp works by itself\n\n"
                     : doctor->service == SB_JOIN_YES ? "Service: one runs; mcp joins it\n\n"
                                                      : "Service: one runs; mcp works without it: ");
    if (doctor->service == SB_JOIN_NOT)
        sb_buf_addf(out, "%s\n\n", doctor->service_why.text);
}

void sb_doctor_text(const struct sb_doctor *doctor, struct sb_buf *out)
{
    sb_buf_addf(out, "llm-sandbox %s\n\n", SB_VERSION);
    for (size_t i = 0; i < doctor->idle_count; i++)
        sb_buf_addf(out, "%s%-22s %s\n%s", i == 0 ? "Settings that change nothing:\n" : "",
                    doctor->idle[i][0], doctor->idle[i][1], i + 1 == doctor->idle_count ? "\n" : "");
    service_text(doctor, out);
    sb_buf_adds(out, "Backends, measured just now:\n");
    for (size_t i = 0; i < doctor->backend_count; i++)
        backend_text(&doctor->backends[i], out);
    if (doctor->chosen == NULL) {
        sb_buf_adds(out, "\nNo backend can be used: nothing runs until one is mended.\n");
        return;
    }
    sb_buf_addf(out, "\nLanguages, each proved by a program run with %s:\n", doctor->chosen->backend->name);
    for (size_t i = 0; i < doctor->language_count; i++)
        language_text(&doctor->languages[i], out);
}

/* ---- JSON --------------------------------------------------------------------------- */

static void backend_json(const struct sb_probe_result *result, struct sb_json_out *json)
{
    sb_json_open_object(json, NULL);
    sb_json_put_string(json, "name", result->backend->name);
    sb_json_put_bool(json, "usable", result->usable);
    sb_json_put_bool(json, "weak", result->backend->weak);
    sb_json_put_string(json, "isolation", result->backend->isolation);
    sb_json_put_string(json, "version", result->facts.version[0] != '\0' ? result->facts.version : NULL);
    sb_json_put_string(json, "why", result->usable ? NULL : result->why.text);
    sb_json_put_string(json, "mend", result->mend[0] != '\0' ? result->mend : NULL);
    sb_json_open_object(json, "promises");
    for (int i = 0; result->usable && i < SB_PROMISE_COUNT; i++) {
        sb_json_open_object(json, sb_promise_name((enum sb_promise)i));
        sb_json_put_string(json, "strength", sb_strength_name(result->promises.of[i]));
        sb_json_put_string(json, "why", result->promises.why[i][0] != '\0' ? result->promises.why[i] : NULL);
        sb_json_close_object(json);
    }
    sb_json_close_object(json);
    sb_json_close_object(json);
}

static void language_json(const struct sb_doctor_language *row, struct sb_json_out *json)
{
    bool usable = row->why.code == SB_OK;

    sb_json_open_object(json, NULL);
    sb_json_put_string(json, "name", row->language->name);
    sb_json_put_bool(json, "usable", usable);
    sb_json_put_string(json, "path", row->path);
    sb_json_put_string(json, "passed_over", row->passed_over[0] != '\0' ? row->passed_over : NULL);
    sb_json_put_string(json, "why", usable ? NULL : row->why.text);
    sb_json_put_string(json, "mend", usable ? NULL : row->language->install);
    sb_json_close_object(json);
}

void sb_doctor_json(const struct sb_doctor *doctor, struct sb_buf *out)
{
    struct sb_json_out json;

    sb_json_begin(&json, out);
    sb_json_open_object(&json, NULL);
    sb_json_put_string(&json, "version", SB_VERSION);
    sb_json_open_array(&json, "idle_settings");
    for (size_t i = 0; i < doctor->idle_count; i++) {
        sb_json_open_object(&json, NULL);
        sb_json_put_string(&json, "name", doctor->idle[i][0]);
        sb_json_put_string(&json, "why", doctor->idle[i][1]);
        sb_json_close_object(&json);
    }
    sb_json_close_array(&json);
    sb_json_open_object(&json, "service");
    sb_json_put_bool(&json, "running", doctor->service != SB_JOIN_NONE);
    sb_json_put_bool(&json, "joined", doctor->service == SB_JOIN_YES);
    sb_json_put_string(&json, "why", doctor->service == SB_JOIN_NOT ? doctor->service_why.text : NULL);
    sb_json_close_object(&json);
    sb_json_open_array(&json, "backends");
    for (size_t i = 0; i < doctor->backend_count; i++)
        backend_json(&doctor->backends[i], &json);
    sb_json_close_array(&json);
    sb_json_put_string(&json, "languages_on", doctor->chosen != NULL ? doctor->chosen->backend->name : NULL);
    sb_json_open_array(&json, "languages");
    for (size_t i = 0; i < doctor->language_count; i++)
        language_json(&doctor->languages[i], &json);
    sb_json_close_array(&json);
    sb_json_close_object(&json);
    sb_buf_addc(out, '\n');
}
