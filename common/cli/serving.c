/* SPDX-License-Identifier: MIT */
#include "cli/serving.h"

#include "server/kept_folder.h"

#define END_MS         200  /* from a reason to end to the end, whatever is under way */
#define SWEEP_FIRST_MS 1000 /* dead hosts' files: not before the first answers */
#define SWEEP_EVERY_MS 100

static void on_late(uv_timer_t *timer)
{
    struct sb_serving *serving = timer->data;

    sb_cli_host_quit(&serving->own, 0);
}

static void on_stopped(void *ctx)
{
    struct sb_serving *serving = ctx;

    sb_host_free(serving->host);
    serving->host = NULL;
}

void sb_serving_end(struct sb_serving *serving)
{
    if (serving->ending)
        return;
    serving->ending = true;
    uv_close((uv_handle_t *)&serving->sweep, NULL);
    uv_timer_start(&serving->late, on_late, END_MS, 0);
    uv_unref((uv_handle_t *)&serving->late);
    serving->on_end(serving->ctx);
    sb_host_stop(serving->host, on_stopped, serving);
}

static void on_stop(void *ctx, enum sb_stop_reason reason)
{
    struct sb_serving *serving = ctx;

    (void)reason; /* who ends us does not call it a failure */
    if (serving->ending || serving->host == NULL)
        sb_cli_host_quit(&serving->own, 0);
    sb_serving_end(serving);
}

static void on_sweep(uv_timer_t *timer)
{
    struct sb_serving *serving = timer->data;

    if (sb_instance_sweep(serving->own.instance, 1) == 0 && sb_kept_folder_sweep(NULL, 1) == 0)
        uv_timer_stop(timer);
}

static void start_timers(struct sb_serving *serving)
{
    uv_timer_init(&serving->own.loop, &serving->sweep);
    uv_timer_init(&serving->own.loop, &serving->late);
    serving->sweep.data = serving->late.data = serving;
    if (serving->own.instance != NULL)
        uv_timer_start(&serving->sweep, on_sweep, SWEEP_FIRST_MS, SWEEP_EVERY_MS);
    uv_unref((uv_handle_t *)&serving->sweep);
}

int sb_serving_open(struct sb_serving *serving, const struct sb_config_want *settings, struct sb_err *broken,
                    void (*on_end)(void *ctx), void *ctx, struct sb_err *err)
{
    struct sb_host_want want = {.loop = &serving->own.loop};

    *serving = (struct sb_serving){.on_end = on_end, .ctx = ctx};
    if (sb_cli_host_open(&serving->own, settings, on_stop, serving, broken ? broken : err) == 0) {
        want.instance = serving->own.instance;
        want.guest = serving->own.guest.data;
        want.config = &serving->own.config;
    } else if (!broken || sb_cli_host_open_bare(&serving->own, on_stop, serving, err) < 0) {
        return -1;
    } else {
        want.broken = broken;
    }
    serving->host = sb_host_new(&want);
    start_timers(serving);
    return 0;
}

void sb_serving_run(struct sb_serving *serving)
{
    uv_run(&serving->own.loop, UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&serving->late, NULL);
    sb_cli_host_run(&serving->own);
}
