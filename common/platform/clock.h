/* SPDX-License-Identifier: MIT
 * Awake time: monotonic, stops while the machine sleeps (CLOCK_MONOTONIC,
 * QueryUnbiasedInterruptTime), so that a laptop lid is not a timeout. */
#ifndef SB_PLATFORM_CLOCK_H
#define SB_PLATFORM_CLOCK_H

#include <stdint.h>

int64_t sb_clock_us(void);

#endif
