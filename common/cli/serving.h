/* SPDX-License-Identifier: MIT
 * A process that serves MCP by itself: its host, the sweep of dead hosts' files, its end. */
#ifndef SB_CLI_SERVING_H
#define SB_CLI_SERVING_H

#include "cli/host.h"
#include "server/host.h"

struct sb_serving {
    struct sb_cli_host own;
    struct sb_host *host; /* NULL: stopped */
    uv_timer_t sweep, late;
    bool ending;
    void (*on_end)(void *ctx); /* shut the doors: in sb_serving_end, once */
    void *ctx;
};

/* `broken` (NULL: the error is ours): where the configuration is wrong, or no instance can be
 * made, the host opens all the same, and answers each call with that error. It must live as
 * long as the serving. */
int sb_serving_open(struct sb_serving *serving, const struct sb_config_want *settings, struct sb_err *broken,
                    void (*on_end)(void *ctx), void *ctx, struct sb_err *err);
/* All that is under way ends; what hangs does not keep us. Idempotent. A signal does the same. */
void sb_serving_end(struct sb_serving *serving);
void sb_serving_run(struct sb_serving *serving); /* until the end */

#endif
