/* SPDX-License-Identifier: MIT */
#include "uids.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define HIGHEST 4294967293u /* the two above mean "nobody" and "no change" to some */
#define LOWEST  1000u       /* below are the system's own, even those not in use yet */

struct range {
    uint64_t first, last;
};

struct ranges {
    struct range *v;
    size_t n, cap;
};

static void add(struct ranges *ranges, uint64_t first, uint64_t last)
{
    if (first > last)
        return;
    if (ranges->n == ranges->cap) {
        ranges->cap = ranges->cap ? 2 * ranges->cap : 64;
        ranges->v = sb_realloc(ranges->v, ranges->cap * sizeof *ranges->v);
    }
    ranges->v[ranges->n++] = (struct range){first, last};
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');

    return end ? end + 1 : NULL;
}

/* The start of field `index` (from 0) of the line, NULL when the line has fewer. */
static const char *field(const char *line, unsigned index)
{
    for (; index > 0; index--) {
        line += strcspn(line, ":\n");
        if (*line != ':')
            return NULL;
        line++;
    }
    return line;
}

/* NAME:PASSWORD:ID:... of passwd and group. */
static void add_ids(struct ranges *ranges, const char *text)
{
    for (const char *line = text; line && *line; line = next_line(line)) {
        const char *id = field(line, 2);

        if (id && *id >= '0' && *id <= '9') {
            uint64_t number = strtoull(id, NULL, 10);

            add(ranges, number, number);
        }
    }
}

/* NAME:FIRST:COUNT of subuid and subgid. */
static void add_subids(struct ranges *ranges, const char *text)
{
    for (const char *line = text; line && *line; line = next_line(line)) {
        const char *first = field(line, 1), *count = field(line, 2);

        if (first && count) {
            uint64_t from = strtoull(first, NULL, 10) & UINT32_MAX,
                     many = strtoull(count, NULL, 10) & UINT32_MAX;

            if (many > 0)
                add(ranges, from, from + many - 1);
        }
    }
}

static int by_first(const void *a, const void *b)
{
    const struct range *x = a, *y = b;

    return x->first < y->first ? -1 : x->first > y->first;
}

static int by_last_down(const void *a, const void *b)
{
    const struct range *x = a, *y = b;

    return x->last > y->last ? -1 : x->last < y->last;
}

/* "INSIDE OUTSIDE COUNT" per line: what lies between the mapped ranges can't be used. */
static void add_unmapped(struct ranges *ranges, const char *text)
{
    struct ranges mapped = {0};
    uint64_t next = 0;

    for (const char *line = text; line && *line; line = next_line(line)) {
        char *end;
        uint64_t first = strtoull(line, &end, 10);
        uint64_t count;

        strtoull(end, &end, 10);
        count = strtoull(end, NULL, 10);
        if (count > 0)
            add(&mapped, first, first + count - 1);
    }
    if (mapped.n > 0) {
        qsort(mapped.v, mapped.n, sizeof *mapped.v, by_first);
        for (size_t i = 0; i < mapped.n; i++) {
            if (mapped.v[i].first > next)
                add(ranges, next, mapped.v[i].first - 1);
            next = mapped.v[i].last + 1;
        }
        add(ranges, next, UINT32_MAX);
    }
    sb_free(mapped.v);
}

/* Collects downwards from `highest`. `taken` is sorted by last number, downwards: a range that
 * lies above us is never met again, and the first that does not decides. */
static size_t collect(const struct ranges *taken, uint64_t highest, uint64_t lowest, uint32_t *pool)
{
    size_t n = 0, i = 0;
    uint64_t id = highest;

    while (id >= lowest && n < SB_UIDS_COUNT) {
        while (i < taken->n && taken->v[i].first > id)
            i++;
        if (i < taken->n && taken->v[i].last >= id) {
            if (taken->v[i].first == 0)
                break;
            id = taken->v[i].first - 1;
        } else {
            pool[n++] = (uint32_t)id--;
        }
    }
    return n;
}

size_t sb_uid_pool(const struct sb_uid_files *files, uint32_t pool[SB_UIDS_COUNT])
{
    struct ranges taken = {0};
    size_t n;

    add(&taken, 61184, 65519); /* systemd's DynamicUser */
    add(&taken, 65534, 65535); /* nobody, and the -1 of 16-bit interfaces */
    add_ids(&taken, files->passwd);
    add_ids(&taken, files->group);
    add_subids(&taken, files->subuid);
    add_subids(&taken, files->subgid);
    add_unmapped(&taken, files->uid_map);
    add_unmapped(&taken, files->gid_map);
    qsort(taken.v, taken.n, sizeof *taken.v, by_last_down);

    n = collect(&taken, SB_UIDS_FIRST + SB_UIDS_COUNT - 1, SB_UIDS_FIRST, pool);
    if (n == 0)
        n = collect(&taken, HIGHEST, LOWEST, pool);
    sb_free(taken.v);
    return n;
}
