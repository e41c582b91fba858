/* SPDX-License-Identifier: MIT */
#include "guest_win.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/alloc.h"
#include "utf16.h"

static enum sb_code code_of(DWORD os)
{
    switch (os) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
        return SB_NOT_FOUND;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
        return SB_DENIED;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
    case ERROR_NOT_ENOUGH_QUOTA:
        return SB_LIMIT;
    case ERROR_DIR_NOT_EMPTY:
    case ERROR_DIRECTORY:
    case ERROR_FILENAME_EXCED_RANGE:
    case ERROR_BAD_EXE_FORMAT:
        return SB_BAD_REQUEST;
    default:
        return SB_HOST;
    }
}

/* The system's sentence without its capital, full stop and line end; in its own language. */
static char *reason_of(DWORD os)
{
    wchar_t text[200] = L"";
    DWORD len = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, os, 0, text,
                               (DWORD)SB_COUNT(text), NULL);

    while (len > 0 && wcschr(L". \r\n", text[len - 1]))
        len--;
    text[len] = 0;
    if (text[0] >= 'A' && text[0] <= 'Z')
        text[0] = (wchar_t)(text[0] + ('a' - 'A'));
    return len > 0 ? sb_from_utf16(text) : sb_asprintf("windows error %lu", os);
}

int sb_guest_fail_os(struct sb_err *err, DWORD os, const char *fmt, ...)
{
    char what[300], *reason = reason_of(os);
    va_list args;

    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    sb_fail(err, code_of(os), "%s: %s", what, reason);
    if (err)
        err->os = (long)os;
    sb_free(reason);
    return -1;
}

bool sb_guest_is_batch(const wchar_t *program)
{
    size_t len = wcslen(program);

    /* CreateProcessW drops dots and blanks at the end before it looks at the ending. */
    while (len > 0 && (program[len - 1] == '.' || program[len - 1] == ' '))
        len--;
    return len >= 4 && (CompareStringOrdinal(program + len - 4, 4, L".bat", 4, TRUE) == CSTR_EQUAL ||
                        CompareStringOrdinal(program + len - 4, 4, L".cmd", 4, TRUE) == CSTR_EQUAL);
}
