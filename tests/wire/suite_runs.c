/* SPDX-License-Identifier: MIT
 * How a program starts and how it ends: argv, environment, folder, stdin, codes, usage. */
#include "wire/suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "wire/testprog.h"

/* The output is exactly these texts, a NUL after each. */
static void assert_texts(const struct client_op *op, const char *const *texts)
{
    const struct sb_buf *out = &op->bytes[SB_CHAN_OUT];
    size_t at = 0;

    for (; *texts != NULL; texts++) {
        if (at >= out->len)
            fail_msg("nothing where '%.60s' is due", *texts);
        assert_string_equal(out->data + at, *texts);
        at += strlen(*texts) + 1;
    }
    assert_int_equal(at, out->len);
}

/* Wine puts these into every environment. */
static bool is_wines_own(const char *text)
{
    return strncmp(text, "WINE", 4) == 0 || strncmp(text, "SystemDrive=", 12) == 0;
}

/* The same in any order, which Wine does not keep. */
static void assert_texts_unordered(const struct client_op *op, const char *const *texts)
{
    const struct sb_buf *out = &op->bytes[SB_CHAN_OUT];
    size_t wanted = 0, found = 0, seen = 0;

    for (; texts[wanted] != NULL; wanted++) {
        for (size_t at = 0; at < out->len; at += strlen(out->data + at) + 1)
            found += strcmp(out->data + at, texts[wanted]) == 0;
    }
    for (size_t at = 0; at < out->len; at += strlen(out->data + at) + 1)
        seen += !is_wines_own(out->data + at);
    assert_int_equal(found, wanted);
    assert_int_equal(seen, wanted);
}

static void arguments_arrive_exactly(void **state)
{
    static const char *const args[] = {"args",   "",
                                       " ",      "a b",
                                       "\"",     "\\",
                                       "a\\\"b", "ends in \\",
                                       "%PATH%", "$HOME",
                                       "`id`",   "*",
                                       "a\nb",   "\xc3\xa4\xe2\x82\xac",
                                       "--",     "\\\\\"x y\\\\",
                                       "'",      "^&|<>",
                                       NULL};
    struct fixture *f = ready_box(state);
    struct client_op *op = do_run(f, args);

    assert_exited(op, 0);
    assert_texts(op, args + 1);
}

static void a_long_argument_arrives_whole(void **state)
{
    struct fixture *f = ready_box(state);
    size_t len = under_wine() ? 20000 : SB_WIRE_STRING_MAX;
    char *text = sb_alloc(len + 1);
    struct client_op *op;

    memset(text, 'x', len);
    op = RUN(f, "args", text);
    assert_exited(op, 0);
    assert_texts(op, (const char *const[]){text, NULL});
    sb_free(text);
}

static void the_environment_is_what_was_said(void **state)
{
    static const char *const posix[] = {"A=1", "EMPTY=", "WITH=a=b c", "\xc3\xa4=\xc3\xb6", NULL};
    static const char *const windows[] = {"A=1", "SystemRoot=C:\\windows", "WITH=a=b c", NULL};
    struct fixture *f = ready_box(state);
    const char *const *env = under_wine() ? windows : posix;
    struct client_op *op = START(f, &(struct run_want){.env = env}, "env");

    finish(f, op);
    assert_exited(op, 0);
    if (under_wine())
        assert_texts_unordered(op, env);
    else
        assert_texts(op, env);
}

static void the_folder_is_the_one_asked_for(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *top, *below, *missing, *out;
    const char *tail = strrchr(f->box.dir, '/') + 1;

    put_file(f, "sub/file", "x", 1, 0);
    top = RUN(f, "cwd");
    below = START(f, &(struct run_want){.cwd = "sub"}, "cwd");
    missing = START(f, &(struct run_want){.cwd = "none"}, "cwd");
    out = START(f, &(struct run_want){.cwd = ".."}, "cwd");
    finish(f, below);
    finish(f, missing);
    finish(f, out);
    assert_exited(top, 0);
    assert_exited(below, 0);
    assert_non_null(strstr(top->bytes[SB_CHAN_OUT].data, tail));
    assert_string_equal(below->bytes[SB_CHAN_OUT].data + below->bytes[SB_CHAN_OUT].len - 4, "sub");
    assert_error(missing);
    assert_error(out);
}

static void no_link_leads_the_folder_out(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op;

    if (under_wine())
        skip_because("Wine 8 makes no reparse points, and follows the links of its host unseen");
    assert_int_equal(symlink("/usr", in_workspace(f, "link")), 0);
    op = START(f, &(struct run_want){.cwd = "link"}, "cwd");
    finish(f, op);
    assert_error(op);
}

static void a_program_that_is_not_there_is_an_error(void **state)
{
    struct fixture *f = ready_box(state);
    struct sb_wire_exec exec = {.flags = 0};
    struct client_op *op;

    sb_argv_push(&exec.argv, under_wine() ? "C:\\no\\such.exe" : "/no/such");
    op = client_exec(&f->client, &exec);
    sb_wire_exec_done(&exec);
    finish(f, op);
    assert_error(op);
    assert_int_not_equal(op->error.os, 0);
    assert_still_serves(f);
}

static void stdin_not_fed_is_at_its_end(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op = RUN(f, "echo");

    assert_exited(op, 0);
    assert_out(op, "");
    assert_string_equal(op->bytes[SB_CHAN_ERR].data, "0");
}

static void stdin_is_fed_through_its_window(void **state)
{
    size_t len = 1 << 20;
    struct fixture *f = ready_box(state);
    unsigned char *bytes = sb_alloc(len);
    struct client_op *op = START(f, &(struct run_want){.flags = SB_EXEC_STDIN}, "echo");

    for (size_t i = 0; i < len; i++)
        bytes[i] = TP_PATTERN(i);
    must(f, client_send(&f->client, op, bytes, len, soon_ms));
    client_send_end(&f->client, op);
    finish(f, op);
    assert_exited(op, 0);
    assert_int_equal(op->got[SB_CHAN_OUT], len);
    assert_memory_equal(op->bytes[SB_CHAN_OUT].data, bytes, len);
    assert_string_equal(op->bytes[SB_CHAN_ERR].data, "1048576");
    sb_free(bytes);
}

/* Bytes for a program that closed its stdin, or has ended, are nobody's error. */
static void stdin_that_nobody_reads_hurts_nobody(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op = START(f, &(struct run_want){.flags = SB_EXEC_STDIN}, "closein");
    char bytes[1000] = {0};

    must(f, client_wait_text(&f->client, op, "closed\n", soon_ms));
    must(f, client_send(&f->client, op, bytes, sizeof(bytes), soon_ms));
    must(f, client_send(&f->client, op, bytes, sizeof(bytes), soon_ms));
    finish(f, op);
    assert_exited(op, 6);
    sb_wire_put_frame(&f->client.out, SB_MSG_DATA, SB_CHAN_IN, op->id, bytes, sizeof(bytes));
    client_send_end(&f->client, op);
    assert_still_serves(f);
}

static void exit_codes_are_whole(void **state)
{
    static const struct {
        const char *said;
        uint32_t posix, windows;
    } rows[] = {{"0", 0, 0},       {"1", 1, 1},       {"44", 44, 44},
                {"137", 137, 137}, {"139", 139, 139}, {"255", 255, 255},
                {"256", 0, 256},   {"300", 44, 300},  {"0x7fffffff", 255, 0x7fffffff}};
    struct fixture *f = ready_box(state);

    for (size_t i = 0; i < SB_COUNT(rows); i++)
        assert_exited(RUN(f, "exit", rows[i].said), under_wine() ? rows[i].windows : rows[i].posix);
}

static void windows_crash_codes_are_crashes(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op;

    if (!under_wine())
        skip_because("crash codes are Windows's");
    op = RUN(f, "crash");
    assert_int_equal(op->last, SB_MSG_EXIT);
    assert_int_equal(op->exit.kind, SB_CRASHED);
    assert_int_equal(op->exit.code, 0xC0000005);
    op = RUN(f, "exit", "0xC0000000");
    assert_int_equal(op->exit.kind, SB_CRASHED);
    assert_exited(RUN(f, "exit", "0xBFFFFFFF"), 0xBFFFFFFF);
}

static void signals_are_told_from_codes(void **state)
{
    static const struct {
        const char *verb, *number;
        uint32_t signal_number;
    } rows[] = {{"signal", "11", 11},
                {"signal", "9", 9},
                {"signal", "15", 15},
                {"abort", NULL, 6},
                {"crash", NULL, 11}};
    struct fixture *f = ready_box(state);

    if (under_wine())
        skip_because("Windows has no signals");
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        struct client_op *op = RUN(f, rows[i].verb, rows[i].number);
        assert_int_equal(op->last, SB_MSG_EXIT);
        assert_int_equal(op->exit.kind, SB_SIGNALLED);
        assert_int_equal(op->exit.code, rows[i].signal_number);
        assert_int_equal(op->exit.flags, 0);
        assert_int_equal(op->exit.limit, SB_LIMIT_NONE);
    }
}

static void two_runs_go_on_at_once(void **state)
{
    struct fixture *f = ready_box(state);
    struct run_want fed = {.flags = SB_EXEC_STDIN};
    struct client_op *first = START(f, &fed, "echo"), *second = START(f, &fed, "echo");

    must(f, client_send(&f->client, first, "one", 3, soon_ms));
    must(f, client_send(&f->client, second, "two", 3, soon_ms));
    must(f, client_wait_text(&f->client, first, "one", soon_ms)); /* both have started, neither ended */
    must(f, client_wait_text(&f->client, second, "two", soon_ms));
    client_send_end(&f->client, second);
    finish(f, second);
    client_send_end(&f->client, first);
    finish(f, first);
    assert_exited(first, 0);
    assert_exited(second, 0);
    assert_out(first, "one");
    assert_out(second, "two");
}

/* A copy of testprog, with `padding` bytes behind it that nobody reads. */
static char *program_bytes(size_t padding, size_t *len)
{
    int fd = open(suite.program, O_RDONLY | O_CLOEXEC);
    off_t size = lseek(fd, 0, SEEK_END);
    char *bytes = sb_alloc((size_t)size + padding);

    assert_true(fd >= 0 && size > 0);
    assert_int_equal(pread(fd, bytes, (size_t)size, 0), size);
    close(fd);
    *len = (size_t)size + padding;
    return bytes;
}

static struct client_op *exec_in_workspace(struct fixture *f, const char *name, const char *verb,
                                           const char *arg)
{
    struct sb_wire_exec exec = {.flags = 0};
    struct client_op *op;
    char path[512];

    snprintf(path, sizeof(path), "%s%s", under_wine() ? "Z:" : "", in_workspace(f, name));
    for (char *at = path; under_wine() && *at != '\0'; at++)
        *at = *at == '/' ? '\\' : *at;
    sb_argv_push(&exec.argv, path);
    sb_argv_push(&exec.argv, verb);
    sb_argv_push(&exec.argv, arg);
    if (under_wine())
        sb_argv_push(&exec.env, "SystemRoot=C:\\windows");
    op = client_exec(&f->client, &exec);
    sb_wire_exec_done(&exec);
    return op;
}

static void a_put_and_its_exec_are_one_write_before_hello(void **state)
{
    struct fixture *f = open_box(state);
    struct client_op *put, *run;
    size_t len;
    char *bytes = program_bytes(0, &len);

    client_start(&f->client, start_flags());
    put = client_put(&f->client, "prog.exe", SB_PUT_EXECUTABLE);
    assert_in_range(len, 1, SB_WIRE_WINDOW); /* or it could not be one write */
    must(f, client_send(&f->client, put, bytes, len, 0));
    client_send_end(&f->client, put);
    run = exec_in_workspace(f, "prog.exe", "exit", "21");
    assert_false(f->client.hello_seen);
    finish(f, run);
    assert_int_equal(put->last, SB_MSG_DONE);
    assert_exited(run, 21);
    sb_free(bytes);
}

static void an_exec_waits_for_the_puts_before_it(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *put, *run;
    size_t len;
    char *bytes = program_bytes(600000, &len);

    put = client_put(&f->client, "prog.exe", SB_PUT_EXECUTABLE);
    run = exec_in_workspace(f, "prog.exe", "exit", "22");
    must(f, client_send(&f->client, put, bytes, len, soon_ms));
    assert_int_equal(run->last, 0);
    client_send_end(&f->client, put);
    finish(f, run);
    assert_int_equal(put->last, SB_MSG_DONE);
    assert_exited(run, 22);
    sb_free(bytes);
}

static void an_exec_after_a_failed_put_is_refused(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *put = client_put(&f->client, "../evil", 0), *run;

    client_send_end(&f->client, put);
    run = START(f, &(struct run_want){0}, "exit", "0");
    finish(f, run);
    assert_error(put);
    assert_error(run);
    assert_still_serves(f); /* the failure was told once */
}

static void the_guests_own_program_can_be_run(void **state)
{
    struct fixture *f = ready_box(state);
    struct sb_wire_exec exec = {.flags = SB_EXEC_GUEST};
    struct client_op *op;

    sb_argv_push(&exec.argv, "guest");
    sb_argv_push(&exec.argv, "canary");
    sb_argv_push(&exec.argv, "no-such-canary");
    if (under_wine())
        sb_argv_push(&exec.env, "SystemRoot=C:\\windows");
    op = client_exec(&f->client, &exec);
    sb_wire_exec_done(&exec);
    finish(f, op);
    assert_exited(op, 2);
}

static void usage_is_plausible(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *burner = RUN(f, "burn", "200"), *toucher = RUN(f, "touch", "32");

    assert_exited(burner, 0);
    assert_exited(toucher, 0);
    assert_in_range(burner->exit.wall_us, 100000, 20000000);
    if (under_wine())
        return; /* Wine counts no CPU time and no peak of another process */
    assert_in_range(burner->exit.cpu_us, 100000, 10000000);
    assert_in_range(toucher->exit.peak_bytes, 32u << 20, 1u << 30);
    assert_in_range(burner->exit.peak_bytes, 1, 31u << 20);
}

/* ---- what a program inherits ---------------------------------------------------------- */

static void signals_are_as_at_birth(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op;

    if (under_wine())
        skip_because("Windows has no signals");
    op = RUN(f, "state");
    assert_exited(op, 0);
    assert_out(op, "0000000000000000 0000000000000000");
}

static void descriptors_are_0_1_2_and_block(void **state)
{
    struct fixture *f = ready_box(state);
    struct run_want fed = {.flags = SB_EXEC_STDIN};
    struct client_op *other, *op;

    if (under_wine())
        skip_because("Windows has handles, and lists none");
    other = START(f, &fed, "echo");
    op = RUN(f, "fds");
    assert_exited(op, 0);
    assert_out(op, "0 1 2 ");
    op = START(f, &fed, "fds");
    finish(f, op);
    assert_exited(op, 0);
    assert_out(op, "0 1 2 ");
    client_send_end(&f->client, other);
    finish(f, other);
}

static void nonblock_set_by_one_run_is_not_the_next_ones(void **state)
{
    struct fixture *f = ready_box(state);

    if (under_wine())
        skip_because("Windows has no O_NONBLOCK");
    assert_exited(RUN(f, "nonblock"), 0);
    assert_out(RUN(f, "fds"), "0 1 2 ");
}

static void limits_of_the_exec_hold(void **state)
{
    struct fixture *f = ready_box(state);
    struct run_want want = {.limits = {.open_files = 32, .file_bytes = 4096}};
    struct client_op *op;

    if (under_wine())
        skip_because("Windows has no such limits per process");
    op = START(f, &want, "open");
    finish(f, op);
    assert_exited(op, 0);
    assert_out(op, "29");
    op = START(f, &want, "file", "big", "10000");
    finish(f, op);
    assert_int_equal(op->last, SB_MSG_EXIT);
    assert_int_equal(op->exit.kind, SB_SIGNALLED); /* SIGXFSZ */
    assert_still_serves(f);
}

const struct CMUnitTest runs_tests[] = {
    WIRE_TEST(arguments_arrive_exactly),
    WIRE_TEST(a_long_argument_arrives_whole),
    WIRE_TEST(the_environment_is_what_was_said),
    WIRE_TEST(the_folder_is_the_one_asked_for),
    WIRE_TEST(no_link_leads_the_folder_out),
    WIRE_TEST(a_program_that_is_not_there_is_an_error),
    WIRE_TEST(stdin_not_fed_is_at_its_end),
    WIRE_TEST(stdin_is_fed_through_its_window),
    WIRE_TEST(stdin_that_nobody_reads_hurts_nobody),
    WIRE_TEST(exit_codes_are_whole),
    WIRE_TEST(windows_crash_codes_are_crashes),
    WIRE_TEST(signals_are_told_from_codes),
    WIRE_TEST(two_runs_go_on_at_once),
    WIRE_TEST(a_put_and_its_exec_are_one_write_before_hello),
    WIRE_TEST(an_exec_waits_for_the_puts_before_it),
    WIRE_TEST(an_exec_after_a_failed_put_is_refused),
    WIRE_TEST(the_guests_own_program_can_be_run),
    WIRE_TEST(usage_is_plausible),
    WIRE_TEST(signals_are_as_at_birth),
    WIRE_TEST(descriptors_are_0_1_2_and_block),
    WIRE_TEST(nonblock_set_by_one_run_is_not_the_next_ones),
    WIRE_TEST(limits_of_the_exec_hold),
};
const size_t runs_count = SB_COUNT(runs_tests);
