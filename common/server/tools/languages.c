/* SPDX-License-Identifier: MIT
 * get_supported_languages, get_language_details and the resource sandbox://languages. */
#include "server/tools/languages.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"
#include "sandbox/backend.h"
#include "sandbox/toolbox.h"
#include "server/tools/tools.h"
#include "server/tools/waiting.h"

/* ---- texts ---------------------------------------------------------------------------- */

static void new_line(struct sb_buf *out, unsigned depth)
{
    sb_buf_addc(out, '\n');
    for (unsigned i = 0; i < depth; i++)
        sb_buf_adds(out, "  ");
}

/* Lays out JSON that our own writer wrote, which has no white space outside of strings. */
static void lay_out(const char *json, struct sb_buf *out)
{
    unsigned depth = 0;

    for (const char *c = json; *c != '\0'; c++) {
        if (*c == '"') {
            const char *start = c++;

            while (*c != '"')
                c += *c == '\\' ? 2 : 1;
            sb_buf_add(out, start, (size_t)(c - start) + 1);
        } else if ((*c == '[' || *c == '{') && c[1] == *c + 2) { /* the closing ones follow theirs but one */
            sb_buf_add(out, c++, 2);
        } else if (*c == '[' || *c == '{') {
            sb_buf_addc(out, *c);
            new_line(out, ++depth);
        } else if (*c == ']' || *c == '}') {
            new_line(out, --depth);
            sb_buf_addc(out, *c);
        } else if (*c == ',') {
            sb_buf_addc(out, *c);
            new_line(out, depth);
        } else {
            sb_buf_addc(out, *c);
            if (*c == ':')
                sb_buf_addc(out, ' ');
        }
    }
}

static void put_strings(struct sb_json_out *json, const char *key, const char *const *texts)
{
    sb_json_open_array(json, key);
    for (size_t i = 0; texts != NULL && i < SB_DETAILS_MAX && texts[i] != NULL; i++)
        sb_json_put_string(json, NULL, texts[i]);
    sb_json_close_array(json);
}

static void put_details(struct sb_json_out *json, const char *key, const struct sb_language_details *details,
                        const char *version)
{
    sb_json_open_object(json, key);
    sb_json_put_string(json, "version", version);
    sb_json_put_string(json, "package_manager", details->package_manager);
    put_strings(json, "preinstalled_libraries", NULL); /* whatever the host has; nothing is promised */
    put_strings(json, "use_cases", details->use_cases);
    sb_json_put_bool(json, "visualization_support", details->visualization);
    sb_json_open_array(json, "examples");
    for (size_t i = 0; i < SB_DETAILS_MAX && details->examples[i].title != NULL; i++) {
        sb_json_open_object(json, NULL);
        sb_json_put_string(json, "title", details->examples[i].title);
        sb_json_put_string(json, "description", details->examples[i].description);
        sb_json_put_string(json, "code", details->examples[i].code);
        sb_json_close_object(json);
    }
    sb_json_close_array(json);
    sb_json_close_object(json);
}

static bool is_usable(const char *name, enum sb_wire_os os)
{
    const struct sb_language *language = sb_language_named(name, os);
    struct sb_buf path;
    bool found;

    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    found = language != NULL && sb_toolbox_find(language, &path, NULL) == 0;
    sb_buf_done(&path);
    return found;
}

void sb_languages_list(enum sb_wire_os os, struct sb_buf *out)
{
    struct sb_json_out json;
    struct sb_buf plain;

    sb_buf_init(&plain, SB_LANGUAGES_TEXT_MAX);
    sb_json_begin(&json, &plain);
    sb_json_open_array(&json, NULL);
    for (size_t i = 0; i < sb_language_details_count; i++)
        if (is_usable(sb_language_details[i].name, os))
            sb_json_put_string(&json, NULL, sb_language_details[i].name);
    sb_json_close_array(&json);
    lay_out(plain.data, out);
    sb_buf_done(&plain);
}

void sb_languages_one(const struct sb_language_details *details, const char *version, struct sb_buf *out)
{
    struct sb_json_out json;
    struct sb_buf plain;

    sb_buf_init(&plain, SB_LANGUAGES_TEXT_MAX);
    sb_json_begin(&json, &plain);
    put_details(&json, NULL, details, version);
    lay_out(plain.data, out);
    sb_buf_done(&plain);
}

void sb_languages_all(struct sb_buf *out)
{
    const struct sb_target target = sb_backends[0]->target();
    struct sb_json_out json;
    struct sb_buf plain;

    sb_buf_init(&plain, SB_LANGUAGES_TEXT_MAX);
    sb_json_begin(&json, &plain);
    sb_json_open_object(&json, NULL);
    for (size_t i = 0; i < sb_language_details_count; i++)
        if (is_usable(sb_language_details[i].name, target.os))
            put_details(&json, sb_language_details[i].name, &sb_language_details[i], "");
    sb_json_close_object(&json);
    lay_out(plain.data, out);
    sb_buf_done(&plain);
}

/* ---- the tools ------------------------------------------------------------------------ */

struct details_args {
    char *language;
};

static void cancel(struct sb_call *call)
{
    sb_waiting_stop(call);
}

static void reply(struct sb_call *call, struct sb_buf *text)
{
    sb_call_text(call, text->data, text->len);
    sb_buf_done(text);
    sb_call_reply(call, false);
}

static void on_backend_to_list(struct sb_call *call, void *args, const struct sb_probe_result *backend)
{
    struct sb_buf text;

    (void)args;
    sb_buf_init(&text, SB_LANGUAGES_TEXT_MAX);
    sb_languages_list(backend->backend->target().os, &text);
    reply(call, &text);
}

static void list_start(struct sb_call *call, void *args)
{
    sb_waiting_backend(call, args, on_backend_to_list);
}

/* {"error": "Unsupported language: X"}, in one line and no error, as the reference did. */
static void reply_unsupported(struct sb_call *call, const char *name, const char *why)
{
    char *sentence = sb_asprintf("Unsupported language: %.60s%s", name, why);
    struct sb_json_out json;
    struct sb_buf text;

    sb_buf_init(&text, 4096);
    sb_buf_adds(&text, "{\"error\": ");
    sb_json_begin(&json, &text);
    sb_json_put_string(&json, NULL, sentence);
    sb_buf_addc(&text, '}');
    sb_free(sentence);
    reply(call, &text);
}

static void on_version(struct sb_call *call, void *own, const char *line)
{
    const struct details_args *args = own;
    struct sb_buf text;

    sb_buf_init(&text, SB_LANGUAGES_TEXT_MAX);
    sb_languages_one(sb_language_details_named(args->language), line, &text);
    reply(call, &text);
}

static void on_backend_to_describe(struct sb_call *call, void *own, const struct sb_probe_result *backend)
{
    const struct details_args *args = own;
    const struct sb_language_details *details = sb_language_details_named(args->language);
    const struct sb_language *language =
        details != NULL ? sb_language_named(details->name, backend->backend->target().os) : NULL;
    struct sb_buf path;

    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    if (details == NULL)
        reply_unsupported(call, args->language, "");
    else if (language == NULL)
        reply_unsupported(call, args->language, " (not available here in this version yet)");
    else if (sb_toolbox_find(language, &path, NULL) < 0)
        reply_unsupported(call, args->language, " (its interpreter is not installed here)");
    else if (language->version_args[0] == NULL || language->version_args[1] != NULL)
        on_version(call, own, ""); /* cmd: it has no version of its own */
    else
        sb_waiting_line(call, own, path.data, language->version_args[0], on_version);
    sb_buf_done(&path);
}

static void details_start(struct sb_call *call, void *args)
{
    sb_waiting_backend(call, args, on_backend_to_describe);
}

static const struct sb_field no_fields[] = {{.name = NULL}};

static const struct sb_field details_fields[] = {
    {.name = "language",
     .type = SB_FIELD_STRING,
     .flags = SB_FIELD_REQUIRED,
     .at = offsetof(struct details_args, language),
     .most = 60,
     .text = "A language's name or alias, such as python or js."},
    {.name = NULL},
};

const struct sb_tool sb_tool_get_supported_languages = {
    .name = "get_supported_languages",
    .title = "List languages",
    .description = "Lists the languages that execute_code can run here, as a JSON array of names.",
    .read_only = true,
    .fields = no_fields,
    .args_size = 0,
    .start = list_start,
    .cancel = cancel,
};

const struct sb_tool sb_tool_get_language_details = {
    .name = "get_language_details",
    .title = "Describe a language",
    .description = "Describes a language of execute_code as a JSON object: version, package_manager, "
                   "preinstalled_libraries, use_cases, visualization_support, examples.",
    .read_only = true,
    .fields = details_fields,
    .args_size = sizeof(struct details_args),
    .start = details_start,
    .cancel = cancel,
};
