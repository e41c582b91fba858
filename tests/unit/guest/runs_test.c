/* SPDX-License-Identifier: MIT
 * EXEC, its streams, limits and end. */
#include "fake_host.h"

#include <stdio.h>
#include <string.h>

static char big[SB_WIRE_WINDOW * 10];

/* ---- start ---- */

static void exec_starts_what_was_asked(void **state)
{
    struct fake_host *host = *state;
    struct sb_wire_exec exec = {.flags = SB_EXEC_STDIN, .limits = {.file_bytes = 7, .open_files = 8}};
    sb_argv_push(&exec.argv, "/bin/prog");
    sb_argv_push(&exec.env, "A=b");
    strcpy(exec.cwd, "./dir");
    sb_wire_put_exec(&host->os.from_host, 1, &exec);
    sb_wire_exec_done(&exec);
    settle(host);
    struct sb_gos_run *run = host->os.runs[0];
    assert_string_equal(run->argv0, "/bin/prog");
    assert_string_equal(run->env0, "A=b");
    assert_string_equal(run->cwd, "dir");
    assert_true(run->feeds);
    assert_false(run->guest_itself);
    assert_int_equal(run->limits.file_bytes, 7);
    assert_int_equal(run->limits.open_files, 8);
}

static void exec_wants_an_absolute_program_and_a_folder_below(void **state)
{
    struct fake_host *host = *state;
    struct sb_wire_exec exec = {.flags = 0};
    sb_argv_push(&exec.argv, "prog");
    sb_wire_put_exec(&host->os.from_host, 1, &exec);
    exec.flags = SB_EXEC_GUEST; /* here argv[0] is a label */
    sb_wire_put_exec(&host->os.from_host, 2, &exec);
    strcpy(exec.cwd, "../up");
    sb_wire_put_exec(&host->os.from_host, 3, &exec);
    sb_wire_exec_done(&exec);
    settle(host);
    expect_error(host, 1, SB_BAD_REQUEST, "absolute");
    expect_error(host, 3, SB_BAD_REQUEST, "..");
    assert_int_equal(host->os.run_count, 1);
    assert_true(host->os.runs[0]->guest_itself);
}

static void exec_that_cannot_start_is_an_error(void **state)
{
    struct fake_host *host = *state;
    host->os.fail_start = true;
    send_exec(host, 1, SB_EXEC_STDIN | SB_EXEC_FILES, NULL);
    send_data(host, 1, "late", 4);
    settle(host);
    expect_error(host, 1, SB_NOT_FOUND, "prog");
}

static void exec_waits_for_the_puts_before_it_only(void **state)
{
    struct fake_host *host = *state;
    send_put(host, 1, "a");
    send_put(host, 2, "b");
    send_exec(host, 3, 0, NULL);
    send_put(host, 4, "c");
    send_frame(host, SB_MSG_END, SB_CHAN_IN, 1);
    settle(host);
    assert_int_equal(host->os.run_count, 0);
    send_frame(host, SB_MSG_END, SB_CHAN_IN, 2);
    settle(host);
    assert_int_equal(host->os.run_count, 1);
    expect_frame(host, SB_MSG_DONE, SB_CHAN_IN, 1);
    expect_frame(host, SB_MSG_DONE, SB_CHAN_IN, 2);
}

static void exec_is_refused_when_a_put_it_waits_for_fails(void **state)
{
    struct fake_host *host = *state;
    send_put(host, 1, "a");
    send_exec(host, 2, 0, NULL);
    send_exec(host, 3, 0, NULL);
    settle(host);
    host->os.fail_write = true;
    send_data(host, 1, "x", 1);
    settle(host);
    expect_error(host, 1, SB_LIMIT, "no space");
    expect_error(host, 2, SB_LIMIT, "not started");
    assert_int_equal(host->os.run_count, 1); /* the one after is another call's */
}

static void exec_in_one_write_with_a_failing_put_is_refused(void **state)
{
    struct fake_host *host = *state;
    send_file(host, 1, "../a", "text");
    send_exec(host, 2, 0, NULL);
    send_exec(host, 3, 0, NULL);
    settle(host);
    expect_error(host, 1, SB_BAD_REQUEST, "..");
    expect_error(host, 2, SB_BAD_REQUEST, "not started");
    assert_int_equal(host->os.run_count, 1);
}

static void a_failed_put_the_host_knows_of_refuses_no_exec(void **state)
{
    struct fake_host *host = *state;
    send_file(host, 1, "../a", "text");
    settle(host);
    expect_error(host, 1, SB_BAD_REQUEST, "..");
    send_frame(host, SB_MSG_CANCEL, SB_CHAN_IN, 1);
    send_exec(host, 2, 0, NULL);
    settle(host);
    assert_int_equal(host->os.run_count, 1);
}

/* ---- input ---- */

static void stdin_is_buffered_until_the_program_is_there(void **state)
{
    struct fake_host *host = *state;
    send_put(host, 1, "a");
    send_exec(host, 2, SB_EXEC_STDIN, NULL);
    send_data(host, 2, "hello", 5);
    send_frame(host, SB_MSG_END, SB_CHAN_IN, 2);
    settle(host);
    send_frame(host, SB_MSG_END, SB_CHAN_IN, 1);
    settle(host);
    expect_frame(host, SB_MSG_DONE, SB_CHAN_IN, 1);
    assert_string_equal(host->os.runs[0]->input.data, "hello");
    assert_true(host->os.runs[0]->input_closed);
}

static void stdin_credit_follows_what_the_program_takes(void **state)
{
    struct fake_host *host = *state;
    struct sb_gos_run *run = started(host, 1, SB_EXEC_STDIN, NULL);
    run->input_room = 10;
    send_data(host, 1, big, SB_WIRE_WINDOW); /* the whole window is buffered here */
    send_frame(host, SB_MSG_END, SB_CHAN_IN, 1);
    settle(host);
    expect_nothing(host);
    assert_true(run->input_wanted);
    assert_false(run->input_closed);
    run->input_room = SB_WIRE_WINDOW;
    settle(host);
    assert_int_equal(run->input.len, SB_WIRE_WINDOW);
    assert_true(run->input_closed);
    assert_false(run->input_wanted);
}

static void stdin_goes_on_after_new_credit(void **state)
{
    struct fake_host *host = *state;
    struct sb_gos_run *run = started(host, 1, SB_EXEC_STDIN, NULL);
    for (int i = 0; i < 8; i++) {
        send_data(host, 1, big, SB_GUEST_CREDIT);
        settle(host);
        assert_int_equal(expect_credit(host, 1), SB_GUEST_CREDIT);
    }
    assert_int_equal(run->input.len, 8 * SB_GUEST_CREDIT);
}

static void stdin_a_program_closed_is_dropped_and_credited(void **state)
{
    struct fake_host *host = *state;
    struct sb_gos_run *run = started(host, 1, SB_EXEC_STDIN, NULL);
    run->input_refused = true;
    send_data(host, 1, big, SB_GUEST_CREDIT);
    settle(host);
    assert_int_equal(expect_credit(host, 1), SB_GUEST_CREDIT);
    assert_true(run->input_closed);
    send_data(host, 1, big, SB_GUEST_CREDIT);
    send_frame(host, SB_MSG_END, SB_CHAN_IN, 1);
    settle(host);
    assert_int_equal(expect_credit(host, 1), SB_GUEST_CREDIT);
    assert_int_equal(run->input.len, 0);
}

/* ---- outputs ---- */

static void outputs_are_apart_and_the_three_last_frames_come_together(void **state)
{
    struct fake_host *host = *state;
    struct sb_gos_run *run = started(host, 1, 0, NULL);
    fake_print(run, SB_CHAN_OUT, "out", 3);
    fake_print(run, SB_CHAN_ERR, "err", 3);
    settle(host);
    expect_data(host, SB_CHAN_OUT, 1, "out");
    expect_data(host, SB_CHAN_ERR, 1, "err");
    run->usage = (struct sb_gos_usage){11, 12, 13};
    run->outputs[SB_CHAN_OUT].eof = true;
    settle(host);
    expect_nothing(host); /* the END of one output waits for EXIT */
    fake_exit(run, 3, false);
    settle(host);
    struct sb_wire_exit exit = {0};
    expect_exit(host, 1, &exit);
    assert_int_equal(exit.kind, SB_EXITED);
    assert_int_equal(exit.code, 3);
    assert_int_equal(exit.wall_us, 11);
    assert_int_equal(exit.cpu_us, 12);
    assert_int_equal(exit.peak_bytes, 13);
    assert_int_equal(exit.out_bytes, 3);
    assert_int_equal(exit.err_bytes, 3);
    assert_true(run->is_freed);
}

static void a_run_parent_that_was_killed_is_told(void **state)
{
    struct fake_host *host = *state;
    struct sb_gos_run *run = started(host, 1, 0, NULL);
    fake_exit(run, 9, false);
    run->end.kind = SB_SIGNALLED;
    run->end.parent_killed = true;
    settle(host);
    struct sb_wire_exit exit = {0};
    expect_exit(host, 1, &exit);
    assert_int_equal(exit.flags, SB_EXIT_PARENT_KILLED);
}

static void output_stops_at_its_credit_stream_by_stream(void **state)
{
    struct fake_host *host = *state;
    struct sb_gos_run *run = started(host, 1, 0, NULL);
    fake_print(run, SB_CHAN_OUT, big, SB_WIRE_WINDOW + 10);
    settle(host);
    assert_int_equal(expect_bytes(host, SB_CHAN_OUT, 1), SB_WIRE_WINDOW);
    assert_false(run->outputs[SB_CHAN_OUT].wanted);
    fake_print(run, SB_CHAN_ERR, "still", 5);
    settle(host);
    expect_data(host, SB_CHAN_ERR, 1, "still");
    send_credit(host, SB_CHAN_OUT, 1, 4);
    settle(host);
    assert_int_equal(expect_bytes(host, SB_CHAN_OUT, 1), 4);
    assert_int_equal(run->outputs[SB_CHAN_OUT].bytes.len, 6);
}

static void output_is_not_read_while_the_queue_is_full(void **state)
{
    struct fake_host *host = *state;
    struct sb_gos_run *runs[4];
    host->os.pipe_room = 0;
    for (uint32_t i = 0; i < 4; i++) {
        runs[i] = started(host, i + 1, 0, NULL);
        fake_print(runs[i], SB_CHAN_OUT, big, SB_WIRE_WINDOW);
    }
    settle(host);
    assert_true(host->guest->out.len < SB_GUEST_QUEUE_ROOM + 2 * SB_WIRE_DATA_MAX);
    assert_false(runs[3]->outputs[SB_CHAN_OUT].wanted);
    fake_exit(runs[0], 0, false); /* reaping goes on */
    settle(host);
    assert_true(runs[0]->told);
    host->os.pipe_room = SIZE_MAX;
    settle(host);
    assert_int_equal(runs[3]->outputs[SB_CHAN_OUT].bytes.len, 0);
    host->at = host->os.to_host.len;
}

static void exit_waits_for_the_credit_of_the_last_bytes(void **state)
{
    struct fake_host *host = *state;
    struct sb_gos_run *run = started(host, 1, 0, NULL);
    fake_print(run, SB_CHAN_OUT, big, SB_WIRE_WINDOW + 1);
    fake_exit(run, 0, false);
    pass_ms(host, 60000); /* nothing in the guest gives up */
    assert_int_equal(expect_bytes(host, SB_CHAN_OUT, 1), SB_WIRE_WINDOW);
    expect_nothing(host);
    send_credit(host, SB_CHAN_OUT, 1, 100);
    settle(host);
    assert_int_equal(expect_bytes(host, SB_CHAN_OUT, 1), 1);
    expect_exit_by(host, 1, SB_EXITED, 0, SB_LIMIT_NONE);
}

/* ---- the drain ---- */

static void a_held_pipe_is_closed_when_it_is_quiet(void **state)
{
    struct fake_host *host = *state;
    struct sb_gos_run *run = started(host, 1, 0, NULL);
    fake_exit(run, 5, true);
    pass_ms(host, SB_GUEST_QUIET_MS - 1);
    expect_nothing(host);
    fake_print(run, SB_CHAN_OUT, "late", 4); /* patience starts anew for this stream */
    pass_ms(host, SB_GUEST_QUIET_MS - 1);
    expect_data(host, SB_CHAN_OUT, 1, "late");
    expect_nothing(host);
    assert_true(run->outputs[SB_CHAN_ERR].closed);
    pass_ms(host, 1);
    assert_true(run->outputs[SB_CHAN_OUT].closed);
    expect_exit_by(host, 1, SB_EXITED, 5, SB_LIMIT_NONE);
}

static void a_held_pipe_that_chatters_is_closed_at_a_bound(void **state)
{
    struct fake_host *host = *state;
    struct sb_gos_run *run = started(host, 1, 0, NULL);
    fake_exit(run, 0, true);
    run->outputs[SB_CHAN_ERR].eof = true;
    settle(host);
    for (int i = 0; i < 100 && !run->outputs[SB_CHAN_OUT].closed; i++) {
        fake_print(run, SB_CHAN_OUT, big, SB_WIRE_DATA_MAX);
        settle(host);
        if (expect_bytes(host, SB_CHAN_OUT, 1) > 0 && !run->outputs[SB_CHAN_OUT].closed)
            send_credit(host, SB_CHAN_OUT, 1, SB_WIRE_DATA_MAX);
    }
    struct sb_wire_exit exit = {0};
    expect_exit(host, 1, &exit);
    assert_int_equal(exit.out_bytes, SB_GUEST_DRAIN_MAX);
}

static void waiting_for_credit_is_not_being_quiet(void **state)
{
    struct fake_host *host = *state;
    struct sb_gos_run *run = started(host, 1, 0, NULL);
    fake_print(run, SB_CHAN_OUT, big, SB_WIRE_WINDOW);
    fake_exit(run, 0, true);
    pass_ms(host, 10 * SB_GUEST_QUIET_MS);
    expect_bytes(host, SB_CHAN_OUT, 1);
    assert_false(run->outputs[SB_CHAN_OUT].closed);
    send_credit(host, SB_CHAN_OUT, 1, 1);
    pass_ms(host, SB_GUEST_QUIET_MS - 1);
    assert_false(run->outputs[SB_CHAN_OUT].closed);
    pass_ms(host, 1);
    expect_exit_by(host, 1, SB_EXITED, 0, SB_LIMIT_NONE);
}

/* ---- limits and kills ---- */

static void wall_limit_kills(void **state)
{
    struct fake_host *host = *state;
    struct sb_wire_limits limits = {.wall_ms = 1500};
    struct sb_gos_run *run = started(host, 1, 0, &limits);
    pass_ms(host, 1499);
    assert_int_equal(run->kills, 0);
    pass_ms(host, 1);
    assert_int_equal(run->kills, 1);
    expect_exit_by(host, 1, SB_SIGNALLED, 9, SB_LIMIT_WALL);
}

static void wall_time_starts_with_the_program(void **state)
{
    struct fake_host *host = *state;
    struct sb_wire_limits limits = {.wall_ms = 100};
    send_put(host, 1, "a");
    send_exec(host, 2, 0, &limits);
    pass_ms(host, 1000);
    send_frame(host, SB_MSG_END, SB_CHAN_IN, 1);
    settle(host);
    expect_frame(host, SB_MSG_DONE, SB_CHAN_IN, 1);
    pass_ms(host, 99);
    assert_int_equal(host->os.runs[0]->kills, 0);
    pass_ms(host, 1);
    expect_exit_by(host, 2, SB_SIGNALLED, 9, SB_LIMIT_WALL);
}

static void an_endless_wall_limit_does_not_overflow(void **state)
{
    struct fake_host *host = *state;
    struct sb_wire_limits limits = {.wall_ms = UINT64_MAX, .cpu_ms = UINT64_MAX, .output_bytes = UINT64_MAX};
    struct sb_gos_run *run = started(host, 1, 0, &limits);
    pass_ms(host, 1000);
    assert_int_equal(run->kills, 0);
}

static void cpu_limit_kills(void **state)
{
    struct fake_host *host = *state;
    struct sb_wire_limits limits = {.cpu_ms = 300};
    struct sb_gos_run *run = started(host, 1, 0, &limits);
    run->usage.cpu_us = 299999;
    pass_ms(host, 1000);
    assert_int_equal(run->kills, 0);
    run->usage.cpu_us = 300000;
    pass_ms(host, SB_GUEST_CPU_MS);
    expect_exit_by(host, 1, SB_SIGNALLED, 9, SB_LIMIT_CPU);
}

static void a_cpu_limit_the_system_enforced_is_told(void **state)
{
    struct fake_host *host = *state;
    struct sb_gos_run *run = started(host, 1, 0, NULL);
    fake_exit(run, 24, false);
    run->end.kind = SB_SIGNALLED;
    run->end.limit = SB_LIMIT_CPU;
    settle(host);
    expect_exit_by(host, 1, SB_SIGNALLED, 24, SB_LIMIT_CPU);
}

static void output_limit_is_for_what_is_beyond(void **state)
{
    struct fake_host *host = *state;
    struct sb_wire_limits limits = {.output_bytes = 10};
    struct sb_gos_run *run = started(host, 1, 0, &limits);
    fake_print(run, SB_CHAN_OUT, "0123456789", 10);
    fake_print(run, SB_CHAN_ERR, "0123456789", 10); /* a limit per stream */
    settle(host);
    expect_data(host, SB_CHAN_OUT, 1, "0123456789");
    expect_data(host, SB_CHAN_ERR, 1, "0123456789");
    assert_int_equal(run->kills, 0);
    fake_print(run, SB_CHAN_OUT, "xyz", 3);
    settle(host);
    assert_int_equal(run->kills, 1);
    struct sb_wire_exit exit = {0};
    expect_exit(host, 1, &exit);
    assert_int_equal(exit.limit, SB_LIMIT_OUTPUT);
    assert_int_equal(exit.kind, SB_SIGNALLED);
    assert_int_equal(exit.out_bytes, 13);
    assert_int_equal(exit.err_bytes, 10);
}

static void too_much_output_of_a_program_that_has_ended_is_found(void **state)
{
    struct fake_host *host = *state;
    struct sb_wire_limits limits = {.output_bytes = 2};
    send_exec(host, 1, 0, &limits);
    sb_guest_turn(host->guest); /* started, nothing read yet */
    fake_print(host->os.runs[0], SB_CHAN_OUT, "123", 3);
    fake_exit(host->os.runs[0], 0, false);
    settle(host);
    expect_data(host, SB_CHAN_OUT, 1, "12");
    expect_exit_by(host, 1, SB_EXITED, 0, SB_LIMIT_OUTPUT);
}

static void the_first_cause_wins(void **state)
{
    struct fake_host *host = *state;
    struct sb_wire_limits limits = {.wall_ms = 100, .output_bytes = 2};
    struct sb_gos_run *run = started(host, 1, 0, &limits);
    pass_ms(host, 100);
    expect_exit_by(host, 1, SB_SIGNALLED, 9, SB_LIMIT_WALL);
    run = started(host, 2, 0, &limits);
    send_frame(host, SB_MSG_KILL, SB_CHAN_IN, 2);
    fake_print(run, SB_CHAN_OUT, "1234", 4);
    pass_ms(host, 1000);
    expect_data(host, SB_CHAN_OUT, 2, "12");
    expect_exit_by(host, 2, SB_SIGNALLED, 9, SB_LIMIT_NONE);
}

static void kill_keeps_the_output_before_it(void **state)
{
    struct fake_host *host = *state;
    struct sb_gos_run *run = started(host, 1, 0, NULL);
    fake_print(run, SB_CHAN_OUT, "partial", 7);
    send_frame(host, SB_MSG_KILL, SB_CHAN_IN, 1);
    send_frame(host, SB_MSG_KILL, SB_CHAN_IN, 1);
    settle(host);
    assert_int_equal(run->kills, 1);
    expect_data(host, SB_CHAN_OUT, 1, "partial");
    expect_exit_by(host, 1, SB_SIGNALLED, 9, SB_LIMIT_NONE);
}

static void kill_of_a_waiting_run_refuses_it(void **state)
{
    struct fake_host *host = *state;
    send_put(host, 1, "a");
    send_exec(host, 2, 0, NULL);
    send_frame(host, SB_MSG_INTERRUPT, SB_CHAN_IN, 2); /* nobody there to interrupt */
    send_frame(host, SB_MSG_KILL, SB_CHAN_IN, 2);
    send_frame(host, SB_MSG_END, SB_CHAN_IN, 1);
    settle(host);
    expect_error(host, 2, SB_CANCELLED, "before it was started");
    expect_frame(host, SB_MSG_DONE, SB_CHAN_IN, 1);
    assert_int_equal(host->os.run_count, 0);
}

static void interrupt_reaches_the_program(void **state)
{
    struct fake_host *host = *state;
    struct sb_gos_run *run = started(host, 1, 0, NULL);
    send_frame(host, SB_MSG_INTERRUPT, SB_CHAN_IN, 1);
    settle(host);
    assert_int_equal(run->interrupts, 1);
    assert_int_equal(run->kills, 0);
}

/* ---- files made or changed ---- */

static void exit_lists_new_and_changed_files(void **state)
{
    struct fake_host *host = *state;
    fake_write(&host->os, "changed", "1");
    fake_write(&host->os, "same", "1");
    struct sb_gos_run *run = started(host, 1, SB_EXEC_FILES, NULL);
    fake_write(&host->os, "changed", "2");
    fake_write(&host->os, "folder", "")->type = SB_ENTRY_FOLDER;
    fake_write(&host->os, "folder/new", "123");
    fake_write(&host->os, "link", "")->type = SB_ENTRY_LINK;
    fake_write(&host->os, "odd", "")->bad_name = true;
    fake_exit(run, 0, false);
    settle(host);
    struct sb_wire_exit exit = {0};
    expect_exit(host, 1, &exit);
    assert_int_equal(exit.flags, 0);
    assert_int_equal(exit.file_count, 4);
    assert_string_equal(exit.files[0].path, "changed");
    assert_string_equal(exit.files[1].path, "link");
    assert_int_equal(exit.files[1].type, SB_ENTRY_LINK);
    assert_int_equal(exit.files[2].flags, SB_ENTRY_BAD_NAME);
    assert_string_equal(exit.files[3].path, "folder/new");
    assert_int_equal(exit.files[3].size, 3);
    assert_int_equal(exit.files[3].mtime_ms, 1);
    sb_wire_exit_done(&exit);
}

static void a_file_replaced_in_place_is_changed(void **state)
{
    struct fake_host *host = *state;
    struct sb_wire_exit exit = {0};
    fake_write(&host->os, "a", "1");
    struct sb_gos_run *run = started(host, 1, SB_EXEC_FILES, NULL);
    fake_file(&host->os, "a")->inode = 99; /* same size and times */
    fake_exit(run, 0, false);
    settle(host);
    expect_exit(host, 1, &exit);
    assert_int_equal(exit.file_count, 1);
    sb_wire_exit_done(&exit);
}

static void nobody_walks_unasked(void **state)
{
    struct fake_host *host = *state;
    struct sb_gos_run *run = started(host, 1, 0, NULL);
    fake_write(&host->os, "new", "");
    fake_exit(run, 0, false);
    settle(host);
    expect_exit_by(host, 1, SB_EXITED, 0, SB_LIMIT_NONE);
    assert_int_equal(host->os.walks, 0);
}

static void too_many_new_files_are_cut(void **state)
{
    struct fake_host *host = *state;
    struct sb_wire_exit exit = {0};
    struct sb_gos_run *run = started(host, 1, SB_EXEC_FILES, NULL);
    char path[16];
    for (int i = 0; i <= SB_WIRE_FILES_MAX; i++) {
        snprintf(path, sizeof path, "f%d", i);
        assert_non_null(fake_write(&host->os, path, ""));
    }
    fake_exit(run, 0, false);
    settle(host);
    expect_exit(host, 1, &exit);
    assert_int_equal(exit.file_count, SB_WIRE_FILES_MAX);
    assert_int_equal(exit.flags, SB_EXIT_FILES_CUT);
    sb_wire_exit_done(&exit);
}

static void a_workspace_that_cannot_be_walked_is_told_as_cut(void **state)
{
    struct fake_host *host = *state;
    struct sb_wire_exit exit = {0};
    struct sb_gos_run *run = started(host, 1, SB_EXEC_FILES, NULL);
    host->os.fail_walk = true;
    fake_exit(run, 0, false);
    settle(host);
    expect_exit(host, 1, &exit);
    assert_int_equal(exit.flags, SB_EXIT_FILES_CUT);
    sb_wire_exit_done(&exit);
}

int main(void)
{
#define SERVED(test) cmocka_unit_test_setup_teardown(test, host_setup, host_teardown)
    const struct CMUnitTest tests[] = {
        SERVED(exec_starts_what_was_asked),
        SERVED(exec_wants_an_absolute_program_and_a_folder_below),
        SERVED(exec_that_cannot_start_is_an_error),
        SERVED(exec_waits_for_the_puts_before_it_only),
        SERVED(exec_is_refused_when_a_put_it_waits_for_fails),
        SERVED(exec_in_one_write_with_a_failing_put_is_refused),
        SERVED(a_failed_put_the_host_knows_of_refuses_no_exec),
        SERVED(stdin_is_buffered_until_the_program_is_there),
        SERVED(stdin_credit_follows_what_the_program_takes),
        SERVED(stdin_goes_on_after_new_credit),
        SERVED(stdin_a_program_closed_is_dropped_and_credited),
        SERVED(outputs_are_apart_and_the_three_last_frames_come_together),
        SERVED(a_run_parent_that_was_killed_is_told),
        SERVED(output_stops_at_its_credit_stream_by_stream),
        SERVED(output_is_not_read_while_the_queue_is_full),
        SERVED(exit_waits_for_the_credit_of_the_last_bytes),
        SERVED(a_held_pipe_is_closed_when_it_is_quiet),
        SERVED(a_held_pipe_that_chatters_is_closed_at_a_bound),
        SERVED(waiting_for_credit_is_not_being_quiet),
        SERVED(wall_limit_kills),
        SERVED(wall_time_starts_with_the_program),
        SERVED(an_endless_wall_limit_does_not_overflow),
        SERVED(cpu_limit_kills),
        SERVED(a_cpu_limit_the_system_enforced_is_told),
        SERVED(output_limit_is_for_what_is_beyond),
        SERVED(too_much_output_of_a_program_that_has_ended_is_found),
        SERVED(the_first_cause_wins),
        SERVED(kill_keeps_the_output_before_it),
        SERVED(kill_of_a_waiting_run_refuses_it),
        SERVED(interrupt_reaches_the_program),
        SERVED(exit_lists_new_and_changed_files),
        SERVED(a_file_replaced_in_place_is_changed),
        SERVED(nobody_walks_unasked),
        SERVED(too_many_new_files_are_cut),
        SERVED(a_workspace_that_cannot_be_walked_is_told_as_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
