/* SPDX-License-Identifier: MIT
 * One host process: a directory of its own with an exclusive lock held for life, and the
 * undo journal of host changes that would outlive us.
 *
 * Layout: RUNTIME/instances/ID/{lock,journal,...}. Start-up mends the instances whose lock
 * it can take: replays their journal, removes their directory. */
#ifndef SB_SANDBOX_INSTANCE_H
#define SB_SANDBOX_INSTANCE_H

#include <stddef.h>

#include "base/err.h"

struct sb_instance;

int sb_instance_open(struct sb_instance **out, struct sb_err *err);
/* The same below a runtime directory that is there already. */
int sb_instance_open_in(const char *runtime_dir, struct sb_instance **out, struct sb_err *err);
/* Undoes what is left in the journal, removes the directory. NULL is allowed. */
void sb_instance_close(struct sb_instance *instance);

const char *sb_instance_id(const struct sb_instance *instance);
const char *sb_instance_dir(const struct sb_instance *instance);
const char *sb_instance_runtime_dir(const struct sb_instance *instance);

/* Mends dead instances; at most `most` of them, so that a first call never waits long.
 * Returns how many it mended. Never fails: what can't be mended stays for the next host. */
size_t sb_instance_sweep(struct sb_instance *self, size_t most);

#define SB_JOURNAL_ENTRIES 4096 /* not yet undone, of one instance */

/* Undo journal: what will undo a change is written down before the change is made.
 * Kinds are rows of a table in journal.c. */
enum sb_undo { SB_UNDO_TREE /* remove the directory tree at `what` */, SB_UNDO_COUNT };
int sb_journal_add(struct sb_instance *instance, enum sb_undo kind, const char *what, unsigned *out_entry,
                   struct sb_err *err);
/* Undoes the entry now and strikes it out. A change that can't be undone stays written. */
int sb_journal_undo(struct sb_instance *instance, unsigned entry, struct sb_err *err);

#endif
