/* SPDX-License-Identifier: MIT
 * What a command that opens boxes needs around it: loop, instance, guest, stop signals. */
#ifndef SB_CLI_HOST_H
#define SB_CLI_HOST_H

#include <stdbool.h>
#include <uv.h>

#include "base/buf.h"
#include "platform/stop.h"
#include "sandbox/choose.h"
#include "server/config.h"

struct sb_cli_host {
    uv_loop_t loop;
    struct sb_instance *instance;
    struct sb_buf guest;
    struct sb_config config; /* until sb_cli_host_run returns; of a bare host all zero */
};

/* Reads the configuration, finds the guest, opens the instance, listens for reasons to stop.
 * On failure nothing is open. */
int sb_cli_host_open(struct sb_cli_host *host, const struct sb_config_want *want,
                     void (*on_stop)(void *ctx, enum sb_stop_reason reason), void *ctx, struct sb_err *err);
/* Only loop and stop signals: for a server that can do no more than say why. */
int sb_cli_host_open_bare(struct sb_cli_host *host, void (*on_stop)(void *ctx, enum sb_stop_reason reason),
                          void *ctx, struct sb_err *err);
void sb_cli_host_choose(struct sb_cli_host *host,
                        void (*on_done)(void *ctx, const struct sb_probe_result *result), void *ctx);
/* Ends the process at once, whatever is under way: boxes die with us. For a reason to stop
 * while nothing has a result yet that is worth waiting for. */
_Noreturn void sb_cli_host_leave(struct sb_cli_host *host, enum sb_stop_reason reason);
_Noreturn void sb_cli_host_quit(struct sb_cli_host *host, int status); /* the same with a status */
/* Runs the loop until nothing is left on it, then closes the instance. */
void sb_cli_host_run(struct sb_cli_host *host);

#endif
