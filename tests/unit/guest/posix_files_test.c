/* SPDX-License-Identifier: MIT
 * Making, reading and removing files beneath the workspace, against links, loops, FIFOs and
 * everything else user code may plant. Each test runs over openat2 and over the fall-back. */
#include "posix_workspace.h"

static int put(struct workspace *ws, const char *path, const char *text, struct sb_err *err)
{
    struct sb_gos_file *file = NULL;

    if (sb_gos_create(&ws->gos, path, false, &file, err) < 0)
        return -1;
    assert_int_equal(sb_gos_file_write(file, text, strlen(text), err), 0);
    return sb_gos_file_close(file, true, err);
}

static int get(struct workspace *ws, const char *path, uint64_t offset, char text[256], struct sb_err *err)
{
    struct sb_gos_file *file = NULL;

    if (sb_gos_open_file(&ws->gos, path, offset, &file, err) < 0)
        return -1;
    long got = sb_gos_file_read(file, text, 255, err);
    assert_true(got >= 0);
    text[got] = '\0';
    return sb_gos_file_close(file, true, err);
}

static void expect_refused(int rc, const struct sb_err *err, enum sb_code code, const char *about)
{
    assert_int_equal(rc, -1);
    assert_int_equal(err->code, code);
    assert_non_null(strstr(err->text, about));
}

static void way_is_as_asked(void **state)
{
    struct workspace *ws = *state;
    struct workspace *other = NULL;

    assert_int_equal(by_hand_setup((void **)&other), 0);
    assert_true(other->gos.beneath.by_hand);
    workspace_close((void **)&other);
    if (ws->gos.beneath.by_hand)
        skip(); /* no openat2 here: all tests run by hand */
}

static void put_makes_folders_and_get_reads_back(void **state)
{
    struct workspace *ws = *state;
    struct sb_err err;
    char text[256];

    assert_int_equal(put(ws, "a/b/c.txt", "hello", &err), 0);
    assert_int_equal(mode_of(ws, "a/b"), S_IFDIR | 0755);
    assert_int_equal(mode_of(ws, "a/b/c.txt"), S_IFREG | 0644);
    assert_int_equal(get(ws, "a/b/c.txt", 0, text, &err), 0);
    assert_string_equal(text, "hello");
    assert_int_equal(get(ws, "a/b/c.txt", 3, text, &err), 0);
    assert_string_equal(text, "lo");
    assert_int_equal(get(ws, "a/b/c.txt", 99, text, &err), 0);
    assert_string_equal(text, "");
}

static void put_executable_can_be_run(void **state)
{
    struct workspace *ws = *state;
    struct sb_gos_file *file = NULL;
    struct sb_err err;

    assert_int_equal(sb_gos_create(&ws->gos, "run.sh", true, &file, &err), 0);
    assert_int_equal(sb_gos_file_close(file, true, &err), 0);
    assert_int_equal(mode_of(ws, "run.sh"), S_IFREG | 0755);
}

static void put_is_not_there_before_it_is_complete(void **state)
{
    struct workspace *ws = *state;
    struct sb_gos_file *file = NULL;
    struct sb_err err;

    make_file(ws, "x", "old");
    assert_int_equal(sb_gos_create(&ws->gos, "x", false, &file, &err), 0);
    assert_int_equal(sb_gos_file_write(file, "new", 3, &err), 0);
    expect_file(ws, "x", "old");
    assert_int_equal(sb_gos_file_close(file, true, &err), 0);
    expect_file(ws, "x", "new");
}

static void put_given_up_leaves_the_old_file_and_nothing_else(void **state)
{
    struct workspace *ws = *state;
    struct sb_gos_file *file = NULL;
    struct sb_err err;

    make_file(ws, "x", "old");
    assert_int_equal(sb_gos_create(&ws->gos, "x", false, &file, &err), 0);
    assert_int_equal(sb_gos_file_write(file, "new", 3, &err), 0);
    assert_int_equal(sb_gos_file_close(file, false, &err), 0);
    expect_file(ws, "x", "old");
    assert_int_equal(unlinkat(ws->fd, "x", 0), 0);
    assert_int_equal(rmdir(ws->path), 0); /* nothing was left in it */
    assert_int_equal(mkdir(ws->path, 0700), 0);
}

static void put_over_a_hard_link_spares_the_other_name(void **state)
{
    struct workspace *ws = *state;
    struct sb_err err;

    make_file(ws, "one", "shared");
    assert_int_equal(linkat(ws->fd, "one", ws->fd, "two", 0), 0);
    assert_int_equal(put(ws, "one", "mine", &err), 0);
    expect_file(ws, "one", "mine");
    expect_file(ws, "two", "shared");
}

static void put_replaces_a_file_nobody_may_write(void **state)
{
    struct workspace *ws = *state;
    struct sb_err err;

    make_file(ws, "x", "old");
    assert_int_equal(fchmodat(ws->fd, "x", 0, 0), 0);
    assert_int_equal(put(ws, "x", "new", &err), 0);
    expect_file(ws, "x", "new");
}

static void put_refuses_what_is_no_file_and_names_it(void **state)
{
    struct workspace *ws = *state;
    struct sb_err err;

    assert_int_equal(symlinkat("/etc/passwd", ws->fd, "link"), 0);
    assert_int_equal(symlinkat("nowhere", ws->fd, "dangling"), 0);
    assert_int_equal(mkfifoat(ws->fd, "fifo", 0600), 0);
    assert_int_equal(mkdirat(ws->fd, "folder", 0700), 0);
    expect_refused(put(ws, "link", "", &err), &err, SB_DENIED, "a link");
    expect_refused(put(ws, "dangling", "", &err), &err, SB_DENIED, "a link");
    expect_refused(put(ws, "fifo", "", &err), &err, SB_DENIED, "a FIFO");
    expect_refused(put(ws, "folder", "", &err), &err, SB_DENIED, "a folder");
    assert_false(is_there(ws, "nowhere"));
}

static void links_in_the_way_are_refused_even_inside(void **state)
{
    struct workspace *ws = *state;
    struct sb_err err;
    char text[256];

    assert_int_equal(mkdirat(ws->fd, "real", 0755), 0);
    make_file(ws, "real/x", "x");
    assert_int_equal(symlinkat("real", ws->fd, "inside"), 0);
    assert_int_equal(symlinkat("/etc", ws->fd, "outside"), 0);
    assert_int_equal(symlinkat("loop", ws->fd, "loop"), 0);
    assert_int_equal(symlinkat("real/x", ws->fd, "file"), 0);
    const char *const paths[] = {"inside/x", "outside/passwd", "loop/x", "loop", "file"};
    for (size_t i = 0; i < SB_COUNT(paths); i++) {
        expect_refused(get(ws, paths[i], 0, text, &err), &err, SB_DENIED, "link");
        assert_int_equal(err.os, ELOOP);
    }
    expect_refused(put(ws, "inside/y", "", &err), &err, SB_DENIED, "link");
    expect_refused(put(ws, "outside/y", "", &err), &err, SB_DENIED, "link");
    expect_refused(put(ws, "inside/new/y", "", &err), &err, SB_DENIED, "link");
    expect_refused(sb_gos_remove(&ws->gos, "inside/x", &err), &err, SB_DENIED, "link");
    assert_false(is_there(ws, "real/y"));
    assert_false(is_there(ws, "real/new"));
    expect_file(ws, "real/x", "x");
}

static void ways_out_are_refused(void **state)
{
    struct workspace *ws = *state;
    const char *const paths[] = {"../x", "a/../../x", "a/..", "..", "/etc/passwd", ".", "./x", "a//x"};
    struct sb_err err;
    char text[256];

    assert_int_equal(mkdirat(ws->fd, "a", 0755), 0);
    for (size_t i = 0; i < SB_COUNT(paths); i++) {
        expect_refused(get(ws, paths[i], 0, text, &err), &err, SB_DENIED, paths[i]);
        expect_refused(put(ws, paths[i], "", &err), &err, SB_DENIED, paths[i]);
        expect_refused(sb_gos_remove(&ws->gos, paths[i], &err), &err, SB_DENIED, paths[i]);
    }
}

static void magic_links_lead_nowhere(void **state)
{
    struct workspace *ws = *state;
    struct sb_beneath proc = ws->gos.beneath;
    int root = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

    assert_int_equal(sb_beneath_init(&proc, root), 0);
    proc.by_hand = proc.by_hand || ws->gos.beneath.by_hand;
    int plain = sb_beneath_open(&proc, root, "sys/kernel/ostype", O_RDONLY | O_CLOEXEC);
    assert_true(plain >= 0);
    close(plain);
    assert_int_equal(sb_beneath_open(&proc, root, "1/root/etc/passwd", O_RDONLY | O_CLOEXEC), -1);
    assert_int_equal(errno, ELOOP);
    close(root);
}

static void other_file_systems_are_refused(void **state)
{
    struct workspace *ws = *state;
    struct sb_beneath root = ws->gos.beneath;
    int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

    assert_int_equal(sb_beneath_init(&root, fd), 0);
    root.by_hand = root.by_hand || ws->gos.beneath.by_hand;
    assert_int_equal(sb_beneath_open(&root, fd, "proc/self", O_PATH | O_CLOEXEC), -1);
    assert_true(errno == EXDEV);
    assert_int_equal(sb_beneath_open(&root, fd, "proc", O_PATH | O_CLOEXEC), -1);
    assert_int_equal(errno, EXDEV);
    close(fd);
}

static void get_never_opens_a_fifo(void **state)
{
    struct workspace *ws = *state;
    struct sb_err err;
    char text[256];

    assert_int_equal(mkfifoat(ws->fd, "fifo", 0600), 0);
    assert_int_equal(mkdirat(ws->fd, "folder", 0700), 0);
    expect_refused(get(ws, "fifo", 0, text, &err), &err, SB_DENIED, "a FIFO");
    expect_refused(get(ws, "folder", 0, text, &err), &err, SB_DENIED, "a folder");
    expect_refused(get(ws, "none", 0, text, &err), &err, SB_NOT_FOUND, "'none'");
    expect_refused(get(ws, "none/x", 0, text, &err), &err, SB_NOT_FOUND, "'none/x'");
}

static void replaced_folder_is_not_left_behind(void **state)
{
    struct workspace *ws = *state;
    struct sb_gos_file *file = NULL;
    struct sb_err err;

    /* The folder becomes a link while the file is being made: the file stays with the folder. */
    assert_int_equal(mkdirat(ws->fd, "a", 0755), 0);
    assert_int_equal(mkdirat(ws->fd, "trap", 0755), 0);
    assert_int_equal(sb_gos_create(&ws->gos, "a/x", false, &file, &err), 0);
    assert_int_equal(renameat(ws->fd, "a", ws->fd, "b"), 0);
    assert_int_equal(symlinkat("trap", ws->fd, "a"), 0);
    assert_int_equal(sb_gos_file_write(file, "text", 4, &err), 0);
    assert_int_equal(sb_gos_file_close(file, true, &err), 0);
    expect_file(ws, "b/x", "text");
    assert_false(is_there(ws, "trap/x"));
}

static void link_planted_meanwhile_is_replaced_not_followed(void **state)
{
    struct workspace *ws = *state;
    struct sb_gos_file *file = NULL;
    struct sb_err err;

    make_file(ws, "victim", "safe");
    assert_int_equal(sb_gos_create(&ws->gos, "x", false, &file, &err), 0);
    assert_int_equal(symlinkat("victim", ws->fd, "x"), 0);
    assert_int_equal(sb_gos_file_write(file, "text", 4, &err), 0);
    assert_int_equal(sb_gos_file_close(file, true, &err), 0);
    expect_file(ws, "victim", "safe");
    expect_file(ws, "x", "text");
    assert_true(S_ISREG(mode_of(ws, "x")));
}

static void put_fails_when_a_folder_took_the_name(void **state)
{
    struct workspace *ws = *state;
    struct sb_gos_file *file = NULL;
    struct sb_err err;

    assert_int_equal(sb_gos_create(&ws->gos, "x", false, &file, &err), 0);
    assert_int_equal(mkdirat(ws->fd, "x", 0755), 0);
    expect_refused(sb_gos_file_close(file, true, &err), &err, SB_BAD_REQUEST, "'x'");
    assert_int_equal(unlinkat(ws->fd, "x", AT_REMOVEDIR), 0);
    assert_int_equal(rmdir(ws->path), 0);
    assert_int_equal(mkdir(ws->path, 0700), 0);
}

static void folder_of_a_file_may_not_be_a_file(void **state)
{
    struct workspace *ws = *state;
    struct sb_err err;

    make_file(ws, "x", "file");
    expect_refused(put(ws, "x/y", "", &err), &err, SB_NOT_FOUND, "'x/y'");
    expect_file(ws, "x", "file");
}

static void remove_takes_files_links_and_empty_folders(void **state)
{
    struct workspace *ws = *state;
    struct sb_err err;

    make_file(ws, "target", "stays");
    assert_int_equal(symlinkat("target", ws->fd, "link"), 0);
    assert_int_equal(mkfifoat(ws->fd, "fifo", 0600), 0);
    assert_int_equal(mkdirat(ws->fd, "empty", 0700), 0);
    assert_int_equal(mkdirat(ws->fd, "full", 0700), 0);
    make_file(ws, "full/x", "");
    const char *const paths[] = {"link", "fifo", "empty", "full/x", "full"};
    expect_refused(sb_gos_remove(&ws->gos, "full", &err), &err, SB_BAD_REQUEST, "'full'");
    for (size_t i = 0; i < SB_COUNT(paths); i++) {
        assert_int_equal(sb_gos_remove(&ws->gos, paths[i], &err), 0);
        assert_false(is_there(ws, paths[i]));
    }
    expect_file(ws, "target", "stays");
    expect_refused(sb_gos_remove(&ws->gos, "link", &err), &err, SB_NOT_FOUND, "'link'");
}

static void long_names_are_refused_not_cut(void **state)
{
    struct workspace *ws = *state;
    char name[300];
    struct sb_err err;

    memset(name, 'a', sizeof name);
    name[255] = '\0';
    assert_int_equal(put(ws, name, "x", &err), 0);
    expect_file(ws, name, "x");
    name[255] = 'a';
    name[256] = '\0';
    expect_refused(put(ws, name, "x", &err), &err, SB_BAD_REQUEST, "aaa");
}

static void closing_nothing_is_allowed(void **state)
{
    (void)state;
    assert_int_equal(sb_gos_file_close(NULL, true, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH_WAYS(put_makes_folders_and_get_reads_back),
        BOTH_WAYS(put_executable_can_be_run),
        BOTH_WAYS(put_is_not_there_before_it_is_complete),
        BOTH_WAYS(put_given_up_leaves_the_old_file_and_nothing_else),
        BOTH_WAYS(put_over_a_hard_link_spares_the_other_name),
        BOTH_WAYS(put_replaces_a_file_nobody_may_write),
        BOTH_WAYS(put_refuses_what_is_no_file_and_names_it),
        BOTH_WAYS(links_in_the_way_are_refused_even_inside),
        BOTH_WAYS(ways_out_are_refused),
        BOTH_WAYS(magic_links_lead_nowhere),
        BOTH_WAYS(other_file_systems_are_refused),
        BOTH_WAYS(get_never_opens_a_fifo),
        BOTH_WAYS(replaced_folder_is_not_left_behind),
        BOTH_WAYS(link_planted_meanwhile_is_replaced_not_followed),
        BOTH_WAYS(put_fails_when_a_folder_took_the_name),
        BOTH_WAYS(folder_of_a_file_may_not_be_a_file),
        BOTH_WAYS(remove_takes_files_links_and_empty_folders),
        BOTH_WAYS(long_names_are_refused_not_cut),
        cmocka_unit_test_setup_teardown(way_is_as_asked, kernel_setup, workspace_close),
        cmocka_unit_test(closing_nothing_is_allowed),
    };
    umask(022);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
