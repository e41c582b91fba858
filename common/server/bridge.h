/* SPDX-License-Identifier: MIT
 * An MCP client on stdio, served by the service: lines go through as they are. When the
 * service goes, each open call is answered ("service restarted"), and when it is back the
 * client's initialize is said again to it, so that the client notices nothing else.
 * Loop thread only. */
#ifndef SB_SERVER_BRIDGE_H
#define SB_SERVER_BRIDGE_H

#include <stdbool.h>
#include <uv.h>

#include "base/err.h"

#define SB_BRIDGE_PATIENCE_MS 5000 /* requests wait so long for a service that restarts, then are refused */
#define SB_BRIDGE_RETRY_MS    50   /* between two looks for it meanwhile */
#define SB_BRIDGE_SLOW_MS     1000 /* and after that */
#define SB_BRIDGE_GREETING_MS 1000 /* for the first answer of a service; else it hangs, and is none */
#define SB_BRIDGE_LAST_MS     200  /* for the service's last answers, when the client has ended */
#define SB_BRIDGE_CALLS_MAX   1024 /* open at once; then no more is taken from the client */

struct sb_bridge;

struct sb_bridge_want {
    uv_pipe_t *service; /* connected; the bridge's from now on (heap) */
    bool ours;          /* as sb_endpoint_found: only the same is joined again */
    int fd_in, fd_out;  /* of the client; untouched until the service has answered */
    /* The last word. NULL: the client was served to its end. SB_BUSY: the service turned us
     * away or did not answer in time; the descriptors are still the caller's. */
    void (*on_closed)(void *ctx, const struct sb_err *why);
    void *ctx;
};
struct sb_bridge *sb_bridge_open(const struct sb_bridge_want *want);
void sb_bridge_close(struct sb_bridge *bridge); /* idempotent */

#endif
