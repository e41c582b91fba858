/* SPDX-License-Identifier: MIT
 * The bridge between a client and a service that are both the test: what it keeps, and what
 * it lets through. Nothing waits for time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "platform/stop.h"
#include "server/bridge.h"
#include "server/conn.h"
#include "server/line.h"

#define TEXT_MAX (96u * 1024 * 1024)
#define LINE     (1024u * 1024)     /* of the long ones */
#define SOCKETS  (2u * 1024 * 1024) /* what the system may keep in sockets and pipes of ours */
#define STILL    50                 /* turns without news: it stands */

/* Our ends: what the client reads is `answers`, what the service reads `requests`. */
struct rig {
    uv_loop_t loop;
    struct sb_bridge *bridge;
    int service, client_in, client_out;
    struct sb_buf requests, answers;
    bool service_reads, client_reads, service_ended;
    int closes;
    struct sb_err why;
    int in, out; /* what the bridge reads and writes */
};

static void on_closed(void *ctx, const struct sb_err *why)
{
    struct rig *rig = ctx;

    rig->closes++;
    rig->bridge = NULL;
    if (why)
        rig->why = *why;
}

/* Connected; the service has been asked, and has not answered. */
static void connect_rig(struct rig *rig)
{
    uv_pipe_t *stream = sb_alloc(sizeof *stream);
    int pair[2], in[2], out[2];

    memset(rig, 0, sizeof *rig);
    sb_stop_prepare();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    assert_int_equal(uv_loop_init(&rig->loop), 0);
    uv_pipe_init(&rig->loop, stream, 0);
    assert_int_equal(uv_pipe_open(stream, pair[0]), 0);
    rig->service = pair[1];
    rig->client_in = in[1];
    rig->client_out = out[0];
    fcntl(rig->service, F_SETFL, O_NONBLOCK);
    fcntl(rig->client_in, F_SETFL, O_NONBLOCK);
    fcntl(rig->client_out, F_SETFL, O_NONBLOCK);
    sb_buf_init(&rig->requests, TEXT_MAX);
    sb_buf_init(&rig->answers, TEXT_MAX);
    rig->service_reads = rig->client_reads = true;
    rig->in = in[0];
    rig->out = out[1];
    rig->bridge = sb_bridge_open(&(const struct sb_bridge_want){.service = stream,
                                                                .ours = true,
                                                                .fd_in = in[0],
                                                                .fd_out = out[1],
                                                                .on_closed = on_closed,
                                                                .ctx = rig});
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_rig(struct rig *rig)
{
    if (rig->bridge)
        sb_bridge_close(rig->bridge);
    uv_run(&rig->loop, UV_RUN_DEFAULT);
    assert_int_equal(rig->closes, 1);
    assert_int_equal(uv_loop_close(&rig->loop), 0);
    close_fd(&rig->service);
    close_fd(&rig->client_in);
    close_fd(&rig->client_out);
    sb_buf_done(&rig->requests);
    sb_buf_done(&rig->answers);
}

static bool take(int fd, struct sb_buf *to, bool *end)
{
    char *space = sb_buf_reserve(to, 64 * 1024);
    ssize_t count = fd < 0 ? -1 : read(fd, space, 64 * 1024);

    to->len += count > 0 ? (size_t)count : 0;
    if (count == 0 && end)
        *end = true;
    return count > 0;
}

/* Turns the loop until nothing is read or written any more. `fd` gets `text` meanwhile; the
 * count of it that was taken. */
static size_t turn(struct rig *rig, int fd, const char *text, size_t len)
{
    size_t done = 0;

    for (int still = 0; still < STILL; still++) {
        ssize_t count = done < len ? write(fd, text + done, len - done) : 0;

        if (count > 0) {
            done += (size_t)count;
            still = 0;
        }
        uv_run(&rig->loop, UV_RUN_NOWAIT);
        if (rig->service_reads && take(rig->service, &rig->requests, &rig->service_ended))
            still = 0;
        if (rig->client_reads && take(rig->client_out, &rig->answers, NULL))
            still = 0;
    }
    return done;
}

static void client_sends(struct rig *rig, const char *text)
{
    assert_int_equal(turn(rig, rig->client_in, text, strlen(text)), strlen(text));
}

static void service_sends(struct rig *rig, const char *text)
{
    assert_int_equal(turn(rig, rig->service, text, strlen(text)), strlen(text));
}

static void check(struct sb_buf *got, const char *wanted)
{
    sb_buf_addc(got, '\0');
    assert_string_equal(got->data, wanted);
    sb_buf_clear(got);
}

static size_t count_lines(const struct sb_buf *text)
{
    size_t count = 0;

    for (size_t i = 0; i < text->len; i++)
        count += text->data[i] == '\n';
    return count;
}

/* `count` notifications of LINE bytes each. */
static char *long_lines(size_t count)
{
    static const char head[] = "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"y\":\"";
    char *text = sb_alloc(count * LINE);

    memset(text, 'z', count * LINE);
    for (size_t i = 0; i < count; i++) {
        memcpy(text + i * LINE, head, sizeof head - 1);
        memcpy(text + (i + 1) * LINE - 4, "\"}}\n", 4);
    }
    return text;
}

static void open_rig(struct rig *rig)
{
    connect_rig(rig);
    turn(rig, -1, NULL, 0);
    check(&rig->requests, "{\"jsonrpc\":\"2.0\",\"id\":\"llm-sandbox bridge\",\"method\":\"ping\"}\n");
    service_sends(rig, "{\"jsonrpc\":\"2.0\",\"id\":\"llm-sandbox bridge\",\"result\":{}}\n");
    check(&rig->answers, "");
}

/* ---- the tests ----------------------------------------------------------------------- */

static void lines_pass_as_they_are(void **state)
{
    static const char asked[] = "{ \"jsonrpc\":\"2.0\",  \"id\":1.0,\"method\":\"\\u0070ing\"}\n"
                                "not json\n[]\n",
                      answered[] = "{\"jsonrpc\":\"2.0\",\"id\":1.0, \"result\":{}}\n";
    struct rig rig;

    (void)state;
    open_rig(&rig);
    client_sends(&rig, asked);
    check(&rig.requests, asked);
    service_sends(&rig, answered);
    check(&rig.answers, answered);
    close_rig(&rig);
}

static void service_that_reads_nothing_holds_the_client(void **state)
{
    size_t len = 24 * LINE, taken;
    char *text = long_lines(24);
    struct rig rig;

    (void)state;
    open_rig(&rig);
    rig.service_reads = false;
    taken = turn(&rig, rig.client_in, text, len);
    assert_in_range(taken, SB_CONN_QUEUE_MAX, SB_CONN_QUEUE_MAX + LINE + SB_CONN_HELD_MAX + SOCKETS);
    service_sends(&rig, "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n"); /* the other way is free */
    check(&rig.answers, "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n");
    rig.service_reads = true;
    assert_int_equal(turn(&rig, rig.client_in, text + taken, len - taken), len - taken);
    assert_int_equal(rig.requests.len, len);
    assert_memory_equal(rig.requests.data, text, len);
    sb_free(text);
    close_rig(&rig);
}

static void client_that_reads_nothing_holds_the_service(void **state)
{
    size_t len = 24 * LINE, taken;
    char *text = long_lines(24);
    struct rig rig;

    (void)state;
    open_rig(&rig);
    rig.client_reads = false;
    taken = turn(&rig, rig.service, text, len);
    assert_in_range(taken, SB_CONN_QUEUE_MAX, SB_CONN_QUEUE_MAX + LINE + SB_CONN_HELD_MAX + SOCKETS);
    assert_true(turn(&rig, rig.client_in, text, len) < SB_CONN_HELD_MAX + SOCKETS); /* and may ask no more */
    rig.client_reads = true;
    assert_int_equal(turn(&rig, rig.service, text + taken, len - taken), len - taken);
    assert_int_equal(rig.answers.len, len);
    assert_memory_equal(rig.answers.data, text, len);
    sb_free(text);
    close_rig(&rig);
}

static void expect_untouched(struct rig *rig)
{
    char bytes[8];

    while (rig->closes == 0)
        uv_run(&rig->loop, UV_RUN_ONCE);
    assert_int_equal(rig->why.code, SB_BUSY);
    assert_int_equal(read(rig->in, bytes, sizeof bytes), 5);
    assert_memory_equal(bytes, "early", 5);
    close_fd(&rig->in);
    close_fd(&rig->out);
    close_rig(rig);
}

static void service_that_turns_us_away_leaves_the_client_as_it_is(void **state)
{
    struct rig rig;

    (void)state;
    connect_rig(&rig);
    assert_int_equal(write(rig.client_in, "early", 5), 5);
    close_fd(&rig.service);
    expect_untouched(&rig);
}

static void service_that_hangs_from_the_start_does_too(void **state)
{
    struct rig rig;

    (void)state;
    connect_rig(&rig);
    assert_int_equal(write(rig.client_in, "early", 5), 5);
    expect_untouched(&rig);
}

static void so_many_calls_may_be_open(void **state)
{
    struct sb_buf text;
    struct rig rig;

    (void)state;
    open_rig(&rig);
    sb_buf_init(&text, TEXT_MAX);
    for (unsigned i = 0; i < SB_BRIDGE_CALLS_MAX + 100; i++)
        sb_buf_addf(&text, "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"ping\"}\n", i);
    turn(&rig, rig.client_in, text.data, text.len);
    assert_int_equal(count_lines(&rig.requests), SB_BRIDGE_CALLS_MAX);
    service_sends(
        &rig,
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":1000,\"result\":{}}\n");
    assert_int_equal(count_lines(&rig.requests), SB_BRIDGE_CALLS_MAX + 2);
    service_sends(&rig, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n"); /* of none that is open */
    assert_int_equal(count_lines(&rig.requests), SB_BRIDGE_CALLS_MAX + 2);
    sb_buf_done(&text);
    close_rig(&rig);
}

static void last_answers_reach_a_client_that_has_ended(void **state)
{
    static const char answered[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
    struct rig rig;

    (void)state;
    open_rig(&rig);
    client_sends(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    close_fd(&rig.client_in);
    while (!rig.service_ended)
        turn(&rig, -1, NULL, 0);
    service_sends(&rig, answered);
    check(&rig.answers, answered);
    close_fd(&rig.service);
    while (rig.closes == 0)
        uv_run(&rig.loop, UV_RUN_ONCE);
    close_rig(&rig);
}

static void service_that_hangs_does_not_keep_a_client_that_has_ended(void **state)
{
    struct rig rig;

    (void)state;
    open_rig(&rig);
    close_fd(&rig.client_in);
    while (rig.closes == 0)
        uv_run(&rig.loop, UV_RUN_ONCE);
    close_rig(&rig);
}

static void calls_that_are_open_when_the_service_goes_are_answered(void **state)
{
    struct rig rig;

    (void)state;
    open_rig(&rig);
    client_sends(
        &rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}\n"
              "[{\"jsonrpc\":\"2.0\",\"id\":\"two\",\"method\":\"tools/list\"},"
              "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}]\n"
              "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\"}\n"
              "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"initialize\"}\n"
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":3}}\n");
    service_sends(&rig, "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}\n");
    sb_buf_clear(&rig.answers);
    close_fd(&rig.service);
    while (count_lines(&rig.answers) < 2)
        turn(&rig, -1, NULL, 0);
    assert_int_equal(count_lines(&rig.answers),
                     2); /* not the cancelled, not the answered; initialize waits */
    sb_buf_addc(&rig.answers, '\0');
    assert_non_null(strstr(rig.answers.data,
                           "\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"The llm-sandbox "
                           "service was restarted"));
    assert_non_null(strstr(rig.answers.data, "\"isError\":true"));
    assert_non_null(strstr(rig.answers.data, "\"id\":\"two\",\"error\":{\"code\":-32603,"));
    close_rig(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_pass_as_they_are),
        cmocka_unit_test(service_that_reads_nothing_holds_the_client),
        cmocka_unit_test(client_that_reads_nothing_holds_the_service),
        cmocka_unit_test(service_that_turns_us_away_leaves_the_client_as_it_is),
        cmocka_unit_test(service_that_hangs_from_the_start_does_too),
        cmocka_unit_test(so_many_calls_may_be_open),
        cmocka_unit_test(last_answers_reach_a_client_that_has_ended),
        cmocka_unit_test(service_that_hangs_does_not_keep_a_client_that_has_ended),
        cmocka_unit_test(calls_that_are_open_when_the_service_goes_are_answered),
    };

    return cmocka_run_group_tests_name("bridge", tests, NULL, NULL);
}
