/* SPDX-License-Identifier: MIT */
#include "platform/abstract.h"

int sb_abstract_bind(const char *name, int *out_fd, struct sb_err *err)
{
    (void)name;
    (void)out_fd;
    return sb_fail(err, SB_UNSUPPORTED, "Windows has no abstract names");
}
