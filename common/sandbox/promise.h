/* SPDX-License-Identifier: MIT
 * What a backend keeps, and how strongly. Promises are measured by the canary run of
 * probe.h, never read back from what was asked. */
#ifndef SB_SANDBOX_PROMISE_H
#define SB_SANDBOX_PROMISE_H

enum sb_promise {
    SB_PROMISE_READ_OUTSIDE,
    SB_PROMISE_WRITE_OUTSIDE,
    SB_PROMISE_NETWORK,
    SB_PROMISE_ENDPOINT, /* our own socket or pipe can't be reached from inside */
    SB_PROMISE_IDENTITY, /* code runs as nobody the host knows, without privileges */
    SB_PROMISE_KILL,     /* nothing of a box outlives it */
    SB_PROMISE_PROCESSES,
    SB_PROMISE_DISK,
    SB_PROMISE_MEMORY,
    SB_PROMISE_CPU_SHARE,
    SB_PROMISE_COUNT
};

enum sb_strength {
    SB_NONE,
    SB_WATCHED, /* a watcher ends it within a named time */
    SB_KERNEL
};

struct sb_promises {
    enum sb_strength of[SB_PROMISE_COUNT];
    /* Why a promise is not SB_KERNEL, for people: "" when it is. */
    char why[SB_PROMISE_COUNT][160];
};

const char *sb_promise_name(enum sb_promise promise);    /* "read-outside", ... */
const char *sb_strength_name(enum sb_strength strength); /* "none", "watched", "kernel" */

#endif
