/* SPDX-License-Identifier: MIT
 * Memory that is there or the process ends.
 *
 * Out of memory prints one line and aborts. That is right only because every size
 * that a client or a guest controls has a cap: see docs/SECURITY.md. Boxes die
 * with the host, and the next host sweeps what is left on disk. */
#ifndef SB_BASE_ALLOC_H
#define SB_BASE_ALLOC_H

#include <stdarg.h>
#include <stddef.h>

#include "base/err.h"

void *sb_alloc(size_t size); /* zeroed */
void *sb_realloc(void *old, size_t size);
char *sb_strdup(const char *text);              /* NULL gives NULL */
char *sb_strndup(const char *text, size_t len); /* copies exactly len bytes and a NUL */
char *sb_asprintf(const char *fmt, ...) SB_PRINTF(1, 2);
char *sb_vasprintf(const char *fmt, va_list args) SB_PRINTF(1, 0);
void sb_free(void *memory); /* NULL is allowed */

#define SB_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
