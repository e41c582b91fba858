/* SPDX-License-Identifier: MIT
 * PUT, GET, LIST, REMOVE: whole, exact, and beneath the workspace whatever lies in the way. */
#include "wire/suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "guest/guest.h"
#include "wire/testprog.h"

static unsigned char *pattern(size_t len)
{
    unsigned char *bytes = sb_alloc(len + 1);

    for (size_t i = 0; i < len; i++)
        bytes[i] = TP_PATTERN(i);
    return bytes;
}

static void assert_file_is(struct fixture *f, const char *path, const void *bytes, size_t len)
{
    struct client_op *op = client_get(&f->client, path, 0, 0);

    finish(f, op);
    if (op->last == SB_MSG_ERROR)
        fail_msg("GET of '%s': %s", path, op->error.text);
    assert_int_equal(op->got[SB_CHAN_OUT], len);
    assert_memory_equal(op->bytes[SB_CHAN_OUT].data, bytes, len);
}

static void what_is_put_is_got_back_exactly(void **state)
{
    static const size_t sizes[] = {0, 1, SB_WIRE_DATA_MAX, SB_WIRE_WINDOW, 1000003};
    struct fixture *f = ready_box(state);
    unsigned char *bytes = pattern(1000003);

    for (size_t i = 0; i < SB_COUNT(sizes); i++) {
        put_file(f, "some/folder/file.bin", bytes, sizes[i], 0);
        assert_file_is(f, "some/folder/file.bin", bytes, sizes[i]);
    }
    sb_free(bytes);
}

static void a_file_is_replaced_whole(void **state)
{
    struct fixture *f = ready_box(state);

    put_file(f, "a.txt", "a longer first text", 19, 0);
    put_file(f, "a.txt", "short", 5, 0);
    assert_file_is(f, "a.txt", "short", 5);
}

static void executable_is_a_flag_of_each_put(void **state)
{
    struct fixture *f = ready_box(state);
    struct stat info;

    if (under_wine())
        skip_because("Windows has no executable flag");
    put_file(f, "plain", "x", 1, 0);
    put_file(f, "runs", "x", 1, SB_PUT_EXECUTABLE);
    assert_int_equal(stat(in_workspace(f, "plain"), &info), 0);
    assert_int_equal(info.st_mode & 0111, 0);
    assert_int_equal(info.st_mode & S_IRUSR, S_IRUSR);
    assert_int_equal(stat(in_workspace(f, "runs"), &info), 0);
    assert_int_equal(info.st_mode & S_IXUSR, S_IXUSR);
    put_file(f, "runs", "x", 1, 0);
    assert_int_equal(stat(in_workspace(f, "runs"), &info), 0);
    assert_int_equal(info.st_mode & 0111, 0);
}

static void a_part_of_a_file_is_got(void **state)
{
    static const struct {
        uint64_t offset, most;
        const char *text;
    } parts[] = {{0, 4, "0123"}, {3, 2, "34"}, {8, 0, "89"},
                 {8, 100, "89"}, {10, 0, ""},  {1ull << 40, 5, ""}};
    struct fixture *f = ready_box(state);

    put_file(f, "digits", "0123456789", 10, 0);
    for (size_t i = 0; i < SB_COUNT(parts); i++) {
        struct client_op *op = client_get(&f->client, "digits", parts[i].offset, parts[i].most);
        finish(f, op);
        assert_int_equal(op->last, SB_MSG_END);
        assert_out(op, parts[i].text);
    }
}

static void what_is_no_file_is_refused_and_the_box_lives(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *missing, *folder, *through, *gone, *list;

    put_file(f, "folder/file", "x", 1, 0);
    missing = client_get(&f->client, "missing", 0, 0);
    folder = client_get(&f->client, "folder", 0, 0);
    through = client_get(&f->client, "folder/file/below", 0, 0);
    gone = client_remove(&f->client, "missing");
    list = client_list(&f->client, "missing");
    finish(f, missing);
    finish(f, folder);
    finish(f, through);
    finish(f, gone);
    finish(f, list);
    assert_error(missing);
    assert_int_equal(missing->error.code, SB_NOT_FOUND);
    assert_error(folder);
    assert_error(through);
    assert_error(gone);
    assert_int_equal(gone->error.code, SB_NOT_FOUND);
    assert_error(list);
    assert_still_serves(f);
}

/* The entry `path` of a LIST: its type, or 0. */
static int listed(struct fixture *f, const struct client_op *op, const char *path, uint64_t *size)
{
    const struct sb_buf *bytes = &op->bytes[SB_CHAN_OUT];
    int type = 0;

    for (size_t at = 0; at < bytes->len;) {
        struct sb_wire_entry entry;
        long n = sb_wire_take_entry(bytes->data + at, bytes->len - at, &entry, &f->client.err);
        if (n <= 0)
            fail_msg("a LIST with a bad entry at %zu: %s", at, n < 0 ? f->client.err.text : "cut short");
        if (strcmp(entry.path, path) == 0) {
            type = entry.type;
            if (size != NULL)
                *size = entry.size;
        }
        sb_free(entry.path);
        at += (size_t)n;
    }
    return type;
}

static struct client_op *list(struct fixture *f, const char *folder)
{
    struct client_op *op = client_list(&f->client, folder);

    finish(f, op);
    assert_int_equal(op->last, SB_MSG_END);
    return op;
}

static void a_list_shows_what_is_there(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op;
    uint64_t size = 0;

    put_file(f, "b/deep/file", "12345", 5, 0);
    put_file(f, "a", "", 0, 0);
    put_file(f, SB_GUEST_RUNNER_DIR "/run.py", "x", 1, 0);
    op = list(f, "");
    assert_int_equal(listed(f, op, "a", &size), SB_ENTRY_FILE);
    assert_int_equal(size, 0);
    assert_int_equal(listed(f, op, "b", NULL), SB_ENTRY_FOLDER);
    assert_int_equal(listed(f, op, "b/deep", NULL), SB_ENTRY_FOLDER);
    assert_int_equal(listed(f, op, "b/deep/file", &size), SB_ENTRY_FILE);
    assert_int_equal(size, 5);
    assert_int_equal(listed(f, op, ".tmp", NULL), 0);
    assert_int_equal(listed(f, op, SB_GUEST_RUNNER_DIR "/run.py", NULL), 0);
    op = list(f, "b/deep");
    assert_int_equal(listed(f, op, "b/deep/file", NULL), SB_ENTRY_FILE);
    assert_int_equal(listed(f, op, "a", NULL), 0);
}

static void a_list_names_links_and_pipes_and_enters_none(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op;

    if (under_wine())
        skip_because("Wine shows no links and no FIFOs");
    assert_int_equal(symlink("/usr", in_workspace(f, "link")), 0);
    assert_int_equal(mkfifo(in_workspace(f, "pipe"), 0666), 0);
    op = list(f, "");
    assert_int_equal(listed(f, op, "link", NULL), SB_ENTRY_LINK);
    assert_int_equal(listed(f, op, "link/bin", NULL), 0);
    assert_int_equal(listed(f, op, "pipe", NULL), SB_ENTRY_OTHER);
    op = client_list(&f->client, "link");
    finish(f, op);
    assert_error(op);
}

static void a_list_has_a_cap(void **state)
{
    struct fixture *f = ready_box(state);
    char name[32];
    struct client_op *op;
    size_t count = 0;

    for (int i = 0; i < SB_WIRE_ENTRIES_MAX + 20; i++) {
        snprintf(name, sizeof(name), "f%05d", i);
        int fd = open(in_workspace(f, name), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        assert_true(fd >= 0);
        close(fd);
    }
    op = client_list(&f->client, "");
    finish(f, op);
    for (size_t at = 0; at < op->bytes[SB_CHAN_OUT].len; count++) {
        struct sb_wire_entry entry;
        long n = sb_wire_take_entry(op->bytes[SB_CHAN_OUT].data + at, op->bytes[SB_CHAN_OUT].len - at, &entry,
                                    &f->client.err);
        assert_true(n > 0);
        sb_free(entry.path);
        at += (size_t)n;
    }
    assert_int_equal(count, SB_WIRE_ENTRIES_MAX);
}

static void remove_takes_files_and_empty_folders_only(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *full, *file, *empty;

    put_file(f, "folder/file", "x", 1, 0);
    full = client_remove(&f->client, "folder");
    file = client_remove(&f->client, "folder/file");
    empty = client_remove(&f->client, "folder");
    finish(f, full);
    finish(f, file);
    finish(f, empty);
    assert_error(full);
    assert_int_equal(file->last, SB_MSG_DONE);
    assert_int_equal(empty->last, SB_MSG_DONE);
    assert_int_not_equal(access(in_workspace(f, "folder"), F_OK), 0);
}

/* ---- beneath -------------------------------------------------------------------------- */

static char *long_text(size_t len)
{
    char *text = sb_alloc(len + 1);

    memset(text, 'a', len);
    return text;
}

static void assert_refused_everywhere(struct fixture *f, const char *path)
{
    struct client_op *put = client_put(&f->client, path, 0), *get, *removed;

    client_send_end(&f->client, put);
    get = client_get(&f->client, path, 0, 0);
    removed = client_remove(&f->client, path);
    finish(f, put);
    finish(f, get);
    finish(f, removed);
    if (put->last != SB_MSG_ERROR || get->last != SB_MSG_ERROR || removed->last != SB_MSG_ERROR)
        fail_msg("'%.60s': PUT %d, GET %d, REMOVE %d", path, put->last, get->last, removed->last);
}

static void names_that_lead_out_are_refused(void **state)
{
    static const char *const names[] = {"..",    "../x",  "a/../../x", "a/../b", "/etc/passwd", "",
                                        ".",     "a/",    "/",         ".tmp",   "./..",        "\\\\srv\\x",
                                        "C:\\x", "..\\x", ".tmp/mine", "//etc/x"};
    static const char *const windows[] = {"CON", "com1.txt", "a:b", "a\\b", "a.", "a ", "C:x", "a?b", "a\tb"};
    struct fixture *f = ready_box(state);
    char *part = long_text(256), *whole = long_text(SB_WIRE_PATH_MAX);

    for (size_t i = 0; i < SB_COUNT(names); i++)
        assert_refused_everywhere(f, names[i]);
    for (size_t i = 0; under_wine() && i < SB_COUNT(windows); i++)
        assert_refused_everywhere(f, windows[i]);
    assert_refused_everywhere(f, part);
    assert_refused_everywhere(f, whole);
    list(f, "");
    sb_free(part);
    sb_free(whole);
}

static void long_names_are_no_attack(void **state)
{
    struct fixture *f = ready_box(state);
    char *part = long_text(255);

    put_file(f, part, "x", 1, 0);
    assert_file_is(f, part, "x", 1);
    sb_free(part);
}

/* A file outside with a text, and links to it and to its folder inside. */
static void lay_links(struct fixture *f, char *outside, size_t cap)
{
    int fd;

    snprintf(outside, cap, "%s-outside", f->box.dir);
    assert_int_equal(mkdir(outside, 0777), 0);
    chmod(outside, 0777);
    assert_int_equal(symlink(outside, in_workspace(f, "out")), 0);
    assert_int_equal(symlink("real", in_workspace(f, "inner")), 0);
    snprintf(outside + strlen(outside), cap - strlen(outside), "/file");
    fd = open(outside, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    assert_true(fd >= 0);
    fchmod(fd, 0666);
    assert_int_equal(write(fd, "outside", 7), 7);
    close(fd);
    assert_int_equal(symlink(outside, in_workspace(f, "last")), 0);
    assert_int_equal(mkfifo(in_workspace(f, "fifo"), 0666), 0);
    chmod(in_workspace(f, "fifo"), 0666);
}

static void assert_untouched(const char *outside)
{
    char text[64];
    int fd = open(outside, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof(text));

    close(fd);
    assert_int_equal(n, 7);
    assert_memory_equal(text, "outside", 7);
}

static void no_link_is_followed_not_even_inside(void **state)
{
    static const char *const through[] = {"out/file", "out/new", "inner/file", "inner/new"};
    struct fixture *f = ready_box(state);
    struct client_op *get, *put;
    char outside[256];

    if (under_wine())
        skip_because("Wine 8 makes no reparse points, and follows the links of its host unseen");
    put_file(f, "real/file", "inside", 6, 0);
    lay_links(f, outside, sizeof(outside));
    for (size_t i = 0; i < SB_COUNT(through); i++)
        assert_refused_everywhere(f, through[i]);
    get = client_get(&f->client, "last", 0, 0);
    finish(f, get);
    assert_error(get);
    assert_int_equal(get->got[SB_CHAN_OUT], 0);
    /* A PUT onto a link may be refused or replace the link, never what it points to. */
    put = client_put(&f->client, "last", 0);
    must(f, client_send(&f->client, put, "evil", 4, soon_ms));
    client_send_end(&f->client, put);
    finish(f, put);
    assert_untouched(outside);
    assert_file_is(f, "real/file", "inside", 6);
}

static void remove_takes_the_link_not_its_target(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *last, *folder;
    char outside[256];

    if (under_wine())
        skip_because("Wine 8 makes no reparse points, and follows the links of its host unseen");
    lay_links(f, outside, sizeof(outside));
    last = client_remove(&f->client, "last");
    folder = client_remove(&f->client, "out");
    finish(f, last);
    finish(f, folder);
    assert_int_equal(last->last, SB_MSG_DONE);
    assert_int_equal(folder->last, SB_MSG_DONE);
    assert_untouched(outside);
}

static void a_fifo_hangs_nobody(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *get, *put;
    char outside[256];

    if (under_wine())
        skip_because("Wine shows no FIFOs");
    lay_links(f, outside, sizeof(outside));
    get = client_get(&f->client, "fifo", 0, 0);
    put = client_put(&f->client, "fifo", 0);
    client_send_end(&f->client, put);
    finish(f, get);
    finish(f, put);
    assert_error(get);
    list(f, "");
}

/* ---- streams of files ----------------------------------------------------------------- */

static void a_get_stops_at_its_credit(void **state)
{
    struct fixture *f = ready_box(state);
    unsigned char *bytes = pattern(1000000);
    struct client_op *op;

    put_file(f, "big", bytes, 1000000, 0);
    op = client_get(&f->client, "big", 0, 0);
    op->hold = true;
    must(f, client_wait_bytes(&f->client, op, SB_CHAN_OUT, SB_WIRE_WINDOW, soon_ms));
    assert_still_serves(f); /* control frames do not wait behind it */
    assert_int_equal(op->got[SB_CHAN_OUT], SB_WIRE_WINDOW);
    client_release(&f->client, op);
    finish(f, op);
    assert_int_equal(op->got[SB_CHAN_OUT], 1000000);
    assert_memory_equal(op->bytes[SB_CHAN_OUT].data, bytes, 1000000);
    sb_free(bytes);
}

static void a_cancelled_get_says_so(void **state)
{
    struct fixture *f = ready_box(state);
    unsigned char *bytes = pattern(1000000);
    struct client_op *op;

    put_file(f, "big", bytes, 1000000, 0);
    sb_free(bytes);
    op = client_get(&f->client, "big", 0, 0);
    op->hold = true;
    must(f, client_wait_bytes(&f->client, op, SB_CHAN_OUT, SB_WIRE_WINDOW, soon_ms));
    client_simple(&f->client, SB_MSG_CANCEL, op);
    finish(f, op);
    assert_error(op);
    assert_int_equal(op->error.code, SB_CANCELLED);
    client_simple(&f->client, SB_MSG_CANCEL, op); /* too late: harmless */
    assert_still_serves(f);
}

static void a_cancelled_put_leaves_no_file(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op = client_put(&f->client, "half", 0);

    must(f, client_send(&f->client, op, "half a file", 11, soon_ms));
    client_simple(&f->client, SB_MSG_CANCEL, op);
    finish(f, op);
    assert_error(op);
    assert_int_equal(op->error.code, SB_CANCELLED);
    op = list(f, "");
    assert_int_equal(op->got[SB_CHAN_OUT], 0);
}

static void exit_lists_the_files_a_run_made(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op;

    put_file(f, "before", "x", 1, 0);
    op = START(f, &(struct run_want){.flags = SB_EXEC_FILES}, "file", "made.bin", "1000");
    finish(f, op);
    assert_exited(op, 0);
    assert_int_equal(op->exit.file_count, 1);
    assert_string_equal(op->exit.files[0].path, "made.bin");
    assert_int_equal(op->exit.files[0].size, 1000);
    op = RUN(f, "file", "second.bin", "10"); /* nobody asked */
    assert_exited(op, 0);
    assert_int_equal(op->exit.file_count, 0);
    op = START(f, &(struct run_want){.flags = SB_EXEC_FILES}, "file", "before", "20");
    finish(f, op);
    assert_exited(op, 0);
    assert_int_equal(op->exit.file_count, 1);
    assert_string_equal(op->exit.files[0].path, "before");
    assert_int_equal(op->exit.flags & SB_EXIT_FILES_CUT, 0);
}

/* More new files than the list holds, and more entries than the look takes. */
static void a_large_folder_hides_no_file_above_it(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op;
    char name[64];

    put_file(f, "big/deep/x", "x", 1, 0);
    put_file(f, "out/x", "x", 1, 0);
    for (int i = 0; i < SB_WIRE_ENTRIES_MAX + 20; i++) {
        snprintf(name, sizeof(name), "big/deep/f%05d", i);
        int fd = open(in_workspace(f, name), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        assert_true(fd >= 0);
        close(fd);
    }
    op = START(f, &(struct run_want){.flags = SB_EXEC_FILES}, "file", "out/plot.png", "1000");
    finish(f, op);
    assert_exited(op, 0);
    assert_true(op->exit.file_count >= 1);
    assert_string_equal(op->exit.files[0].path, "out/plot.png");
    assert_int_equal(op->exit.flags & SB_EXIT_FILES_CUT, SB_EXIT_FILES_CUT);
}

const struct CMUnitTest files_tests[] = {
    WIRE_TEST(what_is_put_is_got_back_exactly),
    WIRE_TEST(a_file_is_replaced_whole),
    WIRE_TEST(executable_is_a_flag_of_each_put),
    WIRE_TEST(a_part_of_a_file_is_got),
    WIRE_TEST(what_is_no_file_is_refused_and_the_box_lives),
    WIRE_TEST(a_list_shows_what_is_there),
    WIRE_TEST(a_list_names_links_and_pipes_and_enters_none),
    WIRE_TEST(a_list_has_a_cap),
    WIRE_TEST(remove_takes_files_and_empty_folders_only),
    WIRE_TEST(names_that_lead_out_are_refused),
    WIRE_TEST(long_names_are_no_attack),
    WIRE_TEST(no_link_is_followed_not_even_inside),
    WIRE_TEST(remove_takes_the_link_not_its_target),
    WIRE_TEST(a_fifo_hangs_nobody),
    WIRE_TEST(a_get_stops_at_its_credit),
    WIRE_TEST(a_cancelled_get_says_so),
    WIRE_TEST(a_cancelled_put_leaves_no_file),
    WIRE_TEST(exit_lists_the_files_a_run_made),
    WIRE_TEST(a_large_folder_hides_no_file_above_it),
};
const size_t files_count = SB_COUNT(files_tests);
