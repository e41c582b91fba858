/* SPDX-License-Identifier: MIT
 * The inside of a link, shared by link.c, which asks, and link_answers.c, which takes. */
#ifndef SB_SANDBOX_LINK_INNER_H
#define SB_SANDBOX_LINK_INNER_H

#include <stdbool.h>

#include "sandbox/link.h"

/* What one read takes from the guest: a DATA frame and some. */
#define SB_LINK_READ (128u * 1024)

enum sb_link_op_kind { OP_NONE, OP_PUT, OP_GET, OP_EXEC };

struct sb_link_op {
    enum sb_link_op_kind kind;
    uint32_t id;
    struct sb_op_events events;
    bool sends;     /* has an input stream that is not ended */
    uint32_t may_send;
    uint32_t may_receive[SB_CHAN_COUNT];
    uint32_t owed[SB_CHAN_COUNT]; /* credit the owner gave that we have not told yet */
    bool ended[SB_CHAN_COUNT];
    uint64_t left; /* of what a GET asked for */
};

struct sb_link {
    uv_stream_t *input, *output;
    struct sb_link_events events;
    uv_idle_t flusher; /* sends what was gathered at the next turn */
    struct sb_buf incoming, outgoing;
    struct sb_link_op ops[SB_WIRE_OPS_MAX];
    uint32_t last_id;
    bool hello, broken, closing;
    struct sb_link_write *write; /* the one that is on its way; NULL: none */
    char read_space[SB_LINK_READ];
};

/* NULL: no such operation is open. */
struct sb_link_op *sb_link_find(struct sb_link *link, uint32_t id);
bool sb_link_receives(enum sb_link_op_kind kind, int channel);
/* What is in `outgoing` leaves at the next turn of the loop. */
void sb_link_send_soon(struct sb_link *link);

/* Does what one frame of the guest says: calls the owner, ends operations. -1: the link is
 * broken, `why` says by what. */
int sb_link_take(struct sb_link *link, const struct sb_frame *frame, struct sb_err *why);
/* Fills `why` for a frame or message that its decoder refused (and explained there); -1. */
int sb_link_malformed(struct sb_err *why);

#endif
