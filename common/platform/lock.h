/* SPDX-License-Identifier: MIT
 * A lock file held for life: gone with the process, however it dies. */
#ifndef SB_PLATFORM_LOCK_H
#define SB_PLATFORM_LOCK_H

#include "base/err.h"

struct sb_lock;

/* Creates PATH if needed and takes it exclusively, at once. SB_BUSY: another holds it. */
int sb_lock_take(const char *path, struct sb_lock **out, struct sb_err *err);
void sb_lock_free(struct sb_lock *lock, int remove_file); /* NULL is allowed */

#endif
