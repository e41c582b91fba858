/* SPDX-License-Identifier: MIT
 * Our own stdin and stdout as others leave them: non-blocking, with a slow other end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "cli/feed.h"
#include "cli/sink.h"

#define BYTES (200u * 1024) /* more than a pipe holds */

static uv_loop_t loop;
static char fed[16];
static size_t fed_len;
static bool fed_end;

size_t sb_run_send(struct sb_run *run, const void *bytes, size_t len)
{
    (void)run;
    assert_true(len <= sizeof fed - fed_len);
    memcpy(fed + fed_len, bytes, len);
    fed_len += len;
    return len;
}

void sb_run_send_end(struct sb_run *run)
{
    (void)run;
    fed_end = true;
}

static void open_pipe(int *ends)
{
    assert_int_equal(pipe(ends), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(fcntl(ends[i], F_SETFL, O_NONBLOCK), 0);
}

static size_t written;

static void on_written(struct sb_sink *sink, size_t bytes)
{
    assert_int_equal(sink->error, 0);
    written += bytes;
}

static void a_non_blocking_stdout_is_waited_for(void **state)
{
    static char bytes[BYTES];
    struct sb_sink sink;
    int ends[2];
    size_t got = 0;

    (void)state;
    written = 0;
    open_pipe(ends);
    sb_sink_init(&sink, &loop, ends[1], on_written, NULL);
    sb_sink_add(&sink, bytes, sizeof bytes);
    for (int i = 0; i < 3; i++) /* one write, and the pipe is full */
        uv_run(&loop, UV_RUN_ONCE);
    assert_int_equal(written, 0);
    assert_false(sb_sink_idle(&sink));
    while (got < sizeof bytes) {
        ssize_t piece = read(ends[0], bytes, sizeof bytes);

        got += piece > 0 ? (size_t)piece : 0;
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(written, sizeof bytes);
    assert_true(sb_sink_idle(&sink));
    sb_sink_done(&sink);
    close(ends[0]);
    close(ends[1]);
}

static void a_non_blocking_stdin_is_not_an_empty_one(void **state)
{
    static struct sb_feed feed;
    int ends[2];

    (void)state;
    open_pipe(ends);
    sb_feed_start(&feed, &loop, ends[0], (struct sb_run *)&feed); /* only its being there is looked at */
    for (int i = 0; i < 3; i++)
        uv_run(&loop, UV_RUN_ONCE);
    assert_false(fed_end);
    assert_int_equal(write(ends[1], "hello", 5), 5);
    close(ends[1]);
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
    assert_true(fed_end);
    assert_int_equal(fed_len, 5);
    assert_false(sb_feed_stop(&feed));
    close(ends[0]);
}

static int set_up(void **state)
{
    (void)state;
    return uv_loop_init(&loop);
}

static int tear_down(void **state)
{
    (void)state;
    return uv_loop_close(&loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_non_blocking_stdout_is_waited_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_non_blocking_stdin_is_not_an_empty_one, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
