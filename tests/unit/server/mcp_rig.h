/* SPDX-License-Identifier: MIT
 * A client and the server in one loop, and tools that do as the test says. For mcp_test.c
 * only. Everything waits for what happens, never for time. */
#ifndef SB_TEST_MCP_RIG_H
#define SB_TEST_MCP_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "platform/stop.h"
#include "server/mcp.h"
#include "server/mcp_inner.h"
#include "server/resource.h"
#include "server/tool.h"

#define HELD_MAX 300
#define WAIT_MS  20000 /* then the test has failed */

/* ---- the host and its tools ------------------------------------------------------------ */

struct sb_host {
    uv_loop_t *loop;
};

uv_loop_t *sb_host_loop(struct sb_host *host)
{
    return host->loop;
}

int sb_resource_read(struct sb_host *host, const char *peer, const char *uri, struct sb_buf *out,
                     struct sb_err *err)
{
    (void)host;
    if (strcmp(uri, "sandbox://languages") != 0)
        return sb_fail(err, strchr(uri, '%') ? SB_BAD_REQUEST : SB_NOT_FOUND, "no such resource");
    sb_buf_addf(out, "[{\"uri\":\"%s\",\"text\":\"for %s\"}]", uri, peer);
    return 0;
}

static struct sb_call *held[HELD_MAX]; /* calls of `hold`, in the order of their start */
static int held_count, cancelled_count, big_count;

struct echo_args {
    char *message;
    int64_t times;
};

static void start_echo(struct sb_call *call, void *args)
{
    const struct echo_args *echo = args;

    assert_int_equal(echo->times, 1);
    sb_call_text(call, echo->message, strlen(echo->message));
    sb_call_reply(call, false);
}

static void start_hold(struct sb_call *call, void *args)
{
    (void)args;
    assert_true(held_count < HELD_MAX);
    sb_call_set(call, &held[held_count]);
    held[held_count++] = call;
}

static void cancel_hold(struct sb_call *call)
{
    struct sb_call **place = sb_call_get(call);

    *place = NULL;
    cancelled_count++;
    sb_call_reply(call, false); /* a tool that is muddled: this must do nothing */
}

/* Answers with a text of so many bytes. */
static void start_big(struct sb_call *call, void *args)
{
    const struct echo_args *echo = args;
    size_t len = (size_t)echo->times;
    char *text = sb_alloc(len + 1);

    big_count++;
    memset(text, 'x', len);
    sb_call_text(call, text, len);
    sb_call_reply(call, false);
    sb_free(text);
}

static void start_rich(struct sb_call *call, void *args)
{
    (void)args;
    sb_call_image(call, "\x89PNG", 4, "image/png");
    sb_call_link(call, "sandbox://run/r_1/a.csv", "a.csv", "text/csv", 12);
    sb_call_reply(call, false);
}

static void start_fail(struct sb_call *call, void *args)
{
    struct sb_err err;

    (void)args;
    sb_fail(&err, SB_NOT_FOUND, "no such session");
    sb_call_fail(call, &err, "make one first");
}

static void cancel_never(struct sb_call *call)
{
    (void)call;
    fail();
}

static const struct sb_field echo_fields[] = {
    {.name = "message",
     .type = SB_FIELD_STRING,
     .flags = SB_FIELD_REQUIRED,
     .at = offsetof(struct echo_args, message),
     .most = 1000000,
     .text = "What to say."},
    {.name = "times",
     .type = SB_FIELD_INT,
     .at = offsetof(struct echo_args, times),
     .least = 1,
     .most = 9,
     .fallback = "1",
     .text = "How often."},
    {.name = NULL},
};
static const struct sb_field big_fields[] = {
    {.name = "bytes",
     .type = SB_FIELD_INT,
     .at = offsetof(struct echo_args, times),
     .least = 0,
     .most = 1e8,
     .fallback = "1000000",
     .text = "How much."},
    {.name = NULL},
};
static const struct sb_field no_fields[] = {{.name = NULL}};
static const struct sb_tool tool_rows[] = {
    {"echo", "Echo", "Says it again.", true, true, echo_fields, sizeof(struct echo_args), start_echo,
     cancel_never},
    {"hold", "Hold", "Answers later.", false, false, no_fields, 0, start_hold, cancel_hold},
    {"big", "Big", "Says much.", false, false, big_fields, sizeof(struct echo_args), start_big, cancel_never},
    {"rich", "Rich", "Shows.", false, false, no_fields, 0, start_rich, cancel_never},
    {"fail", "Fail", "Fails.", false, false, no_fields, 0, start_fail, cancel_never},
};
const struct sb_tool *const sb_tools[] = {&tool_rows[0], &tool_rows[1], &tool_rows[2],
                                          &tool_rows[3], &tool_rows[4], NULL};

/* ---- the client ------------------------------------------------------------------------ */

struct rig {
    uv_loop_t loop;
    struct sb_host host;
    struct sb_mcp *mcp;
    uv_pipe_t to, from; /* the client's ends */
    bool to_open, closed, late;
    uv_timer_t guard;
    struct sb_buf seen; /* what the client has read */
    size_t at;          /* where the next line starts */
    char line[4096];    /* the last one, cut */
};

static void on_late(uv_timer_t *timer)
{
    ((struct rig *)timer->data)->late = true;
}

static bool is_closed(struct rig *rig)
{
    return rig->closed;
}

static void run_until(struct rig *rig, bool (*done)(struct rig *rig))
{
    rig->late = false;
    uv_timer_start(&rig->guard, on_late, WAIT_MS, 0);
    while (!done(rig) && !rig->late)
        uv_run(&rig->loop, UV_RUN_ONCE);
    uv_timer_stop(&rig->guard);
    assert_false(rig->late);
}

static void on_mcp_closed(void *ctx)
{
    ((struct rig *)ctx)->closed = true;
}

static void on_space(uv_handle_t *handle, size_t suggested, uv_buf_t *space)
{
    struct rig *rig = handle->data;

    (void)suggested;
    *space = uv_buf_init(sb_buf_reserve(&rig->seen, 65536), 65536);
}

static void on_answer(uv_stream_t *stream, ssize_t count, const uv_buf_t *space)
{
    struct rig *rig = stream->data;

    (void)space;
    if (count < 0)
        uv_read_stop(stream);
    else
        rig->seen.len += (size_t)count;
}

static void read_on(struct rig *rig)
{
    assert_int_equal(uv_read_start((uv_stream_t *)&rig->from, on_space, on_answer), 0);
}

static void stop_reading(struct rig *rig)
{
    uv_read_stop((uv_stream_t *)&rig->from);
}

static void rig_open(struct rig *rig)
{
    uv_file up[2], down[2];
    struct sb_err err;

    memset(rig, 0, sizeof *rig);
    held_count = cancelled_count = big_count = 0;
    sb_stop_prepare(); /* a client that hangs up must not end us */
    assert_int_equal(uv_loop_init(&rig->loop), 0);
    rig->host.loop = &rig->loop;
    sb_buf_init(&rig->seen, 256u * 1024 * 1024);
    uv_timer_init(&rig->loop, &rig->guard);
    uv_pipe_init(&rig->loop, &rig->to, 0);
    uv_pipe_init(&rig->loop, &rig->from, 0);
    rig->guard.data = rig->to.data = rig->from.data = rig;
    assert_int_equal(uv_pipe(up, UV_NONBLOCK_PIPE, UV_NONBLOCK_PIPE), 0);
    assert_int_equal(uv_pipe(down, UV_NONBLOCK_PIPE, UV_NONBLOCK_PIPE), 0);
    assert_int_equal(uv_pipe_open(&rig->to, up[1]), 0);
    assert_int_equal(uv_pipe_open(&rig->from, down[0]), 0);
    rig->to_open = true;
    assert_int_equal(sb_mcp_open(&rig->host, up[0], down[1], "uid:1", on_mcp_closed, rig, &rig->mcp, &err),
                     0);
    read_on(rig);
}

static void on_said(uv_write_t *request, int status)
{
    (void)status;
    sb_free(request);
}

static void say_bytes(struct rig *rig, const char *bytes, size_t len)
{
    uv_write_t *request = sb_alloc(sizeof *request + len);
    uv_buf_t piece = uv_buf_init((char *)(request + 1), (unsigned)len);

    memcpy(piece.base, bytes, len);
    assert_int_equal(uv_write(request, (uv_stream_t *)&rig->to, &piece, 1, on_said), 0);
}

static void say(struct rig *rig, const char *text)
{
    say_bytes(rig, text, strlen(text));
}

static void say_call(struct rig *rig, int id, const char *tool, const char *arguments)
{
    char text[4096];

    snprintf(text, sizeof text,
             "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/"
             "call\",\"params\":{\"name\":\"%s\",\"arguments\":%s}}\n",
             id, tool, arguments);
    say(rig, text);
}

static void say_ping(struct rig *rig, int id)
{
    char text[100];

    snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}\n", id);
    say(rig, text);
}

static bool has_line(struct rig *rig)
{
    return memchr(rig->seen.data + rig->at, '\n', rig->seen.len - rig->at) != NULL;
}

/* The next line that the client reads, cut to 4 KiB; *len is its whole length. */
static const char *next_line(struct rig *rig, size_t *len)
{
    const char *line;

    run_until(rig, has_line);
    line = rig->seen.data + rig->at;
    *len = (size_t)((const char *)memchr(line, '\n', rig->seen.len - rig->at) - line);
    snprintf(rig->line, sizeof rig->line, "%.*s", (int)*len, line);
    rig->at += *len + 1;
    return rig->line;
}

static void expect(struct rig *rig, const char *line)
{
    size_t len = 0;

    assert_string_equal(next_line(rig, &len), line);
}

static void expect_start(struct rig *rig, const char *start)
{
    size_t len = 0;
    const char *line = next_line(rig, &len);

    if (strncmp(line, start, strlen(start)) != 0)
        assert_string_equal(line, start);
}

static void expect_pong(struct rig *rig, int id)
{
    char text[100];

    snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{}}", id);
    expect(rig, text);
}

/* Nothing was said that the test has not looked at: a ping comes back next. */
static void expect_quiet(struct rig *rig)
{
    say_ping(rig, 987654);
    expect_pong(rig, 987654);
    assert_int_equal(rig->at, rig->seen.len);
}

static void initialize(struct rig *rig, const char *version)
{
    char text[200];

    snprintf(
        text, sizeof text,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"%s\"}}\n",
        version);
    say(rig, text);
    snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"%s\"",
             version);
    expect_start(rig, text);
}

/* The client ends its side; it still reads. */
static void hang_up(struct rig *rig)
{
    uv_close((uv_handle_t *)&rig->to, NULL);
    rig->to_open = false;
}

static void rig_done(struct rig *rig)
{
    if (rig->to_open)
        hang_up(rig);
    run_until(rig, is_closed);
    uv_close((uv_handle_t *)&rig->from, NULL);
    uv_close((uv_handle_t *)&rig->guard, NULL);
    uv_run(&rig->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&rig->loop), 0);
    sb_buf_done(&rig->seen);
}

#endif
