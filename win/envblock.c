/* SPDX-License-Identifier: MIT */
#include "envblock.h"

#include <windows.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "utf16.h"

static int name_units(const wchar_t *entry)
{
    return (int)wcscspn(entry, L"=");
}

/* The order the system itself uses: ordinal, upper-cased by its own table, not by a locale's. */
static int by_name(const void *left, const void *right)
{
    const wchar_t *a = *(wchar_t *const *)left, *b = *(wchar_t *const *)right;
    return CompareStringOrdinal(a, name_units(a), b, name_units(b), TRUE) - CSTR_EQUAL;
}

/* Values stay out of the error: they may be secret. */
static int check(wchar_t *const *sorted, size_t n, struct sb_err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (sorted[i][name_units(sorted[i])] == 0 || sorted[i][0] == L'=')
            return sb_fail(err, SB_BAD_REQUEST, "an entry of the environment is not NAME=value");
        if (i > 0 && by_name(&sorted[i - 1], &sorted[i]) == 0) {
            char *name = sb_from_utf16(sorted[i]);
            name[strcspn(name, "=")] = 0;
            sb_fail(err, SB_BAD_REQUEST, "'%s' is twice in the environment", name);
            sb_free(name);
            return -1;
        }
    }
    return 0;
}

wchar_t *sb_env_block(char *const *env, struct sb_err *err)
{
    size_t n = 0, units = 2;
    wchar_t *block = NULL;

    while (env[n])
        n++;
    wchar_t **entries = sb_alloc((n + 1) * sizeof *entries);
    for (size_t i = 0; i < n; i++) {
        entries[i] = sb_to_utf16(env[i], err);
        if (!entries[i])
            goto done;
        units += wcslen(entries[i]) + 1;
    }
    qsort(entries, n, sizeof *entries, by_name);
    if (check(entries, n, err) < 0)
        goto done;
    block = sb_alloc(units * sizeof *block);
    wchar_t *end = block;
    for (size_t i = 0; i < n; i++) {
        wcscpy(end, entries[i]);
        end += wcslen(entries[i]) + 1;
    }
done:
    for (size_t i = 0; i < n; i++)
        sb_free(entries[i]);
    sb_free(entries);
    return block;
}
