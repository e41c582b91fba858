/* SPDX-License-Identifier: MIT */
#include "win_test.h"

#include <winioctl.h>

#include "platform/dirs.h"

static void make_folder(const char *path)
{
    wchar_t *wide = sb_to_utf16_path(path, NULL);
    assert_true(CreateDirectoryW(wide, NULL));
    sb_free(wide);
}

static void assert_removed(const char *path)
{
    struct sb_err err = {0};
    sb_dir_remove_tree(path, &err);
    assert_string_equal(err.text, "");
    assert_false(exists(path));
}

static void what_is_not_there_is_fine(void **state)
{
    (void)state;
    assert_int_equal(sb_dir_remove_tree("C:\\no\\such\\folder", NULL), 0);
}

static void folders_and_files_go_with_all_that_is_in_them(void **state)
{
    (void)state;
    char *root = new_folder();
    for (int i = 0; i < 300; i++) { /* more than one page of names */
        char *path = sb_asprintf("%s\\a-rather-long-name-to-fill-the-page-%d", root, i);
        if (i % 10 == 0) {
            make_folder(path);
            char *file = sb_asprintf("%s\\f", path);
            write_file(file, "x");
            sb_free(file);
        } else {
            write_file(path, "x");
        }
        sb_free(path);
    }
    assert_removed(root);
    sb_free(root);
}

static void read_only_and_hidden_files_go_too(void **state)
{
    (void)state;
    char *root = new_folder();
    char *path = sb_asprintf("%s\\f", root);
    write_file(path, "x");
    wchar_t *wide = sb_to_utf16_path(path, NULL);
    assert_true(SetFileAttributesW(wide, FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_HIDDEN));
    sb_free(wide);
    sb_free(path);
    assert_removed(root);
    sb_free(root);
}

/* Deeper than 260 characters, and than the walk's first list of handles is long. */
static void a_deep_tree_goes(void **state)
{
    (void)state;
    char *root = new_folder();
    char *path = sb_strdup(root);
    for (int i = 0; i < 60; i++) {
        char *deeper = sb_asprintf("%s\\a-name-of-some-length", path);
        make_folder(deeper);
        sb_free(path);
        path = deeper;
    }
    assert_true(strlen(path) > 1000);
    sb_free(path);
    assert_removed(root);
    sb_free(root);
}

static void a_single_file_goes(void **state)
{
    (void)state;
    char *root = new_folder();
    char *path = sb_asprintf("%s\\f", root);
    write_file(path, "x");
    assert_removed(path);
    assert_removed(root);
    sb_free(path);
    sb_free(root);
}

static void what_is_held_open_is_named(void **state)
{
    struct sb_err err = {0};
    (void)state;
    char *root = new_folder();
    char *path = sb_asprintf("%s\\held", root);
    write_file(path, "x");
    wchar_t *wide = sb_to_utf16_path(path, NULL);
    HANDLE held = CreateFileW(wide, GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL); /* shares nothing */
    assert_int_equal(sb_dir_remove_tree(root, &err), -1);
    assert_non_null(strstr(err.text, "\\held'"));
    CloseHandle(held);
    assert_removed(root);
    sb_free(wide);
    sb_free(path);
    sb_free(root);
}

/* The mount point form of a reparse point: what mklink /J makes. */
static bool make_junction(const char *at, const char *to)
{
    struct {
        DWORD tag;
        WORD size, reserved, name_at, name_size, print_at, print_size;
        wchar_t names[600];
    } data = {.tag = IO_REPARSE_TAG_MOUNT_POINT};
    DWORD ignored;

    make_folder(at);
    wchar_t *wide_to = sb_to_utf16(to, NULL), *wide_at = sb_to_utf16_path(at, NULL);
    int units = _snwprintf(data.names, SB_COUNT(data.names) - 2, L"\\??\\%ls", wide_to);
    data.name_size = (WORD)((size_t)units * sizeof(wchar_t));
    data.print_at = (WORD)(data.name_size + sizeof(wchar_t));
    data.size = (WORD)(data.name_size + 8 + 2 * sizeof(wchar_t));
    HANDLE folder = CreateFileW(wide_at, GENERIC_WRITE, 0, NULL, OPEN_EXISTING,
                                FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    bool made =
        DeviceIoControl(folder, FSCTL_SET_REPARSE_POINT, &data, data.size + 8u, NULL, 0, &ignored, NULL);
    CloseHandle(folder);
    sb_free(wide_to);
    sb_free(wide_at);
    return made;
}

/* Wine 8 lists and opens such a file as long as somebody holds it: a loop without end. */
static void what_is_held_with_permission_to_delete_ends_the_walk(void **state)
{
    (void)state;
    char *root = new_folder();
    char *path = sb_asprintf("%s\\held", root);
    write_file(path, "x");
    wchar_t *wide = sb_to_utf16_path(path, NULL);
    HANDLE held = CreateFileW(wide, GENERIC_READ | DELETE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                              NULL, OPEN_EXISTING, 0, NULL);
    assert_true(held != INVALID_HANDLE_VALUE);
    struct sb_err err = {0};
    if (sb_dir_remove_tree(root, &err) < 0)
        assert_non_null(strstr(err.text, root));
    CloseHandle(held);
    assert_removed(root);
    sb_free(wide);
    sb_free(path);
    sb_free(root);
}

static void a_junction_goes_and_what_it_points_to_stays(void **state)
{
    (void)state;
    char *outside = new_folder(), *root = new_folder();
    char *kept = sb_asprintf("%s\\kept", outside), *link = sb_asprintf("%s\\link", root);
    write_file(kept, "x");
    bool made = make_junction(link, outside);
    assert_removed(root);
    assert_true(exists(kept));
    assert_removed(outside);
    sb_free(link);
    sb_free(kept);
    sb_free(root);
    sb_free(outside);
    if (!made)
        SKIP_UNDER_WINE("makes no junctions");
    assert_true(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_there_is_fine),
        cmocka_unit_test(folders_and_files_go_with_all_that_is_in_them),
        cmocka_unit_test(read_only_and_hidden_files_go_too),
        cmocka_unit_test(a_deep_tree_goes),
        cmocka_unit_test(a_single_file_goes),
        cmocka_unit_test(what_is_held_open_is_named),
        cmocka_unit_test(what_is_held_with_permission_to_delete_ends_the_walk),
        cmocka_unit_test(a_junction_goes_and_what_it_points_to_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
