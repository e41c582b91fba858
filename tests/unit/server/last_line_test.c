/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "server/last_line.h"

static void check(const char *const *pieces, const char *expected)
{
    struct sb_last_line line;
    struct sb_buf out;

    sb_last_line_init(&line);
    sb_buf_init(&out, 1000);
    for (; *pieces != NULL; pieces++)
        sb_last_line_add(&line, *pieces, strlen(*pieces));
    sb_last_line_text(&line, &out);
    assert_string_equal(out.data, expected);
    sb_buf_done(&out);
    sb_last_line_done(&line);
}
#define CHECK(expected, ...) check((const char *const[]){__VA_ARGS__, NULL}, expected)

static void last_line_is_the_last_that_says_something(void **state)
{
    (void)state;
    CHECK("", "");
    CHECK("", "\n\n  \n");
    CHECK("two", "one\ntwo\n");
    CHECK("two", "one\ntwo\n\n \r\n");
    CHECK("three", "one\ntwo\nth", "ree");
    CHECK("50%", "10%\r20%", "\r50%\r");
}

static void last_line_is_text(void **state)
{
    (void)state;
    CHECK("red", "\x1b[31mred\x1b[0m\n");
    CHECK("a b", "a\tb\n");
    CHECK("\xC3\xA9", "\xC3", "\xA9");
    CHECK("\xEF\xBF\xBDx", "\xFFx");
}

static void last_line_of_a_flood_is_its_beginning_cut_to_a_character(void **state)
{
    struct sb_last_line line;
    struct sb_buf out;
    char flood[10001];

    (void)state;
    for (size_t i = 0; i < sizeof flood; i++)
        flood[i] = i % 2 == 0 ? '\xC3' : '\xA9';
    sb_last_line_init(&line);
    sb_buf_init(&out, 1000);
    for (int i = 0; i < 3; i++)
        sb_last_line_add(&line, flood, sizeof flood - 1);
    sb_last_line_text(&line, &out);
    assert_int_equal(out.len, SB_LAST_LINE_BYTES);
    assert_true(sb_utf8_valid(out.data, out.len));
    sb_buf_done(&out);
    sb_last_line_done(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_line_is_the_last_that_says_something),
        cmocka_unit_test(last_line_is_text),
        cmocka_unit_test(last_line_of_a_flood_is_its_beginning_cut_to_a_character),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
