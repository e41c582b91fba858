/* SPDX-License-Identifier: MIT */
#include "cli/host.h"

#include <stdlib.h>
#include <string.h>

#include "sandbox/guest_image.h"

#define PATH_BYTES 4096

/* A boolean of the environment as the reference reads it; anything else is an error. */
static int env_flag(const char *name, bool *out, struct sb_err *err)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"true", true}, {"1", true}, {"yes", true}, {"on", true}, {"false", false},
                 {"0", false},   {"no", false}, {"off", false}, {"", false}};
    char text[16] = "";
    size_t len = sizeof text;
    int rc = uv_os_getenv(name, text, &len);

    if (rc == UV_ENOENT)
        return 0;
    for (size_t i = 0; text[i] != '\0'; i++)
        if (text[i] >= 'A' && text[i] <= 'Z')
            text[i] = (char)(text[i] - 'A' + 'a');
    for (size_t i = 0; rc == 0 && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, text) == 0) {
            *out = words[i].value;
            return 0;
        }
    return sb_fail(err, SB_BAD_REQUEST, "%s is '%s': use true or false", name, rc == 0 ? text : "(too long)");
}

static int read_environment(struct sb_cli_host *host, struct sb_err *err)
{
    size_t len = sizeof host->backend_space;
    int rc;

    if (host->backend == NULL) {
        rc = uv_os_getenv("BACKEND", host->backend_space, &len);
        if (rc == UV_ENOBUFS)
            return sb_fail(err, SB_BAD_REQUEST, "BACKEND is too long for a backend's name");
        if (rc == 0 && host->backend_space[0] != '\0')
            host->backend = host->backend_space;
    }
    return host->allow_weak ? 0 : env_flag("SANDBOX_ALLOW_WEAK", &host->allow_weak, err);
}

int sb_cli_host_open(struct sb_cli_host *host, const char *backend, bool allow_weak,
                     void (*on_stop)(void *ctx, enum sb_stop_reason reason), void *ctx, struct sb_err *err)
{
    memset(host, 0, sizeof *host);
    host->backend = backend;
    host->allow_weak = allow_weak;
    sb_buf_init(&host->guest, PATH_BYTES);
    if (read_environment(host, err) < 0)
        return -1;
    if (uv_loop_init(&host->loop) < 0)
        return sb_fail(err, SB_HOST, "cannot start the event loop: no descriptors left?");
    if (sb_guest_find(&host->guest, err) < 0 || sb_stop_watch(&host->loop, on_stop, ctx, err) < 0)
        goto failed;
    if (sb_instance_open(&host->instance, err) == 0)
        return 0;
    sb_stop_unwatch();
    uv_run(&host->loop, UV_RUN_DEFAULT);
failed:
    uv_loop_close(&host->loop);
    sb_buf_done(&host->guest);
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

void sb_cli_host_choose(struct sb_cli_host *host, void (*on_done)(void *ctx, const struct sb_probe_result *result),
                        void *ctx)
{
    const struct sb_choose_want want = {.name = host->backend,
                                        .allow_weak = host->allow_weak,
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
}
