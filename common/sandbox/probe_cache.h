/* SPDX-License-Identifier: MIT
 * What a probe measured, kept in a file until something it depends on changes. */
#ifndef SB_SANDBOX_PROBE_CACHE_H
#define SB_SANDBOX_PROBE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "sandbox/probe.h"

#define SB_PROBE_KEY 65

/* Everything a measurement depends on. */
struct sb_probe_basis {
    char boot[64]; /* changes with each start of the system */
    uint64_t uid;  /* of the host process */
    const char *build;
    const char *backend;
    const char *program; /* "" when the backend has none */
    uint64_t program_bytes;
    int64_t program_mtime_s, program_mtime_ns;
};

/* Pure. Two bases that differ anywhere have different keys. */
void sb_probe_key(const struct sb_probe_basis *basis, char out[SB_PROBE_KEY]);
void sb_probe_encode(const char *key, const struct sb_probe_result *result, struct sb_buf *out);
/* Sets facts.version, facts.guest_by_data and promises of `result`. -1: another key, or not
 * a file of ours. */
int sb_probe_decode(const char *key, const char *text, size_t len, struct sb_probe_result *result);

/* Looks at the host. `result` has backend and facts. */
void sb_probe_cache_key(const struct sb_probe_result *result, const char *instance_dir,
                        char out[SB_PROBE_KEY]);
/* Read and written at SB_DIR_CACHE/probe-BACKEND.json. A cache that can't be used costs time,
 * nothing else: no errors. 0: found. */
int sb_probe_cache_load(const char *key, struct sb_probe_result *result);
void sb_probe_cache_store(const char *key, const struct sb_probe_result *result);

#endif
