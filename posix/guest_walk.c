/* SPDX-License-Identifier: MIT
 * Walking the workspace by folder descriptors, so that a folder renamed or replaced by a link
 * under our feet leads nowhere else. */
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
#include "guest/guest.h"

struct walk {
    struct sb_gos *gos;
    bool (*visit)(void *ctx, const struct sb_gos_entry *entry);
    void *ctx;
    size_t left; /* names that may still be taken, from all folders together */
    bool cut, stopped;
    struct sb_buf path; /* of the folder being walked, repaired */
};

struct names {
    char **v;
    size_t count, room;
};

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_shown(const struct walk *walk, const char *name)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    return walk->path.len > 0 || strcmp(name, SB_GUEST_TMP) != 0;
}

/* All names of a folder. They count against `left` at once, not when visited: a folder of a
 * million names costs neither their memory nor their time. */
static void read_names(struct walk *walk, DIR *folder, struct names *out)
{
    const struct dirent *entry;

    while ((entry = readdir(folder)) != NULL) {
        if (!is_shown(walk, entry->d_name))
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

/* Appends "/name", repaired; says whether it had to be. */
static bool add_name(struct sb_buf *path, const char *name)
{
    struct sb_utf8_repair repair = {0};

    if (path->len > 0)
        sb_buf_addc(path, '/');
    sb_utf8_repair(&repair, name, strlen(name), path);
    sb_utf8_repair_end(&repair, path);
    return repair.changed;
}

static void walk_folder(struct walk *walk, int fd, unsigned depth, bool bad_name);

static void walk_entry(struct walk *walk, int folder, const char *name, unsigned depth, bool bad_name)
{
    struct sb_gos_entry entry = {0};
    size_t len = walk->path.len;
    struct stat st;

    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return; /* gone since it was read */
    entry.type = type_of(st.st_mode);
    if (entry.type == SB_ENTRY_FILE && sb_is_put(walk->gos, &st))
        return;
    entry.bad_name = add_name(&walk->path, name) || bad_name;
    if (walk->path.full) {
        walk->cut = true;
        goto done;
    }
    entry.path = walk->path.data;
    entry.size = entry.type == SB_ENTRY_FILE ? (uint64_t)st.st_size : 0;
    entry.mtime_ns = ns_of(&st.st_mtim);
    entry.change_ns = ns_of(&st.st_ctim);
    entry.inode = st.st_ino;
    walk->stopped = !walk->visit(walk->ctx, &entry);
    if (walk->stopped || entry.type != SB_ENTRY_FOLDER)
        goto done;
    if (depth == SB_PATH_MAX_DEPTH) {
        walk->cut = true;
        goto done;
    }
    int fd = sb_beneath_open(&walk->gos->beneath, folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        walk_folder(walk, fd, depth + 1, entry.bad_name);
done:
    walk->path.len = len;
    walk->path.data[len] = '\0';
    walk->path.full = false;
}

/* Takes the descriptor. */
static void walk_folder(struct walk *walk, int fd, unsigned depth, bool bad_name)
{
    struct names names = {0};
    DIR *folder = fdopendir(fd);

    if (folder == NULL) {
        close(fd);
        return;
    }
    read_names(walk, folder, &names);
    for (size_t i = 0; i < names.count; i++) {
        if (!walk->stopped)
            walk_entry(walk, dirfd(folder), names.v[i], depth, bad_name);
        sb_free(names.v[i]);
    }
    sb_free(names.v);
    closedir(folder);
}

static unsigned depth_of(const char *path)
{
    unsigned depth = *path == '\0' ? 1 : 2;

    for (; *path != '\0'; path++)
        depth += *path == '/';
    return depth;
}

int sb_gos_walk(struct sb_gos *gos, const char *folder, size_t most,
                bool (*visit)(void *ctx, const struct sb_gos_entry *entry), void *ctx, bool *cut,
                struct sb_err *err)
{
    struct walk walk = {.gos = gos, .visit = visit, .ctx = ctx, .left = most};
    int fd = sb_beneath_open(&gos->beneath, gos->beneath.root, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return sb_fail_errno(err, errno, "cannot list '%s'", *folder == '\0' ? "." : folder);
    sb_buf_init(&walk.path, SB_PATH_MAX_BYTES);
    sb_buf_adds(&walk.path, folder);
    walk_folder(&walk, fd, depth_of(folder), false);
    *cut = walk.cut;
    sb_buf_done(&walk.path);
    return 0;
}
