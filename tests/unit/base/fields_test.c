/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/argv.h"
#include "base/buf.h"
#include "base/fields.h"

struct file {
    char *path, *text;
    int64_t mode;
};

struct args {
    char *code, *language, *action, *secret;
    int64_t offset, big, free;
    double timeout;
    bool network, timeout_given, network_given, list_given;
    struct sb_argv list, env;
    struct sb_field_list files;
};

static const char *const actions[] = {"wait", "kill", "list", NULL};

static const struct sb_field file_fields[] = {
    {.name = "path", .type = SB_FIELD_STRING, .flags = SB_FIELD_REQUIRED, .at = offsetof(struct file, path),
     .text = "Where."},
    {.name = "text", .type = SB_FIELD_STRING, .at = offsetof(struct file, text)},
    {.name = "mode", .type = SB_FIELD_INT, .at = offsetof(struct file, mode), .fallback = "420"},
    {.name = NULL},
};

static const struct sb_field fields[] = {
    {.name = "code", .type = SB_FIELD_STRING, .flags = SB_FIELD_REQUIRED, .at = offsetof(struct args, code),
     .most = 10, .text = "The program."},
    {.name = "language", .type = SB_FIELD_STRING, .at = offsetof(struct args, language),
     .fallback = "\"python\"", .text = "C | C++."},
    {.name = "action", .type = SB_FIELD_STRING, .at = offsetof(struct args, action), .words = actions},
    {.name = "offset", .type = SB_FIELD_INT, .at = offsetof(struct args, offset), .most = 9007199254740991.0,
     .fallback = "0"},
    {.name = "big", .type = SB_FIELD_INT, .at = offsetof(struct args, big), .least = -5, .most = 64},
    {.name = "free", .type = SB_FIELD_INT, .at = offsetof(struct args, free)},
    {.name = "timeout", .type = SB_FIELD_NUMBER, .at = offsetof(struct args, timeout),
     .given_at = offsetof(struct args, timeout_given), .least = 0.1, .most = 3600, .fallback = "30",
     .text = "Seconds."},
    {.name = "network", .type = SB_FIELD_BOOL, .at = offsetof(struct args, network),
     .given_at = offsetof(struct args, network_given), .fallback = "false"},
    {.name = "list", .type = SB_FIELD_STRINGS, .at = offsetof(struct args, list),
     .given_at = offsetof(struct args, list_given), .most = 3},
    {.name = "env", .type = SB_FIELD_MAP, .at = offsetof(struct args, env), .most = 2},
    {.name = "files", .type = SB_FIELD_OBJECTS, .at = offsetof(struct args, files), .most = 2,
     .fields = file_fields, .size = sizeof(struct file)},
    {.name = "secret", .type = SB_FIELD_STRING, .flags = SB_FIELD_HIDDEN, .at = offsetof(struct args, secret)},
    {.name = NULL},
};

static int decode(const char *text, bool lenient, struct args *out, struct sb_err *err)
{
    struct sb_json_doc *doc = NULL;
    int rc;

    if (sb_json_parse(text, strlen(text), &doc, err) < 0)
        fail_msg("%s: %s", text, err->text);
    memset(out, 0, sizeof *out);
    rc = sb_fields_decode(fields, sb_json_root(doc), lenient, out, err);
    sb_json_free(doc); /* nothing in `out` may be the document's */
    return rc;
}

static void accept(const char *text, bool lenient, struct args *out)
{
    struct sb_err err = {0};

    if (decode(text, lenient, out, &err) < 0)
        fail_msg("%s: %s", text, err.text);
}

static void refuse(const char *text, bool lenient, const char *why)
{
    static const struct args nothing;
    struct sb_err err = {0};
    struct args args;

    if (decode(text, lenient, &args, &err) == 0)
        fail_msg("%s was taken", text);
    assert_string_equal(err.text, why);
    assert_true(err.code == SB_BAD_REQUEST || err.code == SB_LIMIT);
    assert_memory_equal(&args, &nothing, sizeof args);
}

static const struct sb_field *field_named(const char *name)
{
    const struct sb_field *field = fields;

    while (strcmp(field->name, name) != 0)
        field++;
    return field;
}

/* ---- decoding ----------------------------------------------------------------------- */

static void every_type_is_decoded(void **state)
{
    const struct file *files;
    struct args args;

    (void)state;
    accept("{\"code\":\"x=1\",\"language\":\"R\",\"action\":\"kill\",\"offset\":9007199254740991,\"big\":-5,"
           "\"free\":-1e3,\"timeout\":0.1,\"network\":true,\"list\":[\"a\",\"\"],\"env\":{\"A\":\"1=2\",\"B\":\"\"},"
           "\"files\":[{\"path\":\"a\",\"text\":\"t\"},{\"path\":\"b\",\"mode\":1}],\"secret\":\"s\"}",
           false, &args);
    assert_string_equal(args.code, "x=1");
    assert_string_equal(args.language, "R");
    assert_string_equal(args.action, "kill");
    assert_string_equal(args.secret, "s");
    assert_int_equal(args.offset, 9007199254740991);
    assert_int_equal(args.big, -5);
    assert_int_equal(args.free, -1000);
    assert_true(args.timeout > 0.0999 && args.timeout < 0.1001);
    assert_true(args.network && args.network_given && args.timeout_given && args.list_given);
    assert_int_equal(args.list.n, 2);
    assert_string_equal(args.list.v[1], "");
    assert_null(args.list.v[2]);
    assert_int_equal(args.env.n, 2);
    assert_string_equal(args.env.v[0], "A=1=2");
    assert_string_equal(args.env.v[1], "B=");
    assert_int_equal(args.files.count, 2);
    files = args.files.items;
    assert_string_equal(files[0].text, "t");
    assert_int_equal(files[0].mode, 420);
    assert_string_equal(files[1].path, "b");
    assert_null(files[1].text);
    assert_int_equal(files[1].mode, 1);
    sb_fields_done(fields, &args);
    assert_null(args.code);
    assert_null(args.files.items);
    assert_false(args.timeout_given);
    sb_fields_done(fields, &args); /* twice is once */
}

static void what_is_not_given_has_its_default(void **state)
{
    struct args args;

    (void)state;
    accept("{\"code\":\"\"}", false, &args);
    assert_string_equal(args.code, "");
    assert_string_equal(args.language, "python");
    assert_null(args.action);
    assert_int_equal(args.offset, 0);
    assert_true(args.timeout > 29.9 && args.timeout < 30.1);
    assert_false(args.network || args.network_given || args.timeout_given || args.list_given);
    assert_int_equal(args.list.n, 0);
    assert_int_equal(args.files.count, 0);
    sb_fields_done(fields, &args);
}

static void no_object_is_an_empty_one(void **state)
{
    struct sb_err err = {0};
    struct file file = {0};
    struct args args = {0};

    (void)state;
    assert_int_equal(sb_fields_decode(file_fields + 1, NULL, false, &file, &err), 0);
    assert_int_equal(file.mode, 420);
    sb_fields_done(file_fields + 1, &file);
    assert_int_equal(sb_fields_decode(fields, NULL, false, &args, &err), -1);
    assert_string_equal(err.text, "code is missing; it must be a string of at most 10 bytes");
}

static void empty_lists_are_given(void **state)
{
    struct args args;

    (void)state;
    accept("{\"code\":\"\",\"list\":[],\"env\":{},\"files\":[]}", false, &args);
    assert_true(args.list_given);
    assert_int_equal(args.list.n + args.env.n + args.files.count, 0);
    sb_fields_done(fields, &args);
}

/* ---- sentences ---------------------------------------------------------------------- */

static void every_refusal_says_what_is_allowed(void **state)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"[1]", "expected an object, not an array"},
        {"null", "expected an object, not null"},
        {"{}", "code is missing; it must be a string of at most 10 bytes"},
        {"{\"code\":null}", "code must be a string of at most 10 bytes, not null"},
        {"{\"code\":1}", "code must be a string of at most 10 bytes, not a number"},
        {"{\"code\":\"a\\u0000b\"}", "code contains a NUL character"},
        {"{\"code\":\"\",\"list\":[\"\\u0000\"]}", "list[0] contains a NUL character"},
        {"{\"code\":\"\",\"env\":{\"A\":\"\\u0000\"}}", "env.A contains a NUL character"},
        {"{\"code\":\"12345678901\"}", "code has 11 bytes; at most 10 are allowed"},
        {"{\"code\":\"\",\"action\":\"stop\"}", "action must be 'wait', 'kill' or 'list', not 'stop'"},
        {"{\"code\":\"\",\"action\":\"Kill\"}", "action must be 'wait', 'kill' or 'list', not 'Kill'"},
        {"{\"code\":\"\",\"action\":[]}", "action must be 'wait', 'kill' or 'list', not an array"},
        {"{\"code\":\"\",\"big\":65}", "big must be a whole number from -5 to 64, not 65"},
        {"{\"code\":\"\",\"big\":-6}", "big must be a whole number from -5 to 64, not -6"},
        {"{\"code\":\"\",\"big\":1.5}", "big must be a whole number"},
        {"{\"code\":\"\",\"big\":\"1\"}", "big must be a whole number from -5 to 64, not a string"},
        {"{\"code\":\"\",\"offset\":-1}", "offset must be a whole number of at least 0, not -1"},
        {"{\"code\":\"\",\"offset\":9007199254740992}",
         "offset must be between -9007199254740991 and 9007199254740991"},
        {"{\"code\":\"\",\"timeout\":0}", "timeout must be a number from 0.1 to 3600, not 0"},
        {"{\"code\":\"\",\"timeout\":3600.5}", "timeout must be a number from 0.1 to 3600, not 3600.5"},
        {"{\"code\":\"\",\"timeout\":true}", "timeout must be a number from 0.1 to 3600, not true or false"},
        {"{\"code\":\"\",\"network\":1}", "network must be true or false, not a number"},
        {"{\"code\":\"\",\"network\":\"true\"}", "network must be true or false, not a string"},
        {"{\"code\":\"\",\"list\":\"numpy\"}", "list must be an array of at most 3 strings, not a string"},
        {"{\"code\":\"\",\"list\":[\"a\",7]}", "list[1] must be a string, not a number"},
        {"{\"code\":\"\",\"list\":[\"\",\"\",\"\",\"\"]}", "list has 4 entries; at most 3 are allowed"},
        {"{\"code\":\"\",\"env\":[]}", "env must be an object of at most 2 strings, not an array"},
        {"{\"code\":\"\",\"env\":{\"A\":\"x\",\"B\":8080}}", "env.B must be a string, not a number"},
        {"{\"code\":\"\",\"env\":{\"\":\"\"}}", "env has an entry without a name"},
        {"{\"code\":\"\",\"env\":{\"A=B\":\"\"}}", "env: the name 'A=B' contains '='"},
        {"{\"code\":\"\",\"env\":{\"A\":\"\",\"B\":\"\",\"C\":\"\"}}", "env has 3 entries; at most 2 are allowed"},
        {"{\"code\":\"\",\"files\":{}}", "files must be an array of at most 2 objects, not an object"},
        {"{\"code\":\"\",\"files\":[{},{},{}]}", "files has 3 entries; at most 2 are allowed"},
        {"{\"code\":\"\",\"files\":[\"a\"]}", "files[0]: expected an object, not a string"},
        {"{\"code\":\"\",\"files\":[{\"path\":\"a\"},{\"text\":\"\"}]}",
         "files[1]: path is missing; it must be a string"},
        {"{\"code\":\"\",\"files\":[{\"path\":\"a\",\"txt\":\"\"}]}",
         "files[0]: unknown name 'txt': did you mean 'text'?"},
    };

    (void)state;
    for (size_t i = 0; i < SB_COUNT(rows); i++)
        refuse(rows[i].text, false, rows[i].why);
}

static void an_unknown_name_hears_the_nearest_or_all(void **state)
{
    struct sb_err err = {0};
    struct args args;

    (void)state;
    refuse("{\"code\":\"\",\"lnaguage\":\"c\"}", true, "unknown name 'lnaguage': did you mean 'language'?");
    refuse("{\"code\":\"\",\"Code\":\"\"}", true, "unknown name 'Code': did you mean 'code'?");
    refuse("{\"code\":\"\",\"xyz\":1}", true,
           "unknown name 'xyz'; the known ones are: code, language, action, offset, big, free, timeout, network, "
           "list, env, files");
    refuse("{\"code\":\"\",\"secrets\":1}", true, /* what is hidden stays so */
           "unknown name 'secrets'; the known ones are: code, language, action, offset, big, free, timeout, "
           "network, list, env, files");
    assert_int_equal(decode("{\"\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"
                            "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"
                            "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"
                            "\xC3\xA9 and more\":1}",
                            false, &args, &err),
                     -1);
    assert_non_null(strstr(err.text, "\xC3\xA9'; the known ones"));
    assert_null(strstr(err.text, "and more"));
}

static void a_name_without_any_rows_is_unknown_too(void **state)
{
    static const struct sb_field none[] = {{.name = NULL}};
    struct sb_json_doc *doc = NULL;
    struct sb_err err = {0};
    char out = 0;

    (void)state;
    assert_int_equal(sb_json_parse("{\"a\":1}", 7, &doc, &err), 0);
    assert_int_equal(sb_fields_decode(none, sb_json_root(doc), false, &out, &err), -1);
    assert_string_equal(err.text, "unknown name 'a'; the known ones are: none");
    sb_json_free(doc);
}

/* ---- lenient ------------------------------------------------------------------------ */

static void a_string_that_holds_json_is_decoded(void **state)
{
    struct args args;

    (void)state;
    accept("{\"code\":\"45\",\"big\":\"45\",\"free\":\" 7.0 \",\"timeout\":\"0.5\",\"network\":\" Yes\","
           "\"list\":\"[\\\"a\\\"]\",\"env\":\"{\\\"A\\\":\\\"b\\\"}\","
           "\"files\":\"[{\\\"path\\\":\\\"p\\\",\\\"mode\\\":\\\"3\\\"}]\"}",
           true, &args);
    assert_string_equal(args.code, "45"); /* a string stays one, whatever it holds */
    assert_int_equal(args.big, 45);
    assert_int_equal(args.free, 7);
    assert_true(args.timeout > 0.49 && args.timeout < 0.51);
    assert_true(args.network && args.network_given && args.timeout_given);
    assert_string_equal(args.list.v[0], "a");
    assert_string_equal(args.env.v[0], "A=b");
    assert_int_equal(((struct file *)args.files.items)->mode, 3);
    sb_fields_done(fields, &args);
}

static void null_is_not_given_when_lenient(void **state)
{
    struct args args;

    (void)state;
    accept("{\"code\":\"null\",\"language\":null,\"timeout\":null,\"list\":\"null\"}", true, &args);
    assert_string_equal(args.code, "null");
    assert_string_equal(args.language, "python");
    assert_false(args.timeout_given || args.list_given);
    sb_fields_done(fields, &args);
    refuse("{\"code\":null}", true, "code is missing; it must be a string of at most 10 bytes");
    refuse("{\"code\":\"\",\"list\":null}", false, "list must be an array of at most 3 strings, not null");
}

static void lenient_still_checks(void **state)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"{\"code\":\"\",\"big\":\"65\"}", "big must be a whole number from -5 to 64, not 65"},
        {"{\"code\":\"\",\"big\":\"forty\"}", "big must be a whole number from -5 to 64, not a string"},
        {"{\"code\":\"\",\"big\":\"4\\u0000\"}", "big must be a whole number from -5 to 64, not a string"},
        {"{\"code\":\"\",\"network\":\"\\u0000\"}", "network must be true or false, not a string"},
        {"{\"code\":\"\",\"big\":\"\"}", "big must be a whole number from -5 to 64, not a string"},
        {"{\"code\":\"\",\"big\":\"\\\"4\\\"\"}", "big must be a whole number from -5 to 64, not a string"},
        {"{\"code\":\"\",\"network\":\"maybe so\"}", "network must be true or false, not a string"},
        {"{\"code\":\"\",\"network\":\"2\"}", "network must be true or false, not a string"},
        {"{\"code\":\"\",\"list\":\"{}\"}", "list must be an array of at most 3 strings, not an object"},
        {"{\"code\":\"\",\"list\":\"[1]\"}", "list[0] must be a string, not a number"},
        {"{\"code\":7}", "code must be a string of at most 10 bytes, not a number"},
    };

    (void)state;
    for (size_t i = 0; i < SB_COUNT(rows); i++)
        refuse(rows[i].text, true, rows[i].why);
}

/* ---- text --------------------------------------------------------------------------- */

static void text_replaces_what_is_there(void **state)
{
    struct sb_err err = {0};
    struct args args;

    (void)state;
    accept("{\"code\":\"x\"}", false, &args);
    assert_int_equal(sb_fields_set(field_named("language"), "45", &args, &err), 0);
    assert_string_equal(args.language, "45");
    assert_int_equal(sb_fields_set(field_named("timeout"), " 12.5 ", &args, &err), 0);
    assert_true(args.timeout > 12.4 && args.timeout < 12.6 && args.timeout_given);
    assert_int_equal(sb_fields_set(field_named("network"), "On", &args, &err), 0);
    assert_true(args.network);
    assert_int_equal(sb_fields_set(field_named("network"), " FALSE\n", &args, &err), 0);
    assert_false(args.network);
    assert_int_equal(sb_fields_set(field_named("list"), "[\"a,b\"]", &args, &err), 0);
    assert_string_equal(args.list.v[0], "a,b");
    assert_int_equal(sb_fields_set(field_named("list"), " , ALL ,,NET ADMIN,", &args, &err), 0);
    assert_int_equal(args.list.n, 2);
    assert_string_equal(args.list.v[0], "ALL");
    assert_string_equal(args.list.v[1], "NET ADMIN");
    assert_int_equal(sb_fields_set(field_named("list"), "", &args, &err), 0);
    assert_int_equal(args.list.n, 0);
    assert_int_equal(sb_fields_set(field_named("files"), "[{\"path\":\"p\"}]", &args, &err), 0);
    assert_int_equal(args.files.count, 1);
    sb_fields_done(fields, &args);
}

static void bad_text_changes_nothing(void **state)
{
    static const struct {
        const char *name, *text, *why;
    } rows[] = {
        {"timeout", "fast", "timeout must be a number from 0.1 to 3600, not 'fast'"},
        {"timeout", "", "timeout must be a number from 0.1 to 3600, not ''"},
        {"timeout", "4000", "timeout must be a number from 0.1 to 3600, not 4000"},
        {"timeout", "\"5\"", "timeout must be a number from 0.1 to 3600, not a string"},
        {"network", "maybe", "network must be true or false, not 'maybe'"},
        {"action", "stop", "action must be 'wait', 'kill' or 'list', not 'stop'"},
        {"code", "12345678901", "code has 11 bytes; at most 10 are allowed"},
        {"code", "\xFF", "code is not UTF-8"},
        {"list", "a,b,c,d", "list has 4 entries; at most 3 are allowed"},
        {"list", "[\"a\"", "list must be an array of at most 3 strings, not '[\"a\"'"},
        {"env", "A=b", "env must be an object of at most 2 strings, not 'A=b'"},
    };
    struct sb_err err = {0};
    struct args args;

    (void)state;
    accept("{\"code\":\"x\",\"list\":[\"q\"]}", false, &args);
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        assert_int_equal(sb_fields_set(field_named(rows[i].name), rows[i].text, &args, &err), -1);
        assert_string_equal(err.text, rows[i].why);
    }
    assert_string_equal(args.code, "x");
    assert_string_equal(args.list.v[0], "q");
    assert_false(args.timeout_given);
    sb_fields_done(fields, &args);
}

/* ---- what the table says ------------------------------------------------------------ */

static void the_schema_says_what_is_checked(void **state)
{
    struct sb_json_out out;
    struct sb_buf buf;

    (void)state;
    sb_buf_init(&buf, 10000);
    sb_json_begin(&out, &buf);
    sb_json_open_object(&out, NULL);
    sb_fields_schema(fields, "inputSchema", &out);
    sb_json_close_object(&out);
    assert_string_equal(
        buf.data,
        "{\"inputSchema\":{\"type\":\"object\",\"properties\":{"
        "\"code\":{\"type\":\"string\",\"description\":\"The program.\"},"
        "\"language\":{\"type\":\"string\",\"default\":\"python\",\"description\":\"C | C++.\"},"
        "\"action\":{\"type\":\"string\",\"enum\":[\"wait\",\"kill\",\"list\"]},"
        "\"offset\":{\"type\":\"integer\",\"minimum\":0,\"default\":0},"
        "\"big\":{\"type\":\"integer\",\"minimum\":-5,\"maximum\":64},"
        "\"free\":{\"type\":\"integer\"},"
        "\"timeout\":{\"type\":\"number\",\"minimum\":0.1,\"maximum\":3600,\"default\":30,"
        "\"description\":\"Seconds.\"},"
        "\"network\":{\"type\":\"boolean\",\"default\":false},"
        "\"list\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":3},"
        "\"env\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"},\"maxProperties\":2},"
        "\"files\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
        "\"path\":{\"type\":\"string\",\"description\":\"Where.\"},\"text\":{\"type\":\"string\"},"
        "\"mode\":{\"type\":\"integer\",\"default\":420}},\"required\":[\"path\"],\"additionalProperties\":false},"
        "\"maxItems\":2}},\"required\":[\"code\"],\"additionalProperties\":false}}");
    sb_buf_done(&buf);
}

static void a_schema_without_needs_has_no_required(void **state)
{
    static const struct sb_field none[] = {{.name = NULL}};
    struct sb_json_out out;
    struct sb_buf buf;

    (void)state;
    sb_buf_init(&buf, 1000);
    sb_json_begin(&out, &buf);
    sb_fields_schema(none, NULL, &out);
    assert_string_equal(buf.data, "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}");
    sb_buf_done(&buf);
}

static void the_markdown_has_a_row_per_field(void **state)
{
    struct sb_buf buf;

    (void)state;
    sb_buf_init(&buf, 10000);
    sb_fields_markdown(fields, &buf);
    assert_string_equal(buf.data,
                        "| Name | Value | Default | Meaning |\n"
                        "|---|---|---|---|\n"
                        "| `code` | a string of at most 10 bytes | required | The program. |\n"
                        "| `language` | a string | \"python\" | C \\| C++. |\n"
                        "| `action` | 'wait', 'kill' or 'list' |  |  |\n"
                        "| `offset` | a whole number of at least 0 | 0 |  |\n"
                        "| `big` | a whole number from -5 to 64 |  |  |\n"
                        "| `free` | a whole number |  |  |\n"
                        "| `timeout` | a number from 0.1 to 3600 | 30 | Seconds. |\n"
                        "| `network` | true or false | false |  |\n"
                        "| `list` | an array of at most 3 strings |  |  |\n"
                        "| `env` | an object of at most 2 strings |  |  |\n"
                        "| `files` | an array of at most 2 objects |  |  |\n"
                        "| `files[].path` | a string | required | Where. |\n"
                        "| `files[].text` | a string |  |  |\n"
                        "| `files[].mode` | a whole number | 420 |  |\n");
    sb_buf_done(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_decoded),
        cmocka_unit_test(what_is_not_given_has_its_default),
        cmocka_unit_test(no_object_is_an_empty_one),
        cmocka_unit_test(empty_lists_are_given),
        cmocka_unit_test(every_refusal_says_what_is_allowed),
        cmocka_unit_test(an_unknown_name_hears_the_nearest_or_all),
        cmocka_unit_test(a_name_without_any_rows_is_unknown_too),
        cmocka_unit_test(a_string_that_holds_json_is_decoded),
        cmocka_unit_test(null_is_not_given_when_lenient),
        cmocka_unit_test(lenient_still_checks),
        cmocka_unit_test(text_replaces_what_is_there),
        cmocka_unit_test(bad_text_changes_nothing),
        cmocka_unit_test(the_schema_says_what_is_checked),
        cmocka_unit_test(a_schema_without_needs_has_no_required),
        cmocka_unit_test(the_markdown_has_a_row_per_field),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
