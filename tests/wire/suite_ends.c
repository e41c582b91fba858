/* SPDX-License-Identifier: MIT
 * How runs and boxes are ended, by whom, and that nothing is left of them. */
#include "wire/suite.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "guest/guest.h"

static void wait_for_ups(struct fixture *f, const struct client_op *op, size_t count)
{
    /* Lines of three bytes, each one write. */
    must(f, client_wait_bytes(&f->client, op, SB_CHAN_OUT, 3 * count, soon_ms));
}

static void assert_nothing_left(struct fixture *f)
{
    assert_true(box_token_gone(f->token, under_wine() ? soon_ms : 0));
}

static void the_wall_limit_ends_a_sleeper(void **state)
{
    struct fixture *f = ready_box(state);
    struct run_want want = {.limits = {.wall_ms = 300}};
    struct client_op *op = START(f, &want, "sleep", f->token);

    finish(f, op);
    assert_stopped_by(op, SB_LIMIT_WALL);
    assert_in_range(op->exit.wall_us, 290000, under_wine() ? 10000000 : 2000000);
    assert_out(op, under_wine() && op->got[SB_CHAN_OUT] == 0 ? "" : "up\n");
    assert_nothing_left(f);
    assert_still_serves(f);
}

static void the_wall_limit_ends_a_whole_stubborn_family(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op =
        START(f, &(struct run_want){.limits = {.wall_ms = under_wine() ? 3000 : 500}}, "family", f->token);

    wait_for_ups(f, op, 5);
    finish(f, op);
    assert_stopped_by(op, SB_LIMIT_WALL);
    assert_nothing_left(f);
}

static void the_cpu_limit_ends_a_burner(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op;

    if (under_wine())
        skip_because("Wine counts no CPU time of another process");
    op = START(f, &(struct run_want){.limits = {.cpu_ms = 200}}, "burn", "60000");
    finish(f, op);
    assert_int_equal(op->last, SB_MSG_EXIT);
    assert_int_equal(op->exit.limit, SB_LIMIT_CPU);
    assert_in_range(op->exit.cpu_us, 190000, 3000000);
    op = START(f, &(struct run_want){.limits = {.cpu_ms = 5000}}, "burn", "50");
    finish(f, op);
    assert_exited(op, 0);
}

static void kill_takes_the_whole_tree(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op = START(f, &(struct run_want){0}, "family", f->token);

    wait_for_ups(f, op, 5);
    assert_false(box_token_gone(f->token, 0)); /* the search finds what is there */
    client_simple(&f->client, SB_MSG_KILL, op);
    client_simple(&f->client, SB_MSG_KILL, op);
    finish(f, op);
    assert_stopped_by(op, SB_LIMIT_NONE);
    assert_nothing_left(f);
    client_simple(&f->client, SB_MSG_KILL, op); /* too late: harmless */
    assert_still_serves(f);
}

static void kill_takes_one_run_only(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *kept = START(f, &(struct run_want){.flags = SB_EXEC_STDIN}, "echo");
    struct client_op *killed = START(f, &(struct run_want){0}, "family", f->token);

    wait_for_ups(f, killed, 5);
    client_simple(&f->client, SB_MSG_KILL, killed);
    finish(f, killed);
    assert_nothing_left(f);
    must(f, client_send(&f->client, kept, "alive", 5, soon_ms));
    client_send_end(&f->client, kept);
    finish(f, kept);
    assert_exited(kept, 0);
    assert_out(kept, "alive");
}

static void interrupt_reaches_the_program(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op;

    if (under_wine())
        skip_because("Wine sends no CTRL_BREAK without a console");
    op = START(f, &(struct run_want){0}, "interruptible", f->token);
    must(f, client_wait_text(&f->client, op, "up\n", soon_ms));
    client_simple(&f->client, SB_MSG_INTERRUPT, op);
    finish(f, op);
    assert_exited(op, 5);
    assert_out(op, "up\ninterrupted");
    client_simple(&f->client, SB_MSG_INTERRUPT, op); /* too late: harmless */
    assert_still_serves(f);
}

static void a_program_that_stops_its_group_is_timed_out(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op;

    if (under_wine())
        skip_because("Windows has no SIGSTOP");
    op = START(f, &(struct run_want){.limits = {.wall_ms = 300}}, "stop", f->token);
    finish(f, op);
    assert_stopped_by(op, SB_LIMIT_WALL);
    assert_out(op, "stopping");
    assert_nothing_left(f);
    assert_still_serves(f);
}

/* Starts the attacker, and lets it loose once it is known to run. */
static struct client_op *attack(struct fixture *f, const char *verb)
{
    struct client_op *op = START(f, &(struct run_want){.flags = SB_EXEC_STDIN}, verb, f->token);

    must(f, client_wait_text(&f->client, op, "up\n", soon_ms));
    client_send_end(&f->client, op);
    return op;
}

static void assert_parent_killed(const struct client_op *op)
{
    assert_int_equal(op->last, SB_MSG_EXIT);
    assert_int_equal(op->exit.kind, SB_SIGNALLED);
    assert_int_equal(op->exit.code, SIGKILL);
    assert_int_equal(op->exit.flags & SB_EXIT_PARENT_KILLED, SB_EXIT_PARENT_KILLED);
}

static void a_killed_run_parent_is_said(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op;

    if (under_wine())
        skip_because("on Windows a Job is the run parent, and no program can end it");
    op = attack(f, "killparent");
    finish(f, op);
    assert_parent_killed(op);
    assert_nothing_left(f);
    assert_still_serves(f);
}

/* A program may be so quick that its parent never told the guest of it: then it counts as
 * not started. It is never an end that looks like one of its own. */
static void a_run_parent_killed_at_once_ends_the_run(void **state)
{
    struct fixture *f = ready_box(state);

    if (under_wine())
        skip_because("on Windows a Job is the run parent, and no program can end it");
    for (int i = 0; i < 10; i++) {
        struct client_op *op = RUN(f, "killparent", f->token); /* its stdin is at its end */
        if (op->last != SB_MSG_ERROR)
            assert_parent_killed(op);
    }
    assert_true(box_token_gone(f->token, soon_ms)); /* strays are killed when next looked for */
    assert_still_serves(f);
}

/* prlimit needs no more than the same user. A run parent that can open nothing can't look for
 * its tree, and the guest has to do it. */
static void a_run_parent_that_is_blinded_loses_nobody(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op;

    if (under_wine())
        skip_because("Windows has no prlimit");
    op = attack(f, "lower");
    must(f, client_wait_text(&f->client, op, "up\nlowered\n", soon_ms));
    client_simple(&f->client, SB_MSG_KILL, op);
    finish(f, op);
    assert_parent_killed(op);
    assert_nothing_left(f);
    assert_still_serves(f);
}

/* A guest that can't wait any more would not see its stdin end: the box ends at once. */
static void a_guest_that_is_blinded_ends_the_box(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op;
    char pid[16];
    int status = 0;

    if (under_wine())
        skip_because("Windows has no prlimit");
    snprintf(pid, sizeof(pid), "%u", f->client.hello.pid);
    op = START(f, &(struct run_want){.flags = SB_EXEC_STDIN}, "lower", f->token, pid);
    must(f, client_wait_text(&f->client, op, "up\n", soon_ms));
    client_send_end(&f->client, op);
    must(f, client_wait_ended(&f->client, soon_ms));
    assert_true(box_wait(&f->box, soon_ms, &status));
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), SB_GUEST_BROKEN);
    assert_nothing_left(f);
}

/* kill -9 -1, kill -9 1: as PID 1 the guest can't be hit, and says what became of the run;
 * elsewhere the box may end, as a box that is over, never as a run that went well. */
static void kill_all_hits_nothing_but_the_run(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op;

    if (under_wine())
        skip_because("Windows has no kill -1");
    op = attack(f, "killall");
    if (!as_pid1()) {
        must(f, client_wait_ended(&f->client, soon_ms));
        assert_int_equal(op->last, 0);
        return;
    }
    finish(f, op);
    if (op->exit.kind != SB_EXITED)
        assert_parent_killed(op);
    assert_nothing_left(f);
    assert_still_serves(f);
}

/* ---- the end of the box --------------------------------------------------------------- */

/* Its stdin ends; it must be gone in time, clean, and with it all it had. */
static void assert_box_ends(struct fixture *f)
{
    int status = 0;

    box_end_input(&f->box);
    if (!box_wait(&f->box, soon_ms, &status))
        fail_msg("the box is still there %d ms after its stdin ended", soon_ms);
    if (!under_wine() && (!WIFEXITED(status) || WEXITSTATUS(status) != SB_GUEST_END))
        fail_msg("the box ended with status 0x%x (250: something was left, 251: it killed a stranger)",
                 status);
    assert_nothing_left(f);
}

static void the_box_ends_when_idle(void **state)
{
    assert_box_ends(ready_box(state));
}

static void the_box_ends_before_start(void **state)
{
    assert_box_ends(open_box(state));
}

static void the_box_ends_while_a_family_runs(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op = START(f, &(struct run_want){0}, "family", f->token);

    wait_for_ups(f, op, 5);
    assert_box_ends(f);
}

/* The start of a run is the one thing the guest waits for. */
static void the_box_ends_while_a_start_is_held_up(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op;
    int status = 0;

    if (!as_pid1())
        skip_because("the guest itself can be stopped unless it is PID 1");
    op = START(f, &(struct run_want){0}, "stopall", f->token);
    must(f, client_wait_text(&f->client, op, "up\n", soon_ms));
    for (int i = 0; i < SB_WIRE_RUNS_MAX - 1; i++)
        START(f, &(struct run_want){0}, "sleep", f->token);
    must(f, client_flush(&f->client, soon_ms));
    box_end_input(&f->box);
    if (!box_wait(&f->box, 4000, &status)) /* the guest gives one start 5 s */
        fail_msg("the box is still there 4 s after its stdin ended");
    assert_nothing_left(f);
}

static void the_box_ends_within_a_put(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op = client_put(&f->client, "half", 0);

    must(f, client_send(&f->client, op, "half", 4, soon_ms));
    must(f, client_flush(&f->client, soon_ms));
    assert_box_ends(f);
}

/* Returns when the guest's stdout takes no more: what we could read has stopped growing. */
static void wait_until_full(const struct fixture *f)
{
    int now = 0, before = -1;

    while (now != before || now == 0) {
        before = now;
        poll(NULL, 0, 100);
        ioctl(f->box.from, FIONREAD, &now);
    }
}

static void the_box_ends_when_blocked_on_a_full_stdout(void **state)
{
    struct fixture *f = ready_box(state);

    for (int i = 0; i < 4; i++) /* 2 MiB of credit, far more than any pipe */
        START(f, &(struct run_want){0}, "flood", f->token);
    must(f, client_flush(&f->client, soon_ms));
    wait_until_full(f);
    assert_false(box_token_gone(f->token, 0));
    assert_box_ends(f);
}

static void a_full_stdout_loses_nothing(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *ops[4];

    for (int i = 0; i < 4; i++)
        ops[i] = START(f, &(struct run_want){0}, "pattern", "3000000", "3000000");
    must(f, client_flush(&f->client, soon_ms));
    wait_until_full(f);
    for (int i = 0; i < 4; i++) {
        finish(f, ops[i]);
        assert_exited(ops[i], 0);
        assert_int_equal(ops[i]->got[SB_CHAN_OUT], 3000000);
        assert_int_equal(ops[i]->got[SB_CHAN_ERR], 3000000);
    }
}

const struct CMUnitTest ends_tests[] = {
    WIRE_TEST(the_wall_limit_ends_a_sleeper),
    WIRE_TEST(the_wall_limit_ends_a_whole_stubborn_family),
    WIRE_TEST(the_cpu_limit_ends_a_burner),
    WIRE_TEST(kill_takes_the_whole_tree),
    WIRE_TEST(kill_takes_one_run_only),
    WIRE_TEST(interrupt_reaches_the_program),
    WIRE_TEST(a_program_that_stops_its_group_is_timed_out),
    WIRE_TEST(a_killed_run_parent_is_said),
    WIRE_TEST(a_run_parent_killed_at_once_ends_the_run),
    WIRE_TEST(a_run_parent_that_is_blinded_loses_nobody),
    WIRE_TEST(a_guest_that_is_blinded_ends_the_box),
    WIRE_TEST(kill_all_hits_nothing_but_the_run),
    WIRE_TEST(the_box_ends_when_idle),
    WIRE_TEST(the_box_ends_before_start),
    WIRE_TEST(the_box_ends_while_a_family_runs),
    WIRE_TEST(the_box_ends_while_a_start_is_held_up),
    WIRE_TEST(the_box_ends_within_a_put),
    WIRE_TEST(the_box_ends_when_blocked_on_a_full_stdout),
    WIRE_TEST(a_full_stdout_loses_nothing),
};
const size_t ends_count = SB_COUNT(ends_tests);
