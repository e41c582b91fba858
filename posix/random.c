/* SPDX-License-Identifier: MIT */
#include "platform/random.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

void sb_random_id(char out[SB_ID_LEN + 1])
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
    unsigned char bytes[SB_ID_LEN];

    /* Up to 256 bytes come whole or not at all; only a signal while the kernel's pool is
     * still filling at boot can interrupt. Names that others may guess are worse than none. */
    while (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        if (errno != EINTR) {
            fputs("llm-sandbox: the kernel gives no random bytes\n", stderr);
            abort();
        }
    }
    for (size_t i = 0; i < SB_ID_LEN; i++)
        out[i] = digits[bytes[i] & 31];
    out[SB_ID_LEN] = '\0';
}
