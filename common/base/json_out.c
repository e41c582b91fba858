/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"

void sb_json_begin(struct sb_json_out *out, struct sb_buf *buf)
{
    *out = (struct sb_json_out){.buf = buf};
}

/* U+2028 and U+2029: the last of three bytes tells which. */
static bool is_line_separator(const char *text, size_t left)
{
    return left >= 3 && (memcmp(text, "\xE2\x80\xA8", 3) == 0 || memcmp(text, "\xE2\x80\xA9", 3) == 0);
}

static void put_escaped(struct sb_buf *buf, unsigned char c)
{
    static const char letters[][2] = {{'"', '"'},  {'\\', '\\'}, {'\b', 'b'}, {'\f', 'f'},
                                      {'\n', 'n'}, {'\r', 'r'},  {'\t', 't'}};

    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (letters[i][0] == (char)c) {
            sb_buf_addc(buf, '\\');
            sb_buf_addc(buf, letters[i][1]);
            return;
        }
    sb_buf_addf(buf, "\\u%04x", c);
}

static void put_text(struct sb_buf *buf, const char *text, size_t len)
{
    size_t plain = 0; /* where the piece starts that needs no escape */

    sb_buf_addc(buf, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c == 0xE2 && is_line_separator(text + i, len - i)) {
            sb_buf_add(buf, text + plain, i - plain);
            sb_buf_adds(buf, text[i + 2] == '\xA8' ? "\\u2028" : "\\u2029");
            i += 2;
            plain = i + 1;
        } else if (c < 0x20 || c == '"' || c == '\\') {
            sb_buf_add(buf, text + plain, i - plain);
            put_escaped(buf, c);
            plain = i + 1;
        }
    }
    sb_buf_add(buf, text + plain, len - plain);
    sb_buf_addc(buf, '"');
}

/* What stands before any value: the comma, and in objects the key. */
static void start(struct sb_json_out *out, const char *key)
{
    bool *need_comma = &out->need_comma[out->depth < SB_JSON_MAX_DEPTH ? out->depth : SB_JSON_MAX_DEPTH];

    if (*need_comma)
        sb_buf_addc(out->buf, ',');
    *need_comma = true;
    if (key) {
        put_text(out->buf, key, strlen(key));
        sb_buf_addc(out->buf, ':');
    }
}

static void open_container(struct sb_json_out *out, const char *key, char c)
{
    start(out, key);
    sb_buf_addc(out->buf, c);
    out->depth++;
    if (out->depth <= SB_JSON_MAX_DEPTH)
        out->need_comma[out->depth] = false;
    else
        out->buf->full = true;
}

static void close_container(struct sb_json_out *out, char c)
{
    sb_buf_addc(out->buf, c);
    out->depth--;
}

void sb_json_open_object(struct sb_json_out *out, const char *key)
{
    open_container(out, key, '{');
}

void sb_json_close_object(struct sb_json_out *out)
{
    close_container(out, '}');
}

void sb_json_open_array(struct sb_json_out *out, const char *key)
{
    open_container(out, key, '[');
}

void sb_json_close_array(struct sb_json_out *out)
{
    close_container(out, ']');
}

void sb_json_put_string(struct sb_json_out *out, const char *key, const char *text)
{
    if (text)
        sb_json_put_bytes(out, key, text, strlen(text));
    else
        sb_json_put_null(out, key);
}

void sb_json_put_bytes(struct sb_json_out *out, const char *key, const char *text, size_t len)
{
    start(out, key);
    put_text(out->buf, text, len);
}

void sb_json_put_int(struct sb_json_out *out, const char *key, int64_t value)
{
    start(out, key);
    sb_buf_addf(out->buf, "%" PRId64, value);
}

void sb_json_put_bool(struct sb_json_out *out, const char *key, bool value)
{
    start(out, key);
    sb_buf_adds(out->buf, value ? "true" : "false");
}

void sb_json_put_null(struct sb_json_out *out, const char *key)
{
    start(out, key);
    sb_buf_adds(out->buf, "null");
}

void sb_json_put_raw(struct sb_json_out *out, const char *key, const char *json, size_t len)
{
    start(out, key);
    sb_buf_add(out->buf, json, len);
}
