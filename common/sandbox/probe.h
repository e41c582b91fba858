/* SPDX-License-Identifier: MIT
 * What a backend keeps on this host, measured: finds it, asks its version, opens one small
 * box and lets the guest's canaries try to get out of it. Loop thread only. Never changes
 * the host but for the instance's own directory and the cache. */
#ifndef SB_SANDBOX_PROBE_H
#define SB_SANDBOX_PROBE_H

#include <stdbool.h>
#include <uv.h>

#include "sandbox/backend.h"
#include "sandbox/instance.h"

#define SB_PROBE_MS 15000 /* the whole probe; what hangs longer is not usable */

struct sb_probe_want {
    const struct sb_backend *backend;
    struct sb_instance *instance;
    const char *guest; /* host path; copied */
    bool fresh;        /* measures anew, whatever the cache says */
};

struct sb_probe_result {
    const struct sb_backend *backend;
    bool usable; /* a box was opened and its canaries ran; what they found is in promises */
    bool cached;
    struct sb_backend_facts facts;
    struct sb_promises promises;
    struct sb_err why; /* SB_OK when usable */
    char mend[480];    /* the command that mends it, for people; "" when none is known */
};

/* on_done comes once and never inside this call; the result is valid during it. A success is
 * cached until the host is rebooted or host, guest or backend change: then neither a process
 * nor a box is started. */
void sb_probe_start(uv_loop_t *loop, const struct sb_probe_want *want,
                    void (*on_done)(void *ctx, const struct sb_probe_result *result), void *ctx);

#endif
