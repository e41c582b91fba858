/* SPDX-License-Identifier: MIT
 * What the canaries attack while a probe runs: things of this host that no box may reach.
 * Loop thread only. */
#ifndef SB_SANDBOX_BAIT_H
#define SB_SANDBOX_BAIT_H

#include <stdbool.h>
#include <uv.h>

#include "base/err.h"

struct sb_bait {
    char *readable;                   /* a file that every uid may read, in the instance directory */
    char *writable;                   /* one that every uid may write */
    int port;                         /* a listener on 127.0.0.1 */
    char *endpoint;                   /* a Unix socket in the instance directory, or a named pipe */
    char *abstract;                   /* "@NAME", an abstract Unix socket; NULL where there are none */
    bool network_seen, endpoint_seen; /* somebody connected */
    /* private */
    uv_tcp_t tcp;
    uv_pipe_t pipe, abstract_pipe;
    unsigned handles;
    void (*on_closed)(void *ctx);
    void *ctx;
};

/* On failure nothing is left and nothing more is called. */
int sb_bait_open(uv_loop_t *loop, const char *dir, struct sb_bait **out, struct sb_err *err);
/* Takes it all away; freed after on_closed. */
void sb_bait_close(struct sb_bait *bait, void (*on_closed)(void *ctx), void *ctx);

#endif
