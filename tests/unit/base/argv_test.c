/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/argv.h"

static void pushes_keep_their_order_and_end_in_null(void **state)
{
    static const char *const more[] = {"--unshare-all", "--", NULL};
    struct sb_argv argv = {0};
    char name[] = "bwrap";

    (void)state;
    sb_argv_push(&argv, name);
    name[0] = 'X'; /* the list has a copy */
    sb_argv_pushv(&argv, more);
    sb_argv_pushf(&argv, "--fd=%d", 42);
    assert_int_equal(argv.n, 4);
    assert_string_equal(argv.v[0], "bwrap");
    assert_string_equal(argv.v[1], "--unshare-all");
    assert_string_equal(argv.v[2], "--");
    assert_string_equal(argv.v[3], "--fd=42");
    assert_null(argv.v[4]);
    sb_argv_done(&argv);
    assert_null(argv.v);
    sb_argv_done(&argv);
}

static void a_formatted_string_may_be_long(void **state)
{
    struct sb_argv argv = {0};
    char text[5000];

    (void)state;
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    sb_argv_pushf(&argv, "%s%s", text, text);
    assert_int_equal(strlen(argv.v[0]), 2 * (sizeof text - 1));
    sb_argv_done(&argv);
}

static void a_variable_is_replaced_not_doubled(void **state)
{
    struct sb_argv env = {0};

    (void)state;
    sb_env_set(&env, "PATH", "/bin");
    sb_env_set(&env, "PATHEXT", ".EXE");
    sb_env_set(&env, "EMPTY", "");
    sb_env_set(&env, "PATH", "/usr/bin=odd");
    assert_int_equal(env.n, 3);
    assert_string_equal(env.v[0], "PATH=/usr/bin=odd");
    assert_string_equal(sb_env_get(&env, "PATH"), "/usr/bin=odd");
    assert_string_equal(sb_env_get(&env, "PATHEXT"), ".EXE");
    assert_string_equal(sb_env_get(&env, "EMPTY"), "");
    sb_argv_done(&env);
}

static void a_missing_variable_is_null(void **state)
{
    struct sb_argv env = {0};

    (void)state;
    assert_null(sb_env_get(&env, "PATH"));
    sb_env_set(&env, "PATHS", "x");
    assert_null(sb_env_get(&env, "PATH"));
    assert_null(sb_env_get(&env, "path"));
    sb_argv_done(&env);
}

static void copies_of_strings_end_where_they_should(void **state)
{
    char *part = sb_strndup("a\0b", 3), *made = sb_asprintf("%s/%d", "x", 5);

    (void)state;
    assert_memory_equal(part, "a\0b", 4);
    assert_string_equal(made, "x/5");
    assert_null(sb_strdup(NULL));
    sb_free(part);
    sb_free(made);
    sb_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_keep_their_order_and_end_in_null),
        cmocka_unit_test(a_formatted_string_may_be_long),
        cmocka_unit_test(a_variable_is_replaced_not_doubled),
        cmocka_unit_test(a_missing_variable_is_null),
        cmocka_unit_test(copies_of_strings_end_where_they_should),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
