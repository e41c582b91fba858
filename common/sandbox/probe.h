/* SPDX-License-Identifier: MIT
 * Measures one backend on this host: finds it, asks its version, opens a tiny box and runs
 * the canaries in it. Loop thread; bounded by SB_PROBE_MS; changes nothing on the host.
 *
 * Success is cached in SB_DIR_CACHE, keyed by boot, uid, guest build and the backend's
 * executable (path, time, size): the cached way starts no process. */
#ifndef SB_SANDBOX_PROBE_H
#define SB_SANDBOX_PROBE_H

#include <stdbool.h>
#include <uv.h>

#include "sandbox/backend.h"
#include "sandbox/instance.h"

#define SB_PROBE_MS 15000

struct sb_probe_result {
    const struct sb_backend *backend;
    bool usable, cached;
    struct sb_backend_facts facts;
    struct sb_promises promises;
    struct sb_err why; /* not usable: the sentence, and the command that mends it */
    char mend[480];
};

struct sb_probe_want {
    const struct sb_backend *backend;
    struct sb_instance *instance;
    const char *guest; /* host path */
    bool fresh;        /* measure anew, whatever the cache says */
};

/* on_done comes exactly once, never inside this call; `result` is valid during it. */
void sb_probe_start(uv_loop_t *loop, const struct sb_probe_want *want,
                    void (*on_done)(void *ctx, const struct sb_probe_result *result), void *ctx);

#endif
