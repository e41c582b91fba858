/* SPDX-License-Identifier: MIT
 * Strict JSON (RFC 8259). json.c is the only file that includes cJSON.h, and refuses
 * everything cJSON lets pass: duplicate keys, keys that differ in case only being mixed
 * up, NUL inside keys, invalid UTF-8, trailing bytes, numbers that do not fit, depth. A
 * string with \u0000 inside is JSON, and may stand where nobody reads it; reading it fails.
 * Values are owned by their document; the writer needs no document. */
#ifndef SB_BASE_JSON_H
#define SB_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct sb_buf;

#define SB_JSON_MAX_DEPTH  64     /* arrays and objects inside each other */
#define SB_JSON_MAX_VALUES 200000 /* in one document: cJSON takes 64 bytes and more for each */
#define SB_JSON_MAX_NUMBER 63     /* characters; cJSON 1.7.15 cuts a longer number */

enum sb_json_type {
    SB_JSON_NULL,
    SB_JSON_BOOL,
    SB_JSON_NUMBER,
    SB_JSON_STRING,
    SB_JSON_ARRAY,
    SB_JSON_OBJECT
};

struct sb_json;     /* one value, borrowed from its document */
struct sb_json_doc; /* owns all values */

/* `text` must be one JSON value and white space. The error says at which byte and why, or
 * which key is there twice. */
int sb_json_parse(const char *text, size_t len, struct sb_json_doc **out, struct sb_err *err);
void sb_json_free(struct sb_json_doc *doc);
const struct sb_json *sb_json_root(const struct sb_json_doc *doc);

/* NULL is SB_JSON_NULL. */
enum sb_json_type sb_json_type(const struct sb_json *value);
const char *sb_json_type_name(enum sb_json_type type); /* "a string", "true or false", ... */
/* Exact, case-sensitive; NULL when missing or when `object` is no object (or NULL). */
const struct sb_json *sb_json_get(const struct sb_json *object, const char *key);
/* Walks an array or object in order: first with NULL. */
const struct sb_json *sb_json_next(const struct sb_json *container, const struct sb_json *previous);
const char *sb_json_key(const struct sb_json *member);

/* 0, or -1 with err naming `what`, the type found and the type allowed. A NULL value is
 * "missing". Strings are NUL-terminated UTF-8, owned by the document; one with NUL inside
 * "contains a NUL character".
 * Integers must be whole numbers within ±(2^53 - 1), as 2^53 + 1 reads as 2^53; 1e3 and 1.0
 * are whole numbers. */
int sb_json_string(const struct sb_json *value, const char *what, const char **out, struct sb_err *err);
int sb_json_int(const struct sb_json *value, const char *what, int64_t *out, struct sb_err *err);
int sb_json_double(const struct sb_json *value, const char *what, double *out, struct sb_err *err);
int sb_json_bool(const struct sb_json *value, const char *what, bool *out, struct sb_err *err);

/* The raw text of values, for what must be echoed byte for byte. Both want text that
 * sb_json_parse has taken; of any other they find something or nothing, within `len`.
 * 0, or -1 when `text` is no object, or has no such key (written with escapes or without). */
int sb_json_raw_member(const char *text, size_t len, const char *key, const char **out, size_t *out_len);
/* Walks the elements of an array: *at is 0 before the first. -1: no more, or no array. */
int sb_json_raw_next(const char *text, size_t len, size_t *at, const char **out, size_t *out_len);

/* Writer: appends to a buffer, puts commas by itself. `key` is NULL inside arrays and at
 * the top. Strings must be UTF-8 (repair first); control characters are escaped, and
 * U+2028/2029 too, since some clients split lines there. Deeper than SB_JSON_MAX_DEPTH
 * sets buf->full. */
struct sb_json_out {
    struct sb_buf *buf;
    unsigned depth;
    bool need_comma[SB_JSON_MAX_DEPTH + 1];
};
void sb_json_begin(struct sb_json_out *out, struct sb_buf *buf);
void sb_json_open_object(struct sb_json_out *out, const char *key);
void sb_json_close_object(struct sb_json_out *out);
void sb_json_open_array(struct sb_json_out *out, const char *key);
void sb_json_close_array(struct sb_json_out *out);
void sb_json_put_string(struct sb_json_out *out, const char *key, const char *text); /* NULL text: null */
void sb_json_put_bytes(struct sb_json_out *out, const char *key, const char *text, size_t len);
void sb_json_put_int(struct sb_json_out *out, const char *key, int64_t value);
void sb_json_put_bool(struct sb_json_out *out, const char *key, bool value);
void sb_json_put_null(struct sb_json_out *out, const char *key);
void sb_json_put_raw(struct sb_json_out *out, const char *key, const char *json, size_t len); /* a value's text */

#endif
