/* SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Room for a whole text behind a whole prefix and ": ", so that the cut sees what it cuts. */
#define WORK_BYTES (2 * sizeof(((struct sb_err *)0)->text) + 2)

static void set_text(struct sb_err *err, const char *work)
{
    size_t len = sb_utf8_cut(work, strlen(work), sizeof err->text - 1);

    bool valid = sb_utf8_valid(work, len);

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)work[i];

        err->text[i] = c < 0x20 || c == 0x7F || (c >= 0x80 && !valid) ? '?' : work[i];
    }
    err->text[len] = 0;
}

int sb_fail(struct sb_err *err, enum sb_code code, const char *fmt, ...)
{
    char work[WORK_BYTES] = "";
    va_list args;

    if (!err)
        return -1;
    va_start(args, fmt);
    vsnprintf(work, sizeof work, fmt, args);
    va_end(args);
    err->code = code;
    err->os = 0;
    set_text(err, work);
    return -1;
}

int sb_fail_in(struct sb_err *err, const char *fmt, ...)
{
    char work[WORK_BYTES] = "";
    struct sb_err prefix;
    va_list args;

    if (!err)
        return -1;
    va_start(args, fmt);
    vsnprintf(work, sizeof work, fmt, args);
    va_end(args);
    set_text(&prefix, work);
    snprintf(work, sizeof work, "%s: %s", prefix.text, err->text);
    set_text(err, work);
    return -1;
}

const char *sb_code_name(enum sb_code code)
{
    static const char *const names[] = {
        [SB_OK] = "ok",
        [SB_BAD_REQUEST] = "bad_request",
        [SB_DENIED] = "denied",
        [SB_UNSUPPORTED] = "unsupported",
        [SB_LIMIT] = "limit",
        [SB_TIMEOUT] = "timeout",
        [SB_CANCELLED] = "cancelled",
        [SB_NOT_FOUND] = "not_found",
        [SB_BUSY] = "busy",
        [SB_HOST] = "host",
        [SB_BUG] = "bug",
    };

    /* A code can come out of a guest's frame. */
    return (size_t)code < sizeof names / sizeof names[0] ? names[code] : "unknown";
}
