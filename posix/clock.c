/* SPDX-License-Identifier: MIT */
#include "platform/clock.h"

#include <time.h>

int64_t sb_clock_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now); /* can't fail with this clock */
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
