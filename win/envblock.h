/* SPDX-License-Identifier: MIT
 * The environment as CreateProcessW wants it. */
#ifndef SB_WIN_ENVBLOCK_H
#define SB_WIN_ENVBLOCK_H

#include <wchar.h>

#include "base/err.h"

/* NAME=value strings, sorted by name without regard to case, one NUL after each and one more
 * at the end. A string without a name, and a name that is there twice (in any case), is an
 * error: the program would see one of the two, and nobody could say which. sb_free. */
wchar_t *sb_env_block(char *const *env, struct sb_err *err);

#endif
