/* SPDX-License-Identifier: MIT
 * Base64 with the standard alphabet and padding (RFC 4648 section 4). */
#ifndef SB_BASE_BASE64_H
#define SB_BASE_BASE64_H

#include <stddef.h>

#include "base/err.h"

struct sb_buf;

void sb_base64(const void *bytes, size_t len, struct sb_buf *out);
/* Strict: no white space, padded, no stray bits. Appends, or says where it is wrong and changes nothing. */
int sb_base64_decode(const char *text, size_t len, struct sb_buf *out, struct sb_err *err);

#endif
