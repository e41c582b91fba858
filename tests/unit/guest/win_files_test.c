/* SPDX-License-Identifier: MIT */
#include "win_guest.h"

#include "base/path.h"

static void put(struct world *world, const char *path, const char *text)
{
    struct sb_gos_file *file;

    assert_int_equal(sb_gos_create(&world->gos, path, false, &file, &world->err), 0);
    assert_int_equal(sb_gos_file_write(file, text, strlen(text), &world->err), 0);
    assert_int_equal(sb_gos_file_close(file, true, &world->err), 0);
}

static void expect_text(struct world *world, const char *path, uint64_t offset, const char *text)
{
    struct sb_gos_file *file;
    char bytes[64];

    assert_int_equal(sb_gos_open_file(&world->gos, path, offset, &file, &world->err), 0);
    assert_int_equal(sb_gos_file_read(file, bytes, sizeof bytes, &world->err), strlen(text));
    assert_memory_equal(bytes, text, strlen(text));
    assert_int_equal(sb_gos_file_read(file, bytes, sizeof bytes, &world->err), 0);
    assert_int_equal(sb_gos_file_close(file, true, &world->err), 0);
}

static void gone(struct world *world, const char *path)
{
    assert_int_equal(sb_gos_remove(&world->gos, path, &world->err), 0);
}

static void create_makes_the_folders_on_the_way(void **state)
{
    struct world *world = *state;

    put(world, "a/\xC3\xA4/\xF0\x9F\x98\x80.txt", "hello");
    expect_text(world, "a/\xC3\xA4/\xF0\x9F\x98\x80.txt", 0, "hello");
    expect_text(world, "a/\xC3\xA4/\xF0\x9F\x98\x80.txt", 3, "lo");
    expect_text(world, "a/\xC3\xA4/\xF0\x9F\x98\x80.txt", 99, "");
    gone(world, "a/\xC3\xA4/\xF0\x9F\x98\x80.txt");
    gone(world, "a/\xC3\xA4");
    gone(world, "a");
}

static void create_replaces_and_leaves_the_second_name_alone(void **state)
{
    struct world *world = *state;
    wchar_t first[2 * MAX_PATH], second[2 * MAX_PATH];

    put(world, "f", "long old text");
    world_path(world, L"f", first);
    world_path(world, L"g", second);
    assert_true(CreateHardLinkW(second, first, NULL));
    put(world, "f", "new");
    expect_text(world, "f", 0, "new");
    expect_text(world, "g", 0, "long old text");
    gone(world, "f");
    gone(world, "g");
}

static void create_refuses_a_folder_in_its_place(void **state)
{
    struct world *world = *state;
    struct sb_gos_file *file;

    put(world, "d/f", "x");
    assert_int_equal(sb_gos_create(&world->gos, "d", false, &file, &world->err), -1);
    assert_int_equal(sb_gos_create(&world->gos, "d/f/g", false, &file, &world->err), -1);
    expect_text(world, "d/f", 0, "x");
    gone(world, "d/f");
    gone(world, "d");
}

static void unfinished_file_is_removed(void **state)
{
    struct world *world = *state;
    struct sb_gos_file *file;

    assert_int_equal(sb_gos_create(&world->gos, "half", false, &file, &world->err), 0);
    assert_int_equal(sb_gos_file_write(file, "x", 1, &world->err), 0);
    assert_int_equal(sb_gos_file_close(file, false, &world->err), 0);
    assert_int_equal(sb_gos_open_file(&world->gos, "half", 0, &file, &world->err), -1);
    assert_int_equal(world->err.code, SB_NOT_FOUND);
}

static void names_that_leave_the_workspace_are_refused(void **state)
{
    static const char *const names[] = {"..",       "../x", "a/../../x", "..\\x", "a\\b",  "C:\\x",
                                        "f:stream", "CON",  "nul.a",     "a.",    "a ",    "\\\\s\\x",
                                        "/x",       "",     "x/..",      "~\\",   "A~1/x", "a//../b"};
    struct world *world = *state;

    for (size_t i = 0; i < SB_COUNT(names); i++) {
        struct sb_gos_file *file = NULL;

        assert_int_equal(sb_gos_create(&world->gos, names[i], false, &file, &world->err), -1);
        assert_int_equal(sb_gos_open_file(&world->gos, names[i], 0, &file, &world->err), -1);
        assert_int_equal(sb_gos_remove(&world->gos, names[i], &world->err), -1);
        assert_null(file);
    }
}

static void folder_is_not_read_as_a_file(void **state)
{
    struct world *world = *state;
    struct sb_gos_file *file;

    put(world, "d/f", "x");
    assert_int_equal(sb_gos_open_file(&world->gos, "d", 0, &file, &world->err), -1);
    assert_int_equal(sb_gos_open_file(&world->gos, "d/f", (uint64_t)INT64_MAX + 1, &file, &world->err), -1);
    gone(world, "d/f");
    gone(world, "d");
}

static void remove_refuses_a_folder_that_is_not_empty(void **state)
{
    struct world *world = *state;

    put(world, "d/f", "x");
    assert_int_equal(sb_gos_remove(&world->gos, "d", &world->err), -1);
    expect_text(world, "d/f", 0, "x");
    gone(world, "d/f");
    gone(world, "d");
    assert_int_equal(sb_gos_remove(&world->gos, "d", &world->err), -1);
    assert_int_equal(world->err.code, SB_NOT_FOUND);
}

static void links_are_refused_on_the_way_and_at_the_end(void **state)
{
    struct world *world = *state;
    struct sb_gos_file *file;
    wchar_t link[2 * MAX_PATH];

    world_path(world, L"link", link);
    /* 2: without the privilege, where the machine allows it. Wine 8 says yes and makes nothing. */
    if (!CreateSymbolicLinkW(link, L"d", SYMBOLIC_LINK_FLAG_DIRECTORY | 2) ||
        GetFileAttributesW(link) == INVALID_FILE_ATTRIBUTES) {
        print_message("SKIP: no links can be made here\n");
        skip();
    }
    put(world, "d/f", "x");
    assert_int_equal(sb_gos_open_file(&world->gos, "link/f", 0, &file, &world->err), -1);
    assert_int_equal(world->err.code, SB_DENIED);
    assert_int_equal(sb_gos_create(&world->gos, "link/g", false, &file, &world->err), -1);
    assert_int_equal(sb_gos_open_file(&world->gos, "link", 0, &file, &world->err), -1);
    gone(world, "link"); /* itself, not what it names */
    expect_text(world, "d/f", 0, "x");
    gone(world, "d/f");
    gone(world, "d");
}

/* ---- the walk --------------------------------------------------------------------------- */

struct seen {
    char text[512]; /* "f:a/b " of each entry */
    size_t count, stop_after;
    bool bad_name;
};

static bool see(void *ctx, const struct sb_gos_entry *entry)
{
    static const char types[] = "?fdlo";
    struct seen *seen = ctx;
    size_t len = strlen(seen->text);

    snprintf(seen->text + len, sizeof seen->text - len, "%c:%s ", types[entry->type], entry->path);
    seen->bad_name |= entry->bad_name;
    if (entry->type == SB_ENTRY_FILE && !entry->bad_name) {
        assert_int_equal(entry->size, 3);
        assert_true(entry->mtime_ns > 1700000000 * (int64_t)1000000000); /* 2023 */
        assert_true(entry->inode != 0);
    }
    return ++seen->count != seen->stop_after;
}

static void walk_goes_shallow_before_deep_in_byte_order_without_tmp(void **state)
{
    struct world *world = *state;
    struct seen seen = {0}, below = {0};
    bool cut = true;

    put(world, ".tmp/x", "hid");
    put(world, "b/.tmp/y", "abc");
    put(world, "b/Z", "abc");
    put(world, "b/a", "abc");
    put(world, "a", "abc");
    assert_int_equal(sb_gos_walk(&world->gos, "", 100, see, &seen, &cut, &world->err), 0);
    assert_string_equal(seen.text, "f:a d:b d:b/.tmp f:b/Z f:b/a f:b/.tmp/y ");
    assert_false(cut);
    assert_int_equal(sb_gos_walk(&world->gos, "b", 100, see, &below, &cut, &world->err), 0);
    assert_string_equal(below.text, "d:b/.tmp f:b/Z f:b/a f:b/.tmp/y ");
    gone(world, "a");
    gone(world, "b/a");
    gone(world, "b/Z");
    gone(world, "b/.tmp/y");
    gone(world, "b/.tmp");
    gone(world, "b");
    gone(world, ".tmp/x");
    gone(world, ".tmp");
}

static void walk_of_a_large_folder_hides_nothing_above_it(void **state)
{
    struct world *world = *state;
    struct seen seen = {0};
    bool cut = false;

    put(world, "big/1", "abc");
    put(world, "big/a/2", "abc");
    put(world, "big/a/3", "abc");
    put(world, "out/plot", "abc");
    assert_int_equal(sb_gos_walk(&world->gos, "", 5, see, &seen, &cut, &world->err), 0);
    assert_string_equal(seen.text, "d:big d:out f:big/1 d:big/a f:out/plot ");
    assert_true(cut);
    gone(world, "big/1");
    gone(world, "big/a/2");
    gone(world, "big/a/3");
    gone(world, "big/a");
    gone(world, "big");
    gone(world, "out/plot");
    gone(world, "out");
}

static void walk_says_when_it_is_too_deep(void **state)
{
    struct world *world = *state;
    struct seen seen = {0};
    char path[2 * SB_PATH_MAX_DEPTH + 4] = "d";
    wchar_t wide[2 * MAX_PATH];
    bool cut = false;

    for (int i = 1; i < SB_PATH_MAX_DEPTH - 1; i++)
        strcat(path, "/d");
    strcat(path, "/f"); /* the deepest that has a name */
    put(world, path, "abc");
    assert_int_equal(sb_gos_walk(&world->gos, "", 100, see, &seen, &cut, &world->err), 0);
    assert_int_equal(seen.count, SB_PATH_MAX_DEPTH);
    assert_false(cut);
    gone(world, path);
    path[strlen(path) - 1] = 'd'; /* a folder there: what is in it has none */
    world_path(world, L"", wide);
    for (const char *at = path; *at; at++)
        swprintf(wide + wcslen(wide), 2, L"%c", *at == '/' ? '\\' : *at);
    assert_true(CreateDirectoryW(wide, NULL));
    seen = (struct seen){0};
    assert_int_equal(sb_gos_walk(&world->gos, "", 100, see, &seen, &cut, &world->err), 0);
    assert_true(cut);
    for (; *path; *(strrchr(path, '/') ? strrchr(path, '/') : path) = '\0')
        gone(world, path);
}

static void walk_is_cut_at_its_most_and_stops_when_told(void **state)
{
    static const char *const names[] = {"1", "2", "3"};
    struct world *world = *state;
    struct seen two = {0}, all = {0}, one = {.stop_after = 1};
    bool cut = false;

    for (size_t i = 0; i < 3; i++)
        put(world, names[i], "abc");
    assert_int_equal(sb_gos_walk(&world->gos, "", 2, see, &two, &cut, &world->err), 0);
    assert_int_equal(two.count, 2);
    assert_true(cut);
    assert_int_equal(sb_gos_walk(&world->gos, "", 3, see, &all, &cut, &world->err), 0);
    assert_int_equal(all.count, 3);
    assert_false(cut);
    assert_int_equal(sb_gos_walk(&world->gos, "", 3, see, &one, &cut, &world->err), 0);
    assert_int_equal(one.count, 1);
    assert_false(cut);
    for (size_t i = 0; i < 3; i++)
        gone(world, names[i]);
}

static void walk_of_what_is_no_folder_fails(void **state)
{
    struct world *world = *state;
    struct seen seen = {0};
    bool cut;

    put(world, "f", "abc");
    assert_int_equal(sb_gos_walk(&world->gos, "f", 9, see, &seen, &cut, &world->err), -1);
    assert_int_equal(sb_gos_walk(&world->gos, "nothing", 9, see, &seen, &cut, &world->err), -1);
    assert_int_equal(world->err.code, SB_NOT_FOUND);
    assert_int_equal(seen.count, 0);
    gone(world, "f");
}

static void half_a_surrogate_pair_is_a_bad_name(void **state)
{
    static const wchar_t half[] = {0xD800, 'x', 0};
    struct world *world = *state;
    struct seen seen = {0};
    wchar_t path[2 * MAX_PATH];
    HANDLE file;
    bool cut;

    world_path(world, half, path);
    file = CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_NEW, 0, NULL);
    if (file == INVALID_HANDLE_VALUE) {
        print_message("SKIP: such names can't be made here\n");
        skip();
    }
    CloseHandle(file);
    assert_int_equal(sb_gos_walk(&world->gos, "", 9, see, &seen, &cut, &world->err), 0);
    DeleteFileW(path);
    assert_true(seen.bad_name);
    assert_string_equal(seen.text, "f:\xEF\xBF\xBDx ");
}

#define IN_A_WORLD(test) cmocka_unit_test_setup_teardown(test, world_open, world_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_WORLD(create_makes_the_folders_on_the_way),
        IN_A_WORLD(create_replaces_and_leaves_the_second_name_alone),
        IN_A_WORLD(create_refuses_a_folder_in_its_place),
        IN_A_WORLD(unfinished_file_is_removed),
        IN_A_WORLD(names_that_leave_the_workspace_are_refused),
        IN_A_WORLD(folder_is_not_read_as_a_file),
        IN_A_WORLD(remove_refuses_a_folder_that_is_not_empty),
        IN_A_WORLD(links_are_refused_on_the_way_and_at_the_end),
        IN_A_WORLD(walk_goes_shallow_before_deep_in_byte_order_without_tmp),
        IN_A_WORLD(walk_of_a_large_folder_hides_nothing_above_it),
        IN_A_WORLD(walk_says_when_it_is_too_deep),
        IN_A_WORLD(walk_is_cut_at_its_most_and_stops_when_told),
        IN_A_WORLD(walk_of_what_is_no_folder_fails),
        IN_A_WORLD(half_a_surrogate_pair_is_a_bad_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
