/* SPDX-License-Identifier: MIT
 * The undo journal of one instance directory: a text file, one line per change and one per
 * undo. Used by instance.c only; everyone else asks the instance. */
#ifndef SB_SANDBOX_JOURNAL_H
#define SB_SANDBOX_JOURNAL_H

#include "base/err.h"
#include "sandbox/instance.h"

struct sb_journal;

/* Reads what is there; a missing file is an empty journal, a last line without its end (the
 * host died while it wrote) is none. */
int sb_journal_open(const char *dir, struct sb_journal **out, struct sb_err *err);
void sb_journal_free(struct sb_journal *journal); /* NULL is allowed */

int sb_journal_write(struct sb_journal *journal, enum sb_undo kind, const char *what, unsigned *out_entry,
                     struct sb_err *err);
int sb_journal_strike(struct sb_journal *journal, unsigned entry, struct sb_err *err);
/* Undoes all, newest first; goes on after a failure and reports the first. */
int sb_journal_undo_all(struct sb_journal *journal, struct sb_err *err);

#endif
