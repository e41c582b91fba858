/* SPDX-License-Identifier: MIT */
#include "sandbox/instance.h"

#include <stdbool.h>
#include <string.h>
#include <uv.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "platform/boxos.h"
#include "platform/dirs.h"
#include "platform/hostpath.h"
#include "platform/lock.h"
#include "platform/oserr.h"
#include "platform/random.h"
#include "sandbox/journal.h"

#define BIRTHS 8 /* tries to get a directory of our own before a sweeper takes it for dead */

struct sb_instance {
    char id[SB_ID_LEN + 1];
    char *runtime, *dir;
    struct sb_lock *lock;
    struct sb_journal *journal;
};

static char *join(const char *dir, const char *name)
{
    struct sb_buf path;

    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    sb_path_join(&path, dir, name, sb_host_rules());
    return sb_buf_take(&path);
}

static int take_lock(const char *dir, struct sb_lock **out, struct sb_err *err)
{
    char *path = join(dir, "lock");
    int rc = sb_lock_take(path, out, err);

    sb_free(path);
    return rc;
}

/* Removes the directory and lets its lock go. Windows keeps an open lock file, so what is
 * left then goes after it. */
static void bury(const char *dir, struct sb_lock *lock)
{
    int rc = sb_dir_remove_tree(dir, NULL);

    sb_lock_free(lock, 1);
    if (rc < 0)
        sb_dir_remove_tree(dir, NULL); /* what stays is for the next sweep */
}

/* A directory without a held lock looks dead, and for a moment ours does: a sweeper may be
 * faster. Then it removes what is still empty, and we try another name. */
static int give_birth(struct sb_instance *instance, const char *instances, struct sb_err *err)
{
    struct sb_err why = {0};

    for (int i = 0; i < BIRTHS; i++) {
        sb_random_id(instance->id);
        sb_free(instance->dir);
        instance->dir = join(instances, instance->id);
        /* a box with a uid of its own may reach what it is told the name of: canaries */
        if (sb_dir_make(instance->dir, sb_box_os_drops_uid(), &why) == 0 &&
            take_lock(instance->dir, &instance->lock, &why) == 0)
            return 0;
        if (why.code != SB_BUSY && why.code != SB_NOT_FOUND)
            break;
    }
    if (err)
        *err = why;
    return -1;
}

int sb_instance_open_in(const char *runtime_dir, struct sb_instance **out, struct sb_err *err)
{
    struct sb_instance *instance = sb_alloc(sizeof *instance);
    char *instances = join(runtime_dir, "instances");
    struct sb_err why = {0};
    int rc = -1;

    instance->runtime = sb_strdup(runtime_dir);
    if (sb_dir_make(instances, sb_box_os_drops_uid(), &why) < 0 && why.code != SB_BUSY)
        goto done;
    if (give_birth(instance, instances, &why) < 0 ||
        sb_journal_open(instance->dir, &instance->journal, &why) < 0)
        goto done;
    *out = instance;
    rc = 0;
done:
    if (rc < 0) {
        if (err)
            *err = why;
        sb_instance_close(instance);
        sb_fail_in(err, "cannot make this process's own directory");
    }
    sb_free(instances);
    return rc;
}

int sb_instance_open(struct sb_instance **out, struct sb_err *err)
{
    struct sb_buf runtime;
    int rc = -1;

    sb_buf_init(&runtime, SB_PATH_MAX_BYTES);
    if (sb_dir(SB_DIR_RUNTIME, &runtime, err) == 0)
        rc = sb_instance_open_in(runtime.data, out, err);
    sb_buf_done(&runtime);
    return rc;
}

void sb_instance_close(struct sb_instance *instance)
{
    bool undone;

    if (!instance)
        return;
    undone = !instance->journal || sb_journal_undo_all(instance->journal, NULL) == 0;
    sb_journal_free(instance->journal);
    if (instance->lock && undone)
        bury(instance->dir, instance->lock);
    else
        sb_lock_free(instance->lock, 0); /* the journal is for the next host */
    sb_free(instance->dir);
    sb_free(instance->runtime);
    sb_free(instance);
}

const char *sb_instance_id(const struct sb_instance *instance)
{
    return instance->id;
}

const char *sb_instance_dir(const struct sb_instance *instance)
{
    return instance->dir;
}

const char *sb_instance_runtime_dir(const struct sb_instance *instance)
{
    return instance->runtime;
}

int sb_journal_add(struct sb_instance *instance, enum sb_undo kind, const char *what, unsigned *out_entry,
                   struct sb_err *err)
{
    return sb_journal_write(instance->journal, kind, what, out_entry, err);
}

int sb_journal_undo(struct sb_instance *instance, unsigned entry, struct sb_err *err)
{
    return sb_journal_strike(instance->journal, entry, err);
}

/* ---- the dead ----------------------------------------------------------------------- */

static bool is_id(const char *name)
{
    return strlen(name) == SB_ID_LEN && strspn(name, "abcdefghijklmnopqrstuvwxyz234567") == SB_ID_LEN;
}

static bool mend(const char *dir)
{
    struct sb_lock *lock = NULL;
    struct sb_journal *journal = NULL;
    bool undone;

    if (take_lock(dir, &lock, NULL) < 0)
        return false; /* alive, or another sweeper's */
    undone = sb_journal_open(dir, &journal, NULL) == 0 && sb_journal_undo_all(journal, NULL) == 0;
    sb_journal_free(journal);
    if (undone)
        bury(dir, lock);
    else
        sb_lock_free(lock, 0);
    return undone;
}

size_t sb_instance_sweep(struct sb_instance *self, size_t most)
{
    char *instances = join(self->runtime, "instances");
    size_t mended = 0;
    uv_fs_t request;
    uv_dirent_t entry;

    if (uv_fs_scandir(NULL, &request, instances, 0, NULL) >= 0) {
        /* always to the end: libuv 1.44 leaks the last entry of a walk that stops at it */
        while (uv_fs_scandir_next(&request, &entry) == 0) {
            char *dir;

            if (mended == most || !is_id(entry.name) || strcmp(entry.name, self->id) == 0)
                continue;
            dir = join(instances, entry.name);
            mended += mend(dir);
            sb_free(dir);
        }
    }
    uv_fs_req_cleanup(&request);
    sb_free(instances);
    return mended;
}
