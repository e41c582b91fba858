/* SPDX-License-Identifier: MIT */
#include "server/kept.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "platform/dirs.h"
#include "platform/hostpath.h"
#include "server/spool.h"

#define NO_FD (-1)

struct item {
    char *name;
    uint64_t size;
    struct sb_buf small; /* all of it, while it has no path */
    char *path;
    int fd; /* open while it grows */
};

struct sb_kept {
    struct sb_kept *next; /* the older ones come first */
    struct sb_kept_store *store;
    char *peer, *id, *dir; /* dir is NULL until there is a file */
    void *owner;
    struct item *items;
    size_t count;
    unsigned files; /* made so far, which numbers the next */
    uint64_t bytes, memory;
    bool sealed;
    int64_t until_ms;
};

struct sb_kept_store {
    struct sb_kept_want want;
    char *dir; /* NULL until there is a file */
    struct sb_kept *first;
};

struct sb_kept_store *sb_kept_store_new(const struct sb_kept_want *want)
{
    struct sb_kept_store *store = sb_alloc(sizeof *store);

    store->want = *want;
    return store;
}

void sb_kept_store_free(struct sb_kept_store *store)
{
    sb_free(store->dir);
    sb_free(store);
}

struct sb_kept *sb_kept_new(struct sb_kept_store *store, const char *peer, const char *run_id, void *owner)
{
    struct sb_kept *kept = sb_alloc(sizeof *kept), **last;

    kept->store = store;
    kept->peer = sb_strdup(peer);
    kept->id = sb_strdup(run_id);
    kept->owner = owner;
    for (last = &store->first; *last != NULL; last = &(*last)->next)
        ;
    *last = kept;
    return kept;
}

static void item_done(struct item *item)
{
    if (item->fd != NO_FD)
        sb_spool_close(item->fd, NULL);
    sb_buf_done(&item->small);
    sb_free(item->name);
    sb_free(item->path);
}

void sb_kept_free(struct sb_kept *kept)
{
    struct sb_kept **link = &kept->store->first;

    while (*link != kept)
        link = &(*link)->next;
    *link = kept->next;
    for (size_t i = 0; i < kept->count; i++)
        item_done(&kept->items[i]);
    sb_free(kept->items);
    if (kept->dir != NULL)
        sb_spool_remove_folder(kept->dir);
    sb_free(kept->dir);
    sb_free(kept->peer);
    sb_free(kept->id);
    sb_free(kept);
}

static void drop(struct sb_kept *kept)
{
    kept->store->want.on_drop(kept->owner);
    sb_kept_free(kept);
}

/* ---- room --------------------------------------------------------------------------- */

static uint64_t bytes_of(const struct sb_kept_store *store, const char *peer)
{
    uint64_t sum = 0;

    for (const struct sb_kept *kept = store->first; kept != NULL; kept = kept->next)
        if (strcmp(kept->peer, peer) == 0)
            sum += kept->bytes + kept->memory;
    return sum;
}

/* The sealed run of the peer that goes first; never `except`. */
static struct sb_kept *oldest(const struct sb_kept *except)
{
    struct sb_kept *found = NULL;

    for (struct sb_kept *kept = except->store->first; kept != NULL; kept = kept->next)
        if (kept != except && kept->sealed && strcmp(kept->peer, except->peer) == 0 &&
            (found == NULL || kept->until_ms < found->until_ms))
            found = kept;
    return found;
}

static int make_room(struct sb_kept *kept, uint64_t len, struct sb_err *err)
{
    uint64_t most = kept->store->want.peer_bytes, used;

    while ((used = bytes_of(kept->store, kept->peer)) > most || len > most - used) {
        struct sb_kept *old = oldest(kept);

        if (old == NULL)
            return sb_fail(err, SB_LIMIT, "more than %" PRIu64 " MiB would be kept", most >> 20);
        drop(old);
    }
    return 0;
}

/* ---- filling ------------------------------------------------------------------------ */

static struct item *find(const struct sb_kept *kept, const char *name)
{
    for (size_t i = 0; i < kept->count; i++)
        if (strcmp(kept->items[i].name, name) == 0)
            return &kept->items[i];
    return NULL;
}

static struct item *find_or_make(struct sb_kept *kept, const char *name, struct sb_err *err)
{
    struct item *item = find(kept, name);

    if (item != NULL)
        return item;
    if (kept->count == SB_KEPT_ITEMS) {
        sb_fail(err, SB_LIMIT, "more than %d items", SB_KEPT_ITEMS);
        return NULL;
    }
    kept->items = sb_realloc(kept->items, (kept->count + 1) * sizeof *kept->items);
    item = &kept->items[kept->count++];
    *item = (struct item){.fd = NO_FD};
    item->name = sb_strdup(name);
    sb_buf_init(&item->small, SB_KEPT_SMALL);
    return item;
}

static char *join(const char *dir, const char *name)
{
    struct sb_buf path;

    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    sb_path_join(&path, dir, name, sb_host_rules());
    return sb_buf_take(&path);
}

static int make_store_folder(struct sb_kept_store *store, struct sb_err *err)
{
    struct sb_buf path;
    int rc = 0;

    if (store->dir != NULL)
        return 0;
    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    rc = store->want.make_folder(store->want.ctx, &path, err);
    if (rc == 0)
        store->dir = sb_buf_take(&path);
    else
        sb_buf_done(&path);
    return rc;
}

static int make_run_folder(struct sb_kept *kept, struct sb_err *err)
{
    if (kept->dir != NULL)
        return 0;
    if (make_store_folder(kept->store, err) < 0)
        return -1;
    kept->dir = join(kept->store->dir, kept->id);
    if (sb_dir_make(kept->dir, 0, err) == 0)
        return 0;
    sb_free(kept->dir);
    kept->dir = NULL;
    return -1;
}

static int give_path(struct sb_kept *kept, struct item *item, struct sb_err *err)
{
    char number[16] = "";
    struct sb_buf text;

    if (make_run_folder(kept, err) < 0)
        return -1;
    sb_buf_init(&text, sizeof number - 1);
    sb_buf_addf(&text, "%u", kept->files++);
    item->path = join(kept->dir, text.data);
    sb_buf_done(&text);
    return 0;
}

/* From memory to a file, which stays open. */
static int move_out(struct sb_kept *kept, struct item *item, struct sb_err *err)
{
    if (give_path(kept, item, err) < 0 || sb_spool_create(item->path, &item->fd, err) < 0 ||
        sb_spool_write(item->fd, item->small.data, item->small.len, err) < 0)
        return -1;
    sb_buf_done(&item->small);
    return 0;
}

int sb_kept_add(struct sb_kept *kept, const char *name, const void *bytes, size_t len, struct sb_err *err)
{
    struct item *item = find_or_make(kept, name, err);

    if (item == NULL)
        return -1;
    if (make_room(kept, len, err) < 0)
        goto failed;
    if (item->path == NULL && len > SB_KEPT_SMALL - item->small.len && move_out(kept, item, err) < 0)
        goto failed;
    if (item->path == NULL)
        sb_buf_add(&item->small, bytes, len);
    else if (sb_spool_write(item->fd, bytes, len, err) < 0)
        goto failed;
    item->size += len;
    kept->bytes += len;
    return 0;
failed:
    sb_kept_forget(kept, name);
    return -1;
}

int sb_kept_end(struct sb_kept *kept, const char *name, struct sb_err *err)
{
    struct item *item = find_or_make(kept, name, err);
    int fd;

    if (item == NULL)
        return -1;
    fd = item->fd;
    item->fd = NO_FD;
    if (fd == NO_FD || sb_spool_close(fd, err) == 0)
        return 0;
    sb_kept_forget(kept, name);
    return -1;
}

int sb_kept_reserve(struct sb_kept *kept, const char *name, uint64_t len, const char **out_path,
                    struct sb_err *err)
{
    struct item *item = find_or_make(kept, name, err);

    if (item == NULL)
        return -1;
    if (make_room(kept, len, err) < 0 || give_path(kept, item, err) < 0) {
        sb_kept_forget(kept, name);
        return -1;
    }
    item->size = len;
    kept->bytes += len;
    *out_path = item->path;
    return 0;
}

void sb_kept_forget(struct sb_kept *kept, const char *name)
{
    struct item *item = find(kept, name);

    if (item == NULL)
        return;
    kept->bytes -= item->size;
    if (item->fd != NO_FD)
        sb_spool_close(item->fd, NULL);
    item->fd = NO_FD;
    if (item->path != NULL)
        sb_spool_remove(item->path);
    item_done(item);
    *item = kept->items[--kept->count];
}

/* ---- the end ------------------------------------------------------------------------ */

void sb_kept_seal(struct sb_kept *kept, int64_t now_ms, uint64_t memory)
{
    size_t sealed = 1;

    kept->memory = memory;
    make_room(kept, 0, NULL); /* at worst it is the only one, and just ended */
    for (const struct sb_kept *other = kept->store->first; other != NULL; other = other->next)
        sealed += other->sealed && strcmp(other->peer, kept->peer) == 0;
    for (; sealed > kept->store->want.peer_runs && oldest(kept) != NULL; sealed--)
        drop(oldest(kept));
    kept->sealed = true;
    kept->until_ms = now_ms + kept->store->want.ms;
}

int64_t sb_kept_expire(struct sb_kept_store *store, int64_t now_ms)
{
    int64_t next_ms = -1;
    struct sb_kept *next;

    for (struct sb_kept *kept = store->first; kept != NULL; kept = next) {
        next = kept->next;
        if (!kept->sealed)
            continue;
        if (kept->until_ms <= now_ms)
            drop(kept);
        else if (next_ms < 0 || kept->until_ms < next_ms)
            next_ms = kept->until_ms;
    }
    return next_ms;
}

/* ---- reading ------------------------------------------------------------------------ */

static int not_found(const struct sb_kept *kept, const char *name, struct sb_err *err)
{
    struct sb_buf list;
    size_t i;

    sb_buf_init(&list, 300);
    for (i = 0; i < kept->count && !list.full; i++)
        sb_buf_addf(&list, "%s%s", i > 0 ? ", " : "", kept->items[i].name);
    if (list.full)
        sb_buf_addf(&list, ", ..."); /* where it fits */
    sb_fail(err, SB_NOT_FOUND, "run %s has no '%.80s': %s%s", kept->id, name,
            kept->count > 0 ? "there is " : "nothing is kept of it", list.data);
    sb_buf_done(&list);
    return -1;
}

bool sb_kept_has(const struct sb_kept *kept, const char *name)
{
    return find(kept, name) != NULL;
}

int sb_kept_read(struct sb_kept *kept, const char *name, uint64_t offset, size_t most, struct sb_buf *out,
                 uint64_t *total, struct sb_err *err)
{
    const struct item *item = find(kept, name);
    size_t len;

    if (item == NULL)
        return not_found(kept, name, err);
    len = offset >= item->size ? 0 : item->size - offset < most ? (size_t)(item->size - offset) : most;
    if (item->path != NULL && len > 0) {
        if (sb_spool_read(item->path, offset, len, out, err) < 0)
            return -1;
    } else if (len > 0) {
        sb_buf_add(out, item->small.data + offset, len);
    }
    *total = item->size;
    return 0;
}
