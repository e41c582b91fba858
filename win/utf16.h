/* SPDX-License-Identifier: MIT
 * The only way between UTF-8, which is what the product speaks, and the UTF-16 of Windows.
 * Wide text lives for one call: results are freed with sb_free. */
#ifndef SB_WIN_UTF16_H
#define SB_WIN_UTF16_H

#include <wchar.h>

#include "base/err.h"

/* NULL, and err, when it is not UTF-8. */
wchar_t *sb_to_utf16(const char *text, struct sb_err *err);

/* An absolute path, made plain (no `.`, `..`, `/`) and given the prefix \\?\, which lifts
 * the limit of 260 characters. For file calls only: a program's name and a working folder
 * must not carry it. */
wchar_t *sb_to_utf16_path(const char *path, struct sb_err *err);

/* Never fails: half a surrogate pair, which file names may hold, becomes U+FFFD. */
char *sb_from_utf16(const wchar_t *text);

#endif
