/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/buf.h"
#include "platform/hostpath.h"
#include "sandbox/guest_image.h"
#include "sandbox/toolbox.h"
#include "unit/sandbox/tempdir.h"

static int setup(void **state)
{
    *state = tempdir_new();
    return 0;
}

static int teardown(void **state)
{
    tempdir_free(*state);
    return 0;
}

static bool on_windows(void)
{
    return sb_host_rules() == SB_PATH_WINDOWS;
}

static void a_language_nobody_has_is_not_found(void **state)
{
    const struct sb_language row = {.name = "nonesuch",
                                    .os = on_windows() ? SB_WIRE_WINDOWS : SB_WIRE_LINUX,
                                    .programs = {"sb-no-such-program"}};
    struct sb_buf path;
    struct sb_err err = {0};

    (void)state;
    sb_buf_init(&path, 4096);
    assert_int_equal(sb_toolbox_find(&row, &path, &err), -1);
    assert_int_equal(err.code, SB_NOT_FOUND);
    assert_non_null(strstr(err.text, "nonesuch is not installed: no sb-no-such-program in "));
    assert_int_equal(path.len, 0);
    sb_buf_done(&path);
}

static void the_second_name_is_tried_too(void **state)
{
    const struct sb_language row = {.name = "x", .os = SB_WIRE_LINUX, .programs = {"sb-no-such", "bash"}};
    struct sb_buf path;
    struct sb_err err = {0};

    (void)state;
    if (on_windows())
        return; /* Linux boxes are then not this host's */
    sb_buf_init(&path, 4096);
    if (sb_toolbox_find(&row, &path, &err) < 0)
        fail_msg("%s", err.text);
    assert_non_null(strstr(path.data, "bin/bash"));
    assert_int_equal(path.data[0], '/');
    sb_buf_done(&path);
}

static void programs_only_path_has_are_named(void **state)
{
    const char *dir = *state;
    const struct sb_language row = {.name = "x",
                                    .os = on_windows() ? SB_WIRE_WINDOWS : SB_WIRE_LINUX,
                                    .programs = {"sb-odd-program.exe"}};
    char *program = sb_asprintf("%s%csb-odd-program.exe", dir, on_windows() ? '\\' : '/'), old[8192];
    char *path =
        sb_asprintf("%s%c%s%c/nowhere", dir, on_windows() ? ';' : ':', dir, on_windows() ? ';' : ':');
    size_t len = sizeof old;
    struct sb_buf out;

    tempdir_write(program, "#!/bin/sh\n", 0755);
    sb_buf_init(&out, 4096);
    assert_int_equal(uv_os_getenv("PATH", old, &len), 0);
    assert_int_equal(uv_os_setenv("PATH", path), 0);
    sb_toolbox_passed_over(&row, &out);
    assert_int_equal(uv_os_setenv("PATH", old), 0);
    if (on_windows()) /* every folder of PATH is looked at there */
        assert_string_equal(out.data, "");
    else
        assert_string_equal(out.data, program);
    sb_buf_done(&out);
    sb_free(path);
    sb_free(program);
}

static void the_guest_is_found_beside_the_program_or_in_libexec(void **state)
{
    const char *ending = on_windows() ? ".exe" : "", *dir = *state;
    char slash = on_windows() ? '\\' : '/';
    char *bin = sb_asprintf("%s%cbin", dir, slash),
         *program = sb_asprintf("%s%cllm-sandbox%s", bin, slash, ending);
    char *libexec = sb_asprintf("%s%clibexec", dir, slash),
         *distant = sb_asprintf("%s%cllm-sandbox", libexec, slash);
    char *far_guest = sb_asprintf("%s%cllm-sandbox-guest%s", distant, slash, ending);
    char *near_guest = sb_asprintf("%s%cllm-sandbox-guest%s", bin, slash, ending);
    struct sb_buf out;
    struct sb_err err = {0};

    sb_buf_init(&out, 4096);
    tempdir_mkdir(bin);
    tempdir_mkdir(libexec);
    tempdir_mkdir(distant);
    assert_int_equal(sb_guest_find_beside(program, &out, &err), -1);
    assert_int_equal(err.code, SB_NOT_FOUND);
    assert_non_null(strstr(err.text, near_guest));
    tempdir_write(far_guest, "x", 0755);
    assert_int_equal(sb_guest_find_beside(program, &out, &err), 0);
    assert_true(tempdir_has(out.data));
    assert_non_null(strstr(out.data, "libexec"));
    tempdir_write(near_guest, "x", 0755);
    assert_int_equal(sb_guest_find_beside(program, &out, &err), 0);
    assert_string_equal(out.data, near_guest);
    sb_buf_done(&out);
    sb_free(near_guest);
    sb_free(far_guest);
    sb_free(distant);
    sb_free(libexec);
    sb_free(program);
    sb_free(bin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_language_nobody_has_is_not_found),
        cmocka_unit_test(the_second_name_is_tried_too),
        cmocka_unit_test_setup_teardown(programs_only_path_has_are_named, setup, teardown),
        cmocka_unit_test_setup_teardown(the_guest_is_found_beside_the_program_or_in_libexec, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
