/* SPDX-License-Identifier: MIT */
#include "sandbox/choose.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

#define NAMES_MAX 256

struct choose {
    struct sb_choose_want want;
    uv_loop_t *loop;
    uv_timer_t turn; /* the answer that needs no probe comes at the next turn */
    size_t at;       /* the row of sb_backends that auto tries */
    struct sb_probe_result result;
    void (*on_done)(void *ctx, const struct sb_probe_result *result);
    void *ctx;
};

static void on_closed(uv_handle_t *handle)
{
    struct choose *choose = handle->data;

    choose->on_done(choose->ctx, &choose->result);
    sb_free(choose);
}

static void finish(struct choose *choose)
{
    uv_close((uv_handle_t *)&choose->turn, on_closed);
}

static void try_next(struct choose *choose);

static void on_probed(void *ctx, const struct sb_probe_result *result)
{
    struct choose *choose = ctx;
    bool best = result->usable || choose->result.why.code == SB_OK; /* else the first reason stays */

    if (best)
        choose->result = *result;
    if (result->usable || choose->want.name != NULL)
        finish(choose);
    else
        try_next(choose);
}

static void probe(struct choose *choose, const struct sb_backend *backend)
{
    const struct sb_probe_want want = {
        .backend = backend, .instance = choose->want.instance, .guest = choose->want.guest};

    sb_probe_start(choose->loop, &want, on_probed, choose);
}

static void try_next(struct choose *choose)
{
    const struct sb_backend *backend;

    while ((backend = sb_backends[choose->at]) != NULL) {
        choose->at++;
        if (!backend->weak) {
            probe(choose, backend);
            return;
        }
    }
    if (choose->result.why.code == SB_OK) {
        sb_fail(&choose->result.why, SB_UNSUPPORTED, "no backend of this system keeps the default promises");
        strncpy(choose->result.mend, "name a weaker one: --backend NAME --allow-weak (see: llm-sandbox doctor)",
                sizeof choose->result.mend - 1);
    }
    finish(choose);
}

static void choose_named(struct choose *choose)
{
    const struct sb_backend *backend = sb_backend_named(choose->want.name);
    struct sb_buf names;

    if (backend != NULL && (!backend->weak || choose->want.allow_weak)) {
        probe(choose, backend);
        return;
    }
    choose->result.backend = backend;
    sb_buf_init(&names, NAMES_MAX);
    for (size_t i = 0; sb_backends[i] != NULL; i++)
        sb_buf_addf(&names, "%s, ", sb_backends[i]->name);
    if (backend == NULL)
        sb_fail(&choose->result.why, SB_BAD_REQUEST, "unknown backend '%.60s': this system has %sauto",
                choose->want.name, names.data);
    else
        sb_fail(&choose->result.why, SB_DENIED,
                "backend %s is weak (%s): it keeps less than the default promises and is only used with --allow-weak",
                backend->name, backend->isolation);
    sb_buf_done(&names);
    finish(choose);
}

static void on_turn(uv_timer_t *timer)
{
    struct choose *choose = timer->data;

    if (choose->want.name != NULL)
        choose_named(choose);
    else
        try_next(choose);
}

void sb_choose(uv_loop_t *loop, const struct sb_choose_want *want,
               void (*on_done)(void *ctx, const struct sb_probe_result *result), void *ctx)
{
    struct choose *choose = sb_alloc(sizeof *choose);

    choose->want = *want;
    if (want->name != NULL && strcmp(want->name, "auto") == 0)
        choose->want.name = NULL;
    choose->loop = loop;
    choose->on_done = on_done;
    choose->ctx = ctx;
    uv_timer_init(loop, &choose->turn);
    choose->turn.data = choose;
    uv_timer_start(&choose->turn, on_turn, 0, 0);
}
