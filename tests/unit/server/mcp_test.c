/* SPDX-License-Identifier: MIT */
#include "unit/server/mcp_rig.h"

#define HEAD "{\"jsonrpc\":\"2.0\","
#define INIT(version)                                                                                        \
    HEAD "\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"" version                     \
         "\",\"capabilities\":{},\"clientInfo\":{\"name\":\"x\",\"version\":\"1\"}}}\n"
#define STARTED  HEAD "\"method\":\"notifications/initialized\"}\n"
#define PING(id) HEAD "\"id\":" id ",\"method\":\"ping\"}\n"
#define PONG(id) HEAD "\"id\":" id ",\"result\":{}}"
#define HELLO(version)                                                                                       \
    HEAD "\"id\":0,\"result\":{\"protocolVersion\":\"" version "\",\"capabilities\":{\"tools\":{},"
#define MODERN(version) "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" version "\"}"
#define ERROR(id, code) HEAD "\"id\":" id ",\"error\":{\"code\":" code ",\"message\":\""
#define NO_ID(code)     HEAD "\"error\":{\"code\":" code ",\"message\":\""
#define TOOLS(id)       HEAD "\"id\":" id ",\"result\":{\"tools\":[{\"name\":\"echo\","
#define NOW             "2025-11-25"

/* The probes of facts: what the client writes, and how each of its answers starts. */
static const struct probe {
    const char *name, *said, *answers[4];
} probes[] = {
    {"version 1999", INIT("1999-01-01"), {HELLO(NOW)}},
    {"version 2024-11-05", INIT("2024-11-05"), {HELLO("2024-11-05")}},
    {"version 2025-03-26", INIT("2025-03-26"), {HELLO("2025-03-26")}},
    {"version 2025-06-18", INIT("2025-06-18"), {HELLO("2025-06-18")}},
    {"version 2026-07-28", INIT("2026-07-28"), {HELLO(NOW)}},
    {"no version", HEAD "\"id\":0,\"method\":\"initialize\"}\n", {HELLO(NOW)}},
    {"version of another type",
     HEAD "\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":5}}\n",
     {HELLO(NOW)}},
    {"tools/list before init", HEAD "\"id\":1,\"method\":\"tools/list\"}\n", {TOOLS("1")}},
    {"ping before init", PING("1"), {PONG("1")}},
    {"bad json", INIT(NOW) STARTED "{bad\n" PING("2"), {HELLO(NOW), NO_ID("-32700"), PONG("2")}},
    {"batch",
     INIT("2025-03-26") STARTED "[" HEAD "\"id\":1,\"method\":\"ping\"}," HEAD
                                "\"id\":2,\"method\":\"ping\"}]\n" PING("3"),
     {HELLO("2025-03-26"), "[" PONG("1") "," PONG("2") "]", PONG("3")}},
    {"batch of another version",
     INIT(NOW) "[" HEAD "\"id\":1,\"method\":\"ping\"}]\n",
     {HELLO(NOW), NO_ID("-32600")}},
    {"id null", INIT(NOW) HEAD "\"id\":null,\"method\":\"ping\"}\n", {HELLO(NOW), NO_ID("-32600")}},
    {"id float", INIT(NOW) PING("1.5"), {HELLO(NOW), NO_ID("-32600")}},
    {"id big", INIT(NOW) PING("9007199254740993"), {HELLO(NOW), PONG("9007199254740993")}},
    {"id string", INIT(NOW) PING("\"a\\\\u0000b\""), {HELLO(NOW), PONG("\"a\\\\u0000b\"")}},
    {"id with NUL", INIT(NOW) PING("\"a\\u0000b\""), {HELLO(NOW), PONG("\"a\\u0000b\"")}},
    {"id 1 and \"1\"",
     PING("1") PING("\"1\"") PING("\"\"") PING("-1"),
     {PONG("1"), PONG("\"1\""), PONG("\"\""), PONG("-1")}},
    {"unknown method",
     HEAD "\"id\":1,\"method\":\"foo/bar\"}\n",
     {ERROR("1", "-32601") "unknown method 'foo/bar'"}},
    {"logging", HEAD "\"id\":1,\"method\":\"logging/setLevel\"}\n", {ERROR("1", "-32601")}},
    {"unknown notification", HEAD "\"method\":\"foo/bar\"}\n" PING("1"), {PONG("1")}},
    {"request without id",
     HEAD "\"method\":\"tools/list\"}\n" HEAD "\"method\":\"ping\",\"params\":[]}\n" PING("1"),
     {PONG("1")}},
    {"an answer", HEAD "\"id\":1,\"result\":{}}\n" PING("1"), {PONG("1")}},
    {"unknown tool",
     HEAD "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"nope\",\"arguments\":{}}}\n",
     {ERROR("1", "-32602") "unknown tool 'nope'"}},
    {"no tool", HEAD "\"id\":1,\"method\":\"tools/call\"}\n", {ERROR("1", "-32602")}},
    {"bad args",
     HEAD
     "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"message\":5}}}\n",
     {HEAD "\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"message "}},
    {"args missing",
     HEAD "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\"}}\n",
     {HEAD "\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"message is missing"}},
    {"args array",
     HEAD "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":[]}}\n",
     {HEAD "\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"arguments must be an "
           "object\"}],\"isError\":true}}"}},
    {"params array", HEAD "\"id\":1,\"method\":\"tools/list\",\"params\":[]}\n", {ERROR("1", "-32602")}},
    {"bad cursor",
     HEAD "\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":\"zzz\"}}\n",
     {ERROR("1", "-32602")}},
    {"crlf in", HEAD "\"id\":1,\"method\":\"ping\"}\r\n", {PONG("1")}},
    {"bom in", "\xEF\xBB\xBF" PING("1") "\xEF\xBB\xBF" PING("2"), {PONG("1"), PONG("2")}},
    {"blank lines", "\n\r\n" PING("1"), {PONG("1")}},
    {"init twice", INIT(NOW) STARTED INIT("2024-11-05"), {HELLO(NOW), HELLO("2024-11-05")}},
    {"discover",
     HEAD "\"id\":1,\"method\":\"server/discover\",\"params\":{" MODERN("2026-07-28") "}}\n",
     {ERROR("1", "-32601")}},
    {"discover without _meta", HEAD "\"id\":1,\"method\":\"server/discover\"}\n", {ERROR("1", "-32601")}},
    {"modern tools/list",
     HEAD "\"id\":1,\"method\":\"tools/list\",\"params\":{" MODERN("2026-07-28") "}}\n",
     {ERROR("1", "-32601")}},
    {"modern bad version",
     HEAD "\"id\":1,\"method\":\"tools/list\",\"params\":{" MODERN("2030-01-01") "}}\n",
     {ERROR("1", "-32601")}},
    {"modern ping",
     HEAD "\"id\":1,\"method\":\"ping\",\"params\":{" MODERN("2026-07-28") "}}\n",
     {ERROR("1", "-32601")}},
    {"modern then init",
     HEAD "\"id\":1,\"method\":\"tools/list\",\"params\":{" MODERN("2026-07-28") "}}\n" INIT(NOW),
     {ERROR("1", "-32601"), HELLO(NOW)}},
    {"init then modern",
     INIT(NOW) HEAD "\"id\":1,\"method\":\"tools/list\",\"params\":{" MODERN("2026-07-28") "}}\n",
     {HELLO(NOW), ERROR("1", "-32601")}},
    {"invalid UTF-8", /* PRO-04 */
     PING("1") "\xff\xfe\n" HEAD
               "\"id\":8,\"method\":\"ping\",\"params\":{\"code\":\"print(1)\xc3\"}}\n" PING("2"),
     {PONG("1"), NO_ID("-32700"), NO_ID("-32700"), PONG("2")}},
    {"garbage does not reuse an id", /* PRO-05 */
     PING("4") HEAD "\"id\":5,\"method\":\n"
                    "not json\n" PING("6"),
     {PONG("4"), NO_ID("-32700"), NO_ID("-32700"), PONG("6")}},
    {"empty batch", INIT("2025-03-26") "[]\n", {HELLO("2025-03-26"), NO_ID("-32600")}},
    {"batch of nonsense", INIT("2025-03-26") "[1]\n", {HELLO("2025-03-26"), "[" NO_ID("-32600")}},
    {"batch of notifications",
     INIT("2025-03-26") "[" HEAD "\"method\":\"x\"}]\n" PING("1"),
     {HELLO("2025-03-26"), PONG("1")}},
    {"initialize in a batch",
     INIT("2025-03-26") "[" HEAD "\"id\":1,\"method\":\"initialize\"}]\n",
     {HELLO("2025-03-26"), "[" ERROR("1", "-32600")}},
};

static void probes_are_answered_as_the_facts_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < SB_COUNT(probes); i++) {
        struct rig rig;

        rig_open(&rig);
        say(&rig, probes[i].said);
        for (size_t n = 0; n < SB_COUNT(probes[i].answers) && probes[i].answers[n]; n++)
            expect_start(&rig, probes[i].answers[n]);
        expect_quiet(&rig);
        rig_done(&rig);
    }
}

static void initialize_says_who_we_are(void **state)
{
    struct rig rig;
    struct sb_json_doc *doc = NULL;
    const struct sb_json *result;
    const char *text = NULL;
    size_t len = 0;

    (void)state;
    rig_open(&rig);
    say(&rig, INIT(NOW));
    next_line(&rig, &len);
    assert_int_equal(sb_json_parse(rig.line, len, &doc, NULL), 0);
    result = sb_json_get(sb_json_root(doc), "result");
    assert_int_equal(sb_json_type(sb_json_get(sb_json_get(result, "capabilities"), "resources")),
                     SB_JSON_OBJECT);
    assert_int_equal(
        sb_json_string(sb_json_get(sb_json_get(result, "serverInfo"), "name"), "name", &text, NULL), 0);
    assert_string_equal(text, "llm-sandbox");
    assert_int_equal(sb_json_string(sb_json_get(result, "instructions"), "instructions", &text, NULL), 0);
    assert_true(strlen(text) < 1000);
    sb_json_free(doc);
    rig_done(&rig);
}

static void tools_are_listed_with_what_differs_from_the_defaults(void **state)
{
    struct rig rig;
    const char *line;
    size_t len = 0;

    (void)state;
    rig_open(&rig);
    say(&rig, HEAD "\"id\":1,\"method\":\"tools/list\",\"params\":{}}\n");
    line = next_line(&rig, &len);
    assert_non_null(strstr(
        line, "{\"name\":\"echo\",\"title\":\"Echo\",\"description\":\"Says it again.\",\"inputSchema\":{"
              "\"type\":\"object\""));
    assert_non_null(strstr(line, "\"annotations\":{\"readOnlyHint\":true,\"openWorldHint\":false},"
                                 "\"_meta\":{\"anthropic/alwaysLoad\":true}},{\"name\":\"hold\""));
    assert_non_null(strstr(
        line, "\"annotations\":{\"destructiveHint\":false,\"openWorldHint\":false}},{\"name\":\"big\""));
    rig_done(&rig);
}

static void resources_are_listed_and_read(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    say(&rig, HEAD "\"id\":1,\"method\":\"resources/list\"}\n");
    expect_start(
        &rig,
        HEAD "\"id\":1,\"result\":{\"resources\":[{\"uri\":\"sandbox://languages\",\"name\":\"languages\",");
    say(&rig, HEAD "\"id\":2,\"method\":\"resources/templates/list\"}\n");
    expect_start(
        &rig, HEAD
        "\"id\":2,\"result\":{\"resourceTemplates\":[{\"uriTemplate\":\"sandbox://run/{run_id}/{+path}\",");
    say(&rig, HEAD "\"id\":3,\"method\":\"resources/read\",\"params\":{\"uri\":\"sandbox://languages\"}}\n");
    expect(&rig, HEAD
           "\"id\":3,\"result\":{\"contents\":[{\"uri\":\"sandbox://languages\",\"text\":\"for uid:1\"}]}}");
    say(&rig, HEAD "\"id\":4,\"method\":\"resources/read\",\"params\":{\"uri\":\"sandbox://x\"}}\n");
    expect(&rig, ERROR("4", "-32002") "no such resource\"}}");
    say(&rig, HEAD "\"id\":5,\"method\":\"resources/read\",\"params\":{\"uri\":\"%\"}}\n");
    expect_start(&rig, ERROR("5", "-32602"));
    say(&rig, HEAD "\"id\":6,\"method\":\"resources/read\",\"params\":{}}\n");
    expect_start(&rig, ERROR("6", "-32602"));
    rig_done(&rig);
}

static void request_split_inside_a_character(void **state)
{
    static const char line[] =
        HEAD "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":"
             "{\"message\":\"\xE2\x80\x94 \xF0\x9F\x99\x82 \xC3\xA9\"}}}\n";
    static const char answer[] =
        HEAD "\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\xE2\x80\x94 "
             "\xF0\x9F\x99\x82 \xC3\xA9\"}],\"isError\":false}}";
    struct rig rig;

    (void)state;
    rig_open(&rig);
    for (size_t i = 0; i < sizeof line - 1; i++) { /* PRO-02: byte by byte */
        say_bytes(&rig, line + i, 1);
        uv_run(&rig.loop, UV_RUN_NOWAIT);
    }
    expect(&rig, answer);
    for (size_t cut = 1; cut < sizeof line - 1; cut++) {
        say_bytes(&rig, line, cut);
        uv_run(&rig.loop, UV_RUN_NOWAIT);
        say_bytes(&rig, line + cut, sizeof line - 1 - cut);
        expect(&rig, answer);
    }
    rig_done(&rig);
}

/* ---- calls ----------------------------------------------------------------------------- */

static int wanted_held;

static bool are_held(struct rig *rig)
{
    (void)rig;
    return held_count == wanted_held;
}

static void hold_calls(struct rig *rig, int first_id, int count)
{
    wanted_held = held_count + count;
    for (int i = 0; i < count; i++)
        say_call(rig, first_id + i, "hold", "{}");
    run_until(rig, are_held);
}

static void answer_held(int index, const char *text)
{
    sb_call_text(held[index], text, strlen(text));
    sb_call_reply(held[index], false);
    held[index] = NULL;
}

#define ANSWER(id, text)                                                                                     \
    HEAD "\"id\":" id ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"" text                        \
         "\"}],\"isError\":false}}"

static void calls_are_answered_in_any_order_and_ping_meanwhile(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    hold_calls(&rig, 1, 3);
    say_ping(&rig, 10);
    expect_pong(&rig, 10);
    answer_held(2, "three");
    answer_held(0, "one");
    expect(&rig, ANSWER("3", "three"));
    expect(&rig, ANSWER("1", "one"));
    answer_held(1, "two");
    expect(&rig, ANSWER("2", "two"));
    rig_done(&rig);
}

static void cancelled_call_is_never_answered(void **state)
{
    static const char cancel[] =
        HEAD "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%s}}\n";
    static const char *const others[] = {"\"2\"", "77", "null", "2.0", "{}"};
    char text[200];
    struct rig rig;

    (void)state;
    rig_open(&rig);
    hold_calls(&rig, 1, 3);
    for (size_t i = 0; i < SB_COUNT(others); i++) {
        snprintf(text, sizeof text, cancel, others[i]);
        say(&rig, text);
    }
    say(&rig, HEAD "\"method\":\"notifications/cancelled\"}\n");
    expect_quiet(&rig);
    assert_int_equal(cancelled_count, 0);
    snprintf(text, sizeof text, cancel, "2");
    say(&rig, text);
    say(&rig, text);
    expect_quiet(&rig);
    assert_int_equal(cancelled_count, 1);
    assert_null(held[1]);
    answer_held(0, "one");
    answer_held(2, "three");
    expect(&rig, ANSWER("1", "one"));
    expect(&rig, ANSWER("3", "three"));
    snprintf(text, sizeof text, cancel, "3");
    say(&rig, text); /* finished */
    expect_quiet(&rig);
    rig_done(&rig);
}

static void id_of_an_open_call_cannot_be_used_again(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    hold_calls(&rig, 1, 1);
    say_ping(&rig, 1);
    expect_start(&rig, NO_ID("-32600") "a call with the id 1 is still open");
    answer_held(0, "one");
    expect(&rig, ANSWER("1", "one"));
    say_ping(&rig, 1);
    expect_pong(&rig, 1);
    rig_done(&rig);
}

static void too_many_open_calls_are_refused(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    hold_calls(&rig, 1000, SB_MCP_OPEN_MAX);
    say_call(&rig, 1, "hold", "{}");
    expect_start(&rig, ERROR("1", "-32603") "busy: 256 calls");
    answer_held(7, "seven");
    expect(&rig, ANSWER("1007", "seven"));
    hold_calls(&rig, 2, 1);
    rig_done(&rig);
    assert_int_equal(cancelled_count, SB_MCP_OPEN_MAX);
}

static void client_that_hangs_up_has_its_calls_cancelled(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    hold_calls(&rig, 1, 3);
    hang_up(&rig);
    run_until(&rig, is_closed);
    assert_int_equal(cancelled_count, 3);
    rig_done(&rig);
    assert_int_equal(rig.at, 0);
}

static bool is_said(struct rig *rig)
{
    return big_count == 1 && uv_stream_get_write_queue_size((uv_stream_t *)&rig->to) == 0;
}

static void answers_before_the_end_still_leave(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    stop_reading(&rig);
    say_ping(&rig, 1);
    say_call(&rig, 2, "big", "{\"bytes\":3000000}");
    say_ping(&rig, 3);
    run_until(&rig, is_said);
    hang_up(&rig);
    read_on(&rig);
    expect_pong(&rig, 1);
    expect_start(&rig, HEAD "\"id\":2,\"result\"");
    expect_pong(&rig, 3);
    rig_done(&rig);
}

static void closed_server_cancels_and_rings_last(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    hold_calls(&rig, 1, 2);
    sb_mcp_close(rig.mcp);
    assert_int_equal(cancelled_count, 2);
    assert_false(rig.closed);
    run_until(&rig, is_closed);
    rig_done(&rig);
}

static void errors_of_tools_say_how_to_mend(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    say_call(&rig, 1, "fail", "{}");
    expect(&rig, HEAD "\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"no such "
                      "session\\nmake one first\"}],"
                      "\"isError\":true}}");
    rig_done(&rig);
}

static void links_become_text_for_old_clients(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    say_call(&rig, 1, "rich", "{}");
    expect(&rig, HEAD "\"id\":1,\"result\":{\"content\":[{\"type\":\"image\",\"data\":\"iVBORw==\","
                      "\"mimeType\":\"image/png\"},"
                      "{\"type\":\"resource_link\",\"uri\":\"sandbox://run/r_1/a.csv\",\"name\":\"a.csv\","
                      "\"mimeType\":\"text/csv\",\"size\":12}],\"isError\":false}}");
    initialize(&rig, "2025-03-26");
    say_call(&rig, 2, "rich", "{}");
    expect(&rig, HEAD "\"id\":2,\"result\":{\"content\":[{\"type\":\"image\",\"data\":\"iVBORw==\","
                      "\"mimeType\":\"image/png\"},"
                      "{\"type\":\"text\",\"text\":\"a.csv (text/csv, 12 bytes): "
                      "sandbox://run/r_1/a.csv\"}],\"isError\":false}}");
    rig_done(&rig);
}

static void progress_echoes_the_token_and_is_rare(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    wanted_held = 3;
    say(&rig, HEAD "\"id\":1,\"method\":\"tools/"
                   "call\",\"params\":{\"name\":\"hold\",\"_meta\":{\"progressToken\":\"t\\u0041\"}}}\n" HEAD
                   "\"id\":2,\"method\":\"tools/"
                   "call\",\"params\":{\"name\":\"hold\",\"_meta\":{\"progressToken\":7}}}\n" HEAD
                   "\"id\":3,\"method\":\"tools/"
                   "call\",\"params\":{\"name\":\"hold\",\"_meta\":{\"progressToken\":null}}}\n");
    run_until(&rig, are_held);
    sb_call_progress(held[0], 5400, "step \"3\"");
    sb_call_progress(held[0], 5500, "too soon");
    sb_call_progress(held[1], 0, "");
    sb_call_progress(held[2], 0, "nobody asked");
    expect(&rig, HEAD
           "\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"t\\u0041\",\"progress\":5,"
           "\"message\":\"5 s: step \\\"3\\\"\"}}");
    expect(&rig, HEAD "\"method\":\"notifications/progress\",\"params\":{\"progressToken\":7,\"progress\":0,"
                      "\"message\":\"0 s\"}}");
    expect_quiet(&rig);
    rig_done(&rig);
}

static void batch_waits_for_its_last_answer(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    initialize(&rig, "2025-03-26");
    wanted_held = 2;
    say(&rig, "[" HEAD "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"}}," HEAD
              "\"method\":\"x\"}," HEAD "\"id\":2,\"method\":\"ping\"}," HEAD
              "\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"}}]\n");
    run_until(&rig, are_held);
    expect_quiet(&rig);
    say(&rig, HEAD "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n");
    expect_quiet(&rig);
    answer_held(1, "three");
    expect(&rig, "[" PONG("2") "," ANSWER("3", "three") "]");
    rig_done(&rig);
}

static void batch_has_a_longest_length(void **state)
{
    struct sb_buf text;
    struct rig rig;

    (void)state;
    rig_open(&rig);
    initialize(&rig, "2025-03-26");
    sb_buf_init(&text, 10000);
    for (int i = 0; i <= SB_RPC_BATCH_MAX; i++)
        sb_buf_addf(&text, "%c" HEAD "\"method\":\"x\"}", i == 0 ? '[' : ',');
    sb_buf_adds(&text, "]\n");
    say(&rig, text.data);
    expect_start(&rig, NO_ID("-32600") "a batch has 1 to 50 messages, not 51");
    sb_buf_done(&text);
    rig_done(&rig);
}

static void batch_that_grows_too_long_says_so_by_id(void **state)
{
    struct rig rig;
    const char *line;
    size_t len = 0;

    (void)state;
    rig_open(&rig);
    initialize(&rig, "2025-03-26");
    say(&rig, "[" HEAD "\"id\":1,\"method\":\"tools/"
              "call\",\"params\":{\"name\":\"big\",\"arguments\":{\"bytes\":4000000}}}," HEAD
              "\"id\":2,\"method\":\"tools/"
              "call\",\"params\":{\"name\":\"big\",\"arguments\":{\"bytes\":4000000}}}]\n");
    line = next_line(&rig, &len);
    assert_true(len <= SB_CONN_LINE_OUT);
    assert_memory_equal(line, "[" HEAD "\"id\":1,\"result\"", 33);
    line = rig.seen.data + rig.at - 100;
    assert_non_null(strstr(
        line, "\"id\":2,\"error\":{\"code\":-32603,\"message\":\"the answer is larger than 4 MiB\"}}]"));
    rig_done(&rig);
}

/* ---- sizes ----------------------------------------------------------------------------- */

static void answer_over_the_cap_is_an_error_of_its_id(void **state)
{
    struct rig rig;
    size_t len = 0;

    (void)state;
    rig_open(&rig);
    say_call(&rig, 1, "big", "{\"bytes\":4194304}");
    expect(&rig, ERROR("1", "-32603") "the answer is larger than 4 MiB\"}}");
    say_call(&rig, 2, "big", "{\"bytes\":4194220}"); /* the content fits, the whole line does not */
    expect(&rig, ERROR("2", "-32603") "the answer is larger than 4 MiB\"}}");
    say_call(&rig, 3, "big", "{\"bytes\":4194180}");
    next_line(&rig, &len);
    assert_in_range(len, SB_CONN_LINE_OUT - 100, SB_CONN_LINE_OUT);
    rig_done(&rig);
}

static void endless_line_is_one_error_and_the_next_is_served(void **state)
{
    char *block = sb_alloc(1024 * 1024);
    struct rig rig;

    (void)state;
    memset(block, 'x', 1024 * 1024);
    rig_open(&rig);
    for (int i = 0; i < 20; i++)
        say_bytes(&rig, block, 1024 * 1024);
    expect(&rig, NO_ID("-32700") "the line is longer than 16 MiB\"}}");
    say(&rig, "\n");
    say_ping(&rig, 1);
    expect_pong(&rig, 1);
    expect_quiet(&rig);
    sb_free(block);
    rig_done(&rig);
}

static bool is_paused(struct rig *rig)
{
    return big_count >= 9 && uv_stream_get_write_queue_size((uv_stream_t *)&rig->to) == 0;
}

#define FLOOD 64

/* A client that asks for 64 MB and reads nothing: only what fits the queue is worked on. */
static void flood(struct rig *rig)
{
    stop_reading(rig);
    for (int i = 0; i < FLOOD; i++)
        say_call(rig, i, "big", "{\"bytes\":1000000}");
    run_until(rig, is_paused);
    for (int i = 0; i < 20; i++)
        uv_run(&rig->loop, UV_RUN_NOWAIT);
    assert_in_range(big_count, 9, 10); /* 8 MiB, and what the pipe took */
}

static void slow_client_is_not_worked_for_until_it_reads(void **state)
{
    char start[100];
    struct rig rig;

    (void)state;
    rig_open(&rig);
    flood(&rig);
    read_on(&rig);
    for (int i = 0; i < FLOOD; i++) {
        snprintf(start, sizeof start, HEAD "\"id\":%d,\"result\"", i);
        expect_start(&rig, start);
    }
    assert_int_equal(big_count, FLOOD);
    expect_quiet(&rig);
    rig_done(&rig);
}

static void end_of_a_client_that_does_not_read_is_seen(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    hold_calls(&rig, 1000, 1);
    flood(&rig);
    hang_up(&rig);
    run_until(&rig, is_closed);
    assert_int_equal(cancelled_count, 1);
    assert_in_range(big_count, 9, 10);
    rig_done(&rig);
}

static void client_that_writes_on_without_reading_is_not_kept_in_memory(void **state)
{
    char *block = sb_alloc(1024 * 1024);
    struct rig rig;

    (void)state;
    memset(block, '\n', 1024 * 1024);
    rig_open(&rig);
    flood(&rig);
    for (int i = 0; i < 4; i++)
        say_bytes(&rig, block, 1024 * 1024);
    for (int i = 0; i < 200; i++)
        uv_run(&rig.loop, UV_RUN_NOWAIT);
    assert_true(uv_stream_get_write_queue_size((uv_stream_t *)&rig.to) > 3 * 1024 * 1024);
    read_on(&rig);
    for (int i = 0; i < FLOOD; i++)
        expect_start(&rig, HEAD "\"id\":");
    expect_quiet(&rig);
    sb_free(block);
    rig_done(&rig);
}

static void client_that_never_takes_its_answers_is_given_up(void **state)
{
    char *text = sb_alloc(1000001);
    struct rig rig;

    (void)state;
    memset(text, 'x', 1000000);
    rig_open(&rig);
    hold_calls(&rig, 1, 100);
    stop_reading(&rig);
    for (int i = 0; i < 70; i++)
        answer_held(i, text);
    run_until(&rig, is_closed);
    assert_int_equal(cancelled_count, 30);
    sb_free(text);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probes_are_answered_as_the_facts_say),
        cmocka_unit_test(initialize_says_who_we_are),
        cmocka_unit_test(tools_are_listed_with_what_differs_from_the_defaults),
        cmocka_unit_test(resources_are_listed_and_read),
        cmocka_unit_test(request_split_inside_a_character),
        cmocka_unit_test(calls_are_answered_in_any_order_and_ping_meanwhile),
        cmocka_unit_test(cancelled_call_is_never_answered),
        cmocka_unit_test(id_of_an_open_call_cannot_be_used_again),
        cmocka_unit_test(too_many_open_calls_are_refused),
        cmocka_unit_test(client_that_hangs_up_has_its_calls_cancelled),
        cmocka_unit_test(answers_before_the_end_still_leave),
        cmocka_unit_test(closed_server_cancels_and_rings_last),
        cmocka_unit_test(errors_of_tools_say_how_to_mend),
        cmocka_unit_test(links_become_text_for_old_clients),
        cmocka_unit_test(progress_echoes_the_token_and_is_rare),
        cmocka_unit_test(batch_waits_for_its_last_answer),
        cmocka_unit_test(batch_has_a_longest_length),
        cmocka_unit_test(batch_that_grows_too_long_says_so_by_id),
        cmocka_unit_test(answer_over_the_cap_is_an_error_of_its_id),
        cmocka_unit_test(endless_line_is_one_error_and_the_next_is_served),
        cmocka_unit_test(slow_client_is_not_worked_for_until_it_reads),
        cmocka_unit_test(end_of_a_client_that_does_not_read_is_seen),
        cmocka_unit_test(client_that_writes_on_without_reading_is_not_kept_in_memory),
        cmocka_unit_test(client_that_never_takes_its_answers_is_given_up),
    };

    return cmocka_run_group_tests_name("mcp", tests, NULL, NULL);
}
