/* SPDX-License-Identifier: MIT
 * The order of things, ids, caps, and how the guest ends. */
#include "fake_host.h"

#include <stdio.h>
#include <string.h>

static void hello_is_sent_before_anything_is_read(void **state)
{
    (void)state;
    struct fake_host *host = host_new(); /* expects HELLO without a turn */
    host_free(host);
}

static void start_tells_about_own_pids(void **state)
{
    struct fake_host *host = *state;
    assert_true(host->os.own_pids);
}

static void the_first_frame_must_be_start(void **state)
{
    (void)state;
    struct fake_host *host = host_new();
    send_get(host, 1, "a", 0, 0);
    settle(host);
    expect_protocol_error(host, "START");
    host_free(host);
}

static void another_version_is_refused(void **state)
{
    (void)state;
    struct fake_host *host = host_new();
    send_start(host, SB_WIRE_VERSION + 1, sb_wire_build_id(), 0);
    settle(host);
    expect_protocol_error(host, "version 2");
    host_free(host);
}

static void another_build_is_refused(void **state)
{
    (void)state;
    struct fake_host *host = host_new();
    char build[SB_WIRE_BUILD_LEN + 1];
    memcpy(build, sb_wire_build_id(), sizeof build);
    build[0] = build[0] == '0' ? '1' : '0';
    send_start(host, SB_WIRE_VERSION, build, 0);
    settle(host);
    expect_protocol_error(host, "build");
    host_free(host);
}

static void a_second_start_breaks_the_protocol(void **state)
{
    struct fake_host *host = *state;
    send_start(host, SB_WIRE_VERSION, sb_wire_build_id(), 0);
    settle(host);
    expect_protocol_error(host, "second START");
}

/* ---- what breaks the protocol, a row each ---- */

static void garbage(struct fake_host *host)
{
    sb_buf_adds(&host->os.from_host, "GET / HTTP/1.1\r\n");
}

static void message_of_the_guest(struct fake_host *host)
{
    send_frame(host, SB_MSG_DONE, SB_CHAN_IN, 1);
}

static void reused_id(struct fake_host *host)
{
    send_get(host, 5, "none", 0, 0);
    send_get(host, 5, "none", 0, 0);
}

static void lower_id(struct fake_host *host)
{
    send_path(host, SB_MSG_REMOVE, 5, "none");
    send_path(host, SB_MSG_REMOVE, 4, "none");
}

static void unknown_id(struct fake_host *host)
{
    send_frame(host, SB_MSG_KILL, SB_CHAN_IN, 1);
}

static void kill_of_a_put(struct fake_host *host)
{
    send_put(host, 1, "a");
    send_frame(host, SB_MSG_KILL, SB_CHAN_IN, 1);
}

static void interrupt_of_a_put(struct fake_host *host)
{
    send_put(host, 1, "a");
    send_frame(host, SB_MSG_INTERRUPT, SB_CHAN_IN, 1);
}

static void cancel_of_a_run(struct fake_host *host)
{
    send_exec(host, 1, 0, NULL);
    send_frame(host, SB_MSG_CANCEL, SB_CHAN_IN, 1);
}

static void data_for_a_run_without_stdin(struct fake_host *host)
{
    send_exec(host, 1, 0, NULL);
    send_data(host, 1, "x", 1);
}

static void data_after_end(struct fake_host *host)
{
    send_exec(host, 1, SB_EXEC_STDIN, NULL);
    send_frame(host, SB_MSG_END, SB_CHAN_IN, 1);
    send_data(host, 1, "x", 1);
}

static void data_on_an_output(struct fake_host *host)
{
    send_exec(host, 1, SB_EXEC_STDIN, NULL);
    sb_wire_put_frame(&host->os.from_host, SB_MSG_DATA, SB_CHAN_OUT, 1, "x", 1);
}

static void credit_for_a_put(struct fake_host *host)
{
    send_put(host, 1, "a");
    send_credit(host, SB_CHAN_OUT, 1, 1);
}

static void credit_for_stdin(struct fake_host *host)
{
    send_exec(host, 1, SB_EXEC_STDIN, NULL);
    send_credit(host, SB_CHAN_IN, 1, 1);
}

static void credit_beyond_the_window(struct fake_host *host)
{
    send_exec(host, 1, 0, NULL);
    send_credit(host, SB_CHAN_ERR, 1, 1);
}

static void stdin_beyond_credit(struct fake_host *host)
{
    static char bytes[SB_WIRE_WINDOW + 1];
    send_put(host, 1, "slow"); /* so that the run waits and takes nothing */
    send_exec(host, 2, SB_EXEC_STDIN, NULL);
    send_data(host, 2, bytes, sizeof bytes);
}

static void breaking_the_protocol_ends_the_box(void **state)
{
    static const struct {
        void (*send)(struct fake_host *);
        const char *text;
        bool is_after_error; /* the answer to an earlier, good frame comes first */
    } rows[] = {
        {garbage, "unknown type", false},
        {message_of_the_guest, "guest's to send", false},
        {reused_id, "not new", true},
        {lower_id, "not new", true},
        {unknown_id, "never opened", false},
        {kill_of_a_put, "no run", false},
        {interrupt_of_a_put, "no run", false},
        {cancel_of_a_run, "KILL", false},
        {data_for_a_run_without_stdin, "takes no bytes", false},
        {data_after_end, "takes no bytes", false},
        {data_on_an_output, "takes no bytes", false},
        {credit_for_a_put, "sends no bytes", false},
        {credit_for_stdin, "sends no bytes", false},
        {credit_beyond_the_window, "more credit", false},
        {stdin_beyond_credit, "more bytes", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        host_setup(state);
        struct fake_host *host = *state;
        rows[i].send(host);
        settle(host);
        if (rows[i].is_after_error)
            expect_frame(host, SB_MSG_ERROR, SB_CHAN_IN, 5);
        expect_protocol_error(host, rows[i].text);
        host_teardown(state);
    }
}

static void frames_that_cross_an_answer_are_ignored(void **state)
{
    struct fake_host *host = *state;
    send_get(host, 7, "none", 0, 0);
    settle(host);
    expect_error(host, 7, SB_NOT_FOUND, "none");
    send_frame(host, SB_MSG_KILL, SB_CHAN_IN, 7);
    send_frame(host, SB_MSG_INTERRUPT, SB_CHAN_IN, 7);
    send_frame(host, SB_MSG_CANCEL, SB_CHAN_IN, 7);
    send_data(host, 7, "x", 1);
    send_frame(host, SB_MSG_END, SB_CHAN_IN, 7);
    send_credit(host, SB_CHAN_OUT, 7, 100);
    settle(host);
    assert_false(host->os.ended);
}

static void one_operation_too_many_is_an_error_of_its_own(void **state)
{
    struct fake_host *host = *state;
    char path[16];
    for (uint32_t id = 1; id <= SB_WIRE_OPS_MAX + 1; id++) {
        snprintf(path, sizeof path, "f%u", id);
        send_put(host, id, path);
    }
    send_get(host, 100, "f1", 0, 0);
    send_path(host, SB_MSG_LIST, 101, "");
    settle(host);
    expect_error(host, SB_WIRE_OPS_MAX + 1, SB_LIMIT, "open already");
    expect_error(host, 100, SB_LIMIT, "open already");
    expect_error(host, 101, SB_LIMIT, "open already");
    send_frame(host, SB_MSG_END, SB_CHAN_IN, 1); /* one place is free again */
    send_get(host, 102, "f1", 0, 0);
    settle(host);
    expect_frame(host, SB_MSG_DONE, SB_CHAN_IN, 1);
    expect_frame(host, SB_MSG_END, SB_CHAN_OUT, 102);
}

static void one_run_too_many_is_an_error_of_its_own(void **state)
{
    struct fake_host *host = *state;
    for (uint32_t id = 1; id <= SB_WIRE_RUNS_MAX + 1; id++)
        send_exec(host, id, 0, NULL);
    settle(host);
    expect_error(host, SB_WIRE_RUNS_MAX + 1, SB_LIMIT, "runs");
    assert_int_equal(host->os.run_count, SB_WIRE_RUNS_MAX);
    fake_exit(host->os.runs[0], 0, false);
    settle(host);
    expect_exit_by(host, 1, SB_EXITED, 0, SB_LIMIT_NONE);
    send_exec(host, 20, 0, NULL);
    settle(host);
    assert_int_equal(host->os.run_count, SB_WIRE_RUNS_MAX + 1);
}

/* ---- the end of stdin ---- */

static void stdin_end_ends_an_idle_box(void **state)
{
    struct fake_host *host = *state;
    host->os.host_ended = true;
    settle(host);
    assert_true(host->os.ended);
    assert_int_equal(host->os.end_code, SB_GUEST_END);
}

static void stdin_end_ends_a_running_box(void **state)
{
    struct fake_host *host = *state;
    started(host, 1, 0, NULL);
    host->os.host_ended = true;
    settle(host);
    assert_true(host->os.ended);
    assert_int_equal(host->os.end_code, SB_GUEST_END);
}

static void stdin_end_ends_a_box_blocked_on_a_full_stdout(void **state)
{
    static char bytes[100000];
    struct fake_host *host = *state;
    struct sb_gos_run *run = started(host, 1, 0, NULL);
    host->os.pipe_room = 0;
    fake_print(run, SB_CHAN_OUT, bytes, sizeof bytes);
    settle(host);
    assert_true(host->os.want_write);
    host->os.host_ended = true;
    settle(host);
    assert_true(host->os.ended);
    assert_int_equal(host->os.end_code, SB_GUEST_END);
}

/* ---- the queue to the host ---- */

static void all_answers_of_a_turn_leave_in_one_write(void **state)
{
    struct fake_host *host = *state;
    for (uint32_t id = 1; id <= 20; id++)
        send_path(host, SB_MSG_REMOVE, id, "none");
    sb_guest_turn(host->guest);
    assert_int_equal(host->os.writes, 1);
    for (uint32_t id = 1; id <= 20; id++)
        expect_error(host, id, SB_NOT_FOUND, "none");
}

static void a_full_pipe_is_written_to_when_it_drains(void **state)
{
    struct fake_host *host = *state;
    host->os.pipe_room = 5;
    send_path(host, SB_MSG_REMOVE, 1, "none");
    settle(host);
    assert_true(host->os.want_write);
    host->os.pipe_room = SIZE_MAX;
    settle(host);
    assert_false(host->os.want_write);
    expect_error(host, 1, SB_NOT_FOUND, "none");
}

static void frames_are_read_while_the_pipe_is_full(void **state)
{
    struct fake_host *host = *state;
    struct sb_gos_run *run = started(host, 1, 0, NULL);
    host->os.pipe_room = 0;
    send_path(host, SB_MSG_REMOVE, 2, "none");
    settle(host);
    send_frame(host, SB_MSG_KILL, SB_CHAN_IN, 1);
    settle(host);
    assert_int_equal(run->kills, 1);
    host->os.pipe_room = SIZE_MAX;
    settle(host);
    expect_error(host, 2, SB_NOT_FOUND, "none");
    expect_exit_by(host, 1, SB_SIGNALLED, 9, SB_LIMIT_NONE);
}

static void a_host_that_never_reads_answers_ends_the_box(void **state)
{
    struct fake_host *host = *state;
    uint32_t id = 0;
    char path[250]; /* quoted in the answer, so that a few thousand are enough */
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    host->os.pipe_room = 0;
    while (!host->os.ended && id < 1000000) {
        for (int i = 0; i < 2000; i++)
            send_path(host, SB_MSG_REMOVE, ++id, path);
        settle(host);
        assert_true(host->guest->out.len <= SB_GUEST_QUEUE_MAX);
    }
    assert_true(host->os.ended);
    assert_int_equal(host->os.end_code, SB_GUEST_PROTOCOL);
}

static void frames_may_arrive_byte_by_byte(void **state)
{
    struct fake_host *host = *state;
    struct sb_buf whole;
    send_file(host, 1, "a", "text");
    whole = host->os.from_host;
    sb_buf_init(&host->os.from_host, 1000);
    for (size_t i = 0; i < whole.len; i++) {
        sb_buf_addc(&host->os.from_host, whole.data[i]);
        settle(host);
    }
    expect_frame(host, SB_MSG_DONE, SB_CHAN_IN, 1);
    assert_string_equal(fake_file(&host->os, "a")->data.data, "text");
    sb_buf_done(&whole);
}

int main(void)
{
#define SERVED(test) cmocka_unit_test_setup_teardown(test, host_setup, host_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hello_is_sent_before_anything_is_read),
        SERVED(start_tells_about_own_pids),
        cmocka_unit_test(the_first_frame_must_be_start),
        cmocka_unit_test(another_version_is_refused),
        cmocka_unit_test(another_build_is_refused),
        SERVED(a_second_start_breaks_the_protocol),
        cmocka_unit_test(breaking_the_protocol_ends_the_box),
        SERVED(frames_that_cross_an_answer_are_ignored),
        SERVED(one_operation_too_many_is_an_error_of_its_own),
        SERVED(one_run_too_many_is_an_error_of_its_own),
        SERVED(stdin_end_ends_an_idle_box),
        SERVED(stdin_end_ends_a_running_box),
        SERVED(stdin_end_ends_a_box_blocked_on_a_full_stdout),
        SERVED(all_answers_of_a_turn_leave_in_one_write),
        SERVED(a_full_pipe_is_written_to_when_it_drains),
        SERVED(frames_are_read_while_the_pipe_is_full),
        SERVED(a_host_that_never_reads_answers_ends_the_box),
        SERVED(frames_may_arrive_byte_by_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
