/* SPDX-License-Identifier: MIT */
#include "sandbox/policy.h"

#include <inttypes.h>

#include "base/alloc.h"

#define KIB        INT64_C(1024)
#define MIB        (1024 * KIB)
#define GIB        (1024 * MIB)
#define NO_PROMISE SB_PROMISE_COUNT /* kept by host and guest, whatever the backend */

struct limit {
    const char *name, *unit;
    int64_t standard, lowest, highest;
    enum sb_promise promise; /* what must stand behind it */
    const char *reason;      /* of the highest, for people */
};

static const struct limit LIMITS[SB_ROW_COUNT] = {
    [SB_ROW_TIMEOUT_MS] = {"timeout", "ms", 30000, 100, 3600000, NO_PROMISE, "no run may hold a box forever"},
    [SB_ROW_MEMORY_MB] = {"memory_mb", "MiB", 512, 16, 4096, SB_PROMISE_MEMORY,
                          "4096 or a quarter of the machine, whichever is larger"},
    [SB_ROW_PROCESSES] = {"processes", "processes and threads", 128, 1, 1024, SB_PROMISE_PROCESSES,
                          "the host must stay able to start its own"},
    [SB_ROW_WORKSPACE_MB] = {"workspace_mb", "MiB", 256, 1, 4096, SB_PROMISE_DISK,
                             "a workspace may lie in memory"},
    [SB_ROW_SHM_MB] = {"shm_mb", "MiB", 64, 1, 4096, SB_PROMISE_DISK, "shared memory lies in memory"},
    [SB_ROW_OPEN_FILES] = {"open_files", "files", 1024, 16, 4096, NO_PROMISE,
                           "many systems let no program have more"},
    [SB_ROW_OUTPUT_KEPT] = {"output_kept", "bytes", 8 * MIB, KIB, 64 * MIB, NO_PROMISE,
                            "kept output lies in the host's memory"},
    [SB_ROW_OUTPUT_PRODUCED] = {"output_produced", "bytes", GIB, KIB, 64 * GIB, NO_PROMISE,
                                "every byte passes through the host"},
};

/* What a box must keep whatever is asked: else it is no sandbox. */
static const enum sb_promise WALLS[] = {SB_PROMISE_READ_OUTSIDE, SB_PROMISE_WRITE_OUTSIDE, SB_PROMISE_NETWORK,
                                        SB_PROMISE_ENDPOINT,     SB_PROMISE_IDENTITY,      SB_PROMISE_KILL};

const char *sb_limit_row_name(enum sb_limit_row row)
{
    return LIMITS[row].name;
}

static int64_t highest(enum sb_limit_row row, const struct sb_ask *ask)
{
    int64_t most = LIMITS[row].highest;

    if (row == SB_ROW_MEMORY_MB && ask->ram_mb / 4 > most)
        most = ask->ram_mb / 4;
    return most;
}

static const char *why_of(const struct sb_promises *promises, enum sb_promise promise)
{
    return promises->why[promise][0] ? promises->why[promise] : "no reason is known";
}

static int grant_limit(enum sb_limit_row row, const struct sb_ask *ask, const struct sb_promises *promises,
                       const char *backend, int64_t *out, struct sb_err *err)
{
    const struct limit *limit = &LIMITS[row];
    int64_t value = ask->set[row] ? ask->value[row] : limit->standard;
    enum sb_strength kept;

    if (value < limit->lowest || value > highest(row, ask))
        return sb_fail(err, SB_BAD_REQUEST,
                       "%s %" PRId64 " is out of range: %" PRId64 " to %" PRId64 " %s are allowed (%s)",
                       limit->name, value, limit->lowest, highest(row, ask), limit->unit, limit->reason);
    kept = limit->promise == NO_PROMISE ? SB_KERNEL : promises->of[limit->promise];
    if (kept < (ask->strict ? SB_KERNEL : SB_WATCHED)) {
        if (ask->set[row] || ask->strict)
            return sb_fail(err, SB_UNSUPPORTED,
                           "%s %" PRId64 " can't be kept: backend %s gives the promise %s as '%s' (%s)",
                           limit->name, value, backend, sb_promise_name(limit->promise),
                           sb_strength_name(kept), why_of(promises, limit->promise));
        value = 0; /* a default that nobody set and nobody could keep */
    }
    *out = value;
    return 0;
}

static int check_walls(const struct sb_ask *ask, const struct sb_promises *promises, const char *backend,
                       bool *weak, struct sb_err *err)
{
    *weak = false;
    for (size_t i = 0; i < SB_COUNT(WALLS); i++) {
        enum sb_promise wall = WALLS[i];

        if (promises->of[wall] == SB_KERNEL)
            continue;
        if (!ask->allow_weak)
            return sb_fail(err, SB_UNSUPPORTED,
                           "backend %s gives the promise %s as '%s' where 'kernel' is needed (%s); "
                           "--allow-weak runs without it",
                           backend, sb_promise_name(wall), sb_strength_name(promises->of[wall]),
                           why_of(promises, wall));
        *weak = true;
    }
    return 0;
}

int sb_policy_grant(const struct sb_ask *ask, const struct sb_promises *promises, const char *backend,
                    struct sb_grant *out, struct sb_err *err)
{
    struct sb_grant grant = {.network = false};

    if (ask->network)
        return sb_fail(err, SB_UNSUPPORTED, "network was asked for, but backend %s gives boxes none",
                       backend);
    for (int row = 0; row < SB_ROW_COUNT; row++)
        if (grant_limit((enum sb_limit_row)row, ask, promises, backend, &grant.value[row], err) < 0)
            return -1;
    if (check_walls(ask, promises, backend, &grant.weak, err) < 0)
        return -1;
    *out = grant;
    return 0;
}
