/* SPDX-License-Identifier: MIT
 * Any bytes: JSON or an error, and what was read can be written and read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* Writes the value again (numbers that are no integers as null), checking on the way. */
static void copy(const struct sb_json *value, const char *key, struct sb_json_out *out)
{
    const struct sb_json *child = NULL;
    const char *text = NULL;
    int64_t number = 0;
    bool yes = false;

    switch (sb_json_type(value)) {
    case SB_JSON_OBJECT:
        sb_json_open_object(out, key);
        while ((child = sb_json_next(value, child))) {
            require(sb_json_get(value, sb_json_key(child)) == child);
            copy(child, sb_json_key(child), out);
        }
        sb_json_close_object(out);
        break;
    case SB_JSON_ARRAY:
        sb_json_open_array(out, key);
        while ((child = sb_json_next(value, child)))
            copy(child, NULL, out);
        sb_json_close_array(out);
        break;
    case SB_JSON_STRING:
        if (sb_json_string(value, "it", &text, NULL) < 0) { /* \u0000 inside */
            sb_json_put_bytes(out, key, "", 1);
            break;
        }
        require(sb_utf8_valid(text, strlen(text)));
        sb_json_put_string(out, key, text);
        break;
    case SB_JSON_NUMBER:
        if (sb_json_int(value, "it", &number, NULL) == 0)
            sb_json_put_int(out, key, number);
        else
            sb_json_put_null(out, key);
        break;
    case SB_JSON_BOOL:
        require(sb_json_bool(value, "it", &yes, NULL) == 0);
        sb_json_put_bool(out, key, yes);
        break;
    case SB_JSON_NULL:
        sb_json_put_null(out, key);
        break;
    }
}

/* The raw texts of the root's children: as many as there are, each JSON of the same type. */
static void check_raw(const struct sb_json *root, const char *text, size_t len)
{
    const struct sb_json *child = NULL;
    size_t at = 0, raw_len = 0;
    const char *raw = NULL;

    while ((child = sb_json_next(root, child))) {
        struct sb_json_doc *doc = NULL;

        if (sb_json_type(root) == SB_JSON_OBJECT)
            require(sb_json_raw_member(text, len, sb_json_key(child), &raw, &raw_len) == 0);
        else
            require(sb_json_raw_next(text, len, &at, &raw, &raw_len) == 0);
        require(sb_json_parse(raw, raw_len, &doc, NULL) == 0);
        require(sb_json_type(sb_json_root(doc)) == sb_json_type(child));
        sb_json_free(doc);
    }
    require(sb_json_raw_next(text, len, &at, &raw, &raw_len) == -1);
}

/* Reads `text`, which may be no JSON, and writes it to `out`; false if it was none. */
static bool rewrite(const char *text, size_t len, struct sb_buf *out)
{
    struct sb_json_doc *doc = NULL;
    struct sb_json_out writer;
    struct sb_err err = {0};

    if (sb_json_parse(text, len, &doc, &err) < 0) {
        const char *raw = NULL;
        size_t at = 0, raw_len = 0;

        sb_json_raw_member(text, len, "a", &raw, &raw_len); /* no promise but to stay within */
        while (sb_json_raw_next(text, len, &at, &raw, &raw_len) == 0)
            require(raw_len > 0 && raw >= text && raw + raw_len <= text + len);
        require(err.code == SB_BAD_REQUEST || err.code == SB_LIMIT); /* never SB_BUG: cJSON agrees */
        return false;
    }
    check_raw(sb_json_root(doc), text, len);
    sb_json_begin(&writer, out);
    copy(sb_json_root(doc), NULL, &writer);
    sb_json_free(doc);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sb_buf once, twice;

    sb_buf_init(&once, 64u << 20);
    sb_buf_init(&twice, 64u << 20);
    if (rewrite((const char *)data, size, &once)) {
        require(rewrite(once.data, once.len, &twice));
        require(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
    }
    sb_buf_done(&once);
    sb_buf_done(&twice);
    return 0;
}
