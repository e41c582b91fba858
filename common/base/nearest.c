/* SPDX-License-Identifier: MIT */
#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

#define BEGINNING_LEAST 3 /* letters */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; /* not tolower: Turkish i */
}

/* Levenshtein; both at most SB_NEAREST_MAX long. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t row[SB_NEAREST_MAX + 1];

    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t best = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));

            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[b_len];
}

static size_t common_beginning(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t n = 0;

    while (n < a_len && n < b_len && lower(a[n]) == lower(b[n]))
        n++;
    return n;
}

void sb_nearest_begin(struct sb_nearest *nearest, const char *wrong, size_t len)
{
    *nearest = (struct sb_nearest){.wrong = wrong, .len = len, .off = SIZE_MAX};
}

void sb_nearest_try(struct sb_nearest *nearest, const char *candidate)
{
    size_t len = strlen(candidate), shorter = len < nearest->len ? len : nearest->len, off;

    if (len > SB_NEAREST_MAX || nearest->len > SB_NEAREST_MAX)
        return;
    off = distance(nearest->wrong, nearest->len, candidate, len);
    if (off * 3 > len) {
        if (shorter < BEGINNING_LEAST ||
            common_beginning(nearest->wrong, nearest->len, candidate, len) < shorter)
            return;
        off += SB_NEAREST_MAX; /* behind every slip */
    }
    if (off < nearest->off) {
        nearest->off = off;
        nearest->found = candidate;
    }
}
