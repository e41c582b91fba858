/* SPDX-License-Identifier: MIT */
#include "platform/oserr.h"

#include <uv.h>
#include <windows.h>

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "utf16.h"

static enum sb_code code_of(long os)
{
    switch (os) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case UV_ENOENT:
        return SB_NOT_FOUND;
    case ERROR_ACCESS_DENIED:
    case ERROR_PRIVILEGE_NOT_HELD:
    case ERROR_WRITE_PROTECT:
    case UV_EACCES:
    case UV_EPERM:
        return SB_DENIED;
    default:
        return SB_HOST;
    }
}

/* The system's sentence as ours: lower case first, no full stop, no line end; "" when it
 * has none in English. */
static void sentence(DWORD os, char *out, size_t cap)
{
    wchar_t wide[300];
    DWORD len =
        FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, os,
                       MAKELANGID(LANG_ENGLISH, SUBLANG_ENGLISH_US), wide, (DWORD)SB_COUNT(wide), NULL);
    wide[len] = 0;
    char *text = sb_from_utf16(wide);
    size_t end = strlen(text);
    while (end > 0 && (isspace((unsigned char)text[end - 1]) || text[end - 1] == '.'))
        text[--end] = 0;
    if (isupper((unsigned char)text[0]) && islower((unsigned char)text[1]))
        text[0] = (char)tolower((unsigned char)text[0]);
    snprintf(out, cap, "%s", text);
    sb_free(text);
}

SB_PRINTF(3, 0)
static int fail_with(struct sb_err *err, long os, const char *fmt, va_list args)
{
    char what[300], why[200] = "";

    if (!err)
        return -1;
    vsnprintf(what, sizeof what, fmt, args);
    if (os < 0)
        snprintf(why, sizeof why, "%s", uv_strerror((int)os));
    else
        sentence((DWORD)os, why, sizeof why);
    if (why[0] == 0)
        snprintf(why, sizeof why, "system error %ld", os);
    sb_fail(err, code_of(os), "%s: %s", what, why);
    err->os = os;
    return -1;
}

int sb_fail_os(struct sb_err *err, const char *fmt, ...)
{
    long os = (long)GetLastError();
    va_list args;
    va_start(args, fmt);
    fail_with(err, os, fmt, args);
    va_end(args);
    return -1;
}

int sb_fail_os_at(struct sb_err *err, long os, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fail_with(err, os, fmt, args);
    va_end(args);
    return -1;
}
