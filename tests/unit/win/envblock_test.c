/* SPDX-License-Identifier: MIT */
#include "win_test.h"

#include "envblock.h"

static void assert_block(char *const *env, const wchar_t *expected, size_t units)
{
    struct sb_err err = {0};
    wchar_t *block = sb_env_block(env, &err);
    assert_string_equal(err.text, "");
    assert_non_null(block);
    assert_memory_equal(block, expected, units * sizeof *block);
    sb_free(block);
}

static void names_are_sorted_without_case(void **state)
{
    char *env[] = {"b=2", "_=under", "A=1", "AB=3", "a.=4", "C=", "\xC3\xA9=5", NULL};
    static const wchar_t sorted[] = L"A=1\0a.=4\0AB=3\0b=2\0C=\0_=under\0\u00E9=5\0";
    (void)state;
    assert_block(env, sorted, SB_COUNT(sorted));
}

static void an_empty_environment_is_two_nuls(void **state)
{
    char *env[] = {NULL};
    (void)state;
    assert_block(env, L"\0", 2);
}

static void a_value_may_hold_equals_signs(void **state)
{
    char *env[] = {"A=b=c", NULL};
    (void)state;
    assert_block(env, L"A=b=c\0", 7);
}

static void a_name_in_two_cases_is_refused(void **state)
{
    char *env[] = {"Path=secret", "x=1", "PATH=2", NULL};
    struct sb_err err = {0};
    (void)state;
    assert_null(sb_env_block(env, &err));
    assert_int_equal(err.code, SB_BAD_REQUEST);
    assert_non_null(strstr(err.text, "twice"));
    assert_null(strstr(err.text, "secret"));
}

static void an_entry_without_a_name_is_refused(void **state)
{
    char *nothing[] = {"A", NULL}, *drive[] = {"=C:=C:\\x", NULL}, *bytes[] = {"A=\xFF", NULL};
    (void)state;
    assert_null(sb_env_block(nothing, NULL));
    assert_null(sb_env_block(drive, NULL));
    assert_null(sb_env_block(bytes, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_sorted_without_case),
        cmocka_unit_test(an_empty_environment_is_two_nuls),
        cmocka_unit_test(a_value_may_hold_equals_signs),
        cmocka_unit_test(a_name_in_two_cases_is_refused),
        cmocka_unit_test(an_entry_without_a_name_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
