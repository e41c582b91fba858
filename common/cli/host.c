/* SPDX-License-Identifier: MIT */
#include "cli/host.h"

#include <stdlib.h>
#include <string.h>

#include "sandbox/guest_image.h"

#define PATH_BYTES 4096

int sb_cli_host_open(struct sb_cli_host *host, const struct sb_config_want *want,
                     void (*on_stop)(void *ctx, enum sb_stop_reason reason), void *ctx, struct sb_err *err)
{
    memset(host, 0, sizeof *host);
    sb_buf_init(&host->guest, PATH_BYTES);
    if (sb_config_load(want, &host->config, err) < 0)
        return -1;
    if (uv_loop_init(&host->loop) < 0) {
        sb_config_done(&host->config);
        return sb_fail(err, SB_HOST, "cannot start the event loop: no descriptors left?");
    }
    if (sb_guest_find(&host->guest, err) < 0 || sb_stop_watch(&host->loop, on_stop, ctx, err) < 0)
        goto failed;
    if (sb_instance_open(&host->instance, err) == 0)
        return 0;
    sb_stop_unwatch();
    uv_run(&host->loop, UV_RUN_DEFAULT);
failed:
    uv_loop_close(&host->loop);
    sb_buf_done(&host->guest);
    sb_config_done(&host->config);
    return -1;
}

int sb_cli_host_open_bare(struct sb_cli_host *host, void (*on_stop)(void *ctx, enum sb_stop_reason reason),
                          void *ctx, struct sb_err *err)
{
    memset(host, 0, sizeof *host);
    sb_buf_init(&host->guest, PATH_BYTES);
    if (uv_loop_init(&host->loop) < 0)
        return sb_fail(err, SB_HOST, "cannot start the event loop: no descriptors left?");
    if (sb_stop_watch(&host->loop, on_stop, ctx, err) == 0)
        return 0;
    uv_loop_close(&host->loop);
    return -1;
}

void sb_cli_host_choose(struct sb_cli_host *host,
                        void (*on_done)(void *ctx, const struct sb_probe_result *result), void *ctx)
{
    const struct sb_choose_want want = {.name = host->config.backend,
                                        .allow_weak = host->config.allow_weak,
                                        .guest = host->guest.data,
                                        .instance = host->instance};

    sb_choose(&host->loop, &want, on_done, ctx);
}

void sb_cli_host_leave(struct sb_cli_host *host, enum sb_stop_reason reason)
{
    sb_cli_host_quit(host, sb_stop_status(reason));
}

void sb_cli_host_quit(struct sb_cli_host *host, int status)
{
    sb_instance_close(host->instance);
    _Exit(status); /* libuv would wait for workers, and a probe for its box */
}

void sb_cli_host_run(struct sb_cli_host *host)
{
    uv_run(&host->loop, UV_RUN_DEFAULT);
    sb_instance_close(host->instance); /* signals are still heard: a second Ctrl-C leaves nothing behind */
    sb_stop_unwatch();
    uv_run(&host->loop, UV_RUN_NOWAIT); /* only closes: a worker may wait for a reader */
    uv_loop_close(&host->loop);
    sb_buf_done(&host->guest);
    sb_config_done(&host->config);
}
