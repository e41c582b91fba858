/* SPDX-License-Identifier: MIT */
#include "guest_win.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "guest/folders.h"
#include "utf16.h"

#define PAGE_SIZE      (64u * 1024)
#define UNIX_EPOCH     116444736000000000 /* in 100 ns since 1601 */
#define MOST_UNIX_TICS (INT64_MAX / 100)

struct found {
    char *name;                /* UTF-8 */
    struct sb_gos_entry entry; /* path set when it is visited */
};

struct walk {
    struct sb_gos *gos;
    size_t left; /* entries that may still be visited */
    bool (*visit)(void *ctx, const struct sb_gos_entry *entry);
    void *ctx;
    bool cut, stopped;
    struct sb_folders folders;
    struct sb_buf path; /* of an entry */
};

struct folder {
    struct found *v;
    size_t n, cap;
};

static int64_t unix_ns(LARGE_INTEGER tics)
{
    int64_t t;

    if (tics.QuadPart == 0) /* the file system has no such time */
        return 0;
    t = tics.QuadPart < INT64_MIN + UNIX_EPOCH ? INT64_MIN : tics.QuadPart - UNIX_EPOCH;
    t = t > MOST_UNIX_TICS ? MOST_UNIX_TICS : t;
    return (t < -MOST_UNIX_TICS ? -MOST_UNIX_TICS : t) * 100;
}

static enum sb_entry_type type_of(const FILE_ID_BOTH_DIR_INFO *info)
{
    if (info->FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) /* then EaSize is the tag */
        return info->EaSize == IO_REPARSE_TAG_SYMLINK || info->EaSize == IO_REPARSE_TAG_MOUNT_POINT
                   ? SB_ENTRY_LINK
                   : SB_ENTRY_OTHER;
    return info->FileAttributes & FILE_ATTRIBUTE_DIRECTORY ? SB_ENTRY_FOLDER : SB_ENTRY_FILE;
}

static bool is_dots(const wchar_t *name, size_t len)
{
    return (len == 1 && name[0] == '.') || (len == 2 && name[0] == '.' && name[1] == '.');
}

static bool has_half_pair(const wchar_t *text)
{
    for (; *text; text++) {
        if (IS_SURROGATE_PAIR(text[0], text[1]))
            text++;
        else if (IS_HIGH_SURROGATE(*text) || IS_LOW_SURROGATE(*text))
            return true;
    }
    return false;
}

static void add(struct folder *folder, const FILE_ID_BOTH_DIR_INFO *info, size_t len)
{
    wchar_t *wide = sb_alloc((len + 1) * sizeof(wchar_t));
    struct found *found;

    if (folder->n == folder->cap) {
        folder->cap = folder->cap ? folder->cap * 2 : 32;
        folder->v = sb_realloc(folder->v, folder->cap * sizeof *folder->v);
    }
    found = &folder->v[folder->n++];
    memset(found, 0, sizeof *found);
    memcpy(wide, info->FileName, len * sizeof(wchar_t));
    found->name = sb_from_utf16(wide);
    found->entry = (struct sb_gos_entry){
        .type = type_of(info),
        .bad_name = has_half_pair(wide),
        .size = info->FileAttributes & FILE_ATTRIBUTE_DIRECTORY ? 0 : (uint64_t)info->EndOfFile.QuadPart,
        .mtime_ns = unix_ns(info->LastWriteTime),
        .change_ns = unix_ns(info->ChangeTime),
        .inode = (uint64_t)info->FileId.QuadPart,
    };
    sb_free(wide);
}

/* Reads at most one entry more than may still be visited: an endless folder has an end here. */
static void read_page(const struct walk *walk, const unsigned char *page, bool top, struct folder *folder)
{
    for (;;) {
        const FILE_ID_BOTH_DIR_INFO *info = (const void *)page;
        size_t len = info->FileNameLength / sizeof(wchar_t);
        bool hidden =
            top && len == strlen(SB_GUEST_TMP) && _wcsnicmp(info->FileName, L"" SB_GUEST_TMP, len) == 0;

        if (len > 0 && !hidden && !is_dots(info->FileName, len) && folder->n <= walk->left)
            add(folder, info, len);
        if (info->NextEntryOffset == 0)
            return;
        page += info->NextEntryOffset;
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct found *)a)->name, ((const struct found *)b)->name);
}

static void read_folder(const struct walk *walk, HANDLE handle, bool top, struct folder *folder)
{
    unsigned char *page = sb_alloc(PAGE_SIZE);

    /* In byte order of UTF-8; an error in the middle is the end, as in a folder that can't be read. */
    while (folder->n <= walk->left &&
           GetFileInformationByHandleEx(handle, FileIdBothDirectoryInfo, page, PAGE_SIZE))
        read_page(walk, page, top, folder);
    sb_free(page);
    if (folder->n > 0)
        qsort(folder->v, folder->n, sizeof *folder->v, by_name);
}

static void visit(struct walk *walk, const char *folder, struct found *found)
{
    sb_buf_clear(&walk->path);
    sb_buf_addf(&walk->path, "%s%s%s", folder, *folder ? "/" : "", found->name);
    if (walk->left == 0 || walk->path.full) { /* full: a path that no message can hold */
        walk->cut = true;
        return;
    }
    walk->left--;
    found->entry.path = walk->path.data;
    walk->stopped = !walk->visit(walk->ctx, &found->entry);
    /* A bad name was repaired: it opens nothing, or something else. */
    if (!walk->stopped && found->entry.type == SB_ENTRY_FOLDER && !found->entry.bad_name &&
        !sb_folders_add(&walk->folders, walk->path.data))
        walk->cut = true;
}

static void walk_folder(struct walk *walk, HANDLE handle, const char *path)
{
    struct folder folder = {0};

    read_folder(walk, handle, !*path, &folder);
    for (size_t i = 0; i < folder.n; i++) {
        if (!walk->stopped)
            visit(walk, path, &folder.v[i]);
        sb_free(folder.v[i].name);
    }
    sb_free(folder.v);
}

int sb_gos_walk(struct sb_gos *gos, const char *folder, size_t most,
                bool (*visit_entry)(void *ctx, const struct sb_gos_entry *entry), void *ctx, bool *cut,
                struct sb_err *err)
{
    struct walk walk = {.gos = gos, .left = most, .visit = visit_entry, .ctx = ctx};
    HANDLE handle;

    if (sb_guest_open_beneath(gos, folder, SB_BENEATH_FOLDER, &handle, err) < 0)
        return -1;
    sb_buf_init(&walk.path, SB_PATH_MAX_BYTES);
    walk_folder(&walk, handle, folder);
    CloseHandle(handle);
    for (size_t i = 0; i < walk.folders.count && !walk.stopped && !(walk.cut && walk.left == 0); i++) {
        if (sb_guest_open_beneath(gos, walk.folders.v[i], SB_BENEATH_FOLDER, &handle, NULL) < 0)
            continue;
        walk_folder(&walk, handle, walk.folders.v[i]);
        CloseHandle(handle);
    }
    sb_folders_done(&walk.folders);
    sb_buf_done(&walk.path);
    *cut = walk.cut;
    return 0;
}
