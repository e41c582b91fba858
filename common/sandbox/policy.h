/* SPDX-License-Identifier: MIT
 * From what was asked to what is granted, or a refusal that says why. Pure.
 *
 * A limit that its caller set by hand needs the promise behind it; a default that nobody
 * set is not asked for where the backend can't keep it. Nothing is weakened silently. */
#ifndef SB_SANDBOX_POLICY_H
#define SB_SANDBOX_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sandbox/promise.h"

/* Limits of one call: row per limit in policy.c with unit, default, lowest, highest. */
enum sb_limit_row {
    SB_ROW_TIMEOUT_MS,
    SB_ROW_MEMORY_MB,
    SB_ROW_PROCESSES,
    SB_ROW_WORKSPACE_MB,
    SB_ROW_SHM_MB,
    SB_ROW_OPEN_FILES,
    SB_ROW_OUTPUT_KEPT,     /* bytes per stream kept: first and last half */
    SB_ROW_OUTPUT_PRODUCED, /* bytes per stream, then output_limit */
    SB_ROW_COUNT
};

struct sb_ask {
    bool set[SB_ROW_COUNT]; /* by hand */
    int64_t value[SB_ROW_COUNT];
    bool network;
    bool allow_weak; /* --allow-weak: the default promises may be missing */
    bool strict;     /* refuses SB_WATCHED where a promise is needed, also behind defaults */
    int64_t ram_mb;  /* of the machine, which raises the highest memory_mb; 0: not known */
};

struct sb_grant {
    int64_t value[SB_ROW_COUNT]; /* 0: not limited, since nobody asked and nobody could */
    bool network;
    bool weak; /* granted only because of allow_weak */
};

/* `backend` names the promiser in refusals. */
int sb_policy_grant(const struct sb_ask *ask, const struct sb_promises *promises, const char *backend,
                    struct sb_grant *out, struct sb_err *err);

const char *sb_limit_row_name(enum sb_limit_row row); /* "timeout", "memory_mb", ... */

#endif
