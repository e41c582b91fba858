/* SPDX-License-Identifier: MIT
 * Base64 with the standard alphabet and padding (RFC 4648 section 4). */
#ifndef SB_BASE_BASE64_H
#define SB_BASE_BASE64_H

#include <stddef.h>

struct sb_buf;

void sb_base64(const void *bytes, size_t len, struct sb_buf *out);

#endif
