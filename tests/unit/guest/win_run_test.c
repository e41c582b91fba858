/* SPDX-License-Identifier: MIT
 * Runs and pipes of the guest on Windows. The programs are this one, as `LABEL child MODE ...`. */
#include "win_guest.h"

#include <fcntl.h>
#include <io.h>
#include <stdlib.h>

#define HANG_US 20000000 /* far beyond what anything here takes */

/* ---- the programs ----------------------------------------------------------------------- */

static HANDLE start_spinner(void)
{
    wchar_t program[MAX_PATH], line[] = L"label child spin";
    STARTUPINFOW info = {.cb = sizeof info};
    PROCESS_INFORMATION made;

    GetModuleFileNameW(NULL, program, MAX_PATH);
    if (!CreateProcessW(program, line, NULL, NULL, TRUE, 0, NULL, NULL, &info, &made))
        exit(99);
    printf("%lu\n", made.dwProcessId);
    fflush(stdout);
    return made.hProcess;
}

static int child(const char *mode, const char *arg)
{
    char bytes[4096];
    size_t n;

    _setmode(0, _O_BINARY);
    _setmode(1, _O_BINARY);
    _setmode(2, _O_BINARY);
    if (strcmp(mode, "echo") == 0) {
        while ((n = fread(bytes, 1, sizeof bytes, stdin)) > 0)
            fwrite(bytes, 1, n, stdout);
        fwrite("e\0\r\n\xFF", 1, 5, stderr);
    } else if (strcmp(mode, "spin") == 0) {
        Sleep(INFINITE);
    } else if (strcmp(mode, "flood") == 0) {
        while (fwrite(bytes, 1, sizeof bytes, stdout) > 0)
            continue;
    } else if (strcmp(mode, "tree") == 0) {
        WaitForSingleObject(start_spinner(), INFINITE);
    } else if (strcmp(mode, "leave") == 0) {
        start_spinner();
        fgets(bytes, sizeof bytes, stdin); /* until the test has the spinner in its hand */
    } else if (strcmp(mode, "set") == 0) {
        SetEvent((HANDLE)(uintptr_t)strtoull(arg, NULL, 10));
    }
    return (int)strtoul(arg, NULL, 0);
}

/* ---- helpers ---------------------------------------------------------------------------- */

static int guest_open(void **state)
{
    struct world *world;
    HANDLE input, output;

    if (world_open(state) != 0)
        return -1;
    world = *state;
    if (!CreatePipe(&input, &world->to_guest, NULL, 0) ||
        !CreatePipe(&world->from_guest, &output, NULL, 4096) ||
        sb_stream_open(&world->gos, input, false, &world->gos.input, &world->err) < 0 ||
        sb_stream_open(&world->gos, output, true, &world->gos.output, &world->err) < 0)
        return -1;
    return 0;
}

static int guest_close(void **state)
{
    struct world *world = *state;

    for (size_t i = 0; i < SB_WIRE_RUNS_MAX; i++)
        assert_null(world->gos.runs[i]);
    sb_guest_close(&world->to_guest);
    sb_guest_close(&world->from_guest);
    /* Their threads need the lock a moment longer than this; so the world stays. */
    sb_stream_drop(world->gos.input);
    sb_stream_drop(world->gos.output);
    CloseHandle(world->gos.workspace);
    return RemoveDirectoryW(world->folder) ? 0 : -1;
}

/* On a machine with far too much to do Wine 8 loses about one new program in some thousands before
 * it has run an instruction, and CreateProcess says "internal error" (measured): once is no failure. */
static struct sb_gos_run *start(struct world *world, const char *mode, const char *arg, bool feed)
{
    char *argv[] = {"label", "child", (char *)mode, (char *)arg, NULL};
    char *env[] = {"SystemRoot=C:\\windows", NULL};
    struct sb_gos_start how = {.argv = argv, .env = env, .cwd = "", .guest_itself = true, .feed_stdin = feed};
    struct sb_gos_run *run;
    int rc = sb_gos_run_start(&world->gos, &how, &run, &world->err);

    if (rc < 0 && world->err.os == ERROR_INTERNAL_ERROR)
        rc = sb_gos_run_start(&world->gos, &how, &run, &world->err);
    if (rc < 0)
        fail_msg("%s", world->err.text);
    return run;
}

static struct sb_gos_event next(struct world *world)
{
    struct sb_gos_event event;

    sb_gos_next(&world->gos, sb_gos_now_us() + HANG_US, &event);
    if (event.kind == SB_GOS_DEADLINE)
        fail_msg("nothing happened");
    return event;
}

/* Reads one output until it has `most` bytes or ends; returns how many there were. */
static size_t read_output(struct world *world, struct sb_gos_run *run, enum sb_channel channel, char *out,
                          size_t most)
{
    size_t len = 0;
    long n = 0;

    sb_gos_run_want(run, channel, true);
    while (n >= 0 && len < most) {
        struct sb_gos_event event = next(world);

        if (event.kind == SB_GOS_ENDED) { /* told once; end_of wants to know */
            world->ended = event.run;
            continue;
        }
        assert_int_equal(event.kind, SB_GOS_OUTPUT);
        assert_int_equal(event.channel, channel);
        n = sb_gos_run_read(run, channel, out + len, most - len);
        len += n > 0 ? (size_t)n : 0;
    }
    sb_gos_run_want(run, channel, false);
    return len;
}

static struct sb_gos_end end_of(struct world *world, struct sb_gos_run *run)
{
    struct sb_gos_end end;

    if (!world->ended) {
        struct sb_gos_event event = next(world);

        assert_int_equal(event.kind, SB_GOS_ENDED);
        world->ended = event.run;
    }
    assert_ptr_equal(world->ended, run);
    world->ended = NULL;
    sb_gos_run_end(run, &end);
    sb_gos_run_free(run);
    return end;
}

static HANDLE spinner_of(struct world *world, struct sb_gos_run *run)
{
    char text[16] = "";
    size_t len = 0;
    HANDLE spinner;

    while (!strchr(text, '\n')) {
        assert_true(len + 1 < sizeof text);
        len += read_output(world, run, SB_CHAN_OUT, text + len, 1);
    }
    spinner = OpenProcess(SYNCHRONIZE, FALSE, strtoul(text, NULL, 10));
    assert_non_null(spinner);
    return spinner;
}

static void expect_dead(HANDLE process)
{
    assert_int_equal(WaitForSingleObject(process, 0), WAIT_OBJECT_0);
    CloseHandle(process);
}

/* ---- runs ------------------------------------------------------------------------------- */

static void program_gets_its_input_and_gives_both_outputs_and_all_of_its_code(void **state)
{
    struct world *world = *state;
    struct sb_gos_run *run = start(world, "echo", "0x12345678", true);
    struct sb_gos_end end;
    char bytes[64];

    assert_int_equal(sb_gos_run_write(run, "in\0put\r\n", 8), 8);
    sb_gos_run_close_input(run);
    assert_int_equal(sb_gos_run_write(run, "x", 1), -1);
    assert_int_equal(read_output(world, run, SB_CHAN_OUT, bytes, sizeof bytes), 8);
    assert_memory_equal(bytes, "in\0put\r\n", 8);
    assert_int_equal(read_output(world, run, SB_CHAN_ERR, bytes, sizeof bytes), 5);
    assert_memory_equal(bytes, "e\0\r\n\xFF", 5);
    end = end_of(world, run);
    assert_int_equal(end.kind, SB_EXITED);
    assert_int_equal(end.code, 0x12345678);
    assert_int_equal(end.limit, SB_LIMIT_NONE);
    assert_false(end.parent_killed);
}

static void input_that_is_not_fed_is_at_its_end(void **state)
{
    struct world *world = *state;
    struct sb_gos_run *run = start(world, "echo", "0", false);
    char bytes[64];

    assert_int_equal(sb_gos_run_write(run, "x", 1), -1);
    assert_int_equal(read_output(world, run, SB_CHAN_OUT, bytes, sizeof bytes), 0);
    assert_int_equal(end_of(world, run).code, 0);
}

static void kill_takes_the_tree_and_says_so(void **state)
{
    struct world *world = *state;
    struct sb_gos_run *run = start(world, "tree", "0", false);
    HANDLE spinner = spinner_of(world, run);
    struct sb_gos_end end;

    sb_gos_run_kill(run);
    sb_gos_run_kill(run);
    end = end_of(world, run);
    assert_int_equal(end.kind, SB_SIGNALLED);
    assert_int_equal(end.code, 9);
    expect_dead(spinner);
}

static void end_of_the_program_takes_what_it_left(void **state)
{
    struct world *world = *state;
    struct sb_gos_run *run = start(world, "leave", "3", true);
    HANDLE spinner = spinner_of(world, run);
    struct sb_gos_end end;
    char byte;

    assert_int_equal(sb_gos_run_write(run, "\n", 1), 1);
    assert_int_equal(read_output(world, run, SB_CHAN_OUT, &byte, 1), 0); /* the spinner had it too */
    end = end_of(world, run);
    assert_int_equal(end.kind, SB_EXITED);
    assert_int_equal(end.code, 3);
    expect_dead(spinner);
}

static void outputs_nobody_reads_hold_up_neither_kill_nor_free(void **state)
{
    struct world *world = *state;
    struct sb_gos_run *flood = start(world, "flood", "0", true), *quiet = start(world, "spin", "0", true);
    char byte;

    read_output(world, flood, SB_CHAN_OUT, &byte, 1); /* it runs */
    sb_gos_run_close_output(quiet, SB_CHAN_OUT);      /* while its thread is blocked in the pipe */
    assert_int_equal(sb_gos_run_read(quiet, SB_CHAN_OUT, &byte, 1), -1);
    sb_gos_run_kill(flood);
    assert_int_equal(end_of(world, flood).kind, SB_SIGNALLED);
    sb_gos_run_kill(quiet);
    assert_int_equal(end_of(world, quiet).kind, SB_SIGNALLED);
}

static void closed_output_ends_its_writer(void **state)
{
    struct world *world = *state;
    struct sb_gos_run *run = start(world, "flood", "5", false);

    sb_gos_run_close_output(run, SB_CHAN_OUT);
    assert_int_equal(end_of(world, run).code, 5);
}

static void input_nobody_reads_is_bounded_and_dies_with_the_run(void **state)
{
    static const char page[32 * 1024];
    struct world *world = *state;
    struct sb_gos_run *run = start(world, "spin", "0", true);
    size_t total = 0;

    sb_gos_run_want(run, SB_CHAN_IN, true);
    for (;;) { /* until there has been no room for a while: pipe and slots are full */
        struct sb_gos_event event;

        sb_gos_next(&world->gos, sb_gos_now_us() + 200000, &event);
        if (event.kind == SB_GOS_DEADLINE)
            break;
        assert_int_equal(event.kind, SB_GOS_INPUT);
        total += (size_t)sb_gos_run_write(run, page, sizeof page);
        assert_true(total <= 256 * 1024);
    }
    sb_gos_run_want(run, SB_CHAN_IN, false);
    sb_gos_run_kill(run);
    assert_int_equal(end_of(world, run).kind, SB_SIGNALLED);
}

static void program_gets_three_handles_and_no_others(void **state)
{
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    struct world *world = *state;
    HANDLE event = CreateEventW(&inherit, TRUE, FALSE, NULL);
    char number[32];

    snprintf(number, sizeof number, "%llu", (unsigned long long)(uintptr_t)event);
    end_of(world, start(world, "set", number, false));
    assert_int_equal(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    CloseHandle(event);
}

static void what_cannot_be_started_leaves_nothing(void **state)
{
    static const struct {
        const char *program;
        enum sb_code code;
    } rows[] = {
        {"C:\\no\\such.exe", SB_NOT_FOUND}, {"cmd.exe", SB_BAD_REQUEST},
        {"..\\x.exe", SB_BAD_REQUEST},      {"C:\\x.bat", SB_UNSUPPORTED},
        {"C:\\x.CMD . ", SB_UNSUPPORTED},   {"C:\\\xFF.exe", SB_BAD_REQUEST},
    };
    struct world *world = *state;

    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        char *argv[] = {(char *)rows[i].program, NULL}, *env[] = {NULL};
        struct sb_gos_start how = {.argv = argv, .env = env, .cwd = ""};
        struct sb_gos_run *run = NULL;

        assert_int_equal(sb_gos_run_start(&world->gos, &how, &run, &world->err), -1);
        assert_int_equal(world->err.code, rows[i].code);
        assert_null(run);
    }
}

static void one_run_too_many_is_refused(void **state)
{
    struct world *world = *state;
    struct sb_gos_run *runs[SB_WIRE_RUNS_MAX], *more = NULL;
    char *argv[] = {"label", "child", "spin", "0", NULL}, *env[] = {"SystemRoot=C:\\windows", NULL};
    struct sb_gos_start how = {.argv = argv, .env = env, .cwd = "", .guest_itself = true};

    for (size_t i = 0; i < SB_WIRE_RUNS_MAX; i++)
        runs[i] = start(world, "spin", "0", false);
    assert_int_equal(sb_gos_run_start(&world->gos, &how, &more, &world->err), -1);
    assert_int_equal(world->err.code, SB_LIMIT);
    for (size_t i = 0; i < SB_WIRE_RUNS_MAX; i++) {
        sb_gos_run_kill(runs[i]);
        assert_int_equal(end_of(world, runs[i]).kind, SB_SIGNALLED);
    }
}

/* Each is killed as long after its start as the start of the next takes: while it makes its
 * conhost.exe, sometimes between that one's process and its thread. */
static void run_that_is_killed_in_its_start_ends(void **state)
{
    struct world *world = *state;
    struct sb_gos_run *older = start(world, "spin", "0", false);

    for (int i = 0; i < 24; i++) {
        struct sb_gos_run *younger = start(world, "spin", "0", false);

        sb_gos_run_kill(older);
        assert_int_equal(end_of(world, older).kind, SB_SIGNALLED);
        older = younger;
    }
    sb_gos_run_kill(older);
    assert_int_equal(end_of(world, older).kind, SB_SIGNALLED);
}

/* ---- verdicts --------------------------------------------------------------------------- */

static void codes_become_kinds(void **state)
{
    static const struct {
        uint32_t code;
        bool killed;
        uint64_t limit_ms, user_100ns;
        enum sb_exit_kind kind;
        uint32_t shown;
        enum sb_limit limit;
    } rows[] = {
        {0, false, 0, 0, SB_EXITED, 0, SB_LIMIT_NONE},
        {259, false, 0, 0, SB_EXITED, 259, SB_LIMIT_NONE}, /* STILL_ACTIVE, as an exit code */
        {0xBFFFFFFF, false, 0, 0, SB_EXITED, 0xBFFFFFFF, SB_LIMIT_NONE},
        {0xC0000005, false, 0, 0, SB_CRASHED, 0xC0000005, SB_LIMIT_NONE},
        {0xFFFFFFFF, false, 0, 0, SB_CRASHED, 0xFFFFFFFF, SB_LIMIT_NONE},
        {SB_GUEST_KILLED, true, 0, 0, SB_SIGNALLED, 9, SB_LIMIT_NONE},
        {SB_GUEST_KILLED, false, 0, 0, SB_EXITED, SB_GUEST_KILLED, SB_LIMIT_NONE},
        {3, true, 0, 0, SB_EXITED, 3, SB_LIMIT_NONE}, /* it was faster than the kill */
        {ERROR_NOT_ENOUGH_QUOTA, false, 50, 500000, SB_SIGNALLED, 9, SB_LIMIT_CPU},
        {ERROR_NOT_ENOUGH_QUOTA, false, 50, 400000, SB_EXITED, ERROR_NOT_ENOUGH_QUOTA, SB_LIMIT_NONE},
        {ERROR_NOT_ENOUGH_QUOTA, false, 0, 500000, SB_EXITED, ERROR_NOT_ENOUGH_QUOTA, SB_LIMIT_NONE},
    };

    (void)state;
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        const struct sb_wire_limits limits = {.cpu_ms = rows[i].limit_ms};
        struct sb_gos_end end = {0};

        sb_guest_verdict(rows[i].code, rows[i].killed, &limits, rows[i].user_100ns, &end);
        assert_int_equal(end.kind, rows[i].kind);
        assert_int_equal(end.code, rows[i].shown);
        assert_int_equal(end.limit, rows[i].limit);
    }
}

/* ---- the host's pipe -------------------------------------------------------------------- */

static void host_that_writes_nothing_has_not_left(void **state)
{
    struct world *world = *state;
    char bytes[8];
    DWORD put;

    assert_int_equal(sb_gos_read(&world->gos, bytes, sizeof bytes), 0);
    WriteFile(world->to_guest, "", 0, &put, NULL);
    assert_true(WriteFile(world->to_guest, "abc", 3, &put, NULL));
    assert_int_equal(next(world).kind, SB_GOS_HOST_READABLE);
    assert_int_equal(sb_gos_read(&world->gos, bytes, sizeof bytes), 3);
    sb_guest_close(&world->to_guest);
    assert_int_equal(next(world).kind, SB_GOS_HOST_READABLE);
    assert_int_equal(sb_gos_read(&world->gos, bytes, sizeof bytes), -1);
}

static void host_that_reads_nothing_fills_a_bounded_queue(void **state)
{
    static char page[32 * 1024];
    struct world *world = *state;
    size_t total = 0, left;
    DWORD got;

    sb_gos_want_write(&world->gos, true);
    for (;;) {
        struct sb_gos_event event;

        sb_gos_next(&world->gos, sb_gos_now_us() + 200000, &event);
        if (event.kind == SB_GOS_DEADLINE)
            break;
        assert_int_equal(event.kind, SB_GOS_HOST_WRITABLE);
        total += sb_gos_write(&world->gos, page, sizeof page);
        assert_true(total <= 256 * 1024);
    }
    for (left = total; left > 0; left -= got)
        assert_true(
            ReadFile(world->from_guest, page, left < sizeof page ? (DWORD)left : sizeof page, &got, NULL));
    assert_int_equal(next(world).kind, SB_GOS_HOST_WRITABLE);
    assert_int_equal(sb_gos_write(&world->gos, page, 1), 1);
}

static void deadline_passes_when_nothing_happens(void **state)
{
    struct world *world = *state;
    struct sb_gos_event event;
    int64_t deadline_us = sb_gos_now_us() + 30000;

    sb_gos_next(&world->gos, deadline_us, &event);
    assert_int_equal(event.kind, SB_GOS_DEADLINE);
    assert_true(sb_gos_now_us() >= deadline_us);
}

#define IN_A_GUEST(test) cmocka_unit_test_setup_teardown(test, guest_open, guest_close)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        IN_A_GUEST(program_gets_its_input_and_gives_both_outputs_and_all_of_its_code),
        IN_A_GUEST(input_that_is_not_fed_is_at_its_end),
        IN_A_GUEST(kill_takes_the_tree_and_says_so),
        IN_A_GUEST(end_of_the_program_takes_what_it_left),
        IN_A_GUEST(outputs_nobody_reads_hold_up_neither_kill_nor_free),
        IN_A_GUEST(closed_output_ends_its_writer),
        IN_A_GUEST(input_nobody_reads_is_bounded_and_dies_with_the_run),
        IN_A_GUEST(program_gets_three_handles_and_no_others),
        IN_A_GUEST(what_cannot_be_started_leaves_nothing),
        IN_A_GUEST(one_run_too_many_is_refused),
        IN_A_GUEST(run_that_is_killed_in_its_start_ends),
        cmocka_unit_test(codes_become_kinds),
        IN_A_GUEST(host_that_writes_nothing_has_not_left),
        IN_A_GUEST(host_that_reads_nothing_fills_a_bounded_queue),
        IN_A_GUEST(deadline_passes_when_nothing_happens),
    };

    if (argc == 4 && strcmp(argv[1], "child") == 0)
        return child(argv[2], argv[3]);
    if (argc == 3 && strcmp(argv[1], "child") == 0)
        return child(argv[2], "0");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
