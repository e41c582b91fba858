/* SPDX-License-Identifier: MIT */
#include "platform/hostpath.h"

enum sb_path_rules sb_host_rules(void)
{
    return SB_PATH_WINDOWS;
}
