/* SPDX-License-Identifier: MIT
 * The folders that a walk still has to read, in the order in which it met them: what both
 * systems' sb_gos_walk goes by. Paths are bytes as the system has them, below the workspace. */
#ifndef SB_GUEST_FOLDERS_H
#define SB_GUEST_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>

#define SB_FOLDERS_BYTES (4u * 1024 * 1024) /* of all paths of one walk */

struct sb_folders {
    char **v;
    size_t count, room, bytes;
};

/* Copies the path. False when its files would be deeper than any path can name, or the paths of
 * the walk have reached their cap: what is in it is not visited then. */
bool sb_folders_add(struct sb_folders *folders, const char *path);
void sb_folders_done(struct sb_folders *folders);

#endif
