/* SPDX-License-Identifier: MIT
 * The strict reader in front of cJSON: says whether a text is JSON as json.h promises it,
 * all but doubled keys, and builds nothing. Only json.c calls it. */
#ifndef SB_BASE_JSON_CHECK_H
#define SB_BASE_JSON_CHECK_H

#include <stddef.h>

#include "base/err.h"

int sb_json_check(const char *text, size_t len, struct sb_err *err);

#endif
