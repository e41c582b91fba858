/* SPDX-License-Identifier: MIT
 * Which files of the workspace a run made or changed: a snapshot before, a look after. */
#ifndef SB_GUEST_CHANGES_H
#define SB_GUEST_CHANGES_H

#include "guest/guest_os.h"

struct sb_changes_mark {
    uint64_t path_hash, size, inode;
    int64_t mtime_ns, change_ns;
};
struct sb_changes {
    struct sb_changes_mark *marks; /* sorted by path_hash */
    size_t count, room;
};

/* Walks the workspace once. A workspace that can't be walked counts as empty. */
void sb_changes_before(struct sb_changes *changes, struct sb_gos *gos);
/* Fills exit->files with what is new or different by now (no folders), and its flag
 * SB_EXIT_FILES_CUT when that is not all. */
void sb_changes_after(const struct sb_changes *changes, struct sb_gos *gos, struct sb_wire_exit *exit);
void sb_changes_done(struct sb_changes *changes);

#endif
