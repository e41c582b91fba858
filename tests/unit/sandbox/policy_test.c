/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "sandbox/policy.h"

/* The documented table, said a second time: a slip in policy.c must not pass. */
static const struct {
    const char *name;
    int64_t standard, lowest, highest;
    enum sb_promise promise; /* SB_PROMISE_COUNT: none */
} TABLE[SB_ROW_COUNT] = {
    [SB_ROW_TIMEOUT_MS] = {"timeout", 30000, 100, 3600000, SB_PROMISE_COUNT},
    [SB_ROW_MEMORY_MB] = {"memory_mb", 512, 16, 4096, SB_PROMISE_MEMORY},
    [SB_ROW_PROCESSES] = {"processes", 128, 1, 1024, SB_PROMISE_PROCESSES},
    [SB_ROW_WORKSPACE_MB] = {"workspace_mb", 256, 1, 4096, SB_PROMISE_DISK},
    [SB_ROW_SHM_MB] = {"shm_mb", 64, 1, 4096, SB_PROMISE_DISK},
    [SB_ROW_OPEN_FILES] = {"open_files", 1024, 16, 4096, SB_PROMISE_COUNT},
    [SB_ROW_OUTPUT_KEPT] = {"output_kept", 8388608, 1024, 67108864, SB_PROMISE_COUNT},
    [SB_ROW_OUTPUT_PRODUCED] = {"output_produced", 1073741824, 1024, 68719476736, SB_PROMISE_COUNT},
};

static bool is_wall(int promise)
{
    return promise <= SB_PROMISE_KILL;
}

static struct sb_promises all(enum sb_strength strength)
{
    struct sb_promises promises = {0};

    for (int i = 0; i < SB_PROMISE_COUNT; i++) {
        promises.of[i] = strength;
        if (strength != SB_KERNEL)
            snprintf(promises.why[i], sizeof promises.why[i], "reason %d.", i);
    }
    return promises;
}

static void weaken(struct sb_promises *promises, int promise, enum sb_strength strength)
{
    promises->of[promise] = strength;
    snprintf(promises->why[promise], sizeof promises->why[promise], "reason %d.", promise);
}

static void nothing_set_gets_the_defaults(void **state)
{
    struct sb_ask ask = {0};
    struct sb_promises promises = all(SB_KERNEL);
    struct sb_grant grant;

    (void)state;
    assert_int_equal(sb_policy_grant(&ask, &promises, "b", &grant, NULL), 0);
    for (int row = 0; row < SB_ROW_COUNT; row++) {
        assert_string_equal(sb_limit_row_name((enum sb_limit_row)row), TABLE[row].name);
        assert_true(grant.value[row] == TABLE[row].standard);
    }
    assert_false(grant.network);
    assert_false(grant.weak);
}

static void each_limit_is_granted_to_its_ends_and_not_beyond(void **state)
{
    struct sb_promises promises = all(SB_KERNEL);

    (void)state;
    for (int row = 0; row < SB_ROW_COUNT; row++) {
        const struct {
            int64_t value;
            bool good;
        } cases[] = {
            {TABLE[row].lowest - 1, false},
            {TABLE[row].lowest, true},
            {TABLE[row].highest, true},
            {TABLE[row].highest + 1, false},
            {0, false},
            {-1, false},
            {INT64_MAX, false},
            {INT64_MIN, false},
        };

        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            struct sb_ask ask = {0};
            struct sb_grant grant = {0};
            struct sb_err err = {0};
            char text[64];
            int rc;

            ask.set[row] = true;
            ask.value[row] = cases[i].value;
            grant.value[row] = -7;
            rc = sb_policy_grant(&ask, &promises, "b", &grant, &err);
            assert_int_equal(rc, cases[i].good ? 0 : -1);
            assert_true(grant.value[row] == (cases[i].good ? cases[i].value : -7));
            if (cases[i].good)
                continue;
            assert_int_equal(err.code, SB_BAD_REQUEST);
            assert_non_null(strstr(err.text, TABLE[row].name));
            snprintf(text, sizeof text, " %lld ", (long long)cases[i].value);
            assert_non_null(strstr(err.text, text));
            snprintf(text, sizeof text, "%lld to %lld ", (long long)TABLE[row].lowest,
                     (long long)TABLE[row].highest);
            assert_non_null(strstr(err.text, text));
        }
    }
}

static void a_large_machine_allows_a_quarter_of_its_memory(void **state)
{
    struct sb_ask ask = {.set[SB_ROW_MEMORY_MB] = true, .value[SB_ROW_MEMORY_MB] = 8192, .ram_mb = 32768};
    struct sb_promises promises = all(SB_KERNEL);
    struct sb_grant grant;

    (void)state;
    assert_int_equal(sb_policy_grant(&ask, &promises, "b", &grant, NULL), 0);
    ask.value[SB_ROW_MEMORY_MB]++;
    assert_int_equal(sb_policy_grant(&ask, &promises, "b", &grant, NULL), -1);
    ask.ram_mb = 1024; /* a small one still allows 4096 */
    ask.value[SB_ROW_MEMORY_MB] = 4096;
    assert_int_equal(sb_policy_grant(&ask, &promises, "b", &grant, NULL), 0);
}

/* Every promise at every strength, every limit set or not, strict or not, weak or not. */
static void expect_cell(int promise, int strength, int row, bool set, bool strict, bool weak)
{
    struct sb_ask ask = {.strict = strict, .allow_weak = weak};
    struct sb_promises promises = all(SB_KERNEL);
    struct sb_grant grant = {0};
    struct sb_err err = {0};
    bool stands_behind = (int)TABLE[row].promise == promise;
    bool kept = strength == SB_KERNEL || (strength == SB_WATCHED && !strict && !is_wall(promise));
    bool refused = !kept && promise != SB_PROMISE_CPU_SHARE &&
                   (is_wall(promise) ? !weak : strict || (set && stands_behind));

    weaken(&promises, promise, (enum sb_strength)strength);
    ask.set[row] = set;
    ask.value[row] = TABLE[row].highest;
    assert_int_equal(sb_policy_grant(&ask, &promises, "thing", &grant, &err), refused ? -1 : 0);
    if (refused) {
        assert_int_equal(err.code, SB_UNSUPPORTED);
        assert_non_null(strstr(err.text, "thing"));
        assert_non_null(strstr(err.text, sb_promise_name((enum sb_promise)promise)));
        assert_true(strength == SB_KERNEL || strstr(err.text, promises.why[promise]));
        return;
    }
    assert_int_equal(grant.weak, is_wall(promise) && strength != SB_KERNEL);
    if (stands_behind && !kept)
        assert_true(grant.value[row] == 0); /* nobody set it, nobody could keep it */
    else
        assert_true(grant.value[row] == (set ? TABLE[row].highest : TABLE[row].standard));
}

static void the_whole_matrix_of_promises_and_limits(void **state)
{
    (void)state;
    for (int promise = 0; promise < SB_PROMISE_COUNT; promise++)
        for (int strength = SB_NONE; strength <= SB_KERNEL; strength++)
            for (int row = 0; row < SB_ROW_COUNT; row++)
                for (int flags = 0; flags < 8; flags++)
                    expect_cell(promise, strength, row, flags & 1, flags & 2, flags & 4);
}

static void allow_weak_does_not_weaken_what_was_set_by_hand(void **state)
{
    struct sb_ask ask = {.allow_weak = true, .set[SB_ROW_MEMORY_MB] = true, .value[SB_ROW_MEMORY_MB] = 64};
    struct sb_promises promises = all(SB_NONE);
    struct sb_grant grant;
    struct sb_err err = {0};

    (void)state;
    assert_int_equal(sb_policy_grant(&ask, &promises, "job", &grant, &err), -1);
    assert_string_equal(err.text,
                        "memory_mb 64 can't be kept: backend job gives the promise memory as 'none' "
                        "(reason 8.)");
    ask.set[SB_ROW_MEMORY_MB] = false;
    assert_int_equal(sb_policy_grant(&ask, &promises, "job", &grant, &err), 0);
    assert_true(grant.weak);
    assert_true(grant.value[SB_ROW_MEMORY_MB] == 0 && grant.value[SB_ROW_PROCESSES] == 0);
    assert_true(grant.value[SB_ROW_TIMEOUT_MS] == 30000);
}

static void network_is_refused_by_name(void **state)
{
    struct sb_ask ask = {.network = true, .allow_weak = true};
    struct sb_promises promises = all(SB_KERNEL);
    struct sb_grant grant;
    struct sb_err err = {0};

    (void)state;
    assert_int_equal(sb_policy_grant(&ask, &promises, "bubblewrap", &grant, &err), -1);
    assert_non_null(strstr(err.text, "network"));
    assert_non_null(strstr(err.text, "bubblewrap"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_set_gets_the_defaults),
        cmocka_unit_test(each_limit_is_granted_to_its_ends_and_not_beyond),
        cmocka_unit_test(a_large_machine_allows_a_quarter_of_its_memory),
        cmocka_unit_test(the_whole_matrix_of_promises_and_limits),
        cmocka_unit_test(allow_weak_does_not_weaken_what_was_set_by_hand),
        cmocka_unit_test(network_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
