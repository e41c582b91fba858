/* SPDX-License-Identifier: MIT
 * What a run may be asked for: every cap, path and name, on both systems' rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "sandbox/run_want.h"

static struct sb_run_want want_on(enum sb_wire_os os)
{
    return (struct sb_run_want){.language = sb_language_named("python", os), .code = ""};
}

static void passes(const struct sb_run_want *want)
{
    struct sb_err err = {0};

    if (sb_run_check(want, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(err.code, SB_OK);
}

static void refuses(const struct sb_run_want *want, enum sb_code code, const char *why)
{
    struct sb_err err = {0};

    assert_int_equal(sb_run_check(want, &err), -1);
    assert_string_equal(err.text, why);
    assert_int_equal(err.code, code);
}

static void refuses_files(enum sb_wire_os os, char *a, char *b, enum sb_code code, const char *why)
{
    const struct sb_run_file files[] = {{a, NULL, 0}, {b, NULL, 0}};
    struct sb_run_want want = want_on(os);

    want.files = files;
    want.file_count = b != NULL ? 2 : 1;
    refuses(&want, code, why);
}

static void a_plain_want_passes(void **state)
{
    static const struct sb_run_file files[] = {
        {"a", NULL, 0}, {"b/a", "x", 1}, {"b/ab", "x", 1}, {"A", "x", 1}, {"main.pyc", "", 0}, {".tmpl", "", 0}};
    static const char *const texts[] = {"A=", "B==", "a=1", NULL};
    struct sb_run_want want = want_on(SB_WIRE_LINUX);

    (void)state;
    passes(&want);
    want.files = files;
    want.file_count = SB_COUNT(files);
    want.env = texts;
    want.args = texts;
    passes(&want);
}

static void bad_paths_are_refused(void **state)
{
    struct sb_err err = {0};
    const struct sb_run_file up = {"a/../../x", NULL, 0}, device = {"com1.txt", NULL, 0};
    struct sb_run_want want = want_on(SB_WIRE_LINUX);

    (void)state;
    want.files = &up;
    want.file_count = 1;
    assert_int_equal(sb_run_check(&want, &err), -1);
    assert_non_null(strstr(err.text, "a/../../x"));
    want.files = &device;
    passes(&want);
    want = want_on(SB_WIRE_WINDOWS);
    want.files = &device;
    want.file_count = 1;
    assert_int_equal(sb_run_check(&want, &err), -1);
    assert_non_null(strstr(err.text, "com1.txt"));
}

static void one_path_is_one_file(void **state)
{
    (void)state;
    refuses_files(SB_WIRE_LINUX, "x/y", "./x//y", SB_BAD_REQUEST, "'x/y' is there twice");
    refuses_files(SB_WIRE_LINUX, "x", "/sandbox/x/y", SB_BAD_REQUEST, "'x' can't be a file and a folder");
    refuses_files(SB_WIRE_LINUX, "x/y/z", "x", SB_BAD_REQUEST, "'x' can't be a file and a folder");
    refuses_files(SB_WIRE_WINDOWS, "x/y", "X/Y", SB_BAD_REQUEST, "'X/Y' is there twice");
    refuses_files(SB_WIRE_WINDOWS, "x/y", "X", SB_BAD_REQUEST, "'X' can't be a file and a folder");
}

static void the_code_keeps_its_file(void **state)
{
    (void)state;
    refuses_files(SB_WIRE_LINUX, "./main.py", NULL, SB_BAD_REQUEST, "'main.py' is the file of the code");
    refuses_files(SB_WIRE_LINUX, "main.py/x", NULL, SB_BAD_REQUEST, "'main.py' can't be a file and a folder");
    refuses_files(SB_WIRE_WINDOWS, "Main.PY", NULL, SB_BAD_REQUEST, "'Main.PY' is the file of the code");
}

static void the_runner_and_temporary_files_are_not_a_clients(void **state)
{
    (void)state;
    refuses_files(SB_WIRE_LINUX, ".tmp/.llm-sandbox/x.js", NULL, SB_DENIED,
                  "'.tmp/.llm-sandbox/x.js' is in the folder for temporary files");
    refuses_files(SB_WIRE_LINUX, "a", ".tmp", SB_DENIED, "'.tmp' is in the folder for temporary files");
    refuses_files(SB_WIRE_WINDOWS, ".TMP/x", NULL, SB_DENIED, "'.TMP/x' is in the folder for temporary files");
}

static void the_caps_of_files_are_hit(void **state)
{
    struct sb_run_file files[SB_RUN_FILES_MAX + 1];
    char names[SB_RUN_FILES_MAX + 1][8], byte = 0;
    struct sb_run_want want = want_on(SB_WIRE_LINUX);

    (void)state;
    for (int i = 0; i <= SB_RUN_FILES_MAX; i++) {
        snprintf(names[i], sizeof names[i], "f%d", i);
        files[i] = (struct sb_run_file){names[i], NULL, 0};
    }
    want.files = files;
    want.file_count = SB_RUN_FILES_MAX;
    passes(&want);
    want.file_count++;
    refuses(&want, SB_LIMIT, "65 files are given; at most 64 are allowed");
    want.file_count = 3;
    files[0] = (struct sb_run_file){names[0], &byte, 1}; /* only lengths are looked at */
    files[1] = (struct sb_run_file){names[1], &byte, SB_RUN_FILES_BYTES - 1};
    passes(&want);
    files[2] = (struct sb_run_file){names[2], &byte, 1};
    refuses(&want, SB_LIMIT, "the files have more than 8 MiB together");
    files[2].len = SIZE_MAX;
    refuses(&want, SB_LIMIT, "the files have more than 8 MiB together");
}

static void the_cap_of_the_code_is_hit(void **state)
{
    struct sb_run_want want = want_on(SB_WIRE_LINUX);

    (void)state;
    want.code_len = SB_RUN_CODE_MAX;
    passes(&want);
    want.code_len++;
    refuses(&want, SB_LIMIT, "the code has 4194305 bytes; at most 4194304 are allowed");
}

static void variables_have_a_name_of_their_own(void **state)
{
    static const char *const nameless[] = {"A=1", "=x", NULL}, *const bare[] = {"A", NULL},
                                   *const doubled[] = {"A=1", "AB=2", "A=3", NULL},
                                   *const cases[] = {"Path=1", "PATH=2", NULL};
    struct sb_run_want want = want_on(SB_WIRE_LINUX);

    (void)state;
    want.env = nameless;
    refuses(&want, SB_BAD_REQUEST, "the environment has '=x', which is not NAME=value");
    want.env = bare;
    refuses(&want, SB_BAD_REQUEST, "the environment has 'A', which is not NAME=value");
    want.env = doubled;
    refuses(&want, SB_BAD_REQUEST, "the environment variable 'A' is there twice");
    want.env = cases;
    passes(&want);
    want = want_on(SB_WIRE_WINDOWS);
    want.env = cases;
    refuses(&want, SB_BAD_REQUEST, "the environment variable 'PATH' is there twice");
}

static void the_caps_of_the_environment_are_hit(void **state)
{
    const char *env[SB_RUN_ENV_MAX + 2] = {0};
    char names[SB_RUN_ENV_MAX + 1][8], *large = sb_alloc(SB_RUN_ENV_BYTES + 2);
    struct sb_run_want want = want_on(SB_WIRE_LINUX);

    (void)state;
    for (int i = 0; i < SB_RUN_ENV_MAX; i++) {
        snprintf(names[i], sizeof names[i], "v%d=", i);
        env[i] = names[i];
    }
    want.env = env;
    passes(&want);
    env[SB_RUN_ENV_MAX] = "x=";
    refuses(&want, SB_LIMIT, "more than 256 environment variables are given");
    memset(large, 'a', SB_RUN_ENV_BYTES);
    large[1] = '=';
    env[0] = large;
    env[1] = NULL;
    passes(&want);
    env[1] = "b=";
    env[2] = NULL;
    refuses(&want, SB_LIMIT, "the environment has more than 64 KiB");
    sb_free(large);
}

static void the_caps_of_arguments_are_hit(void **state)
{
    static const char *args[SB_RUN_ARGS_MAX + 2];
    char *large = sb_alloc(SB_WIRE_STRING_MAX + 2);
    struct sb_run_want want = want_on(SB_WIRE_LINUX);

    (void)state;
    for (int i = 0; i < SB_RUN_ARGS_MAX; i++)
        args[i] = "";
    want.args = args;
    passes(&want);
    args[SB_RUN_ARGS_MAX] = "";
    refuses(&want, SB_LIMIT, "more than 4000 arguments are given");
    memset(large, 'a', SB_WIRE_STRING_MAX);
    for (int i = 0; i < 8; i++)
        args[i] = large;
    args[8] = NULL;
    passes(&want);
    args[8] = "12345678";
    args[9] = NULL;
    passes(&want); /* 1 MiB to the byte */
    args[9] = "1";
    args[10] = NULL;
    refuses(&want, SB_LIMIT, "the arguments have more than 1024 KiB");
    large[SB_WIRE_STRING_MAX] = 'a';
    args[1] = NULL;
    refuses(&want, SB_LIMIT, "argument 1 has 131072 bytes; at most 131071 are allowed");
    sb_free(large);
}

static void a_windows_variable_keeps_its_spelling(void **state)
{
    static const char *const env[] = {"path=C:\\mine", "New=1", NULL};
    static const struct sb_backend_facts facts;
    struct sb_run_want want = want_on(SB_WIRE_WINDOWS);
    struct sb_argv out = {0};

    (void)state;
    want.env = env;
    want.box.facts = &facts;
    sb_run_want_env(&want, "C:\\box", &out);
    assert_string_equal(sb_env_get(&out, "PATH"), "C:\\mine");
    assert_null(sb_env_get(&out, "path"));
    assert_string_equal(sb_env_get(&out, "New"), "1");
    sb_argv_done(&out);
    want = want_on(SB_WIRE_LINUX);
    want.env = env;
    want.box.facts = &facts;
    sb_run_want_env(&want, "/sandbox", &out);
    assert_string_equal(sb_env_get(&out, "path"), "C:\\mine");
    assert_string_not_equal(sb_env_get(&out, "PATH"), "C:\\mine");
    sb_argv_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_want_passes),
        cmocka_unit_test(bad_paths_are_refused),
        cmocka_unit_test(one_path_is_one_file),
        cmocka_unit_test(the_code_keeps_its_file),
        cmocka_unit_test(the_runner_and_temporary_files_are_not_a_clients),
        cmocka_unit_test(the_caps_of_files_are_hit),
        cmocka_unit_test(the_cap_of_the_code_is_hit),
        cmocka_unit_test(variables_have_a_name_of_their_own),
        cmocka_unit_test(the_caps_of_the_environment_are_hit),
        cmocka_unit_test(the_caps_of_arguments_are_hit),
        cmocka_unit_test(a_windows_variable_keeps_its_spelling),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
