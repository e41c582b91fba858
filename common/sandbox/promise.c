/* SPDX-License-Identifier: MIT */
#include "sandbox/promise.h"

static const char *const PROMISE_NAMES[SB_PROMISE_COUNT] = {
    [SB_PROMISE_READ_OUTSIDE] = "read-outside",
    [SB_PROMISE_WRITE_OUTSIDE] = "write-outside",
    [SB_PROMISE_NETWORK] = "network",
    [SB_PROMISE_ENDPOINT] = "endpoint",
    [SB_PROMISE_IDENTITY] = "identity",
    [SB_PROMISE_KILL] = "kill",
    [SB_PROMISE_PROCESSES] = "processes",
    [SB_PROMISE_DISK] = "disk",
    [SB_PROMISE_MEMORY] = "memory",
    [SB_PROMISE_CPU_SHARE] = "cpu-share",
};

static const char *const STRENGTH_NAMES[] = {
    [SB_NONE] = "none",
    [SB_WATCHED] = "watched",
    [SB_KERNEL] = "kernel",
};

const char *sb_promise_name(enum sb_promise promise)
{
    return PROMISE_NAMES[promise];
}

const char *sb_strength_name(enum sb_strength strength)
{
    return STRENGTH_NAMES[strength];
}
