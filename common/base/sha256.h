/* SPDX-License-Identifier: MIT
 * SHA-256 (FIPS 180-4): keys of caches, not a defence. */
#ifndef SB_BASE_SHA256_H
#define SB_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sb_sha256 {
    uint32_t state[8];
    uint64_t len;
    unsigned char block[64];
};

void sb_sha256_init(struct sb_sha256 *sha);
void sb_sha256_add(struct sb_sha256 *sha, const void *bytes, size_t len);
void sb_sha256_hex(struct sb_sha256 *sha, char out[65]); /* finishes; 64 lower-case digits and a NUL */

#endif
