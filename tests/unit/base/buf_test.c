/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/buf.h"

static void an_empty_buffer_is_a_string(void **state)
{
    struct sb_buf buf;

    (void)state;
    sb_buf_init(&buf, 10);
    assert_string_equal(buf.data, "");
    sb_buf_clear(&buf);
    sb_buf_drop(&buf, 5);
    sb_buf_add(&buf, NULL, 0);
    assert_string_equal(buf.data, "");
    sb_buf_done(&buf);
}

static void appends_of_all_kinds_follow_each_other(void **state)
{
    struct sb_buf buf;
    char *place;

    (void)state;
    sb_buf_init(&buf, 1000);
    sb_buf_add(&buf, "a\0b", 3);
    sb_buf_adds(&buf, "cd");
    sb_buf_addc(&buf, 'e');
    sb_buf_addf(&buf, "%s-%zu", "f", (size_t)7);
    place = sb_buf_reserve(&buf, 2);
    memcpy(place, "gh", 2);
    buf.len += 2;
    assert_int_equal(buf.len, 11);
    assert_memory_equal(buf.data, "a\0bcdef-7gh", 11);
    sb_buf_done(&buf);
}

static void it_grows_to_its_maximum_and_not_beyond(void **state)
{
    struct sb_buf buf;

    (void)state;
    sb_buf_init(&buf, 1000);
    for (int i = 0; i < 1000; i++)
        sb_buf_addc(&buf, 'x');
    assert_false(buf.full);
    assert_int_equal(buf.len, 1000);
    assert_true(buf.cap <= 1001);
    sb_buf_addc(&buf, 'y');
    assert_true(buf.full);
    assert_int_equal(buf.len, 1000);
    assert_int_equal(strlen(buf.data), 1000);
    sb_buf_done(&buf);
}

static void an_append_that_does_not_fit_changes_nothing(void **state)
{
    struct sb_buf buf;

    (void)state;
    sb_buf_init(&buf, 4);
    sb_buf_adds(&buf, "abc");
    sb_buf_addf(&buf, "%d", 42);
    assert_string_equal(buf.data, "abc");
    assert_true(buf.full);
    sb_buf_clear(&buf);
    sb_buf_adds(&buf, "abc");
    assert_null(sb_buf_reserve(&buf, SIZE_MAX));
    assert_string_equal(buf.data, "abc");
    assert_true(buf.full);
    sb_buf_done(&buf);
}

static void buf_full_stays_full(void **state)
{
    struct sb_buf buf;

    (void)state;
    sb_buf_init(&buf, 4);
    sb_buf_adds(&buf, "too long");
    sb_buf_adds(&buf, "ok");
    assert_true(buf.full);
    sb_buf_drop(&buf, 1);
    assert_true(buf.full);
    sb_buf_clear(&buf);
    assert_false(buf.full);
    sb_buf_done(&buf);
}

static void drop_moves_the_rest_to_the_front(void **state)
{
    struct sb_buf buf;

    (void)state;
    sb_buf_init(&buf, 6);
    sb_buf_adds(&buf, "abcdef");
    sb_buf_drop(&buf, 2);
    assert_string_equal(buf.data, "cdef");
    sb_buf_adds(&buf, "gh");
    assert_string_equal(buf.data, "cdefgh");
    assert_false(buf.full);
    sb_buf_drop(&buf, 100);
    assert_int_equal(buf.len, 0);
    assert_string_equal(buf.data, "");
    sb_buf_done(&buf);
}

static void take_hands_the_memory_over(void **state)
{
    struct sb_buf buf;
    char *first, *second;

    (void)state;
    sb_buf_init(&buf, 6);
    sb_buf_adds(&buf, "abc");
    first = sb_buf_take(&buf);
    second = sb_buf_take(&buf);
    sb_buf_adds(&buf, "def");
    assert_string_equal(first, "abc");
    assert_string_equal(second, "");
    assert_string_equal(buf.data, "def");
    sb_free(first);
    sb_free(second);
    sb_buf_done(&buf);
    sb_buf_adds(&buf, "usable again");
    assert_true(buf.full);
    sb_buf_adds(&buf, "yes");
    assert_string_equal(buf.data, "yes");
    sb_buf_done(&buf);
}

static void a_buffer_without_maximum_does_not_overflow(void **state)
{
    struct sb_buf buf;

    (void)state;
    sb_buf_init(&buf, SIZE_MAX);
    sb_buf_adds(&buf, "abc");
    assert_null(sb_buf_reserve(&buf, SIZE_MAX - 2));
    assert_string_equal(buf.data, "abc");
    sb_buf_done(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_buffer_is_a_string),
        cmocka_unit_test(appends_of_all_kinds_follow_each_other),
        cmocka_unit_test(it_grows_to_its_maximum_and_not_beyond),
        cmocka_unit_test(an_append_that_does_not_fit_changes_nothing),
        cmocka_unit_test(buf_full_stays_full),
        cmocka_unit_test(drop_moves_the_rest_to_the_front),
        cmocka_unit_test(take_hands_the_memory_over),
        cmocka_unit_test(a_buffer_without_maximum_does_not_overflow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
