/* SPDX-License-Identifier: MIT */
#include "server/queue.h"

#include <string.h>

#include "base/alloc.h"

struct entry {
    struct entry *next;
    void *item;
    size_t bytes;
};

struct peer {
    struct peer *next;
    char *name;
    unsigned running, queued;
    size_t bytes;
    struct entry *first;
};

struct sb_queue {
    struct sb_queue_caps caps;
    unsigned running;
    struct peer *peers; /* in the order of their turns; none that has nothing */
};

struct sb_queue *sb_queue_new(const struct sb_queue_caps *caps)
{
    struct sb_queue *queue = sb_alloc(sizeof *queue);

    queue->caps = *caps;
    return queue;
}

static void free_peer(struct peer *peer)
{
    while (peer->first != NULL) {
        struct entry *entry = peer->first;

        peer->first = entry->next;
        sb_free(entry);
    }
    sb_free(peer->name);
    sb_free(peer);
}

void sb_queue_free(struct sb_queue *queue)
{
    while (queue->peers != NULL) {
        struct peer *peer = queue->peers;

        queue->peers = peer->next;
        free_peer(peer);
    }
    sb_free(queue);
}

/* The link that points to the peer, or the last one, which is NULL. */
static struct peer **find(struct sb_queue *queue, const char *name)
{
    struct peer **link = &queue->peers;

    while (*link != NULL && strcmp((*link)->name, name) != 0)
        link = &(*link)->next;
    return link;
}

static void forget_if_idle(struct peer **link)
{
    struct peer *peer = *link;

    if (peer->running > 0 || peer->queued > 0)
        return;
    *link = peer->next;
    free_peer(peer);
}

int sb_queue_add(struct sb_queue *queue, const char *peer_name, void *item, size_t bytes,
                 struct sb_err *err)
{
    const struct sb_queue_caps *caps = &queue->caps;
    struct peer **link = find(queue, peer_name), *peer = *link;
    struct entry **last, *entry;

    if (peer != NULL && peer->queued >= caps->peer_queued)
        return sb_fail(err, SB_BUSY, "busy, retry in %d s: %u calls run and %u wait already",
                       SB_QUEUE_RETRY_S, peer->running, peer->queued);
    if (peer != NULL && peer->queued > 0 &&
        (peer->bytes > caps->peer_bytes || bytes > caps->peer_bytes - peer->bytes))
        return sb_fail(err, SB_BUSY, "busy, retry in %d s: the %u calls that wait already hold %zu bytes",
                       SB_QUEUE_RETRY_S, peer->queued, peer->bytes);
    if (peer == NULL) {
        peer = *link = sb_alloc(sizeof *peer);
        peer->name = sb_strdup(peer_name);
    }
    entry = sb_alloc(sizeof *entry);
    entry->item = item;
    entry->bytes = bytes;
    for (last = &peer->first; *last != NULL; last = &(*last)->next)
        ;
    *last = entry;
    peer->queued++;
    peer->bytes += bytes;
    return 0;
}

/* Takes the entry out; returns its item. */
static void *take(struct peer *peer, struct entry **link)
{
    struct entry *entry = *link;
    void *item = entry->item;

    *link = entry->next;
    peer->queued--;
    peer->bytes -= entry->bytes;
    sb_free(entry);
    return item;
}

/* Whose turn it is: of those who may, the one with the fewest running, who waited longest. */
static struct peer **find_next(struct sb_queue *queue)
{
    struct peer **found = NULL;

    for (struct peer **link = &queue->peers; *link != NULL; link = &(*link)->next)
        if ((*link)->queued > 0 && (*link)->running < queue->caps.peer_running &&
            (found == NULL || (*link)->running < (*found)->running))
            found = link;
    return found;
}

void *sb_queue_next(struct sb_queue *queue)
{
    struct peer **link = queue->running < queue->caps.running ? find_next(queue) : NULL, *peer;

    if (link == NULL)
        return NULL;
    peer = *link;
    *link = peer->next; /* its next turn comes after everybody else's */
    peer->next = NULL;
    *find(queue, peer->name) = peer;
    peer->running++;
    queue->running++;
    return take(peer, &peer->first);
}

void sb_queue_done(struct sb_queue *queue, const char *peer)
{
    struct peer **link = find(queue, peer);

    (*link)->running--;
    queue->running--;
    forget_if_idle(link);
}

bool sb_queue_remove(struct sb_queue *queue, const char *peer, const void *item)
{
    struct peer **link = find(queue, peer);
    struct entry **at;

    if (*link == NULL)
        return false;
    for (at = &(*link)->first; *at != NULL; at = &(*at)->next)
        if ((*at)->item == item) {
            take(*link, at);
            forget_if_idle(link);
            return true;
        }
    return false;
}
