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

static int decode(const char *text, struct sb_buf *out, struct sb_err *err)
{
    sb_buf_init(out, 100);
    sb_buf_addc(out, '>');
    return sb_base64_decode(text, strlen(text), out, err);
}

static void what_was_encoded_is_decoded(void **state)
{
    static const struct {
        const char *text, *bytes;
        size_t len;
    } rows[] = {
        {"", ">", 1},         {"Zg==", ">f", 2},        {"Zm8=", ">fo", 3},
        {"Zm9v", ">foo", 4},  {"Zm9vYg==", ">foob", 5}, {"/+++AAA=", ">\xFF\xEF\xBE\0\0", 6},
    };
    struct sb_err err = {0};
    struct sb_buf out;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(decode(rows[i].text, &out, &err), 0);
        assert_int_equal(out.len, rows[i].len);
        assert_memory_equal(out.data, rows[i].bytes, rows[i].len + 1);
        sb_buf_done(&out);
    }
}

static void what_is_no_base64_is_refused(void **state)
{
    static const char *const wrong[] = {"Z",    "Zg",   "Zg=",      "Zh==", "Zm9=", "Zg==Zg==", "Z===", "====",
                                        "Zm9v\n", "Zm 9", "Zm-_", "=g==", "Zm\xC3\xA9"};
    struct sb_buf out;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct sb_err err = {0};

        assert_int_equal(decode(wrong[i], &out, &err), -1);
        assert_int_equal(err.code, SB_BAD_REQUEST);
        assert_string_equal(out.data, ">");
        sb_buf_done(&out);
    }
}

static void decoding_past_the_room_is_a_limit(void **state)
{
    struct sb_err err = {0};
    struct sb_buf out;

    (void)state;
    sb_buf_init(&out, 5);
    assert_int_equal(sb_base64_decode("Zm9vYmE=", 8, &out, &err), 0);
    sb_buf_clear(&out);
    assert_int_equal(sb_base64_decode("Zm9vYmFy", 8, &out, &err), -1);
    assert_int_equal(err.code, SB_LIMIT);
    assert_int_equal(out.len, 0);
    sb_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rfc_examples_come_out),
        cmocka_unit_test(bytes_of_all_values_are_allowed),
        cmocka_unit_test(too_little_room_changes_nothing),
        cmocka_unit_test(what_was_encoded_is_decoded),
        cmocka_unit_test(what_is_no_base64_is_refused),
        cmocka_unit_test(decoding_past_the_room_is_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
