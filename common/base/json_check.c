/* SPDX-License-Identifier: MIT */
#include "base/json_check.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"

struct scan {
    const char *text;
    size_t len, at;
    unsigned depth;
    size_t values;
    bool in_key, has_nul;
    struct sb_err *err;
};

static int value(struct scan *scan);

/* The byte at `at`, or -1 at the end. */
static int peek(const struct scan *scan)
{
    return scan->at < scan->len ? (unsigned char)scan->text[scan->at] : -1;
}

static int refuse(const struct scan *scan, enum sb_code code, const char *why)
{
    return sb_fail(scan->err, code, "byte %zu: %s", scan->at, why);
}

static int expected(const struct scan *scan, const char *what)
{
    return sb_fail(scan->err, SB_BAD_REQUEST, "byte %zu: expected %s%s", scan->at, what,
                   scan->at == scan->len ? ", but the text ends" : "");
}

static void skip_blanks(struct scan *scan)
{
    while (scan->at < scan->len && memchr(" \t\n\r", scan->text[scan->at], 4))
        scan->at++;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* The value of the \uXXXX at `at`, or -1. */
static long unicode_escape(const struct scan *scan, size_t at)
{
    long code = 0;

    if (scan->len - at < 6 || scan->text[at] != '\\' || scan->text[at + 1] != 'u')
        return -1;
    for (size_t i = at + 2; i < at + 6; i++) {
        char c = scan->text[i];

        if (is_digit(c))
            code = code * 16 + (c - '0');
        else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
            code = code * 16 + ((c | 0x20) - 'a' + 10);
        else
            return -1;
    }
    return code;
}

static int escape(struct scan *scan)
{
    long code;

    if (scan->len - scan->at >= 2 && scan->text[scan->at + 1] != 'u') {
        if (!memchr("\"\\/bfnrt", scan->text[scan->at + 1], 8))
            return refuse(scan, SB_BAD_REQUEST, "unknown escape in a string");
        scan->at += 2;
        return 0;
    }
    code = unicode_escape(scan, scan->at);
    if (code < 0)
        return refuse(scan, SB_BAD_REQUEST, "incomplete escape in a string");
    if (code == 0 && scan->in_key)
        return refuse(scan, SB_BAD_REQUEST, "NUL in a key");
    scan->has_nul = scan->has_nul || code == 0;
    if (code >= 0xD800 && code <= 0xDFFF) {
        long low = unicode_escape(scan, scan->at + 6);

        if (code >= 0xDC00 || low < 0xDC00 || low > 0xDFFF)
            return refuse(scan, SB_BAD_REQUEST, "half of a surrogate pair in a string");
        scan->at += 6;
    }
    scan->at += 6;
    return 0;
}

static int string(struct scan *scan)
{
    size_t start = scan->at++;

    for (int c = peek(scan); c != '"'; c = peek(scan)) {
        if (c < 0)
            return expected(scan, "the end of a string");
        if (c < 0x20)
            return refuse(scan, SB_BAD_REQUEST, "control character in a string");
        if (c != '\\')
            scan->at++;
        else if (escape(scan) < 0)
            return -1;
    }
    scan->at++;
    if (!sb_utf8_valid(scan->text + start, scan->at - start))
        return sb_fail(scan->err, SB_BAD_REQUEST, "byte %zu: the string that starts here is not UTF-8",
                       start);
    return 0;
}

static int digits(struct scan *scan)
{
    if (!is_digit(peek(scan)))
        return expected(scan, "a digit");
    while (is_digit(peek(scan)))
        scan->at++;
    return 0;
}

static int number(struct scan *scan)
{
    char copy[SB_JSON_MAX_NUMBER + 1];
    size_t start = scan->at, len;
    double read;

    if (peek(scan) == '-')
        scan->at++;
    if (peek(scan) == '0')
        scan->at++; /* nothing may follow a leading 0: 012 is no number */
    else if (digits(scan) < 0)
        return -1;
    if (peek(scan) == '.') {
        scan->at++;
        if (digits(scan) < 0)
            return -1;
    }
    if (peek(scan) == 'e' || peek(scan) == 'E') {
        scan->at++;
        if (peek(scan) == '+' || peek(scan) == '-')
            scan->at++;
        if (digits(scan) < 0)
            return -1;
    }
    len = scan->at - start;
    scan->at = start;
    if (len > SB_JSON_MAX_NUMBER)
        return refuse(scan, SB_LIMIT, "number of more than 63 characters");
    memcpy(copy, scan->text + start, len);
    copy[len] = 0;
    read = strtod(copy, NULL);
    if (read > DBL_MAX || read < -DBL_MAX)
        return refuse(scan, SB_BAD_REQUEST, "number too large");
    scan->at += len;
    return 0;
}

static int literal(struct scan *scan)
{
    static const char *const words[] = {"true", "false", "null"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t len = strlen(words[i]);

        if (scan->len - scan->at >= len && memcmp(scan->text + scan->at, words[i], len) == 0) {
            scan->at += len;
            return 0;
        }
    }
    return expected(scan, "a value");
}

/* "key": */
static int key(struct scan *scan)
{
    skip_blanks(scan);
    if (peek(scan) != '"')
        return expected(scan, "a key in double quotes");
    scan->in_key = true;
    if (string(scan) < 0)
        return -1;
    scan->in_key = false;
    skip_blanks(scan);
    if (peek(scan) != ':')
        return expected(scan, "':'");
    scan->at++;
    return 0;
}

static int container(struct scan *scan)
{
    bool object = peek(scan) == '{';
    char close = object ? '}' : ']';

    if (scan->depth == SB_JSON_MAX_DEPTH)
        return refuse(scan, SB_LIMIT, "more than 64 arrays and objects inside each other");
    scan->depth++;
    scan->at++;
    skip_blanks(scan);
    if (peek(scan) != close)
        for (;;) {
            if (object && key(scan) < 0)
                return -1;
            if (value(scan) < 0)
                return -1;
            if (peek(scan) == close)
                break;
            if (peek(scan) != ',')
                return expected(scan, object ? "',' or '}'" : "',' or ']'");
            scan->at++;
        }
    scan->at++;
    scan->depth--;
    return 0;
}

/* One value and the blanks around it. */
static int value(struct scan *scan)
{
    int rc;

    skip_blanks(scan);
    if (++scan->values > SB_JSON_MAX_VALUES)
        return refuse(scan, SB_LIMIT, "more than 200000 values");
    switch (peek(scan)) {
    case '"':
        rc = string(scan);
        break;
    case '[':
    case '{':
        rc = container(scan);
        break;
    default:
        rc = peek(scan) == '-' || is_digit(peek(scan)) ? number(scan) : literal(scan);
        break;
    }
    if (rc == 0)
        skip_blanks(scan);
    return rc;
}

int sb_json_check(const char *text, size_t len, bool *has_nul, struct sb_err *err)
{
    struct scan scan = {.text = text, .len = len, .err = err};

    if (value(&scan) < 0)
        return -1;
    if (scan.at < len)
        return expected(&scan, "nothing after the value");
    *has_nul = scan.has_nul;
    return 0;
}
