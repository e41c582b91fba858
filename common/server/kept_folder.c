/* SPDX-License-Identifier: MIT */
#include "server/kept_folder.h"

#include <string.h>
#include <uv.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "platform/dirs.h"
#include "platform/hostpath.h"
#include "platform/lock.h"

#define PREFIX "kept-"
#define LOCK   ".lock"

struct sb_kept_folder {
    char *path;
    struct sb_lock *lock;
};

static char *join(const char *above, const char *name)
{
    struct sb_buf path;

    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    sb_path_join(&path, above, name, sb_host_rules());
    return sb_buf_take(&path);
}

static char *find_above(const char *above, struct sb_err *err)
{
    struct sb_buf cache;

    if (above)
        return sb_strdup(above);
    sb_buf_init(&cache, SB_PATH_MAX_BYTES);
    if (sb_dir(SB_DIR_CACHE, &cache, err) == 0)
        return sb_buf_take(&cache);
    sb_buf_done(&cache);
    return NULL;
}

static int take_lock(const char *path, struct sb_lock **out, struct sb_err *err)
{
    char *name = sb_asprintf("%s" LOCK, path);
    int rc = sb_lock_take(name, out, err);

    sb_free(name);
    return rc;
}

int sb_kept_folder_make(const char *above, const char *id, struct sb_kept_folder **out, struct sb_err *err)
{
    struct sb_kept_folder *folder;
    char *where = find_above(above, err), *name;

    if (!where)
        return -1;
    folder = sb_alloc(sizeof *folder);
    name = sb_asprintf(PREFIX "%s", id);
    folder->path = join(where, name);
    sb_free(name);
    sb_free(where);
    if (take_lock(folder->path, &folder->lock, err) == 0 && sb_dir_make(folder->path, 0, err) == 0) {
        *out = folder;
        return 0;
    }
    sb_lock_free(folder->lock, 1);
    sb_free(folder->path);
    sb_free(folder);
    return -1;
}

const char *sb_kept_folder_path(const struct sb_kept_folder *folder)
{
    return folder->path;
}

static bool take_away(struct sb_kept_folder *folder)
{
    bool gone = sb_dir_remove_tree(folder->path, NULL) == 0;

    sb_lock_free(folder->lock, gone);
    sb_free(folder->path);
    sb_free(folder);
    return gone;
}

void sb_kept_folder_remove(struct sb_kept_folder *folder)
{
    if (folder)
        take_away(folder);
}

/* `name` is a folder, or the lock of one that was never made. */
static bool sweep_one(const char *above, const char *name)
{
    size_t len = strlen(name), end = strlen(LOCK);
    struct sb_kept_folder *folder = sb_alloc(sizeof *folder);

    folder->path = join(above, name);
    if (len > end && strcmp(name + len - end, LOCK) == 0)
        folder->path[strlen(folder->path) - end] = '\0';
    if (take_lock(folder->path, &folder->lock, NULL) == 0)
        return take_away(folder);
    sb_free(folder->path);
    sb_free(folder);
    return false;
}

size_t sb_kept_folder_sweep(const char *above, size_t most)
{
    char *where = find_above(above, NULL);
    uv_fs_t request;
    uv_dirent_t entry;
    size_t swept = 0;

    if (where && uv_fs_scandir(NULL, &request, where, 0, NULL) >= 0) {
        while (swept < most && uv_fs_scandir_next(&request, &entry) == 0)
            if (strncmp(entry.name, PREFIX, strlen(PREFIX)) == 0)
                swept += sweep_one(where, entry.name);
        uv_fs_req_cleanup(&request);
    }
    sb_free(where);
    return swept;
}
