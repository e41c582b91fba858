/* SPDX-License-Identifier: MIT
 * Raw text of members and elements. Valid JSON needs no stack here: brackets match, so
 * counting them is enough. */
#include <stdbool.h>
#include <string.h>

#include "base/json.h"

static bool is_one_of(const char *set, char c)
{
    return c != 0 && strchr(set, c) != NULL;
}

static size_t skip_blanks(const char *text, size_t len, size_t at)
{
    while (at < len && is_one_of(" \t\r\n", text[at]))
        at++;
    return at;
}

/* From the opening quote to behind the closing one. */
static size_t skip_string(const char *text, size_t len, size_t at)
{
    for (at++; at < len && text[at] != '"'; at++)
        if (text[at] == '\\')
            at++;
    return at < len ? at + 1 : len;
}

/* A number or word ends at what is behind it. */
static size_t skip_value(const char *text, size_t len, size_t at)
{
    size_t depth = 0;

    while (at < len) {
        switch (text[at]) {
        case '"':
            at = skip_string(text, len, at);
            break;
        case '[':
        case '{':
            depth++;
            at++;
            break;
        case ']':
        case '}':
            if (depth == 0)
                return at;
            depth--;
            at++;
            break;
        default:
            if (depth == 0 && is_one_of(", \t\r\n", text[at]))
                return at;
            at++;
            continue;
        }
        if (depth == 0)
            return at;
    }
    return len;
}

/* The next value of the container opened by `open`, and in an object the key before it,
 * quotes included. */
static int next(const char *text, size_t len, char open, size_t *at, size_t *key_start, size_t *key_end,
                size_t *start)
{
    size_t i = skip_blanks(text, len, *at);

    if (i < len && text[i] == (*at == 0 ? open : ','))
        i = skip_blanks(text, len, i + 1);
    else
        return -1;
    if (open == '{') {
        if (i >= len || text[i] != '"')
            return -1;
        *key_start = i;
        *key_end = skip_string(text, len, i);
        i = skip_blanks(text, len, *key_end);
        if (i >= len || text[i] != ':')
            return -1;
        i = skip_blanks(text, len, i + 1);
    }
    *start = i;
    *at = skip_value(text, len, i);
    return *at > i ? 0 : -1;
}

/* `raw` has its quotes. Few keys are written with escapes; those are read as cJSON reads them. */
static bool is_key(const char *raw, size_t len, const char *key)
{
    struct sb_json_doc *doc = NULL;
    const char *text = NULL;
    bool same;

    if (!memchr(raw, '\\', len))
        return len == strlen(key) + 2 && memcmp(raw + 1, key, len - 2) == 0;
    same = sb_json_parse(raw, len, &doc, NULL) == 0 &&
           sb_json_string(sb_json_root(doc), "a key", &text, NULL) == 0 && strcmp(text, key) == 0;
    sb_json_free(doc);
    return same;
}

int sb_json_raw_member(const char *text, size_t len, const char *key, const char **out, size_t *out_len)
{
    size_t at = 0, key_start = 0, key_end = 0, start = 0;

    while (next(text, len, '{', &at, &key_start, &key_end, &start) == 0)
        if (is_key(text + key_start, key_end - key_start, key)) {
            *out = text + start;
            *out_len = at - start;
            return 0;
        }
    return -1;
}

int sb_json_raw_next(const char *text, size_t len, size_t *at, const char **out, size_t *out_len)
{
    size_t start = 0, unused = 0;

    if (next(text, len, '[', at, &unused, &unused, &start) < 0)
        return -1;
    *out = text + start;
    *out_len = *at - start;
    return 0;
}
