/* SPDX-License-Identifier: MIT
 * MCP, legacy era (2024-11-05 to 2025-11-25), for one connection: lifecycle, methods,
 * cancellation, progress. Everything about tools is behind tool.h. Loop thread only.
 *
 * A request is WAITING until its one answer, then REPLIED (table in request.c); a cancelled
 * one is never answered. */
#ifndef SB_SERVER_MCP_H
#define SB_SERVER_MCP_H

#include <uv.h>

#include "server/conn.h"
#include "server/host.h"

struct sb_mcp;

/* Serves the client on these descriptors. `peer` is the OS user ("uid:1000"). on_closed is
 * the last word, after the client ended or sb_mcp_close. */
int sb_mcp_open(struct sb_host *host, int fd_in, int fd_out, const char *peer, void (*on_closed)(void *ctx),
                void *ctx, struct sb_mcp **out, struct sb_err *err);
/* The same over a stream that is connected already; it is the mcp's (heap, freed by it). */
struct sb_mcp *sb_mcp_adopt(struct sb_host *host, uv_pipe_t *stream, const char *peer,
                            void (*on_closed)(void *ctx), void *ctx);
void sb_mcp_close(struct sb_mcp *mcp); /* kills what its requests run */

#endif
