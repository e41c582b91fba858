/* SPDX-License-Identifier: MIT
 * The probe against backends that go wrong: each is /bin/sh with a script where bwrap
 * would be. That it measures the true one is the black box's story. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "platform/stop.h"
#include "sandbox/backends/bubblewrap.h"
#include "sandbox/probe.h"
#include "unit/sandbox/tempdir.h"

struct scene {
    uv_loop_t loop;
    char *dir;
    struct sb_instance *instance;
    int times;
    struct sb_probe_result result;
};

static const char *program, *script; /* of the fake */
static bool found;
static int plans, plans_by_data;

static int fake_find(struct sb_backend_facts *facts, char *mend, size_t mend_cap, struct sb_err *err)
{
    if (!found) {
        snprintf(mend, mend_cap, "buy one");
        return sb_fail(err, SB_NOT_FOUND, "no fake here");
    }
    *facts = (struct sb_backend_facts){.own_pids = false};
    snprintf(facts->program, sizeof facts->program, "%s", program);
    return 0;
}

static void fake_plan(const struct sb_plan_want *want, struct sb_plan *out)
{
    plans++;
    plans_by_data += want->facts->guest_by_data;
    out->program = sb_strdup("/bin/sh");
    sb_argv_push(&out->argv, "sh");
    sb_argv_push(&out->argv, "-c");
    sb_argv_push(&out->argv, script);
    sb_env_set(&out->env, "PATH", "/usr/bin:/bin");
    out->cwd = sb_strdup("/");
}

static struct sb_target fake_target(void)
{
    return (struct sb_target){.os = SB_WIRE_LINUX, .arch = sb_target_own_arch(), .workspace = "/sandbox"};
}

static const struct sb_backend asks = {.name = "fake",
                                       .target = fake_target,
                                       .find = fake_find,
                                       .version_arg = "--version",
                                       .check_version = sb_bubblewrap_version,
                                       .plan = fake_plan,
                                       .inner_pid = sb_bubblewrap_inner_pid,
                                       .explain = sb_bubblewrap_explain};
static const struct sb_backend opens = {.name = "fake",
                                        .target = fake_target,
                                        .find = fake_find,
                                        .plan = fake_plan,
                                        .inner_pid = sb_bubblewrap_inner_pid,
                                        .explain = sb_bubblewrap_explain};

static int setup(void **state)
{
    struct scene *scene = sb_alloc(sizeof *scene);
    struct sb_err err = {0};

    uv_loop_init(&scene->loop);
    scene->dir = tempdir_new();
    if (sb_instance_open_in(scene->dir, &scene->instance, &err) < 0)
        fail_msg("%s", err.text);
    found = true;
    program = "/bin/sh";
    script = "exit 0";
    plans = plans_by_data = 0;
    *state = scene;
    return 0;
}

static int teardown(void **state)
{
    struct scene *scene = *state;

    sb_instance_close(scene->instance);
    assert_int_equal(uv_loop_close(&scene->loop), 0); /* no handle was left */
    tempdir_free(scene->dir);
    sb_free(scene);
    return 0;
}

static void on_done(void *ctx, const struct sb_probe_result *result)
{
    struct scene *scene = ctx;

    scene->times++;
    scene->result = *result;
}

static void probe(struct scene *scene, const struct sb_backend *backend)
{
    const struct sb_probe_want want = {
        .backend = backend, .instance = scene->instance, .guest = "/bin/true", .fresh = true};

    sb_probe_start(&scene->loop, &want, on_done, scene);
    assert_int_equal(scene->times, 0);
    uv_run(&scene->loop, UV_RUN_DEFAULT);
    assert_int_equal(scene->times, 1);
    assert_ptr_equal(scene->result.backend, backend);
    assert_false(scene->result.usable);
    assert_false(scene->result.cached);
    assert_true(scene->result.why.code != SB_OK);
}

static void expect_in(const char *part, const char *text)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in '%s'", part, text);
}

static void what_is_not_found_says_how_to_get_it(void **state)
{
    struct scene *scene = *state;

    found = false;
    probe(scene, &asks);
    assert_string_equal(scene->result.why.text, "no fake here");
    assert_string_equal(scene->result.mend, "buy one");
}

static void a_program_that_does_nothing_is_no_bubblewrap(void **state)
{
    struct scene *scene = *state;

    program = "/bin/true";
    probe(scene, &asks);
    expect_in("does not say which bubblewrap it is", scene->result.why.text);
    expect_in("apt-get install --reinstall bubblewrap, after: rm /bin/true", scene->result.mend);
    assert_int_equal(plans, 0);
}

static void a_program_that_prints_something_else_is_no_bubblewrap(void **state)
{
    struct scene *scene = *state;

    program = "/bin/cat";
    probe(scene, &asks);
    expect_in("does not say which bubblewrap it is", scene->result.why.text);
    assert_int_equal(plans, 0);
}

static void a_program_that_fails_its_version_is_named(void **state)
{
    struct scene *scene = *state;

    program = "/bin/false";
    probe(scene, &asks);
    expect_in("'/bin/false --version' ended with exit 1", scene->result.why.text);
    expect_in("by hand what '/bin/false --version' says", scene->result.mend);
    assert_int_equal(plans, 0);
}

static void a_wrapper_that_dies_is_explained(void **state)
{
    struct scene *scene = *state;

    script = "echo 'bwrap: Creating new namespace failed: nesting depth or so' >&2; exit 1";
    probe(scene, &opens);
    expect_in("no more user namespaces", scene->result.why.text);
    expect_in("max_user_namespaces", scene->result.mend);
    assert_int_equal(plans, 1);
}

static void a_wrapper_that_opens_no_box_says_so(void **state)
{
    struct scene *scene = *state;

    script = "exit 0";
    probe(scene, &opens);
    expect_in("without a word", scene->result.why.text);
    assert_int_equal(plans, 1);
}

static void a_guest_that_cant_be_executed_is_tried_once_as_a_file(void **state)
{
    struct scene *scene = *state;

    script = "echo 'bwrap: execvp /proc/self/fd/3: Permission denied' >&2; exit 1";
    probe(scene, &opens);
    expect_in("guest can't be executed", scene->result.why.text);
    assert_int_equal(plans, 2);
    assert_int_equal(plans_by_data, 1);
}

static void a_box_that_talks_garbage_is_broken(void **state)
{
    struct scene *scene = *state;

    script = "echo 'Hello, I am not a guest at all, but I have a lot to say'; exec sleep 60";
    probe(scene, &opens);
    assert_int_equal(scene->result.why.code, SB_DENIED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_not_found_says_how_to_get_it, setup, teardown),
        cmocka_unit_test_setup_teardown(a_program_that_does_nothing_is_no_bubblewrap, setup, teardown),
        cmocka_unit_test_setup_teardown(a_program_that_prints_something_else_is_no_bubblewrap, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_program_that_fails_its_version_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(a_wrapper_that_dies_is_explained, setup, teardown),
        cmocka_unit_test_setup_teardown(a_wrapper_that_opens_no_box_says_so, setup, teardown),
        cmocka_unit_test_setup_teardown(a_guest_that_cant_be_executed_is_tried_once_as_a_file, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_box_that_talks_garbage_is_broken, setup, teardown),
    };
    sb_stop_prepare(); /* as main does: a write to a dead box is an error, not a signal */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
