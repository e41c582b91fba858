/* SPDX-License-Identifier: MIT
 * What all connections of one host process share: loop, instance, chosen backend, jobs,
 * kept results. Loop thread only. */
#ifndef SB_SERVER_HOST_H
#define SB_SERVER_HOST_H

#include <stdbool.h>
#include <uv.h>

#include "base/err.h"
#include "sandbox/choose.h"
#include "server/job.h"

struct sb_host;

struct sb_host_want {
    uv_loop_t *loop;
    struct sb_instance *instance;
    const char *guest;
    const char *backend; /* NULL: auto */
    bool allow_weak;
};
/* Starts nothing: the backend is probed at the first call that needs it, then once. */
struct sb_host *sb_host_new(const struct sb_host_want *want);
/* Kills all jobs; on_stopped when nothing of them is left. */
void sb_host_stop(struct sb_host *host, void (*on_stopped)(void *ctx), void *ctx);
void sb_host_free(struct sb_host *host); /* only after on_stopped */

uv_loop_t *sb_host_loop(struct sb_host *host);
struct sb_instance *sb_host_instance(struct sb_host *host);
const char *sb_host_guest(struct sb_host *host);
struct sb_jobs *sb_host_jobs(struct sb_host *host);

/* The chosen backend, or why there is none and how to mend it; probes on the first ask.
 * `on_ready` may run inside this call. */
void sb_host_backend(struct sb_host *host, void (*on_ready)(void *ctx, const struct sb_probe_result *result), void *ctx);

#endif
