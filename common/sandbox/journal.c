/* SPDX-License-Identifier: MIT
 * Lines: "+ NUMBER KIND WHAT" for a change, "- NUMBER" for its undoing. */
#include "sandbox/journal.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "platform/dirs.h"
#include "platform/hostpath.h"
#include "platform/oserr.h"

#define FILE_BYTES (16u * 1024 * 1024) /* of a journal that is read back */
#define LINE_BYTES (SB_PATH_MAX_BYTES + 64)

static const struct {
    const char *name;
    int (*undo)(const char *what, struct sb_err *err);
} KINDS[SB_UNDO_COUNT] = {
    [SB_UNDO_TREE] = {"tree", sb_dir_remove_tree},
};

struct entry {
    unsigned number;
    enum sb_undo kind;
    char *what;
};

struct sb_journal {
    char *path;
    uv_file file; /* -1: not opened yet */
    int64_t end;  /* of the last whole line */
    unsigned last;
    struct entry *entries;
    size_t count, cap;
};

static void push(struct sb_journal *journal, unsigned number, enum sb_undo kind, const char *what)
{
    if (journal->count == journal->cap) {
        journal->cap = journal->cap ? journal->cap * 2 : 16;
        journal->entries = sb_realloc(journal->entries, journal->cap * sizeof *journal->entries);
    }
    journal->entries[journal->count++] =
        (struct entry){.number = number, .kind = kind, .what = sb_strdup(what)};
    if (number > journal->last)
        journal->last = number;
}

static struct entry *find(struct sb_journal *journal, unsigned number)
{
    for (size_t i = 0; i < journal->count; i++)
        if (journal->entries[i].number == number)
            return &journal->entries[i];
    return NULL;
}

static void drop(struct sb_journal *journal, struct entry *entry)
{
    size_t behind = journal->count - (size_t)(entry - journal->entries) - 1;

    sb_free(entry->what);
    memmove(entry, entry + 1, behind * sizeof *entry);
    journal->count--;
}

/* ---- reading ------------------------------------------------------------------------ */

/* One whole line, NUL-terminated. What makes no sense is not ours to undo. */
static void take_line(struct sb_journal *journal, const char *line)
{
    unsigned number;
    char kind[16];
    int what = 0;
    struct entry *entry;

    if (sscanf(line, "- %9u", &number) == 1) {
        if ((entry = find(journal, number)) != NULL)
            drop(journal, entry);
        return;
    }
    if (sscanf(line, "+ %9u %15s %n", &number, kind, &what) != 2 || what == 0 || find(journal, number) ||
        journal->count >= SB_JOURNAL_ENTRIES || !sb_path_is_absolute(line + what, sb_host_rules()))
        return;
    for (int i = 0; i < SB_UNDO_COUNT; i++)
        if (strcmp(KINDS[i].name, kind) == 0)
            push(journal, number, (enum sb_undo)i, line + what);
}

static void take_lines(struct sb_journal *journal, struct sb_buf *text)
{
    char *line = text->data, *end;

    while ((end = memchr(line, '\n', text->len - (size_t)(line - text->data))) != NULL) {
        *end = '\0';
        take_line(journal, line);
        line = end + 1;
    }
    journal->end = line - text->data;
}

static int read_all(uv_file file, const char *path, struct sb_buf *out, struct sb_err *err)
{
    for (;;) {
        uv_fs_t request;
        char *room = sb_buf_reserve(out, 4096);
        uv_buf_t buf = uv_buf_init(room, 4096);
        int got;

        if (!room)
            return sb_fail(err, SB_LIMIT, "'%s' has more than %u bytes", path, FILE_BYTES);
        got = uv_fs_read(NULL, &request, file, &buf, 1, (int64_t)out->len, NULL);
        uv_fs_req_cleanup(&request);
        if (got < 0)
            return sb_fail_os_at(err, got, "cannot read '%s'", path);
        if (got == 0)
            return 0;
        out->len += (size_t)got;
    }
}

static int open_file(struct sb_journal *journal, int flags, struct sb_err *err)
{
    uv_fs_t request;
    int file = uv_fs_open(NULL, &request, journal->path, UV_FS_O_RDWR | flags, 0600, NULL);

    uv_fs_req_cleanup(&request);
    if (file < 0)
        return sb_fail_os_at(err, file, "cannot open '%s'", journal->path);
    journal->file = file;
    return 0;
}

int sb_journal_open(const char *dir, struct sb_journal **out, struct sb_err *err)
{
    struct sb_journal *journal = sb_alloc(sizeof *journal);
    struct sb_err why = {0};
    struct sb_buf text;
    int rc = 0;

    journal->file = -1;
    sb_buf_init(&text, SB_PATH_MAX_BYTES);
    sb_path_join(&text, dir, "journal", sb_host_rules());
    journal->path = sb_buf_take(&text);
    sb_buf_init(&text, FILE_BYTES);
    if (open_file(journal, 0, &why) == 0)
        rc = read_all(journal->file, journal->path, &text, &why);
    else if (why.code != SB_NOT_FOUND)
        rc = -1;
    if (rc == 0) {
        take_lines(journal, &text);
        *out = journal;
    } else {
        sb_journal_free(journal);
        if (err)
            *err = why;
    }
    sb_buf_done(&text);
    return rc;
}

void sb_journal_free(struct sb_journal *journal)
{
    if (!journal)
        return;
    if (journal->file >= 0) {
        uv_fs_t request;

        uv_fs_close(NULL, &request, journal->file, NULL);
        uv_fs_req_cleanup(&request);
    }
    for (size_t i = 0; i < journal->count; i++)
        sb_free(journal->entries[i].what);
    sb_free(journal->entries);
    sb_free(journal->path);
    sb_free(journal);
}

/* ---- writing ------------------------------------------------------------------------ */

/* What a failed write left is cut off by the next. `durable`: on the disk when it returns 0. */
static int append(struct sb_journal *journal, const struct sb_buf *line, bool durable, struct sb_err *err)
{
    uv_fs_t request;
    uv_buf_t buf = uv_buf_init(line->data, (unsigned)line->len);
    int rc;

    if (journal->file < 0 && open_file(journal, UV_FS_O_CREAT, err) < 0)
        return -1;
    uv_fs_ftruncate(NULL, &request, journal->file, journal->end, NULL);
    uv_fs_req_cleanup(&request);
    rc = uv_fs_write(NULL, &request, journal->file, &buf, 1, journal->end, NULL);
    uv_fs_req_cleanup(&request);
    if (rc >= 0 && (size_t)rc < line->len)
        rc = UV_ENOSPC;
    if (rc >= 0 && durable) {
        rc = uv_fs_fsync(NULL, &request, journal->file, NULL);
        uv_fs_req_cleanup(&request);
    }
    if (rc < 0)
        return sb_fail_os_at(err, rc, "cannot write '%s'", journal->path);
    journal->end += (int64_t)line->len;
    return 0;
}

int sb_journal_write(struct sb_journal *journal, enum sb_undo kind, const char *what, unsigned *out_entry,
                     struct sb_err *err)
{
    struct sb_buf line;
    int rc = -1;

    sb_buf_init(&line, LINE_BYTES);
    sb_buf_addf(&line, "+ %u %s %s\n", journal->last + 1, KINDS[kind].name, what);
    if (line.full || strpbrk(what, "\r\n") || !sb_path_is_absolute(what, sb_host_rules()))
        sb_fail(err, SB_BAD_REQUEST, "'%.200s' can't be written into the undo journal", what);
    else if (journal->count >= SB_JOURNAL_ENTRIES || journal->last >= 999999999)
        sb_fail(err, SB_LIMIT, "the undo journal is full: %d changes wait", SB_JOURNAL_ENTRIES);
    else
        rc = append(journal, &line, true, err);
    if (rc == 0) {
        *out_entry = journal->last + 1;
        push(journal, *out_entry, kind, what);
    }
    sb_buf_done(&line);
    return rc;
}

int sb_journal_strike(struct sb_journal *journal, unsigned number, struct sb_err *err)
{
    struct entry *entry = find(journal, number);
    struct sb_buf line;

    if (!entry)
        return sb_fail(err, SB_BUG, "the undo journal has no entry %u", number);
    if (KINDS[entry->kind].undo(entry->what, err) < 0)
        return -1;
    drop(journal, entry);
    sb_buf_init(&line, LINE_BYTES);
    sb_buf_addf(&line, "- %u\n", number);
    append(journal, &line, false, NULL); /* lost, it is undone once more, which does no harm */
    sb_buf_done(&line);
    return 0;
}

int sb_journal_undo_all(struct sb_journal *journal, struct sb_err *err)
{
    int rc = 0;

    for (size_t i = journal->count; i-- > 0;) {
        struct sb_err why = {0};

        if (sb_journal_strike(journal, journal->entries[i].number, &why) < 0 && rc == 0) {
            rc = -1;
            if (err)
                *err = why;
        }
    }
    return rc;
}
