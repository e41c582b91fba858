/* SPDX-License-Identifier: MIT
 * PUT, GET, LIST, REMOVE and their credit. */
#include "fake_host.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static char big[SB_WIRE_WINDOW * 4];

/* ---- PUT ---- */

static void put_writes_a_file(void **state)
{
    struct fake_host *host = *state;
    send_file(host, 1, "./dir//a.txt", "hello");
    settle(host);
    expect_frame(host, SB_MSG_DONE, SB_CHAN_IN, 1);
    struct fake_file *file = fake_file(&host->os, "dir/a.txt");
    assert_non_null(file);
    assert_true(file->executable);
    assert_string_equal(file->data.data, "hello");
}

static void put_credit_comes_in_steps_after_writing(void **state)
{
    struct fake_host *host = *state;
    send_put(host, 1, "a");
    send_data(host, 1, big, SB_GUEST_CREDIT - 1);
    settle(host);
    expect_nothing(host);
    send_data(host, 1, big, 1);
    settle(host);
    assert_int_equal(expect_credit(host, 1), SB_GUEST_CREDIT);
    send_data(host, 1, big, SB_WIRE_WINDOW); /* exactly what is granted */
    settle(host);
    uint32_t granted = 0;
    while (granted < SB_WIRE_WINDOW)
        granted += expect_credit(host, 1);
    assert_int_equal(granted, SB_WIRE_WINDOW);
    send_frame(host, SB_MSG_END, SB_CHAN_IN, 1);
    settle(host);
    expect_frame(host, SB_MSG_DONE, SB_CHAN_IN, 1);
    assert_int_equal(fake_file(&host->os, "a")->data.len, SB_WIRE_WINDOW + SB_GUEST_CREDIT);
}

static void put_failing_to_write_answers_once_and_swallows_the_rest(void **state)
{
    struct fake_host *host = *state;
    host->os.fail_write = true;
    send_put(host, 1, "a");
    send_data(host, 1, big, 3 * SB_WIRE_DATA_MAX);
    send_frame(host, SB_MSG_END, SB_CHAN_IN, 1);
    settle(host);
    expect_error(host, 1, SB_LIMIT, "no space");
    assert_null(fake_file(&host->os, "a"));
}

static void put_failing_to_close_is_no_done(void **state)
{
    struct fake_host *host = *state;
    host->os.fail_close = true;
    send_file(host, 1, "a", "text");
    settle(host);
    expect_error(host, 1, SB_HOST, "close");
}

static void cancelled_put_leaves_no_file(void **state)
{
    struct fake_host *host = *state;
    send_put(host, 1, "a");
    send_data(host, 1, "half", 4);
    settle(host);
    assert_non_null(fake_file(&host->os, "a"));
    send_frame(host, SB_MSG_CANCEL, SB_CHAN_IN, 1);
    send_exec(host, 2, 0, NULL); /* the host knows: no reason to refuse */
    settle(host);
    expect_error(host, 1, SB_CANCELLED, "cancelled");
    assert_null(fake_file(&host->os, "a"));
    assert_int_equal(host->os.run_count, 1);
}

static void bad_paths_are_refused(void **state)
{
    static const char *const rows[] = {"",
                                       "..",
                                       "a/../../b",
                                       "/etc/passwd",
                                       ".tmp",
                                       ".tmp/x",
                                       "/sandbox/.tmp/x",
                                       "./.tmp/a/b",
                                       "a/",
                                       ".tmp/.llm-sandbox",
                                       ".tmp/.llm-sandboxx/a",
                                       ".tmp/.llm-sandbox/../x"};
    struct fake_host *host = *state;
    uint32_t id = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        send_put(host, ++id, rows[i]);
        send_get(host, ++id, rows[i], 0, 0);
        send_path(host, SB_MSG_REMOVE, ++id, rows[i]);
        settle(host);
        for (uint32_t answer = id - 2; answer <= id; answer++)
            expect_frame(host, SB_MSG_ERROR, SB_CHAN_IN, answer);
    }
    assert_int_equal(host->os.file_count, 0);
}

static void runner_scripts_go_below_tmp_but_are_not_read_back(void **state)
{
    struct fake_host *host = *state;
    send_file(host, 1, ".tmp/.llm-sandbox/run.py", "pass");
    send_get(host, 2, ".tmp/.llm-sandbox/run.py", 0, 0);
    send_path(host, SB_MSG_REMOVE, 3, ".tmp/.llm-sandbox/run.py");
    send_file(host, 4, ".tmpx", "not the folder");
    settle(host);
    expect_frame(host, SB_MSG_DONE, SB_CHAN_IN, 1);
    expect_error(host, 2, SB_DENIED, ".tmp");
    expect_frame(host, SB_MSG_DONE, SB_CHAN_IN, 3);
    expect_frame(host, SB_MSG_DONE, SB_CHAN_IN, 4);
}

/* ---- GET ---- */

static void get_sends_the_bytes_and_the_end(void **state)
{
    struct fake_host *host = *state;
    fake_write(&host->os, "a", "0123456789");
    send_get(host, 1, "a", 0, 0);
    send_get(host, 2, "a", 3, 4);
    send_get(host, 3, "a", 99, 0);
    settle(host);
    expect_data(host, SB_CHAN_OUT, 1, "0123456789");
    expect_frame(host, SB_MSG_END, SB_CHAN_OUT, 1);
    expect_data(host, SB_CHAN_OUT, 2, "3456");
    expect_frame(host, SB_MSG_END, SB_CHAN_OUT, 2);
    expect_frame(host, SB_MSG_END, SB_CHAN_OUT, 3);
}

static void get_stops_at_its_credit(void **state)
{
    struct fake_host *host = *state;
    struct fake_file *file = fake_write(&host->os, "a", "");
    sb_buf_add(&file->data, big, SB_WIRE_WINDOW + 10);
    send_get(host, 1, "a", 0, 0);
    settle(host);
    assert_int_equal(expect_bytes(host, SB_CHAN_OUT, 1), SB_WIRE_WINDOW);
    expect_nothing(host);
    send_credit(host, SB_CHAN_OUT, 1, 9);
    settle(host);
    assert_int_equal(expect_bytes(host, SB_CHAN_OUT, 1), 9);
    send_credit(host, SB_CHAN_OUT, 1, 2);
    settle(host);
    assert_int_equal(expect_bytes(host, SB_CHAN_OUT, 1), 1);
    expect_frame(host, SB_MSG_END, SB_CHAN_OUT, 1);
}

static void gets_share_the_queue_without_events(void **state)
{
    struct fake_host *host = *state;
    struct fake_file *file = fake_write(&host->os, "a", "");
    sb_buf_add(&file->data, big, SB_WIRE_WINDOW - 1);
    for (uint32_t id = 1; id <= 5; id++)
        send_get(host, id, "a", 0, 0);
    sb_guest_turn(host->guest);
    assert_true(host->os.to_host.len < SB_GUEST_QUEUE_ROOM + 2 * SB_WIRE_DATA_MAX);
    settle(host);
    for (uint32_t id = 1; id <= 5; id++) {
        assert_int_equal(expect_bytes(host, SB_CHAN_OUT, id), SB_WIRE_WINDOW - 1);
        expect_frame(host, SB_MSG_END, SB_CHAN_OUT, id);
    }
}

static void get_makes_nothing_while_the_queue_is_full(void **state)
{
    struct fake_host *host = *state;
    struct fake_file *file = fake_write(&host->os, "a", "");
    sb_buf_add(&file->data, big, SB_WIRE_WINDOW);
    host->os.pipe_room = 0;
    for (uint32_t id = 1; id <= 8; id++)
        send_get(host, id, "a", 0, 0);
    settle(host);
    assert_true(host->guest->out.len < SB_GUEST_QUEUE_ROOM + 2 * SB_WIRE_DATA_MAX);
    host->os.pipe_room = SIZE_MAX;
    settle(host);
    for (uint32_t id = 1; id <= 8; id++)
        assert_int_equal(expect_bytes(host, SB_CHAN_OUT, id), SB_WIRE_WINDOW);
}

static void get_that_fails_halfway_says_so(void **state)
{
    struct fake_host *host = *state;
    struct fake_file *file = fake_write(&host->os, "a", "");
    sb_buf_add(&file->data, big, SB_WIRE_WINDOW + 10);
    send_get(host, 1, "a", 0, 0);
    settle(host);
    expect_bytes(host, SB_CHAN_OUT, 1);
    host->os.fail_read = true;
    send_credit(host, SB_CHAN_OUT, 1, 100);
    settle(host);
    expect_error(host, 1, SB_HOST, "read");
}

static void cancelled_get_stops(void **state)
{
    struct fake_host *host = *state;
    struct fake_file *file = fake_write(&host->os, "a", "");
    sb_buf_add(&file->data, big, SB_WIRE_WINDOW + 10);
    send_get(host, 1, "a", 0, 0);
    settle(host);
    expect_bytes(host, SB_CHAN_OUT, 1);
    send_frame(host, SB_MSG_CANCEL, SB_CHAN_IN, 1);
    send_credit(host, SB_CHAN_OUT, 1, 100);
    settle(host);
    expect_error(host, 1, SB_CANCELLED, "cancelled");
}

/* ---- LIST and REMOVE ---- */

static size_t count_entries(struct fake_host *host, uint32_t id, char *names)
{
    struct sb_frame frame = {0};
    struct sb_buf bytes;
    size_t count = 0, at = 0;
    sb_buf_init(&bytes, SB_GUEST_LIST_MAX);
    for (;;) {
        long used =
            sb_wire_take(host->os.to_host.data + host->at, host->os.to_host.len - host->at, &frame, NULL);
        if (used <= 0 || frame.type != SB_MSG_DATA || frame.id != id)
            break;
        sb_buf_add(&bytes, frame.payload, frame.len);
        host->at += (size_t)used;
    }
    while (at < bytes.len) {
        struct sb_wire_entry entry = {NULL, 0, 0, 0, 0};
        long used = sb_wire_take_entry(bytes.data + at, bytes.len - at, &entry, NULL);
        assert_true(used > 0);
        if (names)
            names += sprintf(names, "%s:%u:%u ", entry.path, (unsigned)entry.type, (unsigned)entry.size);
        sb_free(entry.path);
        at += (size_t)used;
        count++;
    }
    sb_buf_done(&bytes);
    return count;
}

static void list_names_everything_below(void **state)
{
    struct fake_host *host = *state;
    char names[200];
    fake_write(&host->os, "d", "")->type = SB_ENTRY_FOLDER;
    fake_write(&host->os, "d/a", "123");
    fake_write(&host->os, "e", "1");
    fake_write(&host->os, ".tmp/hidden", "");
    send_path(host, SB_MSG_LIST, 1, "");
    send_path(host, SB_MSG_LIST, 2, "./d");
    send_path(host, SB_MSG_LIST, 3, ".tmp");
    settle(host);
    expect_error(host, 3, SB_DENIED, ".tmp");
    count_entries(host, 1, names);
    assert_string_equal(names, "d:2:0 e:1:1 d/a:1:3 ");
    expect_frame(host, SB_MSG_END, SB_CHAN_OUT, 1);
    count_entries(host, 2, names);
    assert_string_equal(names, "d/a:1:3 ");
    expect_frame(host, SB_MSG_END, SB_CHAN_OUT, 2);
}

static void list_that_is_cut_ends_in_an_error(void **state)
{
    struct fake_host *host = *state;
    fake_write(&host->os, "a", "");
    host->os.cut_walk = true;
    send_path(host, SB_MSG_LIST, 1, "");
    settle(host);
    assert_int_equal(count_entries(host, 1, NULL), 1);
    expect_error(host, 1, SB_LIMIT, "more entries");
}

static void list_skips_paths_no_request_can_name(void **state)
{
    static char path[SB_WIRE_PATH_MAX + 2];
    struct fake_host *host = *state;
    memset(path, 'p', sizeof path - 1);
    fake_write(&host->os, path, "");
    fake_write(&host->os, "z", "");
    send_path(host, SB_MSG_LIST, 1, "");
    settle(host);
    assert_int_equal(count_entries(host, 1, NULL), 1);
    expect_error(host, 1, SB_LIMIT, "more entries");
}

static void list_that_fails_is_an_error(void **state)
{
    struct fake_host *host = *state;
    host->os.fail_walk = true;
    send_path(host, SB_MSG_LIST, 1, "");
    settle(host);
    expect_error(host, 1, SB_HOST, "walk");
}

static void remove_removes(void **state)
{
    struct fake_host *host = *state;
    fake_write(&host->os, "a", "");
    send_path(host, SB_MSG_REMOVE, 1, "a");
    send_path(host, SB_MSG_REMOVE, 2, "a");
    settle(host);
    expect_frame(host, SB_MSG_DONE, SB_CHAN_IN, 1);
    expect_error(host, 2, SB_NOT_FOUND, "'a'");
}

int main(void)
{
#define SERVED(test) cmocka_unit_test_setup_teardown(test, host_setup, host_teardown)
    const struct CMUnitTest tests[] = {
        SERVED(put_writes_a_file),
        SERVED(put_credit_comes_in_steps_after_writing),
        SERVED(put_failing_to_write_answers_once_and_swallows_the_rest),
        SERVED(put_failing_to_close_is_no_done),
        SERVED(cancelled_put_leaves_no_file),
        SERVED(bad_paths_are_refused),
        SERVED(runner_scripts_go_below_tmp_but_are_not_read_back),
        SERVED(get_sends_the_bytes_and_the_end),
        SERVED(get_stops_at_its_credit),
        SERVED(gets_share_the_queue_without_events),
        SERVED(get_makes_nothing_while_the_queue_is_full),
        SERVED(get_that_fails_halfway_says_so),
        SERVED(cancelled_get_stops),
        SERVED(list_names_everything_below),
        SERVED(list_that_is_cut_ends_in_an_error),
        SERVED(list_skips_paths_no_request_can_name),
        SERVED(list_that_fails_is_an_error),
        SERVED(remove_removes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
