/* SPDX-License-Identifier: MIT
 * What a program prints: apart, exact, within credit, however slowly the host reads. */
#include "wire/suite.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "wire/testprog.h"

static void assert_pattern(const struct client_op *op, enum sb_channel channel, size_t len)
{
    const unsigned char *bytes = (const unsigned char *)op->bytes[channel].data;

    assert_int_equal(op->got[channel], len);
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != TP_PATTERN(i))
            fail_msg("byte %zu of channel %d is 0x%02x, not 0x%02x", i, channel, bytes[i], TP_PATTERN(i));
    }
}

static void every_byte_arrives_on_its_stream(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op = RUN(f, "pattern", "300001", "70001");

    assert_exited(op, 0);
    assert_pattern(op, SB_CHAN_OUT, 300001);
    assert_pattern(op, SB_CHAN_ERR, 70001);
    assert_int_equal(op->exit.out_bytes, 300001);
    assert_int_equal(op->exit.err_bytes, 70001);
}

static void streams_are_not_mixed(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op = RUN(f, "alternate", "2000");

    assert_exited(op, 0);
    assert_int_equal(op->got[SB_CHAN_OUT], 1000);
    assert_int_equal(op->got[SB_CHAN_ERR], 1000);
    assert_int_equal(strspn(op->bytes[SB_CHAN_OUT].data, "o"), 1000);
    assert_int_equal(strspn(op->bytes[SB_CHAN_ERR].data, "e"), 1000);
}

/* Resident memory of the guest in KiB. */
static long resident(const struct fixture *f)
{
    char path[64], line[256];
    long kib = -1;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)box_guest_pid(&f->box));
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL)
        sscanf(line, "VmRSS: %ld kB", &kib);
    fclose(file);
    assert_true(kib > 0);
    return kib;
}

static void a_slow_reader_stops_the_program_not_the_guest(void **state)
{
    size_t len = 20u << 20;
    struct fixture *f = ready_box(state);
    long before = under_wine() ? 0 : resident(f);
    struct client_op *op = START(f, &(struct run_want){0}, "pattern", "20971520", "5");

    op->hold = true;
    must(f, client_wait_bytes(&f->client, op, SB_CHAN_OUT, SB_WIRE_WINDOW, soon_ms));
    assert_still_serves(f); /* reads frames, starts, reaps */
    must(f, client_drain(&f->client, 30));
    assert_int_equal(op->got[SB_CHAN_OUT], SB_WIRE_WINDOW);
    assert_int_equal(op->last, 0);
    if (!under_wine())
        assert_in_range(resident(f) - before + 4096, 0, 8192); /* pages come and go: 4 MiB either way */
    client_release(&f->client, op);
    finish(f, op);
    assert_exited(op, 0);
    assert_pattern(op, SB_CHAN_OUT, len);
    if (!under_wine())
        assert_in_range(resident(f) - before + 4096, 0, 8192);
}

/* One stream without credit does not hold the other back. */
static void streams_have_credit_of_their_own(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *full = START(f, &(struct run_want){0}, "pattern", "400000", "0"), *other;

    full->hold = true;
    must(f, client_wait_bytes(&f->client, full, SB_CHAN_OUT, SB_WIRE_WINDOW, soon_ms));
    other = RUN(f, "pattern", "400000", "400000");
    assert_exited(other, 0);
    assert_pattern(other, SB_CHAN_OUT, 400000);
    client_release(&f->client, full);
    finish(f, full);
    assert_pattern(full, SB_CHAN_OUT, 400000);
}

static void the_output_limit_ends_a_flood(void **state)
{
    struct fixture *f = ready_box(state);
    struct run_want want = {.limits = {.output_bytes = 1000000}};
    struct client_op *op = START(f, &want, "flood", f->token);

    finish(f, op);
    assert_stopped_by(op, SB_LIMIT_OUTPUT);
    assert_in_range(op->got[SB_CHAN_OUT], 1, 1000000);
    assert_in_range(op->got[SB_CHAN_ERR], 1, 1000000);
    assert_true(box_token_gone(f->token, under_wine() ? soon_ms : 0));
    op = START(f, &want, "pattern", "1000000", "0"); /* to the limit is within it */
    finish(f, op);
    assert_exited(op, 0);
    assert_int_equal(op->got[SB_CHAN_OUT], 1000000);
}

/* A host that gives no credit must still be able to end a run: what is left is dropped. */
static void a_run_without_credit_can_be_killed(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op = START(f, &(struct run_want){0}, "flood", f->token);

    op->hold = true;
    must(f, client_wait_bytes(&f->client, op, SB_CHAN_OUT, SB_WIRE_WINDOW, soon_ms));
    client_simple(&f->client, SB_MSG_KILL, op);
    must(f, client_drain(&f->client, 30));
    client_release(&f->client, op);
    finish(f, op);
    assert_int_equal(op->last, SB_MSG_EXIT);
    assert_true(box_token_gone(f->token, under_wine() ? soon_ms : 0));
}

static void closed_outputs_are_not_the_end(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op = RUN(f, "closeout", "200", "4"), *late;

    assert_exited(op, 4);
    assert_out(op, "before");
    assert_in_range(op->exit.wall_us, 190000, 20000000);
    late = START(f, &(struct run_want){.limits = {.wall_ms = 300}}, "closeout", "60000", "4");
    finish(f, late);
    assert_stopped_by(late, SB_LIMIT_WALL);
    assert_out(late, "before");
}

static void assert_launched_and_gone(struct fixture *f, const struct client_op *op)
{
    assert_exited(op, 0);
    assert_non_null(strstr(op->bytes[SB_CHAN_OUT].data, "launched\n"));
    assert_in_range(op->exit.wall_us, 0, under_wine() ? 10000000 : 2000000);
    assert_true(box_token_gone(f->token, under_wine() ? soon_ms : 0));
    assert_still_serves(f);
}

static void a_grandchild_that_holds_the_pipe_ends_with_the_run(void **state)
{
    struct fixture *f = ready_box(state);

    assert_launched_and_gone(f, RUN(f, "spawn", "child", "sleep", f->token));
}

static void a_daemon_that_prints_for_ever_ends_with_the_run(void **state)
{
    struct fixture *f = ready_box(state);

    assert_launched_and_gone(f, RUN(f, "spawn", "apart", "tick", f->token));
    assert_launched_and_gone(f, RUN(f, "spawn", "child", "flood", f->token));
}

const struct CMUnitTest output_tests[] = {
    WIRE_TEST(every_byte_arrives_on_its_stream),
    WIRE_TEST(streams_are_not_mixed),
    WIRE_TEST(a_slow_reader_stops_the_program_not_the_guest),
    WIRE_TEST(streams_have_credit_of_their_own),
    WIRE_TEST(the_output_limit_ends_a_flood),
    WIRE_TEST(a_run_without_credit_can_be_killed),
    WIRE_TEST(closed_outputs_are_not_the_end),
    WIRE_TEST(a_grandchild_that_holds_the_pipe_ends_with_the_run),
    WIRE_TEST(a_daemon_that_prints_for_ever_ends_with_the_run),
};
const size_t output_count = SB_COUNT(output_tests);
