/* SPDX-License-Identifier: MIT
 * Field tables: the row that decodes a JSON object also checks it, prints its JSON Schema
 * and documents it. Tools' arguments and the configuration are such tables. */
#ifndef SB_BASE_FIELDS_H
#define SB_BASE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

enum sb_field_type {
    SB_FIELD_STRING,  /* char *: owned, NUL-terminated; NULL when not given and no default */
    SB_FIELD_INT,     /* int64_t */
    SB_FIELD_NUMBER,  /* double */
    SB_FIELD_BOOL,    /* bool */
    SB_FIELD_STRINGS, /* struct sb_argv: an array of strings */
    SB_FIELD_MAP,     /* struct sb_argv: an object of strings as NAME=value */
    SB_FIELD_OBJECTS  /* struct sb_field_list: an array of objects of `fields` */
};

enum {
    SB_FIELD_REQUIRED = 1,
    SB_FIELD_HIDDEN = 2 /* decoded, but in no schema and no documentation */
};

/* Rows end with one without name. `at` is the offset in the struct that is decoded into;
 * `given_at`, when not 0, that of a bool that says whether the client set it. */
struct sb_field {
    const char *name;
    enum sb_field_type type;
    unsigned flags;
    size_t at, given_at;
    double least, most;          /* INT, NUMBER: range if least < most; STRING: most bytes, arrays, MAP:
                                  * most entries, 0: as many as the document may hold */
    const char *fallback;        /* the default as JSON text; NULL: none (zero) */
    const char *const *words;    /* STRING: the only values; NULL-terminated; NULL: any */
    const struct sb_field *fields; /* OBJECTS: rows of one element */
    size_t size;                   /* OBJECTS: bytes of one element */
    const char *text;            /* one sentence for models and people */
};

struct sb_field_list {
    void *items; /* `count` elements of `size` bytes */
    size_t count;
};

/* Decodes `object` (NULL: an empty one) into the zeroed struct `out`. Errors name the
 * field, the value's kind, what is allowed; unknown members name the nearest field. On
 * failure nothing is owned. `lenient`: a string that holds JSON is decoded for a field that
 * is not a string, "45" is 45, "yes" is true, null is not given (the reference did so). */
int sb_fields_decode(const struct sb_field *fields, const struct sb_json *object, bool lenient, void *out,
                     struct sb_err *err);
void sb_fields_done(const struct sb_field *fields, void *out); /* frees what decode made; zeroes */

/* One field from text (environment, command line), with the same checks, in place of what is
 * there. Lists are JSON or a,b,c; booleans true, false, 1, 0, yes, no, on, off. */
int sb_fields_set(const struct sb_field *field, const char *text, void *out, struct sb_err *err);

/* "a number from 0.1 to 3600": for sentences. */
void sb_field_allowed(const struct sb_field *field, struct sb_buf *out);

/* {"type":"object","properties":{...},"required":[...],"additionalProperties":false}: no
 * $schema, $ref or oneOf, which some clients refuse, no "required" when it would be empty. */
void sb_fields_schema(const struct sb_field *fields, const char *key, struct sb_json_out *out);
/* A Markdown table: name, type and range, default, text. */
void sb_fields_markdown(const struct sb_field *fields, struct sb_buf *out);

#endif
