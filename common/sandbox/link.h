/* SPDX-License-Identifier: MIT
 * The host's end of one guest: sends requests, checks every answer. The guest is hostile
 * input: whatever breaks the protocol ends the link with a reason, never the host.
 * Loop thread only; no callback runs inside a call that the owner makes. */
#ifndef SB_SANDBOX_LINK_H
#define SB_SANDBOX_LINK_H

#include <uv.h>

#include "base/err.h"
#include "wire/wire.h"

struct sb_link;

struct sb_link_events {
    void *ctx;
    void (*on_hello)(void *ctx, const struct sb_wire_hello *hello);
    /* Once: the stream ended (err->code SB_HOST) or the guest broke the protocol (SB_DENIED). */
    void (*on_broken)(void *ctx, const struct sb_err *why);
};

/* What happens to one operation. After on_done or on_exit nothing more comes for it. */
struct sb_op_events {
    void *ctx;
    /* Bytes of a stream; the receiver answers with sb_link_credit when it has room for more. */
    void (*on_data)(void *ctx, enum sb_channel channel, const void *bytes, size_t len);
    void (*on_end)(void *ctx, enum sb_channel channel);
    void (*on_input)(void *ctx); /* more of the PUT or stdin may be sent */
    void (*on_done)(void *ctx, const struct sb_err *err); /* err NULL: it worked */
    void (*on_exit)(void *ctx, const struct sb_wire_exit *exit); /* EXEC only */
};

/* Streams are borrowed (sb_proc's); input may equal output. Starts reading. */
int sb_link_open(uv_stream_t *input, uv_stream_t *output, const struct sb_link_events *events,
                 struct sb_link **out, struct sb_err *err);
/* Stops everything without callbacks. The streams stay the owner's. NULL is allowed. */
void sb_link_free(struct sb_link *link);

/* Requests are gathered and leave in one write at the next turn of the loop, or at once by
 * sb_link_flush. Each returns the operation's id, or 0 with err (link broken, caps). */
void sb_link_start(struct sb_link *link, unsigned flags);
uint32_t sb_link_put(struct sb_link *link, const char *path, unsigned flags,
                     const struct sb_op_events *events, struct sb_err *err);
/* `most` bytes, which the guest can't exceed; 0: to the end, however long the file is. */
uint32_t sb_link_get(struct sb_link *link, const char *path, uint64_t offset, uint64_t most,
                     const struct sb_op_events *events, struct sb_err *err);
uint32_t sb_link_exec(struct sb_link *link, const struct sb_wire_exec *exec,
                      const struct sb_op_events *events, struct sb_err *err);
void sb_link_kill(struct sb_link *link, uint32_t id);

/* Sends up to `len` bytes of a PUT or of stdin within the credit; returns what it took. */
size_t sb_link_send(struct sb_link *link, uint32_t id, const void *bytes, size_t len);
void sb_link_send_end(struct sb_link *link, uint32_t id);
void sb_link_credit(struct sb_link *link, uint32_t id, enum sb_channel channel, size_t bytes);
void sb_link_flush(struct sb_link *link);

#endif
