/* SPDX-License-Identifier: MIT
 * The run store: what is kept of ended runs, per peer, in memory where it is small, else in
 * FOLDER/RUN_ID/NUMBER. Loop thread only.
 *
 * A run is open while it is filled; sealed, it is dropped when its time is up or when newer
 * runs of its peer need the room. The files go with their run, the folder with whoever made it. */
#ifndef SB_SERVER_KEPT_H
#define SB_SERVER_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct sb_buf;
struct sb_kept_store;
struct sb_kept; /* of one run */

#define SB_KEPT_ITEMS 80   /* of one run: two streams and its artifacts */
#define SB_KEPT_SMALL 4096 /* bytes of an item that stay in memory: most runs make no file */

struct sb_kept_want {
    /* Makes the folder, when there is a first file; `out` is its path. */
    int (*make_folder)(void *ctx, struct sb_buf *out, struct sb_err *err);
    void *ctx;
    uint64_t peer_bytes;
    size_t peer_runs;
    int64_t ms;                   /* from the seal */
    void (*on_drop)(void *owner); /* the store gives a sealed run up: it is freed on return */
};
struct sb_kept_store *sb_kept_store_new(const struct sb_kept_want *want);
void sb_kept_store_free(struct sb_kept_store *store); /* after all its runs */

struct sb_kept *sb_kept_new(struct sb_kept_store *store, const char *peer, const char *run_id, void *owner);
void sb_kept_free(struct sb_kept *kept); /* without on_drop */

/* Appends to the item `name`, which it makes. An item that can't be written to its end is
 * not kept at all. May drop older runs. */
int sb_kept_add(struct sb_kept *kept, const char *name, const void *bytes, size_t len, struct sb_err *err);
/* No more of it comes; SB_OK also when nothing of it is there: then it is empty. */
int sb_kept_end(struct sb_kept *kept, const char *name, struct sb_err *err);
/* For what is too much for the loop thread: makes room for an item of `len` bytes; a worker
 * writes them to *out_path (owned by the kept run). */
int sb_kept_reserve(struct sb_kept *kept, const char *name, uint64_t len, const char **out_path,
                    struct sb_err *err);
void sb_kept_forget(struct sb_kept *kept, const char *name); /* not kept after all */

/* Nothing more comes; `memory` is what its owner holds of it beside, which counts too. */
void sb_kept_seal(struct sb_kept *kept, int64_t now_ms, uint64_t memory);
/* Drops what is over. Returns when the next one is, -1: none. */
int64_t sb_kept_expire(struct sb_kept_store *store, int64_t now_ms);

bool sb_kept_has(const struct sb_kept *kept, const char *name);
/* Appends at most `most` bytes from `offset`. SB_NOT_FOUND names the items there are. */
int sb_kept_read(struct sb_kept *kept, const char *name, uint64_t offset, size_t most, struct sb_buf *out,
                 uint64_t *total, struct sb_err *err);

#endif
