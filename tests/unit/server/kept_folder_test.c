/* SPDX-License-Identifier: MIT
 * Whose kept results are swept: those of hosts that are dead, and no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../sandbox/tempdir.h"
#include "base/alloc.h"
#include "server/kept_folder.h"

static bool has(const char *home, const char *name)
{
    char *path = sb_asprintf("%s/%s", home, name);
    bool there = tempdir_has(path);

    sb_free(path);
    return there;
}

static void put(const char *home, const char *name)
{
    char *path = sb_asprintf("%s/%s", home, name);

    tempdir_write(path, "", 0600);
    sb_free(path);
}

static void folder_lives_as_long_as_its_host(void **state)
{
    char *home = tempdir_new();
    struct sb_kept_folder *folder = NULL;
    struct sb_err err = {0};

    (void)state;
    assert_int_equal(sb_kept_folder_make(home, "one", &folder, &err), 0);
    assert_true(has(home, "kept-one"));
    assert_int_equal(sb_kept_folder_sweep(home, 10), 0); /* it is locked, by us */
    assert_true(has(home, "kept-one"));
    sb_kept_folder_remove(folder);
    assert_false(has(home, "kept-one"));
    assert_false(has(home, "kept-one.lock"));
    sb_kept_folder_remove(NULL);
    tempdir_free(home);
}

static void what_the_dead_left_is_swept_a_few_at_a_time(void **state)
{
    char *home = tempdir_new(), *dead = sb_asprintf("%s/kept-dead", home);
    struct sb_err err = {0};

    (void)state;
    assert_int_equal(sb_dir_make(dead, 0, &err), 0); /* its lock went first */
    put(dead, "0");
    put(home, "kept-unborn.lock"); /* killed before it made the folder */
    put(home, "probe.json");       /* none of ours */
    assert_int_equal(sb_kept_folder_sweep(home, 1), 1);
    assert_int_equal(sb_kept_folder_sweep(home, 10), 1);
    assert_int_equal(sb_kept_folder_sweep(home, 10), 0);
    assert_false(has(home, "kept-dead") || has(home, "kept-dead.lock") || has(home, "kept-unborn.lock"));
    assert_true(has(home, "probe.json"));
    sb_free(dead);
    tempdir_free(home);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(folder_lives_as_long_as_its_host),
                                       cmocka_unit_test(what_the_dead_left_is_swept_a_few_at_a_time)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
