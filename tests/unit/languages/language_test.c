/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "guest/guest.h"
#include "languages/language.h"

static void names_and_aliases_are_found_in_any_case(void **state)
{
    (void)state;
    assert_string_equal(sb_language_named("PYTHON", SB_WIRE_LINUX)->name, "python");
    assert_string_equal(sb_language_named("Py", SB_WIRE_WINDOWS)->name, "python");
    assert_string_equal(sb_language_named("JS", SB_WIRE_LINUX)->name, "javascript");
    assert_string_equal(sb_language_named("javascrIpt", SB_WIRE_LINUX)->name, "javascript");
    assert_string_equal(sb_language_named("sh", SB_WIRE_LINUX)->name, "bash");
    assert_null(sb_language_named("pytho", SB_WIRE_LINUX));
    assert_null(sb_language_named("", SB_WIRE_LINUX));
}

static void a_language_is_known_only_where_its_box_has_it(void **state)
{
    (void)state;
    assert_null(sb_language_named("bash", SB_WIRE_WINDOWS));
    assert_null(sb_language_named("cmd", SB_WIRE_LINUX));
    assert_string_equal(sb_language_named("bat", SB_WIRE_WINDOWS)->name, "cmd");
    assert_int_equal(sb_language_named("python", SB_WIRE_WINDOWS)->os, SB_WIRE_WINDOWS);
}

static void endings_name_languages(void **state)
{
    (void)state;
    assert_string_equal(sb_language_of_ending(".py", SB_WIRE_LINUX)->name, "python");
    assert_string_equal(sb_language_of_ending(".MJS", SB_WIRE_LINUX)->name, "javascript");
    assert_string_equal(sb_language_of_ending(".bat", SB_WIRE_WINDOWS)->name, "cmd");
    assert_null(sb_language_of_ending("py", SB_WIRE_LINUX));
    assert_null(sb_language_of_ending("", SB_WIRE_LINUX));
}

static void a_slip_of_the_finger_finds_the_nearest_name(void **state)
{
    (void)state;
    assert_string_equal(sb_language_nearest("pyhton", SB_WIRE_LINUX), "python");
    assert_string_equal(sb_language_nearest("Pyton3", SB_WIRE_LINUX), "python3");
    assert_string_equal(sb_language_nearest("javascrip", SB_WIRE_LINUX), "javascript");
    assert_string_equal(sb_language_nearest("bas", SB_WIRE_LINUX), "bash");
    assert_string_equal(sb_language_nearest("nodejs ", SB_WIRE_LINUX), "nodejs");
}

static void nothing_near_is_nothing(void **state)
{
    char huge[4096];

    (void)state;
    memset(huge, 'p', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    assert_null(sb_language_nearest("cobol", SB_WIRE_LINUX));
    assert_null(sb_language_nearest("", SB_WIRE_LINUX));
    assert_null(sb_language_nearest("x", SB_WIRE_LINUX));
    assert_null(sb_language_nearest(huge, SB_WIRE_LINUX));
}

static void rows_are_complete_and_have_no_double_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sb_language_count; i++) {
        const struct sb_language *row = &sb_languages[i];
        bool has_file = false;

        assert_true(row->file && row->programs[0] && row->version_args[0] && row->install && row->sample);
        assert_ptr_equal(sb_language_named(row->name, row->os), row);
        for (size_t k = 0; row->aliases[k]; k++)
            assert_ptr_equal(sb_language_named(row->aliases[k], row->os), row);
        for (size_t k = 0; row->endings[k]; k++)
            assert_ptr_equal(sb_language_of_ending(row->endings[k], row->os), row);
        for (size_t k = 0; k < SB_COUNT(row->command) && row->command[k]; k++) {
            has_file = has_file || strcmp(row->command[k], "{file}") == 0;
            assert_true(strcmp(row->command[k], "{runner}") != 0 || (row->runner_file && row->runner_text));
        }
        assert_true(has_file);
    }
}

static void argv_is_the_interpreter_its_options_the_file_and_the_arguments(void **state)
{
    static const char *const args[] = {"--x", "a b", "", NULL};
    struct sb_argv argv = {0};

    (void)state;
    sb_language_argv(sb_language_named("python", SB_WIRE_LINUX), "/usr/bin/python3", args, &argv);
    assert_int_equal(argv.n, 6);
    assert_string_equal(argv.v[0], "/usr/bin/python3");
    assert_string_equal(argv.v[1], "-u");
    assert_string_equal(argv.v[2], "main.py");
    assert_string_equal(argv.v[3], "--x");
    assert_string_equal(argv.v[5], "");
    assert_null(argv.v[6]);
    sb_argv_done(&argv);
}

static void the_runner_is_named_where_the_host_puts_it(void **state)
{
    const struct sb_language *node = sb_language_named("node", SB_WIRE_LINUX);
    struct sb_argv argv = {0};
    char *path = sb_asprintf("/sandbox/%s/%s", SB_GUEST_RUNNER_DIR, node->runner_file);

    (void)state;
    sb_language_argv(node, "/usr/bin/node", NULL, &argv);
    assert_int_equal(argv.n, 4);
    assert_string_equal(argv.v[1], "--require");
    assert_string_equal(argv.v[2], path);
    assert_string_equal(argv.v[3], "main.js");
    sb_free(path);
    sb_argv_done(&argv);
}

static void a_linux_environment_is_the_documented_minimum(void **state)
{
    static const char *const names[] = {"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ", "USER", "LOGNAME"};
    struct sb_argv env = {0};

    (void)state;
    sb_language_env(sb_language_named("bash", SB_WIRE_LINUX), "/sandbox", NULL, NULL, &env);
    assert_int_equal(env.n, SB_COUNT(names));
    for (size_t i = 0; i < SB_COUNT(names); i++)
        assert_non_null(sb_env_get(&env, names[i]));
    assert_string_equal(sb_env_get(&env, "HOME"), "/sandbox");
    assert_string_equal(sb_env_get(&env, "LC_ALL"), "C.UTF-8");
    assert_string_equal(sb_env_get(&env, "PATH"), "/usr/local/bin:/usr/bin:/bin");
    sb_argv_done(&env);
}

static void a_row_adds_to_the_environment(void **state)
{
    struct sb_argv env = {0};

    (void)state;
    sb_language_env(sb_language_named("python", SB_WIRE_LINUX), "/sandbox", NULL, "/opt/bin", &env);
    assert_string_equal(sb_env_get(&env, "PYTHONDONTWRITEBYTECODE"), "1");
    assert_string_equal(sb_env_get(&env, "PATH"), "/opt/bin");
    assert_null(sb_env_get(&env, "PYTHONUTF8"));
    sb_argv_done(&env);
}

static void a_windows_environment_has_what_interpreters_die_without(void **state)
{
    struct sb_argv env = {0};

    (void)state;
    sb_language_env(sb_language_named("python", SB_WIRE_WINDOWS), "D:\\box", "C:\\WINNT", NULL, &env);
    assert_string_equal(sb_env_get(&env, "SystemRoot"), "C:\\WINNT");
    assert_string_equal(sb_env_get(&env, "windir"), "C:\\WINNT");
    assert_string_equal(sb_env_get(&env, "SystemDrive"), "C:");
    assert_string_equal(sb_env_get(&env, "TEMP"), "D:\\box\\.tmp");
    assert_string_equal(sb_env_get(&env, "USERPROFILE"), "D:\\box");
    assert_string_equal(sb_env_get(&env, "PATH"), "C:\\WINNT\\System32;C:\\WINNT");
    assert_string_equal(sb_env_get(&env, "PYTHONUTF8"), "1");
    assert_null(sb_env_get(&env, "HOME"));
    sb_argv_done(&env);
}

static void check_code(const char *name, enum sb_wire_os os, const char *code, const char *want)
{
    struct sb_buf out;

    sb_buf_init(&out, 1000);
    sb_language_code(sb_language_named(name, os), code, strlen(code), &out);
    assert_string_equal(out.data, want);
    assert_false(out.full);
    sb_buf_done(&out);
}

static void a_byte_order_mark_is_stripped_once(void **state)
{
    (void)state;
    check_code("python", SB_WIRE_LINUX, "\xEF\xBB\xBF#!x\nprint()", "#!x\nprint()");
    check_code("javascript", SB_WIRE_LINUX, "\xEF\xBB\xBF\xEF\xBB\xBFx", "\xEF\xBB\xBFx");
    check_code("bash", SB_WIRE_LINUX, "\xEF\xBB\xBF", "");
    check_code("bash", SB_WIRE_LINUX, "\xEF\xBB", "\xEF\xBB");
    check_code("bash", SB_WIRE_LINUX, "", "");
}

static void bash_gets_lf_when_every_line_ends_in_crlf(void **state)
{
    (void)state;
    check_code("bash", SB_WIRE_LINUX, "\xEF\xBB\xBF#!/bin/bash\r\necho a\r\necho b",
               "#!/bin/bash\necho a\necho b");
    check_code("bash", SB_WIRE_LINUX, "echo a\r\necho b\n", "echo a\r\necho b\n"); /* mixed: meant */
    check_code("bash", SB_WIRE_LINUX, "printf a\rb\r\n", "printf a\rb\n");
    check_code("bash", SB_WIRE_LINUX, "echo a\r", "echo a\r");
}

static void other_languages_keep_their_line_ends(void **state)
{
    (void)state;
    check_code("python", SB_WIRE_LINUX, "s = '''a\r\nb\r'''\r\n", "s = '''a\r\nb\r'''\r\n");
    check_code("javascript", SB_WIRE_LINUX, "x\r\n", "x\r\n");
}

static void cmd_gets_crlf_everywhere(void **state)
{
    (void)state;
    check_code("cmd", SB_WIRE_WINDOWS, "\n:a\r\ngoto a\n", "\r\n:a\r\ngoto a\r\n");
}

static void code_past_the_buffers_end_is_noticed(void **state)
{
    struct sb_buf out;

    (void)state;
    sb_buf_init(&out, 4);
    sb_language_code(sb_language_named("python", SB_WIRE_LINUX), "print(1)", 8, &out);
    assert_true(out.full);
    sb_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_aliases_are_found_in_any_case),
        cmocka_unit_test(a_language_is_known_only_where_its_box_has_it),
        cmocka_unit_test(endings_name_languages),
        cmocka_unit_test(a_slip_of_the_finger_finds_the_nearest_name),
        cmocka_unit_test(nothing_near_is_nothing),
        cmocka_unit_test(rows_are_complete_and_have_no_double_names),
        cmocka_unit_test(argv_is_the_interpreter_its_options_the_file_and_the_arguments),
        cmocka_unit_test(the_runner_is_named_where_the_host_puts_it),
        cmocka_unit_test(a_linux_environment_is_the_documented_minimum),
        cmocka_unit_test(a_row_adds_to_the_environment),
        cmocka_unit_test(a_windows_environment_has_what_interpreters_die_without),
        cmocka_unit_test(a_byte_order_mark_is_stripped_once),
        cmocka_unit_test(bash_gets_lf_when_every_line_ends_in_crlf),
        cmocka_unit_test(other_languages_keep_their_line_ends),
        cmocka_unit_test(cmd_gets_crlf_everywhere),
        cmocka_unit_test(code_past_the_buffers_end_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
