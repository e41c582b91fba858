/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/libraries.h"

#define BYTES(text) text, sizeof(text) - 1

static struct sb_json_doc *parse(const char *text)
{
    struct sb_json_doc *doc = NULL;
    struct sb_err err = {0};

    if (sb_json_parse(text, strlen(text), &doc, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return doc;
}

static void refuses(const char *text, size_t len, enum sb_code code, const char *why)
{
    struct sb_json_doc *doc = NULL;
    struct sb_err err = {0};

    assert_int_equal(sb_json_parse(text, len, &doc, &err), -1);
    assert_string_equal(err.text, why);
    assert_int_equal(err.code, code);
    assert_null(doc);
}

/* ---- what cJSON lets pass ---- */

static void keys_are_found_by_their_exact_case_only(void **state)
{
    struct sb_json_doc *doc = parse("{\"Code\":1,\"code\":2}");
    int64_t number;

    (void)state;
    assert_int_equal(sb_json_int(sb_json_get(sb_json_root(doc), "code"), "code", &number, NULL), 0);
    assert_int_equal(number, 2);
    assert_int_equal(sb_json_int(sb_json_get(sb_json_root(doc), "Code"), "Code", &number, NULL), 0);
    assert_int_equal(number, 1);
    assert_null(sb_json_get(sb_json_root(doc), "CODE"));
    sb_json_free(doc);
}

static void a_doubled_key_is_refused_however_it_is_written(void **state)
{
    (void)state;
    refuses(BYTES("{\"a\":1,\"b\":2,\"a\":3}"), SB_BAD_REQUEST, "the key 'a' is there twice");
    refuses(BYTES("{\"a\":1,\"\\u0061\":3}"), SB_BAD_REQUEST, "the key 'a' is there twice");
    refuses(BYTES("[0,{\"x\":{\"\":1,\"\":1}}]"), SB_BAD_REQUEST, "the key '' is there twice");
    sb_json_free(parse("[{\"a\":1},{\"a\":1,\"b\":{\"a\":1}}]"));
}

static void a_doubled_key_among_many_is_found(void **state)
{
    struct sb_json_doc *doc = NULL;
    struct sb_err err = {0};
    struct sb_buf text;

    (void)state;
    sb_buf_init(&text, 1 << 22);
    for (int i = 0; i < 100000; i++)
        sb_buf_addf(&text, "%c\"k%d\":0", i ? ',' : '{', (i * 7919) % 100003);
    sb_buf_adds(&text, "}");
    assert_int_equal(sb_json_parse(text.data, text.len, &doc, &err), 0);
    sb_json_free(doc);
    text.len--;
    sb_buf_adds(&text, ",\"k7919\":1}");
    refuses(text.data, text.len, SB_BAD_REQUEST, "the key 'k7919' is there twice");
    sb_buf_done(&text);
}

static void nul_is_refused_raw_and_in_keys(void **state)
{
    (void)state;
    refuses(BYTES("{\"a\\u0000b\":1}"), SB_BAD_REQUEST, "byte 3: NUL in a key");
    refuses(BYTES("\"a\0b\""), SB_BAD_REQUEST, "byte 2: control character in a string");
    refuses(BYTES("1\0"), SB_BAD_REQUEST, "byte 1: expected nothing after the value");
}

static void a_string_with_nul_may_stand_where_nobody_reads_it(void **state)
{
    struct sb_json_doc *doc = parse("{\"id\":\"a\\u0000b\",\"n\":1,\"\":[\"\\u0000\",\"\\\\u0000\","
                                    "\"\\\\\\u0000\",\"\\\"\\u0000\",\"\xEF\xBF\xBF\\u00ff\"]}");
    const struct sb_json *root = sb_json_root(doc), *item = NULL;
    const char *text = "before";
    struct sb_err err = {0};
    int64_t number = 0;

    (void)state;
    assert_int_equal(sb_json_type(sb_json_get(root, "id")), SB_JSON_STRING);
    assert_int_equal(sb_json_string(sb_json_get(root, "id"), "id", &text, &err), -1);
    assert_string_equal(err.text, "id contains a NUL character");
    assert_int_equal(err.code, SB_BAD_REQUEST);
    assert_string_equal(text, "before");
    assert_int_equal(sb_json_int(sb_json_get(root, "n"), "n", &number, NULL), 0);
    item = sb_json_next(sb_json_get(root, ""), NULL);
    assert_int_equal(sb_json_string(item, "it", &text, NULL), -1);
    item = sb_json_next(NULL, item); /* a backslash and five letters */
    assert_int_equal(sb_json_string(item, "it", &text, NULL), 0);
    assert_string_equal(text, "\\u0000");
    item = sb_json_next(NULL, item); /* a backslash and NUL */
    assert_int_equal(sb_json_string(item, "it", &text, NULL), -1);
    item = sb_json_next(NULL, item);
    assert_int_equal(sb_json_string(item, "it", &text, NULL), -1);
    item = sb_json_next(NULL, item); /* no character looks like our mark */
    assert_int_equal(sb_json_string(item, "it", &text, NULL), 0);
    assert_string_equal(text, "\xEF\xBF\xBF\xC3\xBF");
    assert_null(sb_json_next(NULL, item));
    sb_json_free(doc);
}

static void what_stands_for_nul_cannot_be_sent(void **state)
{
    (void)state;
    refuses(BYTES("[\"\\u0000\",\"\xFF\xFF\xFF\xFF\xFF\xFF\"]"), SB_BAD_REQUEST,
            "byte 10: the string that starts here is not UTF-8");
    refuses(BYTES("[\"\\u0000\", \xFF]"), SB_BAD_REQUEST, "byte 11: expected a value");
}

static void a_string_that_is_not_utf8_is_refused(void **state)
{
    (void)state;
    refuses(BYTES("[\"ok\",\"\xC3\"]"), SB_BAD_REQUEST, "byte 6: the string that starts here is not UTF-8");
    refuses(BYTES("\"\xED\xA0\x80\""), SB_BAD_REQUEST, "byte 0: the string that starts here is not UTF-8");
    refuses(BYTES("{\"\xFF\":1}"), SB_BAD_REQUEST, "byte 1: the string that starts here is not UTF-8");
}

static void half_a_surrogate_pair_is_refused(void **state)
{
    static const char *const bad[] = {"\"\\ud83d\"",         "\"\\ude00\"",        "\"\\ud83d\\ud83d\"",
                                      "\"\\ud83dx\\ude00\"", "\"\\ud83d\\u0041\"", "\"\\ud83d\\uffff\""};
    struct sb_json_doc *doc = parse("\"\\ud83d\\uDE42 \\u00e9\"");
    const char *text = NULL;

    (void)state;
    assert_int_equal(sb_json_string(sb_json_root(doc), "it", &text, NULL), 0);
    assert_string_equal(text, "\xF0\x9F\x99\x82 \xC3\xA9");
    sb_json_free(doc);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuses(bad[i], strlen(bad[i]), SB_BAD_REQUEST, "byte 1: half of a surrogate pair in a string");
}

static void bytes_after_the_value_are_refused(void **state)
{
    (void)state;
    refuses(BYTES("{} x"), SB_BAD_REQUEST, "byte 3: expected nothing after the value");
    refuses(BYTES("1 2"), SB_BAD_REQUEST, "byte 2: expected nothing after the value");
    refuses(BYTES("[]]"), SB_BAD_REQUEST, "byte 2: expected nothing after the value");
    sb_json_free(parse(" \t\r\n[] \t\r\n"));
}

static void integers_that_a_double_rounds_are_refused(void **state)
{
    static const struct {
        const char *text;
        int64_t want; /* 0: refused */
    } rows[] = {{"9007199254740991", 9007199254740991},
                {"-9007199254740991", -9007199254740991},
                {"9007199254740992", 0},
                {"9007199254740993", 0},
                {"-9007199254740993", 0},
                {"123456789012345678901234567890", 0},
                {"1e300", 0},
                {"1e3", 1000},
                {"1.0", 1},
                {"1.5", 0},
                {"-2.50e1", -25}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sb_json_doc *doc = parse(rows[i].text);
        struct sb_err err = {0};
        int64_t number = 0;
        int rc = sb_json_int(sb_json_root(doc), "the id", &number, &err);

        if (rc != (rows[i].want ? 0 : -1) || number != rows[i].want)
            fail_msg("%s: %d %lld", rows[i].text, rc, (long long)number);
        if (rc < 0)
            assert_non_null(strstr(err.text, strchr(rows[i].text, '.')
                                                 ? "the id must be a whole number"
                                                 : "the id must be between -9007199254740991 and"));
        sb_json_free(doc);
    }
}

static void numbers_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    refuses(BYTES("[1e400]"), SB_BAD_REQUEST, "byte 1: number too large");
    refuses(BYTES("-1e400"), SB_BAD_REQUEST, "byte 0: number too large");
    refuses(BYTES("1000000000000000000000000000000000000000000000000000000000000000"), SB_LIMIT,
            "byte 0: number of more than 63 characters");
    sb_json_free(parse("100000000000000000000000000000000000000000000000000000000000000"));
    sb_json_free(parse("1.7976931348623157e308"));
}

static void the_depth_cap_is_hit(void **state)
{
    char text[2 * SB_JSON_MAX_DEPTH + 3];

    (void)state;
    memset(text, '[', SB_JSON_MAX_DEPTH);
    memset(text + SB_JSON_MAX_DEPTH, ']', SB_JSON_MAX_DEPTH);
    text[2 * SB_JSON_MAX_DEPTH] = 0;
    sb_json_free(parse(text));
    memset(text, '[', SB_JSON_MAX_DEPTH + 1);
    memset(text + SB_JSON_MAX_DEPTH + 1, ']', SB_JSON_MAX_DEPTH + 1);
    refuses(text, 2 * SB_JSON_MAX_DEPTH + 2, SB_LIMIT,
            "byte 64: more than 64 arrays and objects inside each other");
}

static void the_cap_of_values_is_hit(void **state)
{
    struct sb_buf text;
    struct sb_json_doc *doc = NULL;

    (void)state;
    sb_buf_init(&text, 1 << 20);
    for (int i = 1; i < SB_JSON_MAX_VALUES; i++) /* the array is a value too */
        sb_buf_adds(&text, i == 1 ? "[0" : ",0");
    sb_buf_adds(&text, "]");
    assert_int_equal(sb_json_parse(text.data, text.len, &doc, NULL), 0);
    sb_json_free(doc);
    text.len--;
    sb_buf_adds(&text, ",0]");
    refuses(text.data, text.len, SB_LIMIT, "byte 399999: more than 200000 values");
    sb_buf_done(&text);
}

static void containers_beside_each_other_are_not_deep(void **state)
{
    struct sb_buf text;

    (void)state;
    sb_buf_init(&text, 10000);
    for (int i = 0; i < 3 * SB_JSON_MAX_DEPTH; i++)
        sb_buf_adds(&text, i == 0 ? "[[]" : ",{}");
    sb_buf_adds(&text, "]");
    sb_json_free(parse(text.data));
    sb_buf_done(&text);
}

/* ---- the grammar ---- */

static void what_is_no_json_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", "byte 0: expected a value, but the text ends"},
        {"  ", "byte 2: expected a value, but the text ends"},
        {"\xEF\xBB\xBF{}", "byte 0: expected a value"},
        {"[1,]", "byte 3: expected a value"},
        {"[1 2]", "byte 3: expected ',' or ']'"},
        {"[1", "byte 2: expected ',' or ']', but the text ends"},
        {"[1}", "byte 2: expected ',' or ']'"},
        {"[,1]", "byte 1: expected a value"},
        {"{\"a\":1,}", "byte 7: expected a key in double quotes"},
        {"{a:1}", "byte 1: expected a key in double quotes"},
        {"{'a':1}", "byte 1: expected a key in double quotes"},
        {"{\"a\" 1}", "byte 5: expected ':'"},
        {"{\"a\":1", "byte 6: expected ',' or '}', but the text ends"},
        {"{\"a\":", "byte 5: expected a value, but the text ends"},
        {"\"abc", "byte 4: expected the end of a string, but the text ends"},
        {"\"abc\\", "byte 4: incomplete escape in a string"},
        {"\"\\x41\"", "byte 1: unknown escape in a string"},
        {"\"\\u12G4\"", "byte 1: incomplete escape in a string"},
        {"\"\\u123", "byte 1: incomplete escape in a string"},
        {"\"a\tb\"", "byte 2: control character in a string"},
        {"\"a\nb\"", "byte 2: control character in a string"},
        {"01", "byte 1: expected nothing after the value"},
        {"+1", "byte 0: expected a value"},
        {".5", "byte 0: expected a value"},
        {"1.", "byte 2: expected a digit, but the text ends"},
        {"1.e5", "byte 2: expected a digit"},
        {"1e", "byte 2: expected a digit, but the text ends"},
        {"1e+", "byte 3: expected a digit, but the text ends"},
        {"-", "byte 1: expected a digit, but the text ends"},
        {"-a", "byte 1: expected a digit"},
        {"0x10", "byte 1: expected nothing after the value"},
        {"NaN", "byte 0: expected a value"},
        {"Infinity", "byte 0: expected a value"},
        {"-Infinity", "byte 1: expected a digit"},
        {"True", "byte 0: expected a value"},
        {"tru", "byte 0: expected a value"},
        {"nullx", "byte 4: expected nothing after the value"},
        {"// c\n1", "byte 0: expected a value"},
        {"\v1", "byte 0: expected a value"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        refuses(rows[i].text, strlen(rows[i].text), SB_BAD_REQUEST, rows[i].why);
}

static void nothing_is_read_behind_the_length(void **state)
{
    struct sb_json_doc *doc = NULL;
    int64_t number = 0;

    (void)state;
    assert_int_equal(sb_json_parse("123", 2, &doc, NULL), 0);
    assert_int_equal(sb_json_int(sb_json_root(doc), "it", &number, NULL), 0);
    assert_int_equal(number, 12);
    sb_json_free(doc);
    refuses("\"ab\"", 3, SB_BAD_REQUEST, "byte 3: expected the end of a string, but the text ends");
    refuses("\"\\u0041\"", 5, SB_BAD_REQUEST, "byte 1: incomplete escape in a string");
    refuses("true", 3, SB_BAD_REQUEST, "byte 0: expected a value");
}

/* ---- reading ---- */

static void values_are_walked_in_order(void **state)
{
    struct sb_json_doc *doc = parse("{\"z\":null,\"a\":[true,\"x\",{}],\"m\":-0.5}");
    const struct sb_json *root = sb_json_root(doc), *member = sb_json_next(root, NULL), *item;
    double half = 0;
    bool yes = false;

    (void)state;
    assert_int_equal(sb_json_type(root), SB_JSON_OBJECT);
    assert_string_equal(sb_json_key(member), "z");
    assert_int_equal(sb_json_type(member), SB_JSON_NULL);
    member = sb_json_next(root, member);
    assert_string_equal(sb_json_key(member), "a");
    assert_int_equal(sb_json_type(member), SB_JSON_ARRAY);
    item = sb_json_next(member, NULL);
    assert_int_equal(sb_json_bool(item, "it", &yes, NULL), 0);
    assert_true(yes);
    item = sb_json_next(member, item);
    assert_int_equal(sb_json_type(item), SB_JSON_STRING);
    item = sb_json_next(member, item);
    assert_int_equal(sb_json_type(item), SB_JSON_OBJECT);
    assert_null(sb_json_next(item, NULL));
    assert_null(sb_json_next(member, item));
    member = sb_json_next(root, member);
    assert_int_equal(sb_json_double(member, "it", &half, NULL), 0);
    assert_true(half < -0.49 && half > -0.51);
    assert_null(sb_json_next(root, member));
    assert_null(sb_json_next(NULL, NULL));
    sb_json_free(doc);
    sb_json_free(NULL);
}

static void a_wrong_type_is_named_and_changes_nothing(void **state)
{
    struct sb_json_doc *doc = parse("{\"code\":5,\"list\":[\"a\"]}");
    const struct sb_json *root = sb_json_root(doc), *list = sb_json_get(root, "list");
    const char *text = "before";
    struct sb_err err = {0};
    int64_t number = 7;
    bool yes = true;

    (void)state;
    assert_int_equal(sb_json_string(sb_json_get(root, "code"), "argument 'code'", &text, &err), -1);
    assert_string_equal(err.text, "argument 'code' must be a string, not a number");
    assert_int_equal(err.code, SB_BAD_REQUEST);
    assert_int_equal(sb_json_int(list, "timeout", &number, &err), -1);
    assert_string_equal(err.text, "timeout must be a number, not an array");
    assert_int_equal(sb_json_bool(sb_json_get(root, "none"), "strict", &yes, &err), -1);
    assert_string_equal(err.text, "strict is missing");
    assert_string_equal(text, "before");
    assert_int_equal(number, 7);
    assert_true(yes);
    assert_null(sb_json_get(list, "a"));
    assert_null(sb_json_get(NULL, "a"));
    assert_int_equal(sb_json_type(NULL), SB_JSON_NULL);
    sb_json_free(doc);
}

/* ---- writing ---- */

static void the_writer_puts_commas_and_keys(void **state)
{
    struct sb_json_out out;
    struct sb_buf buf;

    (void)state;
    sb_buf_init(&buf, 1000);
    sb_json_begin(&out, &buf);
    sb_json_open_object(&out, NULL);
    sb_json_put_int(&out, "n", INT64_MIN);
    sb_json_put_bool(&out, "yes", true);
    sb_json_open_array(&out, "list");
    sb_json_put_string(&out, NULL, "a");
    sb_json_put_string(&out, NULL, NULL);
    sb_json_open_object(&out, NULL);
    sb_json_close_object(&out);
    sb_json_open_array(&out, NULL);
    sb_json_put_int(&out, NULL, 1);
    sb_json_close_array(&out);
    sb_json_close_array(&out);
    sb_json_put_null(&out, "end");
    sb_json_put_raw(&out, "raw", "[1.50]...", 6);
    sb_json_close_object(&out);
    assert_string_equal(buf.data, "{\"n\":-9223372036854775808,\"yes\":true,"
                                  "\"list\":[\"a\",null,{},[1]],\"end\":null,\"raw\":[1.50]}");
    sb_buf_done(&buf);
}

static void the_writer_escapes_controls_and_line_separators(void **state)
{
    struct sb_json_out out;
    struct sb_buf buf;

    (void)state;
    sb_buf_init(&buf, 1000);
    sb_json_begin(&out, &buf);
    sb_json_put_bytes(&out, NULL,
                      BYTES("\"\\/\b\f\n\r\t\x1b\0\x7f \xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xAA\xC3\xA9"));
    assert_string_equal(buf.data,
                        "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u001b\\u0000\x7f \\u2028\\u2029\xE2\x80\xAA\xC3\xA9\"");
    sb_buf_clear(&buf);
    sb_json_begin(&out, &buf);
    sb_json_open_object(&out, NULL);
    sb_json_put_bytes(&out, "a\"\n", "\xE2\x80\xA8", 2); /* looks no further than it may */
    sb_json_close_object(&out);
    assert_string_equal(buf.data, "{\"a\\\"\\n\":\"\xE2\x80\"}");
    sb_buf_done(&buf);
}

static void what_is_written_is_read_back(void **state)
{
    static const char text[] = "bar 10%\rbar 100%\x1b[31mred \xE2\x80\xA8 \xF0\x9F\x99\x82 \x7f\\end";
    struct sb_json_doc *doc;
    struct sb_json_out out;
    const char *back = NULL;
    struct sb_buf buf;

    (void)state;
    sb_buf_init(&buf, 1000);
    sb_json_begin(&out, &buf);
    sb_json_put_string(&out, NULL, text);
    doc = parse(buf.data);
    assert_int_equal(sb_json_string(sb_json_root(doc), "it", &back, NULL), 0);
    assert_string_equal(back, text);
    sb_json_free(doc);
    sb_buf_done(&buf);
}

static void a_writer_that_goes_too_deep_says_so(void **state)
{
    struct sb_json_out out;
    struct sb_buf buf;

    (void)state;
    sb_buf_init(&buf, 1000);
    sb_json_begin(&out, &buf);
    for (int i = 0; i < SB_JSON_MAX_DEPTH; i++)
        sb_json_open_array(&out, NULL);
    assert_false(buf.full);
    for (int i = 0; i < 3; i++)
        sb_json_open_array(&out, NULL);
    assert_true(buf.full);
    for (int i = 0; i < SB_JSON_MAX_DEPTH + 3; i++)
        sb_json_close_array(&out);
    sb_buf_done(&buf);
}

static void the_libraries_say_their_versions(void **state)
{
    (void)state;
    assert_int_equal(strncmp(sb_cjson_version(), "1.", 2), 0);
    assert_int_equal(strncmp(sb_zlib_version(), "1.", 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_found_by_their_exact_case_only),
        cmocka_unit_test(a_doubled_key_is_refused_however_it_is_written),
        cmocka_unit_test(a_doubled_key_among_many_is_found),
        cmocka_unit_test(nul_is_refused_raw_and_in_keys),
        cmocka_unit_test(a_string_with_nul_may_stand_where_nobody_reads_it),
        cmocka_unit_test(what_stands_for_nul_cannot_be_sent),
        cmocka_unit_test(a_string_that_is_not_utf8_is_refused),
        cmocka_unit_test(half_a_surrogate_pair_is_refused),
        cmocka_unit_test(bytes_after_the_value_are_refused),
        cmocka_unit_test(integers_that_a_double_rounds_are_refused),
        cmocka_unit_test(numbers_that_do_not_fit_are_refused),
        cmocka_unit_test(the_depth_cap_is_hit),
        cmocka_unit_test(the_cap_of_values_is_hit),
        cmocka_unit_test(containers_beside_each_other_are_not_deep),
        cmocka_unit_test(what_is_no_json_is_refused_with_its_place),
        cmocka_unit_test(nothing_is_read_behind_the_length),
        cmocka_unit_test(values_are_walked_in_order),
        cmocka_unit_test(a_wrong_type_is_named_and_changes_nothing),
        cmocka_unit_test(the_writer_puts_commas_and_keys),
        cmocka_unit_test(the_writer_escapes_controls_and_line_separators),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(a_writer_that_goes_too_deep_says_so),
        cmocka_unit_test(the_libraries_say_their_versions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
