/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "cli/options.h"

static const struct sb_option table[] = {
    {"timeout", 't', "SECONDS", "how long"},
    {"json", 0, NULL, "for programs"},
    {NULL, 0, NULL, NULL},
};

static struct sb_options parser(int argc, char **argv)
{
    struct sb_options options = {.table = table, .argc = argc, .at = 1, .argv = argv};

    return options;
}

static void every_spelling_of_a_value_is_the_same(void **state)
{
    char *spellings[][4] = {{"run", "--timeout", "5", NULL}, {"run", "--timeout=5", NULL, NULL},
                            {"run", "-t", "5", NULL},        {"run", "-t5", NULL, NULL}};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct sb_options options = parser(spellings[i][2] != NULL ? 3 : 2, spellings[i]);
        struct sb_err err = {0};
        const char *value = NULL;

        assert_int_equal(sb_options_next(&options, &value, &err), 0);
        assert_string_equal(value, "5");
        assert_int_equal(sb_options_next(&options, &value, &err), -2);
    }
}

static void operands_and_dash_and_what_follows_dashes_are_kept_apart(void **state)
{
    char *argv[] = {"run", "a.py", "-", "--json", "--", "--timeout", "x", NULL};
    struct sb_options options = parser(7, argv);
    struct sb_err err = {0};
    const char *value = NULL;

    (void)state;
    assert_int_equal(sb_options_next(&options, &value, &err), -1);
    assert_string_equal(value, "a.py");
    assert_int_equal(sb_options_next(&options, &value, &err), -1);
    assert_string_equal(value, "-");
    assert_int_equal(sb_options_next(&options, &value, &err), 1);
    assert_int_equal(sb_options_next(&options, &value, &err), -2);
    assert_int_equal(options.at, 5);
}

static void wrong_ones_are_named_with_what_is_meant(void **state)
{
    static const struct {
        char *argument;
        const char *says;
    } wrong[] = {
        {"--time", "unknown option '--time': did you mean --timeout?"},
        {"--xyz", "unknown option '--xyz'"},
        {"-x.py", "unknown option '-x.py'"},
        {"--json=1", "option --json takes no value ('--json=1')"},
        {"--timeout", "option --timeout needs a value: SECONDS"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *argv[] = {"run", wrong[i].argument, NULL};
        struct sb_options options = parser(2, argv);
        struct sb_err err = {0};
        const char *value;

        assert_int_equal(sb_options_next(&options, &value, &err), -3);
        assert_string_equal(err.text, wrong[i].says);
    }
}

static void help_has_a_line_for_each_row(void **state)
{
    struct sb_buf out;

    (void)state;
    sb_buf_init(&out, 4096);
    sb_options_help(table, &out);
    assert_string_equal(out.data, "  -t, --timeout SECONDS      how long\n"
                                  "      --json                 for programs\n");
    sb_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_of_a_value_is_the_same),
        cmocka_unit_test(operands_and_dash_and_what_follows_dashes_are_kept_apart),
        cmocka_unit_test(wrong_ones_are_named_with_what_is_meant),
        cmocka_unit_test(help_has_a_line_for_each_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
