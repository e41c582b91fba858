/* SPDX-License-Identifier: MIT */
#include "platform/find.h"

#include <windows.h>

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "utf16.h"

static char *search_path(void)
{
    DWORD cap = GetEnvironmentVariableW(L"PATH", NULL, 0);
    wchar_t *wide = sb_alloc(((size_t)cap + 1) * sizeof *wide);
    GetEnvironmentVariableW(L"PATH", wide, cap);
    char *path = sb_from_utf16(wide);
    sb_free(wide);
    return path;
}

/* A relative folder of PATH would mean another place in each working folder. */
static bool may_search(const char *folder)
{
    size_t len = strlen(folder);
    while (len > 0 && (folder[len - 1] == '\\' || folder[len - 1] == '/'))
        len--;
    bool store = len >= 11 && _strnicmp(folder + len - 11, "WindowsApps", 11) == 0;
    return !store && sb_path_is_absolute(folder, SB_PATH_WINDOWS);
}

static bool is_file(const char *path)
{
    wchar_t *wide = sb_to_utf16_path(path, NULL);
    DWORD attributes = wide ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
    sb_free(wide);
    return attributes != INVALID_FILE_ATTRIBUTES &&
           !(attributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT));
}

int sb_find_program(const char *name, struct sb_buf *out_path, struct sb_err *err)
{
    int rc = -1;
    struct sb_buf path;

    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    char *folders = search_path();
    char *rest = NULL;
    bool plain = strpbrk(name, "\\/:") == NULL;
    const char *ending = _stricmp(sb_path_ending(name, SB_PATH_WINDOWS), ".exe") == 0 ? "" : ".exe";
    for (char *folder = strtok_s(folders, ";", &rest); folder && plain && rc < 0;
         folder = strtok_s(NULL, ";", &rest)) {
        if (!may_search(folder))
            continue;
        sb_buf_clear(&path);
        sb_path_join(&path, folder, name, SB_PATH_WINDOWS);
        sb_buf_adds(&path, ending);
        if (!path.full && is_file(path.data))
            rc = 0;
    }
    if (rc == 0)
        sb_buf_adds(out_path, path.data);
    else
        sb_fail(err, SB_NOT_FOUND, "no program '%s%s' on PATH", name, ending);
    sb_free(folders);
    sb_buf_done(&path);
    return rc;
}
