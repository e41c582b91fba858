/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../posix/uids.h"

static uint32_t pool[SB_UIDS_COUNT];

static bool has(size_t n, uint32_t uid)
{
    for (size_t i = 0; i < n; i++) {
        if (pool[i] == uid)
            return true;
    }
    return false;
}

static void plain_system_gives_the_whole_default_range(void **state)
{
    struct sb_uid_files files = {
        .passwd = "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534::/:/bin/false\n",
        .subuid = "me:100000:65536\n",
        .uid_map = "         0          0 4294967295\n",
        .gid_map = "         0          0 4294967295\n",
    };
    size_t n = sb_uid_pool(&files, pool);

    (void)state;
    assert_int_equal(n, SB_UIDS_COUNT);
    for (size_t i = 0; i < n; i++)
        assert_in_range(pool[i], SB_UIDS_FIRST, SB_UIDS_FIRST + SB_UIDS_COUNT - 1);
    files = (struct sb_uid_files){0};
    assert_int_equal(sb_uid_pool(&files, pool), SB_UIDS_COUNT);
}

static void users_groups_and_subordinate_ranges_are_left_out(void **state)
{
    struct sb_uid_files files = {
        .passwd = "a:x:1900000000:1::/:/bin/sh\nbroken line\n\nb:x:1900004095:1::/:/bin/sh",
        .group = "g:x:1900000007:\n",
        .subuid = "me:1900000100:1000\nother:1900000200:10\nempty:1900000005:0\n",
        .subgid = "me:1900003000:5\n",
    };
    size_t n = sb_uid_pool(&files, pool);

    (void)state;
    assert_int_equal(n, SB_UIDS_COUNT - 3 - 1000 - 5);
    assert_false(has(n, 1900000000));
    assert_false(has(n, 1900004095));
    assert_false(has(n, 1900000007));
    assert_false(has(n, 1900000100));
    assert_false(has(n, 1900001099));
    assert_false(has(n, 1900003004));
    assert_true(has(n, 1900000005));
    assert_true(has(n, 1900000099));
    assert_true(has(n, 1900001100));
    assert_true(has(n, 1900003005));
}

static void container_that_maps_few_gives_its_highest(void **state)
{
    struct sb_uid_files files = {
        .passwd = "nobody:x:65534:65534::/:/bin/false\nme:x:61000:61000::/:/bin/sh\n",
        .uid_map = "         0     100000      65536\n",
        .gid_map = "         0     100000      65530\n",
    };
    size_t n = sb_uid_pool(&files, pool);

    (void)state;
    assert_int_equal(n, SB_UIDS_COUNT);
    assert_int_equal(pool[0], 65529); /* the groups end there */
    assert_true(has(n, 65520));
    assert_false(has(n, 65519)); /* systemd's */
    assert_false(has(n, 61184));
    assert_true(has(n, 61183));
    assert_false(has(n, 61000));
    assert_int_equal(pool[n - 1], 61183 - (SB_UIDS_COUNT - 10)); /* one of them is me */
}

static void rootless_container_with_three_pieces(void **state)
{
    struct sb_uid_files files = {
        .uid_map = "0 1000 1\n1 100000 2000\n5000 500000 10\n",
        .gid_map = "0 1000 1\n1 100000 9000\n",
    };
    size_t n = sb_uid_pool(&files, pool);

    (void)state;
    assert_int_equal(n, 10 + 1001);
    assert_int_equal(pool[0], 5009);
    assert_int_equal(pool[9], 5000);
    assert_int_equal(pool[10], 2000);
    assert_int_equal(pool[n - 1], 1000); /* below are the system's */
}

static void nothing_mapped_or_nothing_free_gives_none(void **state)
{
    struct sb_uid_files one = {.uid_map = "0 1000 1\n", .gid_map = "0 1000 1\n"};
    struct sb_uid_files full = {.subuid = "me:1:4294967295\n"};

    (void)state;
    assert_int_equal(sb_uid_pool(&one, pool), 0);
    assert_int_equal(sb_uid_pool(&full, pool), 0);
}

static void absurd_numbers_do_no_harm(void **state)
{
    struct sb_uid_files files = {
        .passwd = "a:x:99999999999999999999:1::\nb:x:-1:1\nc:x\nd",
        .subuid = "a:99999999999999999999:99999999999999999999\nb:4294967295:4294967295\nc:x:y\nd:5",
        .uid_map = "0 0 4294967295\nx y z\n4294967290 0 4294967295\n",
    };

    (void)state;
    assert_int_equal(sb_uid_pool(&files, pool), SB_UIDS_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_system_gives_the_whole_default_range),
        cmocka_unit_test(users_groups_and_subordinate_ranges_are_left_out),
        cmocka_unit_test(container_that_maps_few_gives_its_highest),
        cmocka_unit_test(rootless_container_with_three_pieces),
        cmocka_unit_test(nothing_mapped_or_nothing_free_gives_none),
        cmocka_unit_test(absurd_numbers_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
