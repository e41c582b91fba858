/* SPDX-License-Identifier: MIT */
#include "utf16.h"

#include <windows.h>

#include <string.h>

#include "base/alloc.h"
#include "base/path.h"

wchar_t *sb_to_utf16(const char *text, struct sb_err *err)
{
    int units = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    if (units <= 0) {
        sb_fail(err, SB_BAD_REQUEST, "text is not UTF-8");
        return NULL;
    }
    wchar_t *wide = sb_alloc((size_t)units * sizeof *wide);
    MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, wide, units);
    return wide;
}

char *sb_from_utf16(const wchar_t *text)
{
    int bytes = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    if (bytes <= 0)
        return sb_strdup("");
    char *narrow = sb_alloc((size_t)bytes);
    WideCharToMultiByte(CP_UTF8, 0, text, -1, narrow, bytes, NULL, NULL);
    return narrow;
}

/* \\?\C:\x for C:\x, \\?\UNC\server\share for \\server\share; a path that has the prefix keeps it. */
static const wchar_t *prefix_of(const wchar_t *full, size_t *skip)
{
    *skip = 0;
    if (wcsncmp(full, L"\\\\?\\", 4) == 0)
        return L"";
    if (wcsncmp(full, L"\\\\", 2) != 0)
        return L"\\\\?\\";
    *skip = 2;
    return L"\\\\?\\UNC\\";
}

wchar_t *sb_to_utf16_path(const char *path, struct sb_err *err)
{
    wchar_t *given = NULL, *full = NULL, *result = NULL;

    if (!sb_path_is_absolute(path, SB_PATH_WINDOWS)) {
        sb_fail(err, SB_BAD_REQUEST, "'%s' is not an absolute path", path);
        return NULL;
    }
    given = sb_to_utf16(path, err);
    if (!given)
        return NULL;
    DWORD cap = GetFullPathNameW(given, 0, NULL, NULL);
    full = sb_alloc(((size_t)cap + 1) * sizeof *full);
    DWORD len = GetFullPathNameW(given, cap + 1, full, NULL);
    if (len == 0 || len > cap) {
        sb_fail(err, SB_BAD_REQUEST, "'%s' is not a usable path", path);
        goto done;
    }
    size_t skip;
    const wchar_t *prefix = prefix_of(full, &skip);
    result = sb_alloc((wcslen(prefix) + len - skip + 1) * sizeof *result);
    wcscpy(result, prefix);
    wcscat(result, full + skip);
done:
    sb_free(full);
    sb_free(given);
    return result;
}
