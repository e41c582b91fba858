/* SPDX-License-Identifier: MIT
 * A box: one sandbox with one guest. Loop thread only.
 *
 * States (table in box.c): OPENING, READY, BUSY, CLOSING, GONE. A box may be used from the
 * moment it is opened: requests wait in the link until the guest is there. */
#ifndef SB_SANDBOX_BOX_H
#define SB_SANDBOX_BOX_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"
#include "sandbox/backend.h"
#include "sandbox/instance.h"
#include "sandbox/link.h"

enum sb_box_state { SB_BOX_OPENING, SB_BOX_READY, SB_BOX_BUSY, SB_BOX_CLOSING, SB_BOX_GONE, SB_BOX_STATES };
enum sb_box_event {
    SB_BOX_HELLO,      /* the guest said so, and it is ours */
    SB_BOX_TAKEN,      /* a run starts in it */
    SB_BOX_RELEASED,   /* the run has ended */
    SB_BOX_CLOSE,      /* the owner is done with it */
    SB_BOX_BROKEN,     /* link broken, wrapper died, open deadline passed */
    SB_BOX_NOTHING_LEFT, /* the OS says its last process is gone */
    SB_BOX_EVENTS
};
/* The next state, or -1 where the event is ignored in that state. */
int sb_box_next(enum sb_box_state state, enum sb_box_event event);
const char *sb_box_state_name(enum sb_box_state state);

#define SB_BOX_OPEN_MS 10000 /* wrapper started to HELLO; then the box is broken */
#define SB_BOX_GONE_MS 5000  /* kill to the OS's word; then it is reported and let go */

struct sb_box_want {
    const struct sb_backend *backend;
    const struct sb_backend_facts *facts;
    const struct sb_grant *grant;
    const char *guest;            /* host path */
    const char *const *read_only; /* NULL-terminated, or NULL */
    struct sb_instance *instance;
};

struct sb_box_events {
    void *ctx;
    void (*on_ready)(void *ctx);
    /* At most once, before on_gone: why it can't be used any more, and how to mend it. Not
     * called for a box its owner closed. */
    void (*on_broken)(void *ctx, const struct sb_err *why, const char *mend);
    void (*on_gone)(void *ctx); /* last word; the box is freed after it returns */
};

struct sb_box;

/* Nothing runs inside this call. On failure nothing is left of it. */
int sb_box_open(uv_loop_t *loop, const struct sb_box_want *want, const struct sb_box_events *events,
                struct sb_box **out, struct sb_err *err);
/* Kills it; on_gone follows. Idempotent. */
void sb_box_close(struct sb_box *box);
void sb_box_step(struct sb_box *box, enum sb_box_event event);

enum sb_box_state sb_box_state(const struct sb_box *box);
struct sb_link *sb_box_link(struct sb_box *box); /* NULL when broken */
const char *sb_box_id(const struct sb_box *box);
const char *sb_box_workspace(const struct sb_box *box); /* as the programs of the box see it */
/* The box's PID 1 as the host sees it; 0 when not known. */
long sb_box_inner_pid(const struct sb_box *box);
bool sb_box_own_pids(const struct sb_box *box); /* seen, not assumed */

#endif
