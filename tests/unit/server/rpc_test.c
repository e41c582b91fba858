/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "server/rpc.h"

/* Reads one message into "CODE KIND id=... method=... params=...". */
static void read_message(const char *text, char *seen, size_t size)
{
    static const char *const kinds[] = {"request", "notification", "response"};
    struct sb_json_doc *doc = NULL;
    struct sb_rpc_message message;
    struct sb_err err = {0};
    int code;

    assert_int_equal(sb_json_parse(text, strlen(text), &doc, &err), 0);
    code = sb_rpc_message(sb_json_root(doc), text, strlen(text), &message, &err);
    assert_true((code != 0) == (err.text[0] != 0));
    snprintf(seen, size, "%d %s id=%s method=%s params=%.*s", code, kinds[message.kind], message.id,
             message.method ? message.method : "", (int)message.raw_params_len,
             message.raw_params ? message.raw_params : "");
    sb_json_free(doc);
}

static void check(const char *const table[][2], size_t count)
{
    char seen[1024];

    for (size_t i = 0; i < count; i++) {
        read_message(table[i][0], seen, sizeof seen);
        assert_string_equal(seen, table[i][1]);
    }
}

#define HEAD "{\"jsonrpc\":\"2.0\","

static void messages_are_told_apart(void **state)
{
    static const char *const table[][2] = {
        {HEAD "\"id\":1,\"method\":\"ping\"}", "0 request id=1 method=ping params="},
        {HEAD "\"method\":\"n\"}", "0 notification id= method=n params="},
        {HEAD "\"id\":1,\"result\":{}}", "0 response id=1 method= params="},
        {HEAD "\"error\":{}}", "0 response id= method= params="},
        {" {\"params\" : {\"a\": [1, 2]} , \"method\":\"m\", \"id\" : \"x\" ,\"jsonrpc\":\"2.0\"} ",
         "0 request id=\"x\" method=m params={\"a\": [1, 2]}"},
        {HEAD "\"id\":1,\"method\":\"m\",\"extra\":{\"id\":2}}", "0 request id=1 method=m params="},
    };

    (void)state;
    check(table, SB_COUNT(table));
}

static void ids_stay_as_they_came(void **state)
{
    static const char *const table[][2] = {
        {HEAD "\"method\":\"m\",\"id\":\"1\"}", "0 request id=\"1\" method=m params="},
        {HEAD "\"method\":\"m\",\"id\":\"\"}", "0 request id=\"\" method=m params="},
        {HEAD "\"method\":\"m\",\"id\":\"a\\\"b\\\\u0000\"}",
         "0 request id=\"a\\\"b\\\\u0000\" method=m params="},
        {HEAD "\"method\":\"m\",\"id\":0}", "0 request id=0 method=m params="},
        {HEAD "\"method\":\"m\",\"id\":-1}", "0 request id=-1 method=m params="},
        {HEAD "\"method\":\"m\",\"id\":9007199254740993}", "0 request id=9007199254740993 method=m params="},
        {HEAD "\"method\":\"m\",\"id\":1e2}", "0 request id=1e2 method=m params="},
        {HEAD "\"method\":\"m\",\"id\":1.0}", "0 request id=1.0 method=m params="},
    };

    (void)state;
    check(table, SB_COUNT(table));
}

static void bad_ids_are_not_repeated(void **state)
{
    static const char *const table[][2] = {
        {HEAD "\"method\":\"m\",\"id\":null}", "-32600 request id= method= params="},
        {HEAD "\"method\":\"m\",\"id\":1.5}", "-32600 request id= method= params="},
        {HEAD "\"method\":\"m\",\"id\":1e300}", "-32600 request id= method= params="},
        {HEAD "\"method\":\"m\",\"id\":true}", "-32600 request id= method= params="},
        {HEAD "\"method\":\"m\",\"id\":{}}", "-32600 request id= method= params="},
        {HEAD "\"method\":\"m\",\"id\":[1]}", "-32600 request id= method= params="},
        {"1", "-32600 request id= method= params="},
        {"\"x\"", "-32600 request id= method= params="},
        {"null", "-32600 request id= method= params="},
        {"{}", "-32600 request id= method= params="},
    };

    (void)state;
    check(table, SB_COUNT(table));
}

static void bad_messages_with_an_id_are_answered_by_it(void **state)
{
    static const char *const table[][2] = {
        {"{\"id\":1,\"method\":\"m\"}", "-32600 request id=1 method= params="},
        {"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"m\"}", "-32600 request id=1 method= params="},
        {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}", "-32600 request id=1 method= params="},
        {HEAD "\"id\":1}", "-32600 request id=1 method= params="},
        {HEAD "\"id\":1,\"method\":5}", "-32600 request id=1 method= params="},
        {HEAD "\"id\":1,\"method\":\"m\",\"params\":[]}", "-32602 request id=1 method=m params="},
        {HEAD "\"id\":1,\"method\":\"m\",\"params\":null}", "-32602 request id=1 method=m params="},
        {HEAD "\"method\":\"m\",\"params\":[]}", "-32602 notification id= method=m params="},
    };

    (void)state;
    check(table, SB_COUNT(table));
}

static void id_has_a_longest_length(void **state)
{
    char text[SB_RPC_ID_MAX + 100], seen[1024];

    (void)state;
    snprintf(text, sizeof text, HEAD "\"method\":\"m\",\"id\":\"%0*d\"}", SB_RPC_ID_MAX - 2, 0);
    read_message(text, seen, sizeof seen);
    assert_memory_equal(seen, "0 request id=\"000", 17);
    snprintf(text, sizeof text, HEAD "\"method\":\"m\",\"id\":\"%0*d\"}", SB_RPC_ID_MAX - 1, 0);
    read_message(text, seen, sizeof seen);
    assert_string_equal(seen, "-32600 request id= method= params=");
}

static void answers_are_one_line_each(void **state)
{
    struct sb_buf out;

    (void)state;
    sb_buf_init(&out, 1000);
    sb_rpc_result(&out, "\"a\"", "{\"b\":1}", 7);
    assert_string_equal(out.data, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"b\":1}}");
    sb_buf_clear(&out);
    sb_rpc_error(&out, "7", SB_RPC_NO_METHOD, "say \"it\"\n");
    assert_string_equal(
        out.data,
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32601,\"message\":\"say \\\"it\\\"\\n\"}}");
    sb_buf_clear(&out);
    sb_rpc_error(&out, "", SB_RPC_PARSE, "x");
    assert_string_equal(out.data, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"x\"}}");
    sb_buf_clear(&out);
    sb_rpc_notification(&out, "n", "{}", 2);
    assert_string_equal(out.data, "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{}}");
    sb_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_told_apart),
        cmocka_unit_test(ids_stay_as_they_came),
        cmocka_unit_test(bad_ids_are_not_repeated),
        cmocka_unit_test(bad_messages_with_an_id_are_answered_by_it),
        cmocka_unit_test(id_has_a_longest_length),
        cmocka_unit_test(answers_are_one_line_each),
    };

    return cmocka_run_group_tests_name("rpc", tests, NULL, NULL);
}
