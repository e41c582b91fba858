/* SPDX-License-Identifier: MIT
 * Which backend: the one that was named, or the first of `auto` that is usable. Loop thread. */
#ifndef SB_SANDBOX_CHOOSE_H
#define SB_SANDBOX_CHOOSE_H

#include <stdbool.h>
#include <uv.h>

#include "sandbox/instance.h"
#include "sandbox/probe.h"

struct sb_choose_want {
    const char *name; /* NULL or "auto": the first usable one that is not weak */
    bool allow_weak;  /* a named weak backend may be used */
    const char *guest;
    struct sb_instance *instance;
};

/* `result` is usable, or the reason is in its why and mend: of the named backend, or of
 * all that auto tried. Valid during the call. Never called inside sb_choose. */
void sb_choose(uv_loop_t *loop, const struct sb_choose_want *want,
               void (*on_done)(void *ctx, const struct sb_probe_result *result), void *ctx);

#endif
