/* SPDX-License-Identifier: MIT */
#include "win_test.h"

#include <aclapi.h>
#include <sddl.h>

#include "platform/dirs.h"

static char *home; /* LOCALAPPDATA of this test */

static int new_home(void **state)
{
    (void)state;
    home = new_folder();
    wchar_t *wide = sb_to_utf16(home, NULL);
    SetEnvironmentVariableW(L"LOCALAPPDATA", wide);
    sb_free(wide);
    return 0;
}

static int remove_home(void **state)
{
    (void)state;
    int rc = sb_dir_remove_tree(home, NULL);
    sb_free(home);
    return rc;
}

static char *dir_of(enum sb_dir which)
{
    struct sb_buf path;
    struct sb_err err = {0};
    sb_buf_init(&path, 4096);
    sb_dir(which, &path, &err);
    assert_string_equal(err.text, "");
    return sb_buf_take(&path);
}

static void the_three_are_below_the_user_and_may_be_asked_for_again(void **state)
{
    static const char *const names[] = {"State", "Cache", "Run"};
    (void)state;
    for (int which = SB_DIR_STATE; which <= SB_DIR_RUNTIME; which++)
        for (int again = 0; again < 2; again++) {
            char *path = dir_of((enum sb_dir)which);
            char *expected = sb_asprintf("%s\\LLM Sandbox\\%s", home, names[which]);
            assert_string_equal(path, expected);
            assert_true(exists(path));
            sb_free(expected);
            sb_free(path);
        }
}

static void the_configuration_is_named_but_not_made(void **state)
{
    struct sb_buf path;
    (void)state;
    sb_buf_init(&path, 4096);
    assert_int_equal(sb_dir_config_file(&path, NULL), 0);
    char *expected = sb_asprintf("%s\\LLM Sandbox\\config.json", home);
    assert_string_equal(path.data, expected);
    assert_false(exists(path.data));
    sb_free(expected);
    sb_buf_done(&path);
}

static void assert_sb_dir_denied(const char *says)
{
    struct sb_buf path;
    struct sb_err err = {0};
    sb_buf_init(&path, 4096);
    assert_int_equal(sb_dir(SB_DIR_STATE, &path, &err), -1);
    assert_int_equal(err.code, SB_DENIED);
    assert_non_null(strstr(err.text, says));
    assert_int_equal(path.len, 0);
    sb_buf_done(&path);
}

static void a_file_in_the_place_is_refused(void **state)
{
    (void)state;
    char *place = sb_asprintf("%s\\LLM Sandbox", home);
    write_file(place, "x");
    assert_sb_dir_denied("not a folder");
    sb_free(place);
}

static void a_folder_that_everybody_may_write_is_refused(void **state)
{
    PSECURITY_DESCRIPTOR open = NULL;
    (void)state;
    sb_free(dir_of(SB_DIR_CACHE));
    char *place = sb_asprintf("%s\\LLM Sandbox", home);
    wchar_t *wide = sb_to_utf16_path(place, NULL);
    ConvertStringSecurityDescriptorToSecurityDescriptorW(L"D:P(A;OICI;FA;;;WD)", SDDL_REVISION_1, &open,
                                                         NULL);
    assert_true(SetFileSecurityW(wide, DACL_SECURITY_INFORMATION, open));
    assert_sb_dir_denied("S-1-1-0");
    LocalFree(open);
    sb_free(wide);
    sb_free(place);
}

static void a_new_folder_lets_in_us_the_system_and_administrators_only(void **state)
{
    PSECURITY_DESCRIPTOR got = NULL;
    SECURITY_DESCRIPTOR_CONTROL control;
    PACL list = NULL;
    DWORD revision;
    (void)state;
    char *path = dir_of(SB_DIR_STATE);
    wchar_t *wide = sb_to_utf16_path(path, NULL);
    assert_int_equal(
        GetNamedSecurityInfoW(wide, SE_FILE_OBJECT, DACL_SECURITY_INFORMATION, NULL, NULL, &list, NULL, &got),
        ERROR_SUCCESS);
    GetSecurityDescriptorControl(got, &control, &revision);
    bool as_asked = (control & SE_DACL_PROTECTED) && list->AceCount == 3;
    LocalFree(got);
    sb_free(wide);
    sb_free(path);
    if (!as_asked)
        SKIP_UNDER_WINE("turns access lists into the mode bits of a Unix file");
    assert_true(as_asked);
}

static void making_a_folder_twice_is_busy(void **state)
{
    struct sb_err err = {0};
    (void)state;
    char *path = sb_asprintf("%s\\x", home);
    assert_int_equal(sb_dir_make(path, 0, NULL), 0);
    assert_int_equal(sb_dir_make(path, 1, &err), -1);
    assert_int_equal(err.code, SB_BUSY);
    sb_free(path);
}

static void a_folder_below_nothing_is_not_found(void **state)
{
    struct sb_err err = {0};
    (void)state;
    char *path = sb_asprintf("%s\\no\\x", home);
    assert_int_equal(sb_dir_make(path, 0, &err), -1);
    assert_int_equal(err.code, SB_NOT_FOUND);
    sb_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_three_are_below_the_user_and_may_be_asked_for_again, new_home,
                                        remove_home),
        cmocka_unit_test_setup_teardown(the_configuration_is_named_but_not_made, new_home, remove_home),
        cmocka_unit_test_setup_teardown(a_file_in_the_place_is_refused, new_home, remove_home),
        cmocka_unit_test_setup_teardown(a_folder_that_everybody_may_write_is_refused, new_home, remove_home),
        cmocka_unit_test_setup_teardown(a_new_folder_lets_in_us_the_system_and_administrators_only, new_home,
                                        remove_home),
        cmocka_unit_test_setup_teardown(making_a_folder_twice_is_busy, new_home, remove_home),
        cmocka_unit_test_setup_teardown(a_folder_below_nothing_is_not_found, new_home, remove_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
