/* SPDX-License-Identifier: MIT
 * The kinds of descriptors a client may give us. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "platform/stop.h"
#include "server/conn.h"

/* Echoes every line in brackets. */
struct echo {
    uv_loop_t loop;
    struct sb_conn *conn;
    int ends, closes, too_long;
};

static void on_line(void *ctx, const char *line, size_t len)
{
    struct echo *echo = ctx;
    char *text = sb_asprintf("[%.*s]", (int)len, line);

    sb_conn_send(echo->conn, text, strlen(text));
    sb_free(text);
}

static void on_too_long(void *ctx)
{
    ((struct echo *)ctx)->too_long++;
}

static void on_end(void *ctx)
{
    struct echo *echo = ctx;

    echo->ends++;
    assert_int_equal(echo->closes, 0);
    sb_conn_close(echo->conn);
    sb_conn_close(echo->conn);
    sb_conn_send(echo->conn, "too late", 8);
}

static void on_closed(void *ctx)
{
    ((struct echo *)ctx)->closes++;
}

static int open_echo(struct echo *echo, int fd_in, int fd_out)
{
    struct sb_conn_events events = {echo, on_line, on_too_long, on_end, on_closed, NULL};
    struct sb_err err;

    memset(echo, 0, sizeof *echo);
    sb_stop_prepare();
    assert_int_equal(uv_loop_init(&echo->loop), 0);
    return sb_conn_open(&echo->loop, fd_in, fd_out, &events, &echo->conn, &err);
}

/* Until the end of input has closed it; nothing of it is left in the loop then. */
static void run_to_the_end(struct echo *echo)
{
    uv_run(&echo->loop, UV_RUN_DEFAULT);
    assert_int_equal(echo->ends, 1);
    assert_int_equal(echo->closes, 1);
    assert_int_equal(uv_loop_close(&echo->loop), 0);
}

static int temporary_file(const char *text)
{
    char path[] = "/tmp/sb-conn-XXXXXX";
    int fd = mkstemp(path);

    assert_true(fd > 2);
    unlink(path);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* All there is, up to the end: of a terminal that is an error. */
static void check_text(int fd, const char *wanted)
{
    char text[200] = "";
    size_t len = 0;
    ssize_t count;

    while ((count = read(fd, text + len, sizeof text - 1 - len)) > 0)
        len += (size_t)count;
    assert_string_equal(text, wanted);
}

static void files_are_read_and_written(void **state)
{
    int in = temporary_file("one\ntwo\nno end"), out = temporary_file(""), copy = dup(out);
    struct echo echo;

    (void)state;
    assert_int_equal(open_echo(&echo, in, out), 0);
    run_to_the_end(&echo);
    assert_false(is_open(in));
    assert_false(is_open(out));
    lseek(copy, 0, SEEK_SET);
    check_text(copy, "[one]\n[two]\n");
    close(copy);
}

static void null_device_is_an_end_at_once(void **state)
{
    struct echo echo;

    (void)state;
    assert_int_equal(open_echo(&echo, open("/dev/null", O_RDONLY), open("/dev/null", O_WRONLY)), 0);
    run_to_the_end(&echo);
}

static void one_socket_may_be_both(void **state)
{
    int pair[2];
    struct echo echo;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(open_echo(&echo, pair[0], pair[0]), 0);
    assert_int_equal(write(pair[1], "one\ntwo\n", 8), 8);
    shutdown(pair[1], SHUT_WR);
    run_to_the_end(&echo);
    check_text(pair[1], "[one]\n[two]\n");
    assert_false(is_open(pair[0]));
    close(pair[1]);
}

static void two_descriptors_of_one_socket(void **state)
{
    int pair[2];
    struct echo echo;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(open_echo(&echo, pair[0], dup(pair[0])), 0);
    assert_int_equal(write(pair[1], "one\n", 4), 4);
    shutdown(pair[1], SHUT_WR);
    run_to_the_end(&echo);
    check_text(pair[1], "[one]\n");
    close(pair[1]);
}

static void terminal_is_read_and_written(void **state)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY), terminal, copy;
    struct echo echo;

    (void)state;
    assert_true(master > 2);
    assert_int_equal(grantpt(master) | unlockpt(master), 0);
    terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    copy = dup(terminal);
    assert_int_equal(open_echo(&echo, terminal, copy), 0);
    assert_int_equal(write(master, "one\n\x04", 5), 5);
    run_to_the_end(&echo);
    close(terminal); /* libuv works on descriptors that it opened anew */
    close(copy);
    check_text(master, "one\r\n[one]\r\n");
    close(master);
}

static void reader_that_is_gone_is_an_end(void **state)
{
    int in[2], out[2];
    struct echo echo;

    (void)state;
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    close(out[0]);
    assert_int_equal(open_echo(&echo, in[0], out[1]), 0);
    assert_int_equal(write(in[1], "one\n", 4), 4);
    run_to_the_end(&echo); /* though the input goes on */
    close(in[1]);
}

static void reader_that_stands_still_does_not_hold_up_the_close(void **state)
{
    int in[2], out[2];
    char *text = sb_alloc(1000001);
    struct echo echo;

    (void)state;
    memset(text, 'x', 1000000);
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    assert_int_equal(open_echo(&echo, in[0], out[1]), 0);
    sb_conn_send(echo.conn, text, 1000000);
    close(in[1]);
    run_to_the_end(&echo);
    close(out[0]);
    sb_free(text);
}

static void what_is_no_stream_is_refused(void **state)
{
    int udp = socket(AF_INET, SOCK_DGRAM, 0), in[2];
    struct echo echo;

    (void)state;
    assert_int_equal(pipe(in), 0);
    assert_int_equal(open_echo(&echo, in[0], udp), -1);
    uv_run(&echo.loop, UV_RUN_DEFAULT);
    assert_int_equal(echo.ends + echo.closes, 0);
    assert_int_equal(uv_loop_close(&echo.loop), 0);
    assert_false(is_open(in[0]));
    assert_false(is_open(udp));
    close(in[1]);
}

static void stream_that_was_accepted_is_adopted(void **state)
{
    struct echo echo = {0};
    struct sb_conn_events events = {&echo, on_line, on_too_long, on_end, on_closed, NULL};
    uv_pipe_t *stream = sb_alloc(sizeof *stream);
    int pair[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(uv_loop_init(&echo.loop), 0);
    uv_pipe_init(&echo.loop, stream, 0);
    assert_int_equal(uv_pipe_open(stream, pair[0]), 0);
    echo.conn = sb_conn_adopt(stream, &events);
    assert_int_equal(write(pair[1], "one\n", 4), 4);
    shutdown(pair[1], SHUT_WR);
    run_to_the_end(&echo);
    check_text(pair[1], "[one]\n");
    close(pair[1]);
}

/* ---- for owners that join two of them ------------------------------------------------- */

/* Over one end of a socket; the test is at the other, `far`. */
struct owner {
    uv_loop_t loop;
    struct sb_conn *conn;
    int fd, far;
    int lines, ends, closes, drains;
    int hold_after; /* in on_line, behind so many lines */
};

static void owner_line(void *ctx, const char *line, size_t len)
{
    struct owner *owner = ctx;

    (void)line;
    (void)len;
    if (++owner->lines == owner->hold_after)
        sb_conn_hold(owner->conn, true);
}

static void owner_end(void *ctx)
{
    ((struct owner *)ctx)->ends++;
}

static void owner_closed(void *ctx)
{
    ((struct owner *)ctx)->closes++;
}

static void owner_drained(void *ctx)
{
    ((struct owner *)ctx)->drains++;
}

static void open_owner(struct owner *owner)
{
    struct sb_conn_events events = {owner, owner_line, NULL, owner_end, owner_closed, owner_drained};
    struct sb_err err;
    int pair[2];

    memset(owner, 0, sizeof *owner);
    sb_stop_prepare();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    owner->fd = pair[0];
    owner->far = pair[1];
    fcntl(owner->far, F_SETFL, O_NONBLOCK);
    assert_int_equal(uv_loop_init(&owner->loop), 0);
    assert_int_equal(sb_conn_open(&owner->loop, pair[0], pair[0], &events, &owner->conn, &err), 0);
}

static void close_owner(struct owner *owner)
{
    close(owner->far);
    sb_conn_close(owner->conn);
    uv_run(&owner->loop, UV_RUN_DEFAULT);
    assert_int_equal(owner->closes, 1);
    assert_int_equal(uv_loop_close(&owner->loop), 0);
}

/* The conn reads all of it. */
static void write_far(struct owner *owner, const char *text)
{
    int left = 1;

    assert_int_equal(write(owner->far, text, strlen(text)), strlen(text));
    while (left > 0) {
        uv_run(&owner->loop, UV_RUN_NOWAIT);
        assert_int_equal(ioctl(owner->fd, FIONREAD, &left), 0);
    }
}

/* What it has sent, up to the end or until nothing more comes at once. */
static size_t read_far(struct owner *owner, bool *end)
{
    char piece[64 * 1024];
    size_t len = 0;
    ssize_t count;

    while ((count = read(owner->far, piece, sizeof piece)) > 0)
        len += (size_t)count;
    *end = count == 0;
    return len;
}

static void held_conn_gives_no_line(void **state)
{
    struct owner owner;

    (void)state;
    open_owner(&owner);
    sb_conn_hold(owner.conn, true);
    write_far(&owner, "one\ntwo\nthr");
    assert_int_equal(owner.lines, 0);
    sb_conn_hold(owner.conn, false);
    assert_int_equal(owner.lines, 2);
    write_far(&owner, "ee\n");
    assert_int_equal(owner.lines, 3);
    close_owner(&owner);
}

static void conn_may_be_held_by_a_line(void **state)
{
    struct owner owner;

    (void)state;
    open_owner(&owner);
    owner.hold_after = 2;
    write_far(&owner, "one\ntwo\nthree\n");
    assert_int_equal(owner.lines, 2);
    sb_conn_hold(owner.conn, false);
    assert_int_equal(owner.lines, 3);
    close_owner(&owner);
}

static void held_conn_reads_no_more_than_it_may_keep(void **state)
{
    char *text = sb_alloc(64 * 1024);
    struct owner owner;
    size_t taken = 0;
    ssize_t count;
    int left = 0;

    (void)state;
    open_owner(&owner);
    memset(text, '\n', 64 * 1024);
    sb_conn_hold(owner.conn, true);
    do { /* until the socket stays full */
        count = write(owner.far, text, 64 * 1024);
        taken += count > 0 ? (size_t)count : 0;
        uv_run(&owner.loop, UV_RUN_NOWAIT);
        assert_true(taken < 4 * SB_CONN_HELD_MAX + 4 * 1024 * 1024);
    } while (count > 0);
    assert_int_equal(ioctl(owner.fd, FIONREAD, &left), 0);
    assert_in_range(taken - (size_t)left, SB_CONN_HELD_MAX, SB_CONN_HELD_MAX + 64 * 1024);
    sb_free(text);
    close_owner(&owner);
}

static void held_conn_sees_the_end(void **state)
{
    struct owner owner;

    (void)state;
    open_owner(&owner);
    sb_conn_hold(owner.conn, true);
    shutdown(owner.far, SHUT_WR);
    while (owner.ends == 0)
        uv_run(&owner.loop, UV_RUN_ONCE);
    assert_int_equal(owner.lines, 0);
    close_owner(&owner);
}

static void full_conn_reads_on_and_tells_when_it_is_drained(void **state)
{
    size_t len = SB_CONN_QUEUE_MAX + 1024 * 1024, taken = 0;
    char *text = sb_alloc(len);
    struct owner owner;
    bool end = false;

    (void)state;
    open_owner(&owner);
    memset(text, 'x', len);
    sb_conn_send(owner.conn, text, 10);
    assert_false(sb_conn_is_full(owner.conn));
    sb_conn_send(owner.conn, text, len);
    assert_true(sb_conn_is_full(owner.conn));
    write_far(&owner, "one\n");
    assert_int_equal(owner.lines, 1);
    assert_int_equal(owner.drains, 0);
    while (owner.drains == 0) {
        taken += read_far(&owner, &end);
        uv_run(&owner.loop, UV_RUN_ONCE);
    }
    assert_false(sb_conn_is_full(owner.conn));
    while (taken < len + 12) {
        taken += read_far(&owner, &end);
        uv_run(&owner.loop, UV_RUN_NOWAIT);
    }
    assert_int_equal(taken, len + 12);
    assert_int_equal(owner.drains, 1);
    assert_false(end);
    sb_free(text);
    close_owner(&owner);
}

static void finished_conn_sends_what_is_queued_then_its_end_and_still_reads(void **state)
{
    size_t len = 1024 * 1024, taken = 0;
    char *text = sb_alloc(len);
    struct owner owner;
    bool end = false;

    (void)state;
    open_owner(&owner);
    memset(text, 'x', len);
    sb_conn_send(owner.conn, text, len);
    sb_conn_finish(owner.conn);
    sb_conn_finish(owner.conn);
    sb_conn_send(owner.conn, "too late", 8);
    while (!end) {
        uv_run(&owner.loop, UV_RUN_NOWAIT);
        taken += read_far(&owner, &end);
    }
    assert_int_equal(taken, len + 1);
    write_far(&owner, "one\n");
    assert_int_equal(owner.lines, 1);
    sb_free(text);
    close_owner(&owner);
}

static void who_has_ended_is_still_sent_to(void **state)
{
    struct owner owner;
    bool end = false;

    (void)state;
    open_owner(&owner);
    shutdown(owner.far, SHUT_WR);
    while (owner.ends == 0)
        uv_run(&owner.loop, UV_RUN_ONCE);
    sb_conn_send(owner.conn, "last", 4);
    uv_run(&owner.loop, UV_RUN_NOWAIT);
    assert_int_equal(read_far(&owner, &end), 5);
    close_owner(&owner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_and_written),
        cmocka_unit_test(null_device_is_an_end_at_once),
        cmocka_unit_test(one_socket_may_be_both),
        cmocka_unit_test(two_descriptors_of_one_socket),
        cmocka_unit_test(terminal_is_read_and_written),
        cmocka_unit_test(reader_that_is_gone_is_an_end),
        cmocka_unit_test(reader_that_stands_still_does_not_hold_up_the_close),
        cmocka_unit_test(what_is_no_stream_is_refused),
        cmocka_unit_test(stream_that_was_accepted_is_adopted),
        cmocka_unit_test(held_conn_gives_no_line),
        cmocka_unit_test(conn_may_be_held_by_a_line),
        cmocka_unit_test(held_conn_reads_no_more_than_it_may_keep),
        cmocka_unit_test(held_conn_sees_the_end),
        cmocka_unit_test(full_conn_reads_on_and_tells_when_it_is_drained),
        cmocka_unit_test(finished_conn_sends_what_is_queued_then_its_end_and_still_reads),
        cmocka_unit_test(who_has_ended_is_still_sent_to),
    };

    return cmocka_run_group_tests_name("conn", tests, NULL, NULL);
}
