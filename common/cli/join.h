/* SPDX-License-Identifier: MIT
 * Whether `mcp` is served by the running service or by itself. It joins only when no setting
 * is given here that the service would not know: those are for this client alone. */
#ifndef SB_CLI_JOIN_H
#define SB_CLI_JOIN_H

#include <stdbool.h>

#include "server/config.h"

struct sb_buf;

/* True, and `by` is the first setting that hinders: "--backend", "SANDBOX_MEMORY", a file. A
 * blank variable is not set. `ours`: the service runs as our user, and has read our user's file. */
bool sb_join_hindered(const struct sb_config_want *settings, bool ours, struct sb_buf *by);

#endif
