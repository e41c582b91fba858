/* SPDX-License-Identifier: MIT */
#include "guest/folders.h"

#include <string.h>

#include "base/alloc.h"
#include "base/path.h"

static unsigned depth_of(const char *path)
{
    unsigned depth = 1;
    for (; *path; path++)
        depth += *path == '/';
    return depth;
}

bool sb_folders_add(struct sb_folders *folders, const char *path)
{
    size_t len = strlen(path);
    if (depth_of(path) >= SB_PATH_MAX_DEPTH || len > SB_FOLDERS_BYTES - folders->bytes)
        return false;
    if (folders->count == folders->room) {
        folders->room = folders->room ? 2 * folders->room : 32;
        folders->v = sb_realloc(folders->v, folders->room * sizeof *folders->v);
    }
    folders->v[folders->count++] = sb_strdup(path);
    folders->bytes += len;
    return true;
}

void sb_folders_done(struct sb_folders *folders)
{
    for (size_t i = 0; i < folders->count; i++)
        sb_free(folders->v[i]);
    sb_free(folders->v);
    *folders = (struct sb_folders){NULL, 0, 0, 0};
}
