/* SPDX-License-Identifier: MIT */
#include "sandbox/target.h"

enum sb_wire_arch sb_target_own_arch(void)
{
#if defined(__aarch64__) || defined(_M_ARM64)
    return SB_WIRE_AARCH64;
#else
    return SB_WIRE_X86_64;
#endif
}

enum sb_path_rules sb_target_rules(const struct sb_target *target)
{
    return target->os == SB_WIRE_WINDOWS ? SB_PATH_WINDOWS : SB_PATH_POSIX;
}

const char *sb_target_os_name(const struct sb_target *target)
{
    return target->os == SB_WIRE_WINDOWS ? "windows" : "linux";
}
