/* SPDX-License-Identifier: MIT
 * A host that breaks the protocol gets ERROR 0 and no box; every cap holds. */
#include "wire/suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "guest/guest.h"

static void hello_tells_version_build_and_pid(void **state)
{
    struct fixture *f = ready_box(state);

    assert_int_equal(f->client.hello.version, SB_WIRE_VERSION);
    assert_string_equal(f->client.hello.build, sb_wire_build_id());
    assert_int_equal(f->client.hello.os, under_wine() ? SB_WIRE_WINDOWS : SB_WIRE_LINUX);
    if (!under_wine())
        assert_int_equal(f->client.hello.pid == 1, as_pid1());
}

static void a_first_frame_of_garbage_ends_the_box(void **state)
{
    struct fixture *f = open_box(state);
    int status = 0;

    sb_buf_adds(&f->client.out, "GET / HTTP/1.1\r\nHost: guest\r\n\r\n");
    must(f, client_wait_ended(&f->client, soon_ms));
    assert_true(f->client.gave_up);
    assert_true(box_wait(&f->box, soon_ms, &status));
    if (!under_wine())
        assert_int_equal(WEXITSTATUS(status), SB_GUEST_PROTOCOL);
}

static void nothing_comes_before_start(void **state)
{
    struct fixture *f = open_box(state);

    client_list(&f->client, "");
    assert_gives_up(f);
}

static void start_comes_once(void **state)
{
    struct fixture *f = ready_box(state);

    client_start(&f->client, start_flags());
    assert_gives_up(f);
}

static void start_wrong(void **state, uint32_t version, char build_digit)
{
    struct fixture *f = open_box(state);
    struct sb_wire_start start = {.version = version};

    memcpy(start.build, sb_wire_build_id(), SB_WIRE_BUILD_LEN);
    if (build_digit != '\0')
        start.build[0] = start.build[0] == build_digit ? '0' : build_digit;
    sb_wire_put_start(&f->client.out, &start);
    assert_gives_up(f);
}

static void another_version_is_refused(void **state)
{
    start_wrong(state, SB_WIRE_VERSION + 1, '\0');
}

static void another_build_is_refused(void **state)
{
    start_wrong(state, SB_WIRE_VERSION, 'a');
}

static void an_id_is_used_once(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op = RUN(f, "exit", "0");

    sb_wire_put_path(&f->client.out, SB_MSG_LIST, op->id, "");
    assert_gives_up(f);
}

static void id_0_is_no_operation(void **state)
{
    struct fixture *f = ready_box(state);

    sb_wire_put_path(&f->client.out, SB_MSG_LIST, 0, "");
    assert_gives_up(f);
}

static void frames_of_a_guest_are_not_the_hosts(void **state)
{
    struct fixture *f = ready_box(state);

    sb_wire_put_frame(&f->client.out, SB_MSG_DONE, SB_CHAN_IN, 1, NULL, 0);
    assert_gives_up(f);
}

static void frames_for_an_operation_never_opened_end_the_box(void **state)
{
    struct fixture *f = ready_box(state);

    sb_wire_put_frame(&f->client.out, SB_MSG_DATA, SB_CHAN_IN, 4000, "x", 1);
    assert_gives_up(f);
}

static void a_huge_length_is_refused_on_its_header(void **state)
{
    static const unsigned char header[] = {255, 255, 255, 255, SB_MSG_PUT, 0, 0, 0, 1, 0, 0, 0};
    struct fixture *f = ready_box(state);

    sb_buf_add(&f->client.out, header, sizeof(header));
    assert_gives_up(f);
}

static void left_over_bytes_are_refused(void **state)
{
    struct fixture *f = ready_box(state);
    size_t begin = f->client.out.len;

    sb_wire_put_path(&f->client.out, SB_MSG_LIST, 1, "");
    f->client.out.data[begin]++; /* one byte longer */
    sb_buf_addc(&f->client.out, 0);
    assert_gives_up(f);
}

static void half_a_frame_is_not_waited_for_after_the_end(void **state)
{
    struct fixture *f = ready_box(state);

    sb_buf_add(&f->client.out, "\x04\0\0\0\x01", 5);
    must(f, client_flush(&f->client, soon_ms));
    box_end_input(&f->box);
    assert_true(box_wait(&f->box, soon_ms, NULL));
}

static void data_beyond_the_credit_ends_the_box(void **state)
{
    static const char bytes[SB_WIRE_DATA_MAX];
    struct fixture *f = ready_box(state);
    struct client_op *op = START(f, &(struct run_want){.flags = SB_EXEC_STDIN}, "sleep", f->token);

    /* The program reads nothing, so all that can come back is what its pipe took. */
    for (int i = 0; i < 32; i++)
        sb_wire_put_frame(&f->client.out, SB_MSG_DATA, SB_CHAN_IN, op->id, bytes, sizeof(bytes));
    op->credit = 0;
    assert_gives_up(f);
    assert_true(box_token_gone(f->token, under_wine() ? soon_ms : 3000));
}

static void credit_over_the_window_ends_the_box(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op = START(f, &(struct run_want){0}, "sleep", f->token);

    sb_wire_put_credit(&f->client.out, SB_CHAN_OUT, op->id, SB_WIRE_WINDOW + 1);
    assert_gives_up(f);
}

static void late_frames_of_an_ended_run_are_harmless(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op = RUN(f, "pattern", "10", "10");

    assert_exited(op, 0);
    client_simple(&f->client, SB_MSG_KILL, op);
    client_simple(&f->client, SB_MSG_INTERRUPT, op);
    client_simple(&f->client, SB_MSG_CANCEL, op);
    sb_wire_put_credit(&f->client.out, SB_CHAN_OUT, op->id, 10);
    assert_still_serves(f);
}

/* ---- caps ----------------------------------------------------------------------------- */

static void operations_have_a_cap(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *last = NULL;
    char name[32];

    for (int i = 0; i <= SB_WIRE_OPS_MAX; i++) {
        snprintf(name, sizeof(name), "f%d", i);
        last = client_put(&f->client, name, 0);
    }
    finish(f, last);
    assert_error(last);
    assert_int_equal(last->error.code, SB_LIMIT);
    for (int i = 0; i < SB_WIRE_OPS_MAX; i++)
        client_send_end(&f->client, &f->client.ops[i]);
    for (int i = 0; i < SB_WIRE_OPS_MAX; i++) {
        finish(f, &f->client.ops[i]);
        assert_int_equal(f->client.ops[i].last, SB_MSG_DONE);
    }
}

static void runs_have_a_cap(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *ops[SB_WIRE_RUNS_MAX + 1];

    for (int i = 0; i <= SB_WIRE_RUNS_MAX; i++)
        ops[i] = START(f, &(struct run_want){.flags = SB_EXEC_STDIN}, "echo");
    finish(f, ops[SB_WIRE_RUNS_MAX]);
    assert_error(ops[SB_WIRE_RUNS_MAX]);
    assert_int_equal(ops[SB_WIRE_RUNS_MAX]->error.code, SB_LIMIT);
    for (int i = 0; i < SB_WIRE_RUNS_MAX; i++)
        client_send_end(&f->client, ops[i]);
    for (int i = 0; i < SB_WIRE_RUNS_MAX; i++) {
        finish(f, ops[i]);
        assert_exited(ops[i], 0);
    }
    assert_still_serves(f);
}

/* An EXEC of empty strings: `extra` more of them than the encoder can be made to write. */
static void exec_of_empty_strings(struct fixture *f, uint32_t extra)
{
    enum { AT_COUNT = SB_WIRE_HEADER + 4 + 48 + 4 }; /* flags, limits, an empty cwd */
    struct sb_wire_exec exec = {.flags = 0};
    size_t begin = f->client.out.len;
    struct sb_buf *out = &f->client.out;

    for (int i = 0; i < SB_WIRE_ARGS_MAX; i++)
        sb_argv_push(&exec.argv, "");
    client_exec(&f->client, &exec);
    sb_wire_exec_done(&exec);
    assert_false(out->full);
    for (uint32_t i = 0; i < extra; i++) /* a length of 0 is four zero bytes */
        sb_buf_add(out, "\0\0\0\0", 4);
    for (int i = 0; i < 4; i++) {
        uint32_t len = (uint32_t)(out->len - begin - SB_WIRE_HEADER), count = SB_WIRE_ARGS_MAX + extra;
        assert_int_equal((unsigned char)out->data[begin + AT_COUNT + (size_t)i],
                         (unsigned char)(SB_WIRE_ARGS_MAX >> (8 * i)));
        out->data[begin + (size_t)i] = (char)(len >> (8 * i));
        out->data[begin + AT_COUNT + (size_t)i] = (char)(count >> (8 * i));
    }
}

static void arguments_have_a_cap(void **state)
{
    struct fixture *f = ready_box(state);

    exec_of_empty_strings(f, 0); /* allowed, though "" is no program */
    finish(f, &f->client.ops[0]);
    assert_error(&f->client.ops[0]);
    assert_still_serves(f);
    exec_of_empty_strings(f, 1);
    assert_gives_up(f);
}

const struct CMUnitTest protocol_tests[] = {
    WIRE_TEST(hello_tells_version_build_and_pid),
    WIRE_TEST(a_first_frame_of_garbage_ends_the_box),
    WIRE_TEST(nothing_comes_before_start),
    WIRE_TEST(start_comes_once),
    WIRE_TEST(another_version_is_refused),
    WIRE_TEST(another_build_is_refused),
    WIRE_TEST(an_id_is_used_once),
    WIRE_TEST(id_0_is_no_operation),
    WIRE_TEST(frames_of_a_guest_are_not_the_hosts),
    WIRE_TEST(frames_for_an_operation_never_opened_end_the_box),
    WIRE_TEST(a_huge_length_is_refused_on_its_header),
    WIRE_TEST(left_over_bytes_are_refused),
    WIRE_TEST(half_a_frame_is_not_waited_for_after_the_end),
    WIRE_TEST(data_beyond_the_credit_ends_the_box),
    WIRE_TEST(credit_over_the_window_ends_the_box),
    WIRE_TEST(late_frames_of_an_ended_run_are_harmless),
    WIRE_TEST(operations_have_a_cap),
    WIRE_TEST(runs_have_a_cap),
    WIRE_TEST(arguments_have_a_cap),
};
const size_t protocol_count = SB_COUNT(protocol_tests);
