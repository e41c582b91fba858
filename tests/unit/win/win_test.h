/* SPDX-License-Identifier: MIT
 * What the Windows tests share. A test program starts itself as `PROGRAM child MODE ...`. */
#ifndef TESTS_UNIT_WIN_WIN_TEST_H
#define TESTS_UNIT_WIN_WIN_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <uv.h> /* before windows.h: winsock2.h must come first */
#include <windows.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "platform/random.h"
#include "utf16.h"

#define HANG_MS 20000 /* far beyond what anything here takes */

/* Tests only: the product never asks. */
static inline bool under_wine(void)
{
    return GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != NULL;
}

#define SKIP_UNDER_WINE(why)                                                                                 \
    do {                                                                                                     \
        if (under_wine()) {                                                                                  \
            print_message("SKIP: Wine %s\n", why);                                                           \
            skip();                                                                                          \
        }                                                                                                    \
    } while (0)

static inline char *own_program(void)
{
    wchar_t wide[1024];
    GetModuleFileNameW(NULL, wide, (DWORD)SB_COUNT(wide));
    return sb_from_utf16(wide);
}

/* A new empty folder with a name of its own; the caller removes it and frees the path. */
static inline char *new_folder(void)
{
    wchar_t temp[512];
    char id[SB_ID_LEN + 1];
    GetTempPathW((DWORD)SB_COUNT(temp), temp);
    char *base = sb_from_utf16(temp);
    sb_random_id(id);
    char *path = sb_asprintf("%ssb-%s", base, id);
    wchar_t *wide = sb_to_utf16_path(path, NULL);
    assert_true(CreateDirectoryW(wide, NULL));
    sb_free(wide);
    sb_free(base);
    return path;
}

static inline void write_file(const char *path, const char *text)
{
    wchar_t *wide = sb_to_utf16_path(path, NULL);
    DWORD written;
    HANDLE file = CreateFileW(wide, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
    assert_true(file != INVALID_HANDLE_VALUE);
    assert_true(WriteFile(file, text, (DWORD)strlen(text), &written, NULL));
    CloseHandle(file);
    sb_free(wide);
}

static inline bool exists(const char *path)
{
    wchar_t *wide = sb_to_utf16_path(path, NULL);
    DWORD attributes = GetFileAttributesW(wide);
    sb_free(wide);
    return attributes != INVALID_FILE_ATTRIBUTES;
}

#endif
