/* SPDX-License-Identifier: MIT */
#ifndef SB_PLATFORM_RANDOM_H
#define SB_PLATFORM_RANDOM_H

#include <stddef.h>

/* 16 characters of lower-case base32 (a-z2-7), 80 random bits, and a NUL: the tail of an id. */
#define SB_ID_LEN 16
void sb_random_id(char out[SB_ID_LEN + 1]);

#endif
