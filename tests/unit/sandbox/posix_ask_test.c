/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "sandbox/ask.h"

struct answer {
    int times;
    struct sb_err err;
    char line[8192];
};

static void on_done(void *ctx, const struct sb_err *err, const char *line)
{
    struct answer *answer = ctx;

    answer->times++;
    if (err)
        answer->err = *err;
    snprintf(answer->line, sizeof answer->line, "%s", line);
}

static struct answer ask(const char *program, const char *arg, uint64_t within_ms)
{
    struct answer answer = {0};
    uv_loop_t loop;

    assert_int_equal(uv_loop_init(&loop), 0);
    sb_ask_line(&loop, program, arg, within_ms, on_done, &answer);
    assert_int_equal(answer.times, 0); /* never inside the call */
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_int_equal(answer.times, 1);
    return answer;
}

static void the_first_line_is_the_answer(void **state)
{
    struct answer answer = ask("/bin/echo", "one\ntwo", 10000);

    (void)state;
    assert_int_equal(answer.err.code, SB_OK);
    assert_string_equal(answer.line, "one");
}

static void a_program_that_says_nothing_gave_an_empty_line(void **state)
{
    struct answer answer = ask("/bin/true", "--version-of-nothing", 10000);

    (void)state;
    assert_int_equal(answer.err.code, SB_OK);
    assert_string_equal(answer.line, "");
}

static void a_program_that_fails_is_an_error_with_its_status(void **state)
{
    struct answer answer = ask("/bin/false", "x", 10000);

    (void)state;
    assert_int_equal(answer.err.code, SB_HOST);
    assert_string_equal(answer.err.text, "'/bin/false x' ended with exit 1");
}

static void a_program_that_hangs_is_killed(void **state)
{
    struct answer answer = ask("/bin/sleep", "60", 50);

    (void)state;
    assert_int_equal(answer.err.code, SB_TIMEOUT);
    assert_string_equal(answer.err.text, "'/bin/sleep 60' did not end within 50 ms");
}

static void a_flood_is_cut_and_ended(void **state)
{
    struct answer answer = ask("/usr/bin/yes", "no", 100);

    (void)state;
    assert_int_equal(answer.err.code, SB_TIMEOUT);
    assert_string_equal(answer.line, "no");
}

static void a_missing_program_is_an_error_that_names_it(void **state)
{
    struct answer answer = ask("/nowhere/bwrap", "--version", 10000);

    (void)state;
    assert_true(answer.err.code != SB_OK);
    assert_non_null(strstr(answer.err.text, "/nowhere/bwrap"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_line_is_the_answer),
        cmocka_unit_test(a_program_that_says_nothing_gave_an_empty_line),
        cmocka_unit_test(a_program_that_fails_is_an_error_with_its_status),
        cmocka_unit_test(a_program_that_hangs_is_killed),
        cmocka_unit_test(a_flood_is_cut_and_ended),
        cmocka_unit_test(a_missing_program_is_an_error_that_names_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
