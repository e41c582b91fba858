/* SPDX-License-Identifier: MIT
 * An MCP client on stdio, served by the service: lines go through as they are. When the
 * service goes, each open call is answered ("service restarted"), and when it is back the
 * client's initialize is said again to it, so that the client notices nothing else.
 * Loop thread only. */
#ifndef SB_SERVER_BRIDGE_H
#define SB_SERVER_BRIDGE_H

#include <uv.h>

#include "base/err.h"

#define SB_BRIDGE_PATIENCE_MS 5000 /* requests wait so long for a service that restarts, then are refused */
#define SB_BRIDGE_RETRY_MS    50   /* between two looks for it meanwhile */
#define SB_BRIDGE_SLOW_MS     1000 /* and after that */
#define SB_BRIDGE_LAST_MS     200  /* for the service's last answers, when the client has ended */
#define SB_BRIDGE_CALLS_MAX   1024 /* open at once; then no more is taken from the client */

struct sb_bridge;

/* `service` is connected and is the bridge's from now on (heap), as the descriptors are, also
 * on failure. `on_closed` is the last word, after the client ended or sb_bridge_close. */
int sb_bridge_open(uv_pipe_t *service, int fd_in, int fd_out, void (*on_closed)(void *ctx), void *ctx,
                   struct sb_bridge **out, struct sb_err *err);
void sb_bridge_close(struct sb_bridge *bridge); /* idempotent */

#endif
