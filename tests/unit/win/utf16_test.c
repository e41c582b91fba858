/* SPDX-License-Identifier: MIT */
#include "win_test.h"

static void text_goes_there_and_back(void **state)
{
    static const char text[] = "a \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80";
    (void)state;
    wchar_t *wide = sb_to_utf16(text, NULL);
    assert_non_null(wide);
    assert_int_equal(wcslen(wide), 8); /* the last is a surrogate pair */
    char *back = sb_from_utf16(wide);
    assert_string_equal(back, text);
    sb_free(back);
    sb_free(wide);
}

static void bytes_that_are_not_utf8_are_refused(void **state)
{
    struct sb_err err = {0};
    (void)state;
    assert_null(sb_to_utf16("a\xFF", &err));
    assert_int_equal(err.code, SB_BAD_REQUEST);
}

static void half_a_pair_becomes_a_replacement_character(void **state)
{
    static const wchar_t half[] = {L'a', 0xD83D, L'b', 0};
    (void)state;
    char *text = sb_from_utf16(half);
    assert_string_equal(text, "a\xEF\xBF\xBD"
                              "b");
    sb_free(text);
}

static void paths_become_long_ones(void **state)
{
    static const struct {
        const char *path;
        const wchar_t *wide;
    } rows[] = {
        {"C:\\a\\b", L"\\\\?\\C:\\a\\b"},
        {"C:/a/./b/../c", L"\\\\?\\C:\\a\\c"},
        {"\\\\server\\share\\x", L"\\\\?\\UNC\\server\\share\\x"},
        {"\\\\?\\C:\\a", L"\\\\?\\C:\\a"},
    };
    (void)state;
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        wchar_t *wide = sb_to_utf16_path(rows[i].path, NULL);
        assert_non_null(wide);
        assert_int_equal(wcscmp(wide, rows[i].wide), 0);
        sb_free(wide);
    }
}

static void a_relative_path_is_refused(void **state)
{
    struct sb_err err = {0};
    (void)state;
    assert_null(sb_to_utf16_path("a\\b", &err));
    assert_int_equal(err.code, SB_BAD_REQUEST);
    assert_null(sb_to_utf16_path("C:a", &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_goes_there_and_back),
        cmocka_unit_test(bytes_that_are_not_utf8_are_refused),
        cmocka_unit_test(half_a_pair_becomes_a_replacement_character),
        cmocka_unit_test(paths_become_long_ones),
        cmocka_unit_test(a_relative_path_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
