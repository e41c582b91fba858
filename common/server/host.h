/* SPDX-License-Identifier: MIT
 * What all connections of one host process share: loop, instance, chosen backend, jobs,
 * kept results. Loop thread only. */
#ifndef SB_SERVER_HOST_H
#define SB_SERVER_HOST_H

#include <stdbool.h>
#include <uv.h>

#include "base/err.h"
#include "sandbox/choose.h"
#include "server/config.h"
#include "server/job.h"

struct sb_host;

struct sb_host_want {
    uv_loop_t *loop;
    struct sb_instance *instance; /* NULL only if broken */
    const char *guest;
    const char *kept_in; /* what is kept of runs lies in a folder in it; NULL: in our cache directory */
    const struct sb_config *config; /* borrowed until sb_host_free; NULL: the defaults */
    const struct sb_err
        *broken; /* the configuration's error: sb_host_backend gives no other answer; NULL: none */
};
/* Starts nothing: the backend is probed at the first call that needs it, and again only when
 * it was not usable. */
struct sb_host *sb_host_new(const struct sb_host_want *want);
/* Kills all jobs; on_stopped, never inside this call, when nothing of them is left and no
 * probe is under way (it can't be stopped, but is over after SB_PROBE_MS). */
void sb_host_stop(struct sb_host *host, void (*on_stopped)(void *ctx), void *ctx);
void sb_host_free(struct sb_host *host); /* only after on_stopped */

uv_loop_t *sb_host_loop(struct sb_host *host);
struct sb_instance *sb_host_instance(struct sb_host *host);
const char *sb_host_guest(struct sb_host *host);
const struct sb_config *sb_host_config(const struct sb_host *host); /* NULL: the defaults */
struct sb_jobs *sb_host_jobs(struct sb_host *host);

/* The chosen backend, or why there is none and how to mend it; probes on the first ask.
 * `on_ready` comes once, always, and may run inside this call; a usable result stays valid
 * until sb_host_free. */
void sb_host_backend(struct sb_host *host, void (*on_ready)(void *ctx, const struct sb_probe_result *result),
                     void *ctx);

#endif
