/* SPDX-License-Identifier: MIT
 * Who runs next: a few of each peer at once, so many in all, the others wait in order. The
 * peer with the fewest running comes first; equal ones take turns. Pure. */
#ifndef SB_SERVER_QUEUE_H
#define SB_SERVER_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define SB_QUEUE_RETRY_S 5 /* what "busy" tells the client to wait */

struct sb_queue;

struct sb_queue_caps {
    unsigned running;      /* of all peers at once */
    unsigned peer_running, peer_queued;
    size_t peer_bytes;     /* of what waits */
};
struct sb_queue *sb_queue_new(const struct sb_queue_caps *caps);
void sb_queue_free(struct sb_queue *queue);

/* Puts `item`, which holds `bytes`, behind the others of `peer`. SB_BUSY: too many or too
 * much of this peer waits; an item alone is never too large. */
int sb_queue_add(struct sb_queue *queue, const char *peer, void *item, size_t bytes, struct sb_err *err);
/* Takes the item whose turn it is; it counts as running until sb_queue_done. NULL: none may. */
void *sb_queue_next(struct sb_queue *queue);
void sb_queue_done(struct sb_queue *queue, const char *peer);
/* Takes a waiting item out; false: it does not wait. */
bool sb_queue_remove(struct sb_queue *queue, const char *peer, const void *item);

#endif
