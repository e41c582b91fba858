/* SPDX-License-Identifier: MIT */
#include "server/host.h"

#include "base/alloc.h"
#include "platform/clock.h"

/* A host without a usable backend looks again when it is asked again: its user may have
 * mended it. Not for every call of a client that retries in a loop. */
#define PROBE_AGAIN_US (5 * INT64_C(1000000))

struct ask {
    struct ask *next;
    void (*on_ready)(void *ctx, const struct sb_probe_result *result);
    void *ctx;
};

struct sb_host {
    struct sb_host_want want;
    char *guest;
    struct sb_jobs *jobs;
    struct sb_probe_result probed;
    int64_t probed_us;
    bool known, broken, probing;
    struct ask *asks; /* in the order they came */
    void (*on_stopped)(void *ctx);
    void *stopped_ctx;
    bool jobs_stopped;
};

struct sb_host *sb_host_new(const struct sb_host_want *want)
{
    struct sb_host *host = sb_alloc(sizeof *host);

    host->want = *want;
    host->guest = sb_strdup(want->guest);
    if (want->broken != NULL) {
        host->probed.why = *want->broken;
        host->known = host->broken = true;
    }
    host->jobs = sb_jobs_new(host, want->kept_in);
    return host;
}

void sb_host_free(struct sb_host *host)
{
    sb_jobs_free(host->jobs);
    sb_free(host->guest);
    sb_free(host);
}

uv_loop_t *sb_host_loop(struct sb_host *host)
{
    return host->want.loop;
}

struct sb_instance *sb_host_instance(struct sb_host *host)
{
    return host->want.instance;
}

const char *sb_host_guest(struct sb_host *host)
{
    return host->guest;
}

const struct sb_config *sb_host_config(const struct sb_host *host)
{
    return host->want.config;
}

struct sb_jobs *sb_host_jobs(struct sb_host *host)
{
    return host->jobs;
}

static void tell_if_stopped(struct sb_host *host)
{
    if (host->jobs_stopped && !host->probing)
        host->on_stopped(host->stopped_ctx);
}

static void on_probed(void *ctx, const struct sb_probe_result *result)
{
    struct sb_host *host = ctx;

    host->probed = *result;
    host->probed_us = sb_clock_us();
    host->known = true;
    while (host->asks != NULL) {
        struct ask *ask = host->asks;

        host->asks = ask->next;
        ask->on_ready(ask->ctx, &host->probed);
        sb_free(ask);
    }
    host->probing = false;
    tell_if_stopped(host);
}

void sb_host_backend(struct sb_host *host, void (*on_ready)(void *ctx, const struct sb_probe_result *result),
                     void *ctx)
{
    const struct sb_config *config = host->want.config;
    const struct sb_choose_want choose = {.name = config != NULL ? config->backend : NULL,
                                          .allow_weak = config != NULL && config->allow_weak,
                                          .guest = host->guest,
                                          .instance = host->want.instance};
    struct ask *ask, **last;

    if (host->known && !host->probing &&
        (host->probed.usable || host->broken || sb_clock_us() - host->probed_us < PROBE_AGAIN_US)) {
        on_ready(ctx, &host->probed);
        return;
    }
    ask = sb_alloc(sizeof *ask);
    ask->on_ready = on_ready;
    ask->ctx = ctx;
    for (last = &host->asks; *last != NULL; last = &(*last)->next)
        ;
    *last = ask;
    if (host->probing)
        return;
    host->probing = true;
    sb_choose(host->want.loop, &choose, on_probed, host);
}

static void on_jobs_stopped(void *ctx)
{
    struct sb_host *host = ctx;

    host->jobs_stopped = true;
    tell_if_stopped(host);
}

void sb_host_stop(struct sb_host *host, void (*on_stopped)(void *ctx), void *ctx)
{
    host->on_stopped = on_stopped;
    host->stopped_ctx = ctx;
    sb_jobs_stop(host->jobs, on_jobs_stopped, host);
}
