/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/buf.h"

static void check(const char *bytes, size_t len, const char *want)
{
    struct sb_buf out;

    sb_buf_init(&out, 100);
    sb_buf_addc(&out, '>');
    sb_base64(bytes, len, &out);
    assert_string_equal(out.data + 1, want);
    assert_int_equal(out.len, strlen(want) + 1);
    sb_buf_done(&out);
}

static void the_rfc_examples_come_out(void **state)
{
    (void)state;
    check("", 0, "");
    check("f", 1, "Zg==");
    check("fo", 2, "Zm8=");
    check("foo", 3, "Zm9v");
    check("foob", 4, "Zm9vYg==");
    check("fooba", 5, "Zm9vYmE=");
    check("foobar", 6, "Zm9vYmFy");
}

static void bytes_of_all_values_are_allowed(void **state)
{
    (void)state;
    check("\xFF\xEF\xBE\0\0", 5, "/+++AAA=");
}

static void too_little_room_changes_nothing(void **state)
{
    struct sb_buf out;

    (void)state;
    sb_buf_init(&out, 7);
    sb_base64("foob", 4, &out);
    assert_true(out.full);
    assert_int_equal(out.len, 0);
    sb_buf_clear(&out);
    sb_base64("foob", SIZE_MAX - 1, &out);
    assert_true(out.full);
    sb_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rfc_examples_come_out),
        cmocka_unit_test(bytes_of_all_values_are_allowed),
        cmocka_unit_test(too_little_room_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
