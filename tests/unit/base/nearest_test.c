/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/nearest.h"

static const char *nearest(const char *wrong, size_t len)
{
    static const char *const names[] = {"timeout", "code", "c", "language", "memory_mb", "java", "javascript"};
    struct sb_nearest it;

    sb_nearest_begin(&it, wrong, len);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        sb_nearest_try(&it, names[i]);
    return it.found;
}

static void a_slip_or_a_beginning_finds_the_name(void **state)
{
    static const struct {
        const char *wrong, *found;
    } rows[] = {
        {"timeuot", "timeout"},     {"TimeOut", "timeout"},   {"time_out", "timeout"},     {"cod", "code"},
        {"codes", "code"},          {"lang", "language"},     {"memory", "memory_mb"},     {"timeout_seconds", "timeout"},
        {"javascrip", "javascript"} /* a slip is nearer than the beginning java */,       {"javas", "java"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(nearest(rows[i].wrong, strlen(rows[i].wrong)), rows[i].found);
}

static void what_is_far_finds_nothing(void **state)
{
    static const char *const far_off[] = {"", "x", "sh", "cobol", "ti", "network", "outtime"};

    (void)state;
    for (size_t i = 0; i < sizeof far_off / sizeof far_off[0]; i++)
        assert_null(nearest(far_off[i], strlen(far_off[i])));
}

static void only_the_given_length_is_looked_at(void **state)
{
    (void)state;
    assert_string_equal(nearest("timeot=5", 6), "timeout");
}

static void the_cap_of_a_name_is_hit(void **state)
{
    char wrong[SB_NEAREST_MAX + 1];
    struct sb_nearest it;

    (void)state;
    memset(wrong, 'c', sizeof wrong);
    memcpy(wrong, "timeout", 7);
    assert_string_equal(nearest(wrong, SB_NEAREST_MAX), "timeout");
    assert_null(nearest(wrong, SB_NEAREST_MAX + 1));
    wrong[SB_NEAREST_MAX] = 0;
    sb_nearest_begin(&it, "timeout", 7);
    sb_nearest_try(&it, "timeout_of_a_name_that_is_much_longer_than_its_cap");
    assert_null(it.found);
    sb_nearest_try(&it, wrong);
    assert_ptr_equal(it.found, wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slip_or_a_beginning_finds_the_name),
        cmocka_unit_test(what_is_far_finds_nothing),
        cmocka_unit_test(only_the_given_length_is_looked_at),
        cmocka_unit_test(the_cap_of_a_name_is_hit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
