/* SPDX-License-Identifier: MIT
 * errno to an error of ours. */
#include "guest_posix.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static const struct {
    int error;
    enum sb_code code;
} codes[] = {
    {ENOENT, SB_NOT_FOUND},      {ENOTDIR, SB_NOT_FOUND},
    {EACCES, SB_DENIED},         {EPERM, SB_DENIED},
    {ELOOP, SB_DENIED},          {EXDEV, SB_DENIED},
    {EROFS, SB_DENIED},          {ENOSPC, SB_LIMIT},
    {EDQUOT, SB_LIMIT},          {EFBIG, SB_LIMIT},
    {E2BIG, SB_LIMIT},           {EAGAIN, SB_LIMIT},
    {ENOMEM, SB_LIMIT},          {EMFILE, SB_LIMIT},
    {EMLINK, SB_LIMIT},          {ENAMETOOLONG, SB_BAD_REQUEST},
    {EINVAL, SB_BAD_REQUEST},    {EISDIR, SB_BAD_REQUEST},
    {ENOTEMPTY, SB_BAD_REQUEST}, {ENOEXEC, SB_BAD_REQUEST},
};

int sb_fail_errno(struct sb_err *err, int error, const char *fmt, ...)
{
    char what[sizeof(((struct sb_err *)0)->text)], why[128];
    enum sb_code code = SB_HOST;
    va_list args;

    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    snprintf(why, sizeof why, "%s", error == ELOOP ? "it is a link or goes through one" : strerror(error));
    why[0] = (char)tolower((unsigned char)why[0]);
    for (size_t i = 0; i < SB_COUNT(codes); i++)
        if (codes[i].error == error)
            code = codes[i].code;
    sb_fail(err, code, "%s: %s", what, why);
    if (err != NULL)
        err->os = error;
    return -1;
}
