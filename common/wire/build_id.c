/* SPDX-License-Identifier: MIT */
#include "build_id.h" /* generated: see build_id.cmake */
#include "wire/wire.h"

_Static_assert(sizeof SB_BUILD_ID == SB_WIRE_BUILD_LEN + 1, "a build id is a SHA-256");

const char *sb_wire_build_id(void)
{
    return SB_BUILD_ID;
}
