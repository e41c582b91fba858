/* SPDX-License-Identifier: MIT
 * The service's front door: a Unix socket (a named pipe on Windows), and who is at its
 * other end. Loop thread only; nothing here blocks. */
#ifndef SB_PLATFORM_ENDPOINT_H
#define SB_PLATFORM_ENDPOINT_H

#include <stdbool.h>
#include <uv.h>

#include "base/err.h"

struct sb_buf;
struct sb_endpoint;

#define SB_PEER_BYTES   128 /* "uid:1000" with its NUL; a SID fits */
#define SB_ENDPOINT_LOG 64  /* clients the system holds until we take them */

/* Listens at the place of the user we are (root: of the machine). `on_client` rings with a
 * stream that is the callee's from then on (heap, freed by it) and the user at the other end,
 * as the system tells it. A service that runs already is SB_BUSY. `note`: what the one who
 * starts us should know, or empty (root without group llm-sandbox: only root can join). */
int sb_endpoint_listen(uv_loop_t *loop, void (*on_client)(void *ctx, uv_pipe_t *stream, const char *peer),
                       void *ctx, struct sb_endpoint **out, struct sb_buf *note, struct sb_err *err);
const char *sb_endpoint_place(const struct sb_endpoint *endpoint); /* its path */
/* Nobody gets in any more; the place is free for the next one when this returns. */
void sb_endpoint_close(struct sb_endpoint *endpoint);

struct sb_endpoint_found {
    uv_pipe_t *stream; /* connected; heap */
    bool ours;         /* the service runs as the user we are, else as root */
};
/* Connects to the service of the user we are, else to root's, at once. A process of anybody
 * else that listens there is SB_DENIED, none SB_NOT_FOUND, a full house SB_BUSY. */
int sb_endpoint_connect(uv_loop_t *loop, struct sb_endpoint_found *out, struct sb_err *err);

#endif
