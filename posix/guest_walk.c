/* SPDX-License-Identifier: MIT
 * Walking the workspace. Each folder is opened by its path below the workspace and read by its
 * descriptor, so that one renamed or replaced by a link under our feet leads nowhere else. */
#include "guest_posix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "base/utf8.h"
#include "guest/folders.h"

struct walk {
    struct sb_gos *gos;
    bool (*visit)(void *ctx, const struct sb_gos_entry *entry);
    void *ctx;
    size_t left; /* names that may still be taken, from all folders together */
    bool cut, stopped;
    struct sb_folders folders;
    struct sb_buf shown; /* the path of an entry, repaired */
};

struct names {
    char **v;
    size_t count, room;
};

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_shown(const char *folder, const char *name)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    return *folder != '\0' || strcmp(name, SB_GUEST_TMP) != 0;
}

/* All names of a folder. They count against `left` at once, not when visited: a folder of a
 * million names costs neither their memory nor their time. */
static void read_names(struct walk *walk, DIR *dir, const char *folder, struct names *out)
{
    const struct dirent *entry;

    while ((entry = readdir(dir)) != NULL) {
        if (!is_shown(folder, entry->d_name))
            continue;
        if (walk->left == 0) {
            walk->cut = true;
            break;
        }
        walk->left--;
        if (out->count == out->room) {
            out->room = out->room == 0 ? 32 : out->room * 2;
            out->v = sb_realloc(out->v, out->room * sizeof *out->v);
        }
        out->v[out->count++] = sb_strdup(entry->d_name);
    }
    if (out->count > 0)
        qsort(out->v, out->count, sizeof *out->v, by_bytes);
}

static enum sb_entry_type type_of(mode_t mode)
{
    return S_ISREG(mode)   ? SB_ENTRY_FILE
           : S_ISDIR(mode) ? SB_ENTRY_FOLDER
           : S_ISLNK(mode) ? SB_ENTRY_LINK
                           : SB_ENTRY_OTHER;
}

static int64_t ns_of(const struct timespec *time)
{
    return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

/* Sets `shown`; says whether the path had to be repaired. */
static bool show(struct walk *walk, const char *path)
{
    struct sb_utf8_repair repair = {0};

    sb_buf_clear(&walk->shown);
    sb_utf8_repair(&repair, path, strlen(path), &walk->shown);
    sb_utf8_repair_end(&repair, &walk->shown);
    return repair.changed;
}

static void walk_entry(struct walk *walk, int fd, const char *folder, const char *name)
{
    struct sb_gos_entry entry = {0};
    struct stat st;

    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return; /* gone since it was read */
    entry.type = type_of(st.st_mode);
    if (entry.type == SB_ENTRY_FILE && sb_is_put(walk->gos, &st))
        return;
    char *path = sb_asprintf("%s%s%s", folder, *folder == '\0' ? "" : "/", name);
    entry.bad_name = show(walk, path);
    if (walk->shown.full) {
        walk->cut = true;
        goto done;
    }
    entry.path = walk->shown.data;
    entry.size = entry.type == SB_ENTRY_FILE ? (uint64_t)st.st_size : 0;
    entry.mtime_ns = ns_of(&st.st_mtim);
    entry.change_ns = ns_of(&st.st_ctim);
    entry.inode = st.st_ino;
    walk->stopped = !walk->visit(walk->ctx, &entry);
    if (!walk->stopped && entry.type == SB_ENTRY_FOLDER && !sb_folders_add(&walk->folders, path))
        walk->cut = true;
done:
    sb_free(path);
}

static int open_folder(const struct walk *walk, const char *path)
{
    return sb_beneath_open(&walk->gos->beneath, walk->gos->beneath.root, path,
                           O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Takes the descriptor; -1: it can't be read. */
static void walk_folder(struct walk *walk, int fd, const char *folder)
{
    struct names names = {0};
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (dir == NULL) {
        sb_close(&fd);
        return;
    }
    read_names(walk, dir, folder, &names);
    for (size_t i = 0; i < names.count; i++) {
        if (!walk->stopped)
            walk_entry(walk, dirfd(dir), folder, names.v[i]);
        sb_free(names.v[i]);
    }
    sb_free(names.v);
    closedir(dir);
}

int sb_gos_walk(struct sb_gos *gos, const char *folder, size_t most,
                bool (*visit)(void *ctx, const struct sb_gos_entry *entry), void *ctx, bool *cut,
                struct sb_err *err)
{
    struct walk walk = {.gos = gos, .visit = visit, .ctx = ctx, .left = most};
    int fd = open_folder(&walk, folder);

    if (fd < 0)
        return sb_fail_errno(err, errno, "cannot list '%s'", *folder == '\0' ? "." : folder);
    sb_buf_init(&walk.shown, SB_PATH_MAX_BYTES);
    walk_folder(&walk, fd, folder);
    for (size_t i = 0; i < walk.folders.count && !walk.stopped && !(walk.cut && walk.left == 0); i++)
        walk_folder(&walk, open_folder(&walk, walk.folders.v[i]), walk.folders.v[i]);
    sb_folders_done(&walk.folders);
    sb_buf_done(&walk.shown);
    *cut = walk.cut;
    return 0;
}
