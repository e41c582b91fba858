/* SPDX-License-Identifier: MIT
 * The only file that includes zlib.h. */
#include <zlib.h>

#include "base/libraries.h"

const char *sb_zlib_version(void)
{
    return zlibVersion();
}
