/* SPDX-License-Identifier: MIT
 * The strict reader in front of cJSON: says whether a text is JSON as json.h promises it,
 * all but doubled keys, and builds nothing. Only json.c calls it. */
#ifndef SB_BASE_JSON_CHECK_H
#define SB_BASE_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* *has_nul: some string holds \u0000, which cJSON would cut it at. */
int sb_json_check(const char *text, size_t len, bool *has_nul, struct sb_err *err);

#endif
