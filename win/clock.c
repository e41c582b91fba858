/* SPDX-License-Identifier: MIT */
#include "platform/clock.h"

#include <windows.h>

#include <string.h>

typedef VOID(WINAPI *unbiased_time)(PULONGLONG);

/* QueryUnbiasedInterruptTime steps by about 16 ms. Its precise twin exists since Windows 10,
 * not in the import library of mingw 10 and not in Wine 8. */
static unbiased_time precise_clock(void)
{
    unbiased_time clock = NULL;
    HMODULE base = GetModuleHandleW(L"kernelbase.dll");
    FARPROC found = base ? GetProcAddress(base, "QueryUnbiasedInterruptTimePrecise") : NULL;
    memcpy(&clock, &found, sizeof clock);
    return clock;
}

int64_t sb_clock_us(void)
{
    static unbiased_time precise;
    static volatile LONG looked; /* every thread that races here finds the same */
    ULONGLONG hundreds_ns = 0;

    if (!looked) {
        precise = precise_clock();
        InterlockedExchange(&looked, 1);
    }
    if (precise)
        precise(&hundreds_ns);
    else
        QueryUnbiasedInterruptTime(&hundreds_ns);
    return (int64_t)(hundreds_ns / 10);
}
