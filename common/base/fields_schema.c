/* SPDX-License-Identifier: MIT
 * What a field table says about itself: in sentences, as JSON Schema, as Markdown. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fields.h"

#define INT_LIMIT 9007199254740991.0 /* no integer passes it anyway: not worth saying */

/* In the schema's words and in ours: what stands before and behind "at most N". */
static const struct {
    const char *schema, *plain, *entries;
} types[] = {
    [SB_FIELD_STRING] = {"string", "a string", NULL},
    [SB_FIELD_INT] = {"integer", "a whole number", NULL},
    [SB_FIELD_NUMBER] = {"number", "a number", NULL},
    [SB_FIELD_BOOL] = {"boolean", "true or false", NULL},
    [SB_FIELD_STRINGS] = {"array", "an array of", "strings"},
    [SB_FIELD_MAP] = {"object", "an object of", "strings"},
    [SB_FIELD_OBJECTS] = {"array", "an array of", "objects"},
};

static bool has_range(const struct sb_field *field)
{
    return (field->type == SB_FIELD_INT || field->type == SB_FIELD_NUMBER) && field->least < field->most;
}

static bool has_least(const struct sb_field *field)
{
    return has_range(field) && field->least > -INT_LIMIT;
}

static bool has_most(const struct sb_field *field)
{
    return has_range(field) && field->most < INT_LIMIT;
}

static bool has_cap(const struct sb_field *field)
{
    return field->type != SB_FIELD_INT && field->type != SB_FIELD_NUMBER && field->most > 0;
}

static void add_words(const char *const *words, struct sb_buf *out)
{
    for (size_t i = 0; words[i]; i++)
        sb_buf_addf(out, "%s'%s'", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
}

void sb_field_allowed(const struct sb_field *field, struct sb_buf *out)
{
    if (field->words) {
        add_words(field->words, out);
        return;
    }
    sb_buf_adds(out, types[field->type].plain);
    if (has_cap(field))
        sb_buf_addf(out, field->type == SB_FIELD_STRING ? " of at most %.0f bytes" : " at most %.0f", field->most);
    if (types[field->type].entries)
        sb_buf_addf(out, " %s", types[field->type].entries);
    if (has_least(field) && has_most(field))
        sb_buf_addf(out, " from %.15g to %.15g", field->least, field->most);
    else if (has_least(field))
        sb_buf_addf(out, " of at least %.15g", field->least);
    else if (has_most(field))
        sb_buf_addf(out, " of at most %.15g", field->most);
}

/* ---- JSON Schema -------------------------------------------------------------------- */

static void put_number(struct sb_json_out *out, const char *key, double number)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%.15g", number);

    sb_json_put_raw(out, key, text, (size_t)len);
}

/* Bytes of a string are not said: maxLength counts characters, and models don't count. */
static void put_limits(const struct sb_field *field, struct sb_json_out *out)
{
    if (has_least(field))
        put_number(out, "minimum", field->least);
    if (has_most(field))
        put_number(out, "maximum", field->most);
    if (has_cap(field) && field->type == SB_FIELD_MAP)
        put_number(out, "maxProperties", field->most);
    else if (has_cap(field) && field->type != SB_FIELD_STRING)
        put_number(out, "maxItems", field->most);
}

static void put_inside(const struct sb_field *field, struct sb_json_out *out)
{
    if (field->type == SB_FIELD_OBJECTS) {
        sb_fields_schema(field->fields, "items", out);
    } else if (field->type == SB_FIELD_STRINGS || field->type == SB_FIELD_MAP) {
        sb_json_open_object(out, field->type == SB_FIELD_MAP ? "additionalProperties" : "items");
        sb_json_put_string(out, "type", "string");
        sb_json_close_object(out);
    }
}

static void put_property(const struct sb_field *field, struct sb_json_out *out)
{
    sb_json_open_object(out, field->name);
    sb_json_put_string(out, "type", types[field->type].schema);
    put_inside(field, out);
    if (field->words) {
        sb_json_open_array(out, "enum");
        for (const char *const *word = field->words; *word; word++)
            sb_json_put_string(out, NULL, *word);
        sb_json_close_array(out);
    }
    put_limits(field, out);
    if (field->fallback)
        sb_json_put_raw(out, "default", field->fallback, strlen(field->fallback));
    if (field->text)
        sb_json_put_string(out, "description", field->text);
    sb_json_close_object(out);
}

static bool is_required(const struct sb_field *field)
{
    return (field->flags & (SB_FIELD_REQUIRED | SB_FIELD_HIDDEN)) == SB_FIELD_REQUIRED;
}

static void put_required(const struct sb_field *fields, struct sb_json_out *out)
{
    bool any = false;

    for (const struct sb_field *field = fields; field->name; field++)
        any = any || is_required(field);
    if (!any)
        return;
    sb_json_open_array(out, "required");
    for (const struct sb_field *field = fields; field->name; field++)
        if (is_required(field))
            sb_json_put_string(out, NULL, field->name);
    sb_json_close_array(out);
}

void sb_fields_schema(const struct sb_field *fields, const char *key, struct sb_json_out *out)
{
    sb_json_open_object(out, key);
    sb_json_put_string(out, "type", "object");
    sb_json_open_object(out, "properties");
    for (const struct sb_field *field = fields; field->name; field++)
        if (!(field->flags & SB_FIELD_HIDDEN))
            put_property(field, out);
    sb_json_close_object(out);
    put_required(fields, out);
    sb_json_put_bool(out, "additionalProperties", false);
    sb_json_close_object(out);
}

/* ---- Markdown ----------------------------------------------------------------------- */

static void add_cell(const char *text, struct sb_buf *out)
{
    sb_buf_addc(out, ' ');
    for (; *text; text++) {
        if (*text == '|')
            sb_buf_addc(out, '\\');
        sb_buf_addc(out, *text == '\n' ? ' ' : *text);
    }
    sb_buf_adds(out, " |");
}

static void add_rows(const struct sb_field *fields, const char *prefix, struct sb_buf *out)
{
    for (; fields->name; fields++) {
        const char *fallback = fields->fallback ? fields->fallback : "";

        if (fields->flags & SB_FIELD_HIDDEN)
            continue;
        sb_buf_addf(out, "| `%s%s` | ", prefix, fields->name);
        sb_field_allowed(fields, out);
        sb_buf_adds(out, " |");
        add_cell(is_required(fields) ? "required" : fallback, out);
        add_cell(fields->text ? fields->text : "", out);
        sb_buf_addc(out, '\n');
        if (fields->type == SB_FIELD_OBJECTS) {
            char *inside = sb_asprintf("%s%s[].", prefix, fields->name);

            add_rows(fields->fields, inside, out);
            sb_free(inside);
        }
    }
}

void sb_fields_markdown(const struct sb_field *fields, struct sb_buf *out)
{
    sb_buf_adds(out, "| Name | Value | Default | Meaning |\n|---|---|---|---|\n");
    add_rows(fields, "", out);
}
