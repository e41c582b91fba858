/* SPDX-License-Identifier: MIT
 * Whether `mcp` is served by the running service or by itself. It joins only when no setting
 * is given here that the service would not know: those are for this client alone. */
#ifndef SB_CLI_JOIN_H
#define SB_CLI_JOIN_H

#include <stdbool.h>
#include <uv.h>

#include "server/config.h"

enum sb_join {
    SB_JOIN_NONE, /* no service runs here */
    SB_JOIN_NOT,  /* one runs, and is not for us */
    SB_JOIN_YES
};

/* YES: `stream` is connected to it (heap, the caller's); `ours` as in sb_endpoint_found. NOT: `why` says what
 * hinders: a service of somebody else, or the first setting ("--backend", "SANDBOX_MEMORY", a file). A blank
 * variable is not set; a service of our own user is taken to have read our user's file. */
enum sb_join sb_join_service(uv_loop_t *loop, const struct sb_config_want *settings, uv_pipe_t **stream,
                             bool *ours, struct sb_err *why);
/* Only looks. */
enum sb_join sb_join_ask(uv_loop_t *loop, const struct sb_config_want *settings, struct sb_err *why);

#endif
