/* SPDX-License-Identifier: MIT
 * The running service: one host, its front door, and the clients that came in. Each client is
 * an MCP connection whose peer is the OS user at the other end. Loop thread only. */
#ifndef SB_SERVER_SERVICE_H
#define SB_SERVER_SERVICE_H

#include "base/err.h"
#include "server/host.h"

#define SB_SERVICE_CLIENTS      128 /* connections at once; each is a few descriptors and buffers of ours */
#define SB_SERVICE_PEER_CLIENTS 32  /* of one user, so that one leaves room for the others */

struct sb_buf;
struct sb_service;

/* Opens the door. `note`: as sb_endpoint_listen. */
int sb_service_open(struct sb_host *host, struct sb_service **out, struct sb_buf *note, struct sb_err *err);
const char *sb_service_place(const struct sb_service *service);
/* Shuts the door and ends every connection, and with it what it runs; freed when the last
 * is gone. Call it before sb_host_stop. */
void sb_service_close(struct sb_service *service);

#endif
