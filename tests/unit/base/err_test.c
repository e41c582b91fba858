/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/utf8.h"

static void fail_fills_and_returns_minus_one(void **state)
{
    struct sb_err err = {.os = 5};

    (void)state;
    assert_int_equal(sb_fail(&err, SB_NOT_FOUND, "cannot open '%s'", "x"), -1);
    assert_int_equal(err.code, SB_NOT_FOUND);
    assert_int_equal(err.os, 0);
    assert_string_equal(err.text, "cannot open 'x'");
    assert_int_equal(sb_fail(NULL, SB_BUG, "nobody listens"), -1);
}

static void context_goes_in_front_and_keeps_code_and_number(void **state)
{
    struct sb_err err = {.code = SB_HOST, .os = 13, .text = "permission denied"};

    (void)state;
    assert_int_equal(sb_fail_in(&err, "cannot start box %d", 7), -1);
    assert_string_equal(err.text, "cannot start box 7: permission denied");
    assert_int_equal(err.code, SB_HOST);
    assert_int_equal(err.os, 13);
    assert_int_equal(sb_fail_in(NULL, "nobody listens"), -1);
}

static void the_text_may_be_its_own_argument(void **state)
{
    struct sb_err err = {.text = "first"};

    (void)state;
    sb_fail(&err, SB_HOST, "%s, then second", err.text);
    assert_string_equal(err.text, "first, then second");
    sb_fail_in(&err, "again %s", err.text);
    assert_string_equal(err.text, "again first, then second: first, then second");
}

/* Cuts with the euro sign at each of its three offsets from the border. */
static void a_long_text_is_cut_between_characters(void **state)
{
    char text[1201];

    (void)state;
    for (size_t i = 0; i < 1200; i += 3)
        memcpy(text + i, "\xE2\x82\xAC", 3);
    text[1200] = 0;
    for (int shift = 0; shift < 3; shift++) {
        struct sb_err err;

        sb_fail(&err, SB_HOST, "%.*s%s", shift, "abc", text);
        assert_true(strlen(err.text) >= sizeof err.text - 3);
        assert_true(sb_utf8_valid(err.text, strlen(err.text)));
        assert_null(strchr(err.text, '?')); /* nor was a half one replaced */

        sb_fail_in(&err, "%.*s", shift, "abc");
        assert_true(strlen(err.text) >= sizeof err.text - 3);
        assert_true(sb_utf8_valid(err.text, strlen(err.text)));
        assert_null(strchr(err.text, '?')); /* nor was a half one replaced */

        sb_fail_in(&err, "%.*s%s", shift, "abc", text);
        assert_true(strlen(err.text) >= sizeof err.text - 3);
        assert_true(sb_utf8_valid(err.text, strlen(err.text)));
        assert_null(strchr(err.text, '?')); /* nor was a half one replaced */
    }
}

static void a_text_is_one_line_of_utf8_whatever_it_quotes(void **state)
{
    struct sb_err err;

    (void)state;
    sb_fail(&err, SB_HOST, "no '%s'", "a\n\x1b[1m\x7f\xC3\xA9");
    assert_string_equal(err.text, "no 'a??[1m?\xC3\xA9'");
    sb_fail(&err, SB_HOST, "no '%s'", "\xC3\xA9\xFF");
    assert_string_equal(err.text, "no '\?\?\?'");
    sb_fail_in(&err, "x\r\n");
    assert_string_equal(err.text, "x\?\?: no '\?\?\?'");
}

static void every_code_has_a_name_and_a_wrong_one_does_no_harm(void **state)
{
    (void)state;
    for (int code = SB_OK; code <= SB_BUG; code++)
        assert_string_not_equal(sb_code_name((enum sb_code)code), "unknown");
    assert_string_equal(sb_code_name(SB_BAD_REQUEST), "bad_request");
    assert_string_equal(sb_code_name(SB_HOST), "host");
    assert_string_equal(sb_code_name((enum sb_code)(SB_BUG + 1)), "unknown");
    assert_string_equal(sb_code_name((enum sb_code)9999), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fail_fills_and_returns_minus_one),
        cmocka_unit_test(context_goes_in_front_and_keeps_code_and_number),
        cmocka_unit_test(the_text_may_be_its_own_argument),
        cmocka_unit_test(a_long_text_is_cut_between_characters),
        cmocka_unit_test(a_text_is_one_line_of_utf8_whatever_it_quotes),
        cmocka_unit_test(every_code_has_a_name_and_a_wrong_one_does_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
