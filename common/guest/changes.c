/* SPDX-License-Identifier: MIT */
#include "guest/changes.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "guest/dispatch.h"

/* FNV-1a. A program that finds two names with one hash hides its own file, no one else's. */
static uint64_t hash(const char *path)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *path; path++)
        h = (h ^ (unsigned char)*path) * 0x100000001b3u;
    return h;
}

static struct sb_changes_mark mark_of(const struct sb_gos_entry *entry)
{
    return (struct sb_changes_mark){hash(entry->path), entry->size, entry->inode, entry->mtime_ns,
                                    entry->change_ns};
}

static int by_hash(const void *a, const void *b)
{
    const struct sb_changes_mark *x = a, *y = b;
    return (x->path_hash > y->path_hash) - (x->path_hash < y->path_hash);
}

static bool note(void *ctx, const struct sb_gos_entry *entry)
{
    struct sb_changes *changes = ctx;
    if (entry->type == SB_ENTRY_FOLDER)
        return true;
    if (changes->count == changes->room) {
        changes->room = changes->room ? 2 * changes->room : 64;
        changes->marks = sb_realloc(changes->marks, changes->room * sizeof *changes->marks);
    }
    changes->marks[changes->count++] = mark_of(entry);
    return true;
}

void sb_changes_before(struct sb_changes *changes, struct sb_gos *gos)
{
    bool cut = false;
    sb_gos_walk(gos, "", SB_WIRE_ENTRIES_MAX, note, changes, &cut, NULL);
    if (changes->count > 0)
        qsort(changes->marks, changes->count, sizeof *changes->marks, by_hash);
}

void sb_changes_done(struct sb_changes *changes)
{
    sb_free(changes->marks);
    *changes = (struct sb_changes){NULL, 0, 0};
}

static bool is_known(const struct sb_changes *changes, const struct sb_gos_entry *entry)
{
    struct sb_changes_mark now = mark_of(entry), *then = NULL;
    if (changes->count > 0)
        then = bsearch(&now, changes->marks, changes->count, sizeof now, by_hash);
    return then && then->size == now.size && then->inode == now.inode && then->mtime_ns == now.mtime_ns &&
           then->change_ns == now.change_ns;
}

struct after {
    const struct sb_changes *changes;
    struct sb_wire_exit *exit;
};

static bool compare(void *ctx, const struct sb_gos_entry *entry)
{
    struct after *after = ctx;
    struct sb_wire_exit *exit = after->exit;
    if (entry->type == SB_ENTRY_FOLDER || is_known(after->changes, entry))
        return true;
    if (strlen(entry->path) > SB_WIRE_PATH_MAX) { /* deeper than any path can name */
        exit->flags |= SB_EXIT_FILES_CUT;
        return true;
    }
    if (exit->file_count == SB_WIRE_FILES_MAX) {
        exit->flags |= SB_EXIT_FILES_CUT;
        return false;
    }
    if (!exit->files)
        exit->files = sb_alloc(SB_WIRE_FILES_MAX * sizeof *exit->files);
    struct sb_wire_entry *row = &exit->files[exit->file_count++];
    *row = sb_guest_entry(entry);
    row->path = sb_strdup(entry->path);
    return true;
}

void sb_changes_after(const struct sb_changes *changes, struct sb_gos *gos, struct sb_wire_exit *exit)
{
    struct after after = {changes, exit};
    bool cut = false;
    if (sb_gos_walk(gos, "", SB_WIRE_ENTRIES_MAX, compare, &after, &cut, NULL) < 0 || cut)
        exit->flags |= SB_EXIT_FILES_CUT;
}
