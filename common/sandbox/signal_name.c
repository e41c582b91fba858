/* SPDX-License-Identifier: MIT */
#include "sandbox/signal_name.h"

#include "base/alloc.h"

static const struct {
    uint32_t code;
    const char *name;
} names[] = {
    {1, "SIGHUP"},   {2, "SIGINT"},   {3, "SIGQUIT"},  {4, "SIGILL"},   {5, "SIGTRAP"},  {6, "SIGABRT"},
    {7, "SIGBUS"},   {8, "SIGFPE"},   {9, "SIGKILL"},  {10, "SIGUSR1"}, {11, "SIGSEGV"}, {12, "SIGUSR2"},
    {13, "SIGPIPE"}, {14, "SIGALRM"}, {15, "SIGTERM"}, {24, "SIGXCPU"}, {25, "SIGXFSZ"}, {31, "SIGSYS"},
    {0xC0000005u, "access violation"},  {0xC000001Du, "illegal instruction"},
    {0xC0000094u, "division by zero"},  {0xC00000FDu, "stack overflow"},
    {0xC000013Au, "control-C"},         {0xC0000142u, "a DLL failed to initialise"},
    {0xC0000409u, "fail-fast abort"},
};

bool sb_signal_is_crash(uint32_t code)
{
    return code >= 0xC0000000u;
}

const char *sb_signal_name(uint32_t code)
{
    for (size_t i = 0; i < SB_COUNT(names); i++)
        if (names[i].code == code)
            return names[i].name;
    return "unknown";
}
