/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"

static void member_is(const char *text, const char *key, const char *want)
{
    const char *raw = NULL;
    size_t len = 0;

    if (sb_json_raw_member(text, strlen(text), key, &raw, &len) < 0)
        fail_msg("%s: no %s", text, key);
    if (len != strlen(want) || memcmp(raw, want, len) != 0)
        fail_msg("%s: %s is %.*s", text, key, (int)len, raw);
}

static void no_member(const char *text, const char *key)
{
    const char *raw = "before";
    size_t len = 6;

    if (sb_json_raw_member(text, strlen(text), key, &raw, &len) == 0)
        fail_msg("%s: found %s", text, key);
    assert_string_equal(raw, "before");
    assert_int_equal(len, 6);
}

/* The elements, each in <>. */
static void elements_are(const char *text, const char *want)
{
    struct sb_buf all;
    const char *raw = NULL;
    size_t at = 0, len = 0;

    sb_buf_init(&all, 1000);
    while (sb_json_raw_next(text, strlen(text), &at, &raw, &len) == 0)
        sb_buf_addf(&all, "<%.*s>", (int)len, raw);
    assert_string_equal(all.data, want);
    sb_buf_done(&all);
}

static void members_keep_their_bytes(void **state)
{
    static const char text[] = " {\"id\" : 9007199254740993 ,\"a\":\"x\\\"}, \\\\\",\"n\":-1.50E+2,"
                               "\"o\":{\"id\":[1, {\"]\":\"}\"}] },\"w\":true\n,\"\":null,\"e\":[]\t} ";

    (void)state;
    member_is(text, "id", "9007199254740993");
    member_is(text, "a", "\"x\\\"}, \\\\\"");
    member_is(text, "n", "-1.50E+2");
    member_is(text, "o", "{\"id\":[1, {\"]\":\"}\"}] }");
    member_is(text, "w", "true");
    member_is(text, "", "null");
    member_is(text, "e", "[]");
    member_is("{\"a\":1}", "a", "1");
}

static void keys_are_whole_and_exact(void **state)
{
    static const char text[] = "{\"id2\":1,\"ID\":2,\"x\":{\"id\":3},\"y\":\"id\"}";

    (void)state;
    no_member(text, "id");
    no_member(text, "i");
    no_member("{}", "");
    no_member(" { } ", "id");
}

static void keys_written_with_escapes_are_found(void **state)
{
    (void)state;
    member_is("{\"a\\nb\":1,\"\\u0069d\":2}", "id", "2");
    member_is("{\"\\ud83d\\ude42\":1}", "\xF0\x9F\x99\x82", "1");
    member_is("{\"a\\\"b\":1}", "a\"b", "1");
    no_member("{\"\\u0069d\":2}", "\\u0069d");
}

static void what_is_no_object_has_no_members(void **state)
{
    (void)state;
    no_member("[\"a\",1]", "a");
    no_member("\"a\"", "a");
    no_member("7", "a");
    no_member("", "a");
}

static void elements_keep_their_bytes(void **state)
{
    (void)state;
    elements_are(" [ 1.0,\"a,]\\\"\" , {\"x\":[1,2]},[],\ttrue ] ", "<1.0><\"a,]\\\"\"><{\"x\":[1,2]}><[]><true>");
    elements_are("[0]", "<0>");
    elements_are("[[[]],{}]", "<[[]]><{}>");
}

static void what_is_no_array_has_no_elements(void **state)
{
    (void)state;
    elements_are("[]", "");
    elements_are(" [ ] ", "");
    elements_are("{\"a\":1}", "");
    elements_are("1", "");
    elements_are("", "");
}

static void text_that_is_cut_is_not_read_beyond(void **state)
{
    static const char text[] = "{\"a\\\\\":[\"x\\\"\",{\"b\":1}],\"\\u0061\":\"\\\"\"}";

    (void)state;
    for (size_t len = 0; len < sizeof text; len++) {
        char *copy = sb_alloc(len + 1), *array = sb_alloc(len + 1); /* for the sanitizer to watch */
        const char *raw = NULL;
        size_t at = 0, raw_len = 0;

        memcpy(copy + 1, text, len);
        sb_json_raw_member(copy + 1, len, "none", &raw, &raw_len);
        memcpy(array + 1, text, len);
        if (len > 0)
            array[1] = '[';
        while (sb_json_raw_next(array + 1, len, &at, &raw, &raw_len) == 0)
            assert_true(raw_len > 0 && raw + raw_len <= array + 1 + len);
        sb_free(copy);
        sb_free(array);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_keep_their_bytes),
        cmocka_unit_test(keys_are_whole_and_exact),
        cmocka_unit_test(keys_written_with_escapes_are_found),
        cmocka_unit_test(what_is_no_object_has_no_members),
        cmocka_unit_test(elements_keep_their_bytes),
        cmocka_unit_test(what_is_no_array_has_no_elements),
        cmocka_unit_test(text_that_is_cut_is_not_read_beyond),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
