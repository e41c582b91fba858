/* SPDX-License-Identifier: MIT */
#include "base/fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/argv.h"
#include "base/buf.h"
#include "base/nearest.h"
#include "base/utf8.h"

#define ALLOWED_BYTES 320 /* of the sentence about what is allowed */
#define SHOWN_BYTES   60  /* of a client's name or word in an error */

static int decode_value(const struct sb_field *field, const struct sb_json *value, bool lenient, void *place,
                        struct sb_err *err);

static size_t size_of(enum sb_field_type type)
{
    static const size_t sizes[] = {
        [SB_FIELD_STRING] = sizeof(char *),          [SB_FIELD_INT] = sizeof(int64_t),
        [SB_FIELD_NUMBER] = sizeof(double),          [SB_FIELD_BOOL] = sizeof(bool),
        [SB_FIELD_STRINGS] = sizeof(struct sb_argv), [SB_FIELD_MAP] = sizeof(struct sb_argv),
        [SB_FIELD_OBJECTS] = sizeof(struct sb_field_list),
    };

    return sizes[type];
}

/* ---- freeing ------------------------------------------------------------------------ */

static void done_objects(const struct sb_field *field, struct sb_field_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        sb_fields_done(field->fields, (char *)list->items + i * field->size);
    sb_free(list->items);
}

static void done_value(const struct sb_field *field, void *place)
{
    switch (field->type) {
    case SB_FIELD_STRING:
        sb_free(*(char **)place);
        break;
    case SB_FIELD_STRINGS:
    case SB_FIELD_MAP:
        sb_argv_done(place);
        break;
    case SB_FIELD_OBJECTS:
        done_objects(field, place);
        break;
    case SB_FIELD_INT:
    case SB_FIELD_NUMBER:
    case SB_FIELD_BOOL:
        break;
    }
    memset(place, 0, size_of(field->type));
}

void sb_fields_done(const struct sb_field *fields, void *out)
{
    for (; fields->name; fields++) {
        done_value(fields, (char *)out + fields->at);
        if (fields->given_at)
            *(bool *)((char *)out + fields->given_at) = false;
    }
}

/* ---- sentences ---------------------------------------------------------------------- */

/* "timeout must be a number from 0.1 to 3600, not NOT". */
static int refuse(const struct sb_field *field, const char *not, struct sb_err *err)
{
    struct sb_buf allowed;

    sb_buf_init(&allowed, ALLOWED_BYTES);
    sb_field_allowed(field, &allowed);
    sb_fail(err, SB_BAD_REQUEST, "%s must be %s, not %s", field->name, allowed.data, not);
    sb_buf_done(&allowed);
    return -1;
}

static int refuse_type(const struct sb_field *field, const struct sb_json *value, struct sb_err *err)
{
    return refuse(field, sb_json_type_name(sb_json_type(value)), err);
}

static int missing(const struct sb_field *field, struct sb_err *err)
{
    struct sb_buf allowed;

    sb_buf_init(&allowed, ALLOWED_BYTES);
    sb_field_allowed(field, &allowed);
    sb_fail(err, SB_BAD_REQUEST, "%s is missing; it must be %s", field->name, allowed.data);
    sb_buf_done(&allowed);
    return -1;
}

static int unknown(const struct sb_field *fields, const char *name, struct sb_err *err)
{
    size_t len = strlen(name);
    int shown = (int)sb_utf8_cut(name, len, SHOWN_BYTES);
    struct sb_nearest nearest;
    struct sb_buf known;

    sb_nearest_begin(&nearest, name, len);
    sb_buf_init(&known, ALLOWED_BYTES);
    for (; fields->name; fields++) {
        if (fields->flags & SB_FIELD_HIDDEN)
            continue;
        sb_nearest_try(&nearest, fields->name);
        sb_buf_addf(&known, "%s%s", known.len > 0 ? ", " : "", fields->name);
    }
    if (nearest.found)
        sb_fail(err, SB_BAD_REQUEST, "unknown name '%.*s': did you mean '%s'?", shown, name, nearest.found);
    else
        sb_fail(err, SB_BAD_REQUEST, "unknown name '%.*s'; the known ones are: %s", shown, name,
                known.len > 0 ? known.data : "none");
    sb_buf_done(&known);
    return -1;
}

/* ---- values ------------------------------------------------------------------------- */

static int check_count(const struct sb_field *field, size_t count, const char *unit, struct sb_err *err)
{
    if (field->most > 0 && (double)count > field->most)
        return sb_fail(err, SB_LIMIT, "%s has %zu %s; at most %.0f are allowed", field->name, count, unit,
                       field->most);
    return 0;
}

static bool is_word(const char *const *words, const char *text)
{
    for (; *words; words++)
        if (strcmp(*words, text) == 0)
            return true;
    return false;
}

static int set_string(const struct sb_field *field, const char *text, char **place, struct sb_err *err)
{
    char shown[SHOWN_BYTES + 3];

    if (field->words && !is_word(field->words, text)) {
        snprintf(shown, sizeof shown, "'%.*s'", (int)sb_utf8_cut(text, strlen(text), SHOWN_BYTES), text);
        return refuse(field, shown, err);
    }
    if (check_count(field, strlen(text), "bytes", err) < 0)
        return -1;
    *place = sb_strdup(text);
    return 0;
}

static bool in_range(const struct sb_field *field, double number)
{
    return field->least >= field->most || (number >= field->least && number <= field->most);
}

static int decode_int(const struct sb_field *field, const struct sb_json *value, int64_t *place,
                      struct sb_err *err)
{
    char shown[32];
    int64_t number = 0;

    if (sb_json_int(value, field->name, &number, err) < 0)
        return -1;
    if (!in_range(field, (double)number)) {
        snprintf(shown, sizeof shown, "%" PRId64, number);
        return refuse(field, shown, err);
    }
    *place = number;
    return 0;
}

static int decode_number(const struct sb_field *field, const struct sb_json *value, double *place,
                         struct sb_err *err)
{
    char shown[32];
    double number = 0;

    if (sb_json_double(value, field->name, &number, err) < 0)
        return -1;
    if (!in_range(field, number)) {
        snprintf(shown, sizeof shown, "%.15g", number);
        return refuse(field, shown, err);
    }
    *place = number;
    return 0;
}

/* Cut at blanks at both ends and compared without case, as the reference reads its environment. */
static bool read_bool(const char *text, bool *out)
{
    static const char *const words[] = {"false", "true", "0", "1", "no", "yes", "off", "on"};
    static const char blanks[] = " \t\r\n";
    char word[8];
    size_t len;

    text += strspn(text, blanks);
    len = strlen(text);
    while (len > 0 && strchr(blanks, text[len - 1]))
        len--;
    if (len >= sizeof word)
        return false;
    for (size_t i = 0; i < len; i++)
        word[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
    word[len] = 0;
    for (size_t i = 0; i < SB_COUNT(words); i++)
        if (strcmp(word, words[i]) == 0) {
            *out = i % 2 == 1;
            return true;
        }
    return false;
}

static int decode_bool(const struct sb_field *field, const struct sb_json *value, bool lenient, bool *place,
                       struct sb_err *err)
{
    const char *text = NULL;

    if (lenient && sb_json_type(value) == SB_JSON_STRING && sb_json_string(value, field->name, &text, NULL) == 0 &&
        read_bool(text, place))
        return 0;
    if (sb_json_type(value) != SB_JSON_BOOL)
        return refuse_type(field, value, err);
    return sb_json_bool(value, field->name, place, err);
}

static int check_entries(const struct sb_field *field, const struct sb_json *container, struct sb_err *err)
{
    size_t count = 0;

    for (const struct sb_json *item = NULL; (item = sb_json_next(container, item)) != NULL;)
        count++;
    return check_count(field, count, "entries", err);
}

static int decode_strings(const struct sb_field *field, const struct sb_json *array, struct sb_argv *place,
                          struct sb_err *err)
{
    const struct sb_json *item = NULL;
    struct sb_argv made = {0};

    if (check_entries(field, array, err) < 0)
        return -1;
    while ((item = sb_json_next(array, item)) != NULL) {
        const char *text = NULL;
        char what[128];

        snprintf(what, sizeof what, "%s[%zu]", field->name, made.n);
        if (sb_json_string(item, what, &text, err) < 0) {
            sb_argv_done(&made);
            return -1;
        }
        sb_argv_push(&made, text);
    }
    *place = made;
    return 0;
}

/* One NAME=value. The name must be one that an environment can hold. */
static int decode_pair(const struct sb_field *field, const struct sb_json *member, struct sb_argv *made,
                       struct sb_err *err)
{
    const char *name = sb_json_key(member), *text = NULL;
    int shown = (int)sb_utf8_cut(name, strlen(name), SHOWN_BYTES);
    char what[128];

    if (name[0] == 0)
        return sb_fail(err, SB_BAD_REQUEST, "%s has an entry without a name", field->name);
    if (strchr(name, '='))
        return sb_fail(err, SB_BAD_REQUEST, "%s: the name '%.*s' contains '='", field->name, shown, name);
    snprintf(what, sizeof what, "%s.%.*s", field->name, shown, name);
    if (sb_json_string(member, what, &text, err) < 0)
        return -1;
    sb_argv_pushf(made, "%s=%s", name, text);
    return 0;
}

static int decode_map(const struct sb_field *field, const struct sb_json *object, struct sb_argv *place,
                      struct sb_err *err)
{
    const struct sb_json *member = NULL;
    struct sb_argv made = {0};

    if (check_entries(field, object, err) < 0)
        return -1;
    while ((member = sb_json_next(object, member)) != NULL)
        if (decode_pair(field, member, &made, err) < 0) {
            sb_argv_done(&made);
            return -1;
        }
    *place = made;
    return 0;
}

static int decode_objects(const struct sb_field *field, const struct sb_json *array, bool lenient,
                          struct sb_field_list *place, struct sb_err *err)
{
    const struct sb_json *item = NULL;
    struct sb_field_list made = {0};
    size_t count = 0;

    if (check_entries(field, array, err) < 0)
        return -1;
    while ((item = sb_json_next(array, item)) != NULL)
        count++;
    made.items = count > 0 ? sb_alloc(count * field->size) : NULL;
    while ((item = sb_json_next(array, item)) != NULL) {
        void *element = (char *)made.items + made.count * field->size;

        if (sb_fields_decode(field->fields, item, lenient, element, err) < 0) {
            sb_fail_in(err, "%s[%zu]", field->name, made.count);
            done_objects(field, &made);
            return -1;
        }
        made.count++;
    }
    *place = made;
    return 0;
}

/* Writes the zeroed `place` on success only. */
static int decode_value(const struct sb_field *field, const struct sb_json *value, bool lenient, void *place,
                        struct sb_err *err)
{
    static const enum sb_json_type kinds[] = {
        [SB_FIELD_STRING] = SB_JSON_STRING, [SB_FIELD_INT] = SB_JSON_NUMBER,
        [SB_FIELD_NUMBER] = SB_JSON_NUMBER, [SB_FIELD_STRINGS] = SB_JSON_ARRAY,
        [SB_FIELD_MAP] = SB_JSON_OBJECT,    [SB_FIELD_OBJECTS] = SB_JSON_ARRAY,
    };
    const char *text = NULL;

    if (field->type == SB_FIELD_BOOL)
        return decode_bool(field, value, lenient, place, err);
    if (sb_json_type(value) != kinds[field->type])
        return refuse_type(field, value, err);
    switch (field->type) {
    case SB_FIELD_INT:
        return decode_int(field, value, place, err);
    case SB_FIELD_NUMBER:
        return decode_number(field, value, place, err);
    case SB_FIELD_STRINGS:
        return decode_strings(field, value, place, err);
    case SB_FIELD_MAP:
        return decode_map(field, value, place, err);
    case SB_FIELD_OBJECTS:
        return decode_objects(field, value, lenient, place, err);
    case SB_FIELD_STRING:
    case SB_FIELD_BOOL:
        break;
    }
    if (sb_json_string(value, field->name, &text, err) < 0)
        return -1;
    return set_string(field, text, place, err);
}

/* ---- members ------------------------------------------------------------------------ */

static int use_fallback(const struct sb_field *field, void *place, struct sb_err *err)
{
    struct sb_json_doc *doc = NULL;
    int rc;

    if (field->flags & SB_FIELD_REQUIRED)
        return missing(field, err);
    if (!field->fallback)
        return 0;
    rc = sb_json_parse(field->fallback, strlen(field->fallback), &doc, err);
    if (rc == 0)
        rc = decode_value(field, sb_json_root(doc), false, place, err);
    sb_json_free(doc);
    return rc;
}

/* A string where none is wanted: the document inside it, or NULL if it holds none. */
static struct sb_json_doc *inner(const struct sb_field *field, const struct sb_json *value)
{
    struct sb_json_doc *doc = NULL;
    const char *text = NULL;

    if (field->type == SB_FIELD_STRING || field->type == SB_FIELD_BOOL ||
        sb_json_string(value, field->name, &text, NULL) < 0 || sb_json_parse(text, strlen(text), &doc, NULL) < 0)
        return NULL;
    return doc;
}

static int decode_member(const struct sb_field *field, const struct sb_json *value, bool lenient, char *out,
                         struct sb_err *err)
{
    struct sb_json_doc *doc = lenient ? inner(field, value) : NULL;
    int rc = 0;

    if (doc)
        value = sb_json_root(doc);
    if (!value || (lenient && sb_json_type(value) == SB_JSON_NULL)) {
        rc = use_fallback(field, out + field->at, err);
    } else {
        rc = decode_value(field, value, lenient, out + field->at, err);
        if (rc == 0 && field->given_at)
            *(bool *)(out + field->given_at) = true;
    }
    sb_json_free(doc);
    return rc;
}

static int check_names(const struct sb_field *fields, const struct sb_json *object, struct sb_err *err)
{
    for (const struct sb_json *member = NULL; (member = sb_json_next(object, member)) != NULL;) {
        const struct sb_field *field = fields;

        while (field->name && strcmp(field->name, sb_json_key(member)) != 0)
            field++;
        if (!field->name)
            return unknown(fields, sb_json_key(member), err);
    }
    return 0;
}

int sb_fields_decode(const struct sb_field *fields, const struct sb_json *object, bool lenient, void *out,
                     struct sb_err *err)
{
    if (object && sb_json_type(object) != SB_JSON_OBJECT)
        return sb_fail(err, SB_BAD_REQUEST, "expected an object, not %s", sb_json_type_name(sb_json_type(object)));
    if (check_names(fields, object, err) < 0)
        return -1;
    for (const struct sb_field *field = fields; field->name; field++)
        if (decode_member(field, sb_json_get(object, field->name), lenient, out, err) < 0) {
            sb_fields_done(fields, out);
            return -1;
        }
    return 0;
}

/* ---- text --------------------------------------------------------------------------- */

/* a,b,c: blanks around the parts and empty parts count for nothing. */
static int set_list(const struct sb_field *field, const char *text, struct sb_argv *place, struct sb_err *err)
{
    struct sb_argv made = {0};

    while (*text) {
        size_t len, next;

        text += strspn(text, " \t,");
        next = len = strcspn(text, ",");
        while (len > 0 && strchr(" \t", text[len - 1]))
            len--;
        if (len > 0)
            sb_argv_pushf(&made, "%.*s", (int)len, text);
        text += next;
    }
    if (check_count(field, made.n, "entries", err) < 0) {
        sb_argv_done(&made);
        return -1;
    }
    *place = made;
    return 0;
}

static int set_json(const struct sb_field *field, const char *text, void *place, struct sb_err *err)
{
    struct sb_json_doc *doc = NULL;
    char shown[SHOWN_BYTES + 3];
    int rc;

    if (sb_json_parse(text, strlen(text), &doc, NULL) < 0) {
        snprintf(shown, sizeof shown, "'%.*s'", (int)sb_utf8_cut(text, strlen(text), SHOWN_BYTES), text);
        return refuse(field, shown, err);
    }
    rc = decode_value(field, sb_json_root(doc), false, place, err);
    sb_json_free(doc);
    return rc;
}

static int set_value(const struct sb_field *field, const char *text, void *place, struct sb_err *err)
{
    if (!sb_utf8_valid(text, strlen(text)))
        return sb_fail(err, SB_BAD_REQUEST, "%s is not UTF-8", field->name);
    if (field->type == SB_FIELD_STRING)
        return set_string(field, text, place, err);
    if (field->type == SB_FIELD_BOOL && read_bool(text, place))
        return 0;
    if (field->type == SB_FIELD_STRINGS && text[strspn(text, " \t\r\n")] != '[')
        return set_list(field, text, place, err);
    return set_json(field, text, place, err);
}

int sb_fields_set(const struct sb_field *field, const char *text, void *out, struct sb_err *err)
{
    union {
        char *text;
        int64_t integer;
        double number;
        bool yes;
        struct sb_argv strings;
        struct sb_field_list list;
    } made = {0};
    void *place = (char *)out + field->at;

    if (set_value(field, text, &made, err) < 0)
        return -1;
    done_value(field, place);
    memcpy(place, &made, size_of(field->type));
    if (field->given_at)
        *(bool *)((char *)out + field->given_at) = true;
    return 0;
}
