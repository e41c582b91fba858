/* SPDX-License-Identifier: MIT
 * Walking the workspace. */
#include "posix_workspace.h"

#include "base/buf.h"
#include "base/path.h"

struct seen {
    struct sb_buf lines; /* "type path\n", '!' before the path of a bad name */
    size_t stop_after;   /* 0: never */
    size_t count;
};

static bool note(void *ctx, const struct sb_gos_entry *entry)
{
    struct seen *seen = ctx;

    sb_buf_addf(&seen->lines, "%c %s%s\n", "?fdlo"[entry->type], entry -> bad_name ? "!" : "", entry->path);
    return ++seen->count != seen->stop_after;
}

static int walk(struct workspace *ws, const char *folder, size_t most, size_t stop_after, struct seen *seen,
                bool *cut)
{
    struct sb_err err;

    *seen = (struct seen){.stop_after = stop_after};
    sb_buf_init(&seen->lines, 1 << 20);
    *cut = false;
    return sb_gos_walk(&ws->gos, folder, most, note, seen, cut, &err);
}

static void expect_walk(struct workspace *ws, const char *folder, size_t most, bool cut, const char *lines)
{
    struct seen seen;
    bool was_cut;

    assert_int_equal(walk(ws, folder, most, 0, &seen, &was_cut), 0);
    assert_string_equal(seen.lines.data, lines);
    assert_int_equal(was_cut, cut);
    sb_buf_done(&seen.lines);
}

static void walk_goes_in_byte_order_and_shallow_before_deep(void **state)
{
    struct workspace *ws = *state;

    expect_walk(ws, "", 10, false, "");
    assert_int_equal(mkdirat(ws->fd, "b", 0755), 0);
    assert_int_equal(mkdirat(ws->fd, "b/.tmp", 0755), 0); /* only the top-level one is ours */
    assert_int_equal(mkdirat(ws->fd, ".tmp", 0755), 0);
    make_file(ws, ".tmp/hidden", "");
    make_file(ws, "b/z", "");
    make_file(ws, "a", "");
    make_file(ws, "B", "");
    make_file(ws, "\xC3\xA9", "");
    assert_int_equal(symlinkat("b", ws->fd, "c"), 0);
    assert_int_equal(mkfifoat(ws->fd, "d", 0600), 0);
    expect_walk(ws, "", 99, false, "f B\nf a\nd b\nl c\no d\nf \xC3\xA9\nd b/.tmp\nf b/z\n");
    expect_walk(ws, "b", 99, false, "d b/.tmp\nf b/z\n");
    expect_walk(ws, "", 8, false, "f B\nf a\nd b\nl c\no d\nf \xC3\xA9\nd b/.tmp\nf b/z\n");
    expect_walk(ws, "", 6, true, "f B\nf a\nd b\nl c\no d\nf \xC3\xA9\n");
}

static bool keep(void *ctx, const struct sb_gos_entry *entry)
{
    *(struct sb_gos_entry *)ctx = *entry;
    return true;
}

static void walk_tells_size_times_and_inode(void **state)
{
    struct workspace *ws = *state;
    struct sb_gos_entry got = {0};
    struct stat st;
    bool cut;

    make_file(ws, "x", "12345");
    assert_int_equal(fstatat(ws->fd, "x", &st, 0), 0);
    assert_int_equal(sb_gos_walk(&ws->gos, "", 9, keep, &got, &cut, NULL), 0);
    assert_int_equal(got.size, 5);
    assert_int_equal(got.inode, st.st_ino);
    assert_int_equal(got.mtime_ns, (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec);
    assert_int_equal(got.change_ns, (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec);
}

static void walk_refuses_links_and_files_as_folder(void **state)
{
    struct workspace *ws = *state;
    const char *const folders[] = {"link", "file", "none", "..", "link/x"};
    struct seen seen;
    bool cut;

    assert_int_equal(symlinkat("/etc", ws->fd, "link"), 0);
    make_file(ws, "file", "");
    for (size_t i = 0; i < SB_COUNT(folders); i++) {
        assert_int_equal(walk(ws, folders[i], 9, 0, &seen, &cut), -1);
        assert_int_equal(seen.count, 0);
        sb_buf_done(&seen.lines);
    }
}

static void walk_repairs_and_flags_bad_names(void **state)
{
    struct workspace *ws = *state;

    assert_int_equal(mkdirat(ws->fd, "bad\xFF", 0755), 0);
    make_file(ws, "bad\xFF/in", "");
    make_file(ws, "good", "");
    expect_walk(ws, "", 9, false, "d !bad\xEF\xBF\xBD\nf good\nf !bad\xEF\xBF\xBD/in\n");
}

static void walk_stops_when_told(void **state)
{
    struct workspace *ws = *state;
    struct seen seen;
    bool cut;

    assert_int_equal(mkdirat(ws->fd, "a", 0755), 0);
    make_file(ws, "a/b", "");
    make_file(ws, "c", "");
    assert_int_equal(walk(ws, "", 9, 1, &seen, &cut), 0);
    assert_string_equal(seen.lines.data, "d a\n");
    sb_buf_done(&seen.lines);
}

static void walk_takes_no_more_than_asked_from_a_full_folder(void **state)
{
    struct workspace *ws = *state;
    struct seen seen;
    bool cut;

    for (int i = 0; i < 200; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        make_file(ws, name, "");
    }
    assert_int_equal(walk(ws, "", 50, 0, &seen, &cut), 0);
    assert_int_equal(seen.count, 50);
    assert_true(cut);
    sb_buf_done(&seen.lines);
}

static void walk_of_a_large_folder_hides_nothing_above_it(void **state)
{
    struct workspace *ws = *state;
    char name[64];

    assert_int_equal(mkdirat(ws->fd, "modules", 0755), 0);
    assert_int_equal(mkdirat(ws->fd, "modules/a", 0755), 0);
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "modules/a/f%d", i);
        make_file(ws, name, "");
    }
    assert_int_equal(mkdirat(ws->fd, "out", 0755), 0);
    make_file(ws, "out/plot.png", "");
    expect_walk(ws, "", 4, true, "d modules\nd out\nd modules/a\nf out/plot.png\n");
    expect_walk(ws, "modules", 1, true, "d modules/a\n");
}

/* A tree whose paths would fill our memory: 20 names of 190 bytes each are about 3,800 bytes a path. */
static void walk_keeps_no_more_paths_than_its_cap(void **state)
{
    struct workspace *ws = *state;
    struct seen seen;
    char name[192];
    bool cut;
    int at = dup(ws->fd);

    memset(name, 'd', sizeof name);
    name[sizeof name - 2] = '\0';
    for (int i = 0; i < 20; i++) {
        assert_int_equal(mkdirat(at, name, 0755), 0);
        int next = openat(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
        assert_true(next >= 0);
        close(at);
        at = next;
    }
    for (int i = 0; i < 1200; i++) {
        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(mkdirat(at, name, 0755), 0);
    }
    close(at);
    assert_int_equal(walk(ws, "", 10000, 0, &seen, &cut), 0);
    assert_int_equal(seen.count, 1220); /* seen are all, entered not */
    assert_true(cut);
    sb_buf_done(&seen.lines);
}

static void walk_ends_at_the_depth_cap(void **state)
{
    struct workspace *ws = *state;
    struct seen seen;
    bool cut;
    int at = dup(ws->fd);

    for (int i = 0; i < SB_PATH_MAX_DEPTH + 10; i++) {
        assert_int_equal(mkdirat(at, "d", 0755), 0);
        int next = openat(at, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
        assert_true(next >= 0);
        close(at);
        at = next;
    }
    close(at);
    assert_int_equal(walk(ws, "", 1000, 0, &seen, &cut), 0);
    assert_int_equal(seen.count, SB_PATH_MAX_DEPTH);
    assert_true(cut);
    sb_buf_done(&seen.lines);
    assert_int_equal(walk(ws, "d/d", 1000, 0, &seen, &cut), 0);
    assert_int_equal(seen.count, SB_PATH_MAX_DEPTH - 2);
    sb_buf_done(&seen.lines);
}

static void walk_does_not_show_a_put_before_it_is_complete(void **state)
{
    struct workspace *ws = *state;
    struct sb_gos_file *file = NULL;
    struct sb_err err;

    assert_int_equal(sb_gos_create(&ws->gos, "x", false, &file, &err), 0);
    expect_walk(ws, "", 9, false, "");
    make_file(ws, ".llm-sandbox-17", ""); /* a program's own file is not taken for ours */
    expect_walk(ws, "", 9, false, "f .llm-sandbox-17\n");
    assert_int_equal(sb_gos_file_close(file, true, &err), 0);
    expect_walk(ws, "", 9, false, "f .llm-sandbox-17\nf x\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH_WAYS(walk_goes_in_byte_order_and_shallow_before_deep),
        BOTH_WAYS(walk_tells_size_times_and_inode),
        BOTH_WAYS(walk_refuses_links_and_files_as_folder),
        BOTH_WAYS(walk_repairs_and_flags_bad_names),
        BOTH_WAYS(walk_stops_when_told),
        BOTH_WAYS(walk_takes_no_more_than_asked_from_a_full_folder),
        BOTH_WAYS(walk_of_a_large_folder_hides_nothing_above_it),
        BOTH_WAYS(walk_keeps_no_more_paths_than_its_cap),
        BOTH_WAYS(walk_ends_at_the_depth_cap),
        BOTH_WAYS(walk_does_not_show_a_put_before_it_is_complete),
    };
    umask(022);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
