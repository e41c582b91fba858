/* SPDX-License-Identifier: MIT
 * The folder of one host's kept results: ABOVE/kept-ID, and kept-ID.lock beside it, held for
 * life. It lies on disk, not in the instance directory: runtime directories lie in memory, and
 * are gone after a reboot together with any journal; so the lock alone says who is alive. */
#ifndef SB_SERVER_KEPT_FOLDER_H
#define SB_SERVER_KEPT_FOLDER_H

#include <stddef.h>

#include "base/err.h"

struct sb_kept_folder;

/* `above` NULL: our cache directory. */
int sb_kept_folder_make(const char *above, const char *id, struct sb_kept_folder **out, struct sb_err *err);
const char *sb_kept_folder_path(const struct sb_kept_folder *folder);
void sb_kept_folder_remove(struct sb_kept_folder *folder); /* with all in it; NULL is allowed */

/* Removes those of dead hosts, at most `most`; returns how many. What can't be removed stays
 * for the next host. */
size_t sb_kept_folder_sweep(const char *above, size_t most);

#endif
