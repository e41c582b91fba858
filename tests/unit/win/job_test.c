/* SPDX-License-Identifier: MIT */
#include "win_test.h"

#include "job.h"

static void the_plan_is_the_guest_in_its_folder_with_a_small_environment(void **state)
{
    static const char *const env[] = {
        "SystemRoot=D:\\Win",
        "windir=D:\\Win",
        "ComSpec=D:\\Win\\System32\\cmd.exe",
        "PATHEXT=.COM;.EXE;.BAT;.CMD",
        "TEMP=C:\\box\\.tmp",
        "TMP=C:\\box\\.tmp",
        NULL,
    };
    struct sb_backend_facts facts = {.system_root = "D:\\Win"};
    struct sb_plan_want want = {.facts = &facts, .guest = "C:\\g\\guest.exe", .workspace = "C:\\box"};
    struct sb_plan plan = {0};
    (void)state;

    sb_job.plan(&want, &plan);
    assert_string_equal(plan.program, "C:\\g\\guest.exe");
    assert_int_equal(plan.argv.n, 1);
    assert_string_equal(plan.argv.v[0], "C:\\g\\guest.exe");
    assert_string_equal(plan.cwd, "C:\\box");
    assert_int_equal(plan.handle_count, 0);
    for (size_t i = 0; env[i]; i++)
        assert_string_equal(plan.env.v[i], env[i]);
    assert_int_equal(plan.env.n, SB_COUNT(env) - 1);
    sb_free(plan.program);
    sb_free(plan.cwd);
    sb_argv_done(&plan.argv);
    sb_argv_done(&plan.env);
}

static void it_is_weak_and_always_found(void **state)
{
    struct sb_backend_facts facts;
    char mend[100] = "";
    (void)state;
    assert_true(sb_job.weak);
    assert_int_equal(sb_job.find(&facts, mend, sizeof mend, NULL), 0);
    assert_true(exists(facts.system_root));
    assert_string_equal(facts.program, "");
    assert_false(facts.own_pids);
    assert_ptr_equal(sb_backends[0], &sb_job);
    assert_null(sb_backends[1]);
}

static void a_guest_that_died_is_explained(void **state)
{
    static const struct {
        const char *errors;
        uint32_t code;
        const char *says;
    } rows[] = {
        {"", 0xC0000135, "a DLL of the guest is missing"},
        {"cannot open the workspace\r\nmore", 2, "0x00000002, cannot open the workspace"},
        {"", 0, "0x00000000"},
    };
    (void)state;
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        struct sb_err err = {0};
        char mend[200] = "";
        struct sb_proc_end end = {.code = rows[i].code};
        sb_job.explain(rows[i].errors, &end, mend, sizeof mend, &err);
        assert_int_equal(err.code, SB_HOST);
        assert_non_null(strstr(err.text, rows[i].says));
        assert_null(strstr(err.text, "more"));
        assert_true(mend[0] != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plan_is_the_guest_in_its_folder_with_a_small_environment),
        cmocka_unit_test(it_is_weak_and_always_found),
        cmocka_unit_test(a_guest_that_died_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
