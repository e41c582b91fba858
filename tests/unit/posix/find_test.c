/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "platform/find.h"

static int find(const char *name, struct sb_buf *path, struct sb_err *err)
{
    sb_buf_init(path, 4096);
    return sb_find_program(name, path, err);
}

static void a_program_of_the_system_is_found(void **state)
{
    struct sb_buf path;
    (void)state;
    assert_int_equal(find("sh", &path, NULL), 0);
    assert_int_equal(path.data[0], '/');
    assert_string_equal(path.data + path.len - 3, "/sh");
    assert_int_equal(access(path.data, X_OK), 0);
    sb_buf_done(&path);
}

static void assert_not_found(const char *name)
{
    struct sb_buf path;
    struct sb_err err = {0};
    assert_int_equal(find(name, &path, &err), -1);
    assert_int_equal(err.code, SB_NOT_FOUND);
    assert_int_equal(path.len, 0);
    sb_buf_done(&path);
}

static void path_is_never_looked_at(void **state)
{
    char folder[] = "/tmp/sb-find-XXXXXX", tool[64];
    (void)state;
    assert_non_null(mkdtemp(folder));
    strcpy(stpcpy(tool, folder), "/sb-no-such-tool");
    assert_int_equal(symlink("/bin/sh", tool), 0);
    assert_int_equal(access(tool, X_OK), 0);
    assert_int_equal(setenv("PATH", folder, 1), 0);
    assert_not_found("sb-no-such-tool");
    unlink(tool);
    rmdir(folder);
}

static void a_name_with_a_slash_and_a_folder_are_no_programs(void **state)
{
    (void)state;
    assert_not_found("../bin/sh");
    assert_not_found(".");
    assert_not_found("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_of_the_system_is_found),
        cmocka_unit_test(path_is_never_looked_at),
        cmocka_unit_test(a_name_with_a_slash_and_a_folder_are_no_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
