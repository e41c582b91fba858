/* SPDX-License-Identifier: MIT */
#include "platform/random.h"

#include <windows.h>
#include <ntsecapi.h> /* after windows.h, which it needs */

#include <stdio.h>
#include <stdlib.h>

/* RtlGenRandom: in advapi32 since Windows XP, and never yet seen to fail. */
void sb_random_id(char out[SB_ID_LEN + 1])
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
    unsigned char bytes[SB_ID_LEN];

    if (!RtlGenRandom(bytes, sizeof bytes)) {
        fputs("llm-sandbox: the system gives no random bytes\n", stderr);
        abort();
    }
    for (size_t i = 0; i < SB_ID_LEN; i++)
        out[i] = digits[bytes[i] & 31]; /* 5 of 8 bits of each byte: uniform */
    out[SB_ID_LEN] = 0;
}
