/* SPDX-License-Identifier: MIT
 * One client: lines in, lines out, over any two libuv streams (stdio, socket, pipe).
 * States: READING, PAUSED (the client does not read: its unsent answers passed
 * SB_CONN_QUEUE_MAX, so no more requests are taken), CLOSING. Loop thread only. */
#ifndef SB_SERVER_CONN_H
#define SB_SERVER_CONN_H

#include <stdbool.h>
#include <uv.h>

#include "base/err.h"

#define SB_CONN_QUEUE_MAX (8u * 1024 * 1024) /* unsent bytes; then reading pauses */
#define SB_CONN_QUEUE_END                                                                                    \
    (64u * 1024 * 1024) /* unsent bytes, of calls that were open then; the client is given up */
#define SB_CONN_LINE_OUT  (4u * 1024 * 1024) /* one line to the client (its SDK closes at 10 MiB) */
#define SB_CONN_HELD_MAX  (256u * 1024) /* read while paused, to see the end of a client that writes on */
#define SB_CONN_LAST_MS   100 /* at close: each time the client takes something it has so long again */
#define SB_CONN_LAST_MOST 20  /* times */

struct sb_conn;

struct sb_conn_events {
    void *ctx;
    void (*on_line)(void *ctx, const char *line, size_t len); /* valid during the call */
    void (*on_too_long)(void *ctx);
    void (*on_end)(void *ctx);    /* the client ended its side, or is gone; once */
    void (*on_closed)(void *ctx); /* the last word after sb_conn_close */
    /* NULL, or: this conn never pauses by itself. Its owner asks sb_conn_is_full after each
     * send, and is told here when it is no longer so. */
    void (*on_drained)(void *ctx);
};

/* Takes two descriptors of ours (they may be the same): pipes, Unix sockets, files,
 * terminals. They are the conn's from now on, also on failure; 0, 1, 2 and terminals stay
 * open at its end, as libuv does with them. No event rings inside any of these calls, but
 * for sb_conn_hold. */
int sb_conn_open(uv_loop_t *loop, int fd_in, int fd_out, const struct sb_conn_events *events,
                 struct sb_conn **out, struct sb_err *err);
/* Over a stream that is connected already; it is the conn's from now on (heap, freed by it). */
struct sb_conn *sb_conn_adopt(uv_pipe_t *stream, const struct sb_conn_events *events);
/* Closes and frees a connected stream (heap) that nobody adopts. */
void sb_conn_turn_away(uv_pipe_t *stream);
/* Queues one line; adds the \n. Never blocks, never fails: a dead client is told by on_end. One
 * that has only ended its own side may still be sent to. */
void sb_conn_send(struct sb_conn *conn, const char *line, size_t len);
/* That was the last line: behind what is queued the other side reads our end. It may go on. */
void sb_conn_finish(struct sb_conn *conn);
/* More than SB_CONN_QUEUE_MAX is unsent. */
bool sb_conn_is_full(const struct sb_conn *conn);
/* While held, no line is delivered; the end is still seen. Letting go rings on_line inside
 * this call: not from within on_line or on_too_long of the same conn. */
void sb_conn_hold(struct sb_conn *conn, bool hold);
/* Sends what is queued if the client takes it at once, then closes. Idempotent; no event
 * but on_closed follows, and that always does. */
void sb_conn_close(struct sb_conn *conn);

#endif
