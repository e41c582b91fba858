/* SPDX-License-Identifier: MIT */
#include "platform/oserr.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

/* So much of a long path is kept that the reason after it still fits. */
#define WHAT_BYTES 400

static enum sb_code code_of(long number)
{
    switch (number) {
    case ENOENT:
    case ENOTDIR:
        return SB_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS:
        return SB_DENIED;
    default:
        return SB_HOST;
    }
}

/* "Permission denied" becomes "permission denied"; "RPC ..." keeps its capitals. */
static void describe(long number, char *out, size_t cap)
{
    const char *text = strerrordesc_np((int)number); /* never translated, unlike strerror */

    if (text)
        snprintf(out, cap, "%s", text);
    else
        uv_strerror_r((int)-number, out, cap); /* libuv's own codes, such as UV_EOF */
    if (out[0] >= 'A' && out[0] <= 'Z' && out[1] >= 'a' && out[1] <= 'z')
        out[0] = (char)(out[0] - 'A' + 'a');
}

SB_PRINTF(3, 0)
static int fail(struct sb_err *err, long number, const char *fmt, va_list args)
{
    char what[WHAT_BYTES], why[64];

    if (!err)
        return -1;
    if (number < 0)
        number = -number;
    vsnprintf(what, sizeof what, fmt, args);
    describe(number, why, sizeof why);
    sb_fail(err, code_of(number), "%s: %s", what, why);
    err->os = number;
    return -1;
}

int sb_fail_os(struct sb_err *err, const char *fmt, ...)
{
    long number = errno;
    va_list args;

    va_start(args, fmt);
    fail(err, number, fmt, args);
    va_end(args);
    return -1;
}

int sb_fail_os_at(struct sb_err *err, long os, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fail(err, os, fmt, args);
    va_end(args);
    return -1;
}
