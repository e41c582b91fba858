/* SPDX-License-Identifier: MIT
 * Process tables, blows at trees, limits. The kill of these tests only notes; nothing is
 * signalled but children of the test itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "guest_posix.h"

/* ---- /proc/PID/stat ---- */

static void stat_line_is_parsed(void **state)
{
    (void)state;
    struct sb_proc proc;

    assert_true(sb_proc_parse(
        "4242 (python3) S 17 4240 4239 34816 1 4194304 100 200 3 4 11 22 33 44 20 0 1 0 5", &proc));
    assert_int_equal(proc.pid, 4242);
    assert_int_equal(proc.ppid, 17);
    assert_int_equal(proc.group, 4240);
    assert_int_equal(proc.state, 'S');
    assert_int_equal(proc.own_ticks, 33);
    assert_int_equal(proc.child_ticks, 77);
}

static void stat_name_may_try_to_lie(void **state)
{
    (void)state;
    struct sb_proc proc;

    assert_true(sb_proc_parse("7 (x) R 1 1 (\n) Z 5 6 6 0 0 0 0 0 0 0 1 2 3 4 20", &proc));
    assert_int_equal(proc.ppid, 5);
    assert_int_equal(proc.state, 'Z');
}

static void stat_that_is_cut_is_refused(void **state)
{
    (void)state;
    struct sb_proc proc;

    assert_false(sb_proc_parse("", &proc));
    assert_false(sb_proc_parse("12", &proc));
    assert_false(sb_proc_parse("12 (x", &proc));
    assert_false(sb_proc_parse("12 (x) S 1 1 1 0 0 0 0 0 0 0 1 2 3", &proc));
    assert_false(sb_proc_parse("x (x) S 1 1 1 0 0 0 0 0 0 0 1 2 3 4", &proc));
}

static void list_has_us_below_our_parent(void **state)
{
    (void)state;
    struct sb_proc *table = NULL;
    size_t count = sb_proc_list(&table), at = 0;

    while (at < count && table[at].pid != getpid())
        at++;
    assert_true(at < count);
    assert_int_equal(table[at].ppid, getppid());
    assert_int_equal(table[at].group, getpgrp());
    sb_free(table);
}

/* ---- descendants ---- */

static void expect_below(struct sb_proc *table, size_t count, pid_t root, pid_t skip, const char *pids)
{
    char got[256] = "";
    size_t len = 0;
    size_t found = sb_proc_descendants(table, count, root, &skip, skip != 0);

    for (size_t i = 0; i < found; i++)
        len += (size_t)snprintf(got + len, sizeof got - len, "%d ", table[i].pid);
    assert_string_equal(got, pids);
}

static void descendants_are_found_whatever_the_order(void **state)
{
    (void)state;
    const struct sb_proc all[] = {{.pid = 9, .ppid = 30},  {.pid = 1, .ppid = 0},   {.pid = 30, .ppid = 20},
                                  {.pid = 20, .ppid = 10}, {.pid = 10, .ppid = 1},  {.pid = 11, .ppid = 1},
                                  {.pid = 12, .ppid = 11}, {.pid = 40, .ppid = 999}};
    struct sb_proc table[SB_COUNT(all)];

    memcpy(table, all, sizeof all);
    expect_below(table, SB_COUNT(all), 10, 0, "9 20 30 ");
    memcpy(table, all, sizeof all);
    expect_below(table, SB_COUNT(all), 1, 0, "9 10 11 12 20 30 ");
    memcpy(table, all, sizeof all);
    expect_below(table, SB_COUNT(all), 1, 11, "9 10 20 30 "); /* 11 and what is below it is known */
    memcpy(table, all, sizeof all);
    expect_below(table, SB_COUNT(all), 12, 0, "");
    expect_below(NULL, 0, 1, 0, "");
}

static void descendants_survive_nonsense(void **state)
{
    (void)state;
    /* Read while pids changed hands: a cycle, and a process that is its own parent. */
    struct sb_proc table[] = {{.pid = 2, .ppid = 3},
                              {.pid = 3, .ppid = 2},
                              {.pid = 4, .ppid = 4},
                              {.pid = 5, .ppid = 1},
                              {.pid = 1, .ppid = 5}};

    expect_below(table, SB_COUNT(table), 1, 0, "5 ");
}

static void descendants_of_a_long_chain(void **state)
{
    (void)state;
    enum { LONG = 2000 };
    struct sb_proc *table = sb_alloc(LONG * sizeof *table);

    for (int i = 0; i < LONG; i++) /* every child has a lower pid than its parent */
        table[i] = (struct sb_proc){.pid = 10 + i, .ppid = 11 + i};
    assert_int_equal(sb_proc_descendants(table, LONG, 10 + LONG, NULL, 0), LONG);
    sb_free(table);
}

/* ---- blows ---- */

static struct {
    pid_t pid;
    int signal;
} sent[64];
static size_t sent_count;
static bool sent_to_all;

static int note_kill(pid_t pid, int signal)
{
    sent_to_all = sent_to_all || pid == -1;
    if (sent_count == SB_COUNT(sent))
        return 0;
    sent[sent_count].pid = pid;
    sent[sent_count++].signal = signal;
    return 0;
}

static bool was_sent(pid_t pid, int signal)
{
    for (size_t i = 0; i < sent_count; i++)
        if (sent[i].pid == pid && sent[i].signal == signal)
            return true;
    return false;
}

/* A child that sleeps until it is killed, in a group of its own or in ours. */
static pid_t make_child(bool own_group)
{
    int ready[2];
    char byte;

    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (own_group)
            setpgid(0, 0);
        close(ready[0]);
        close(ready[1]); /* tells that it is done */
        poll(NULL, 0, 30000);
        _exit(0);
    }
    assert_true(pid > 0);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 0);
    close(ready[0]);
    return pid;
}

static void end_child(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void strike_stops_before_it_kills(void **state)
{
    (void)state;
    const struct sb_tree tree = {.root = getpid(), .kill = note_kill};
    pid_t ours = make_child(false), apart = make_child(true);

    sent_count = 0;
    assert_int_equal(sb_tree_strike(&tree), 2);
    assert_int_equal(sent_count, 4);
    assert_int_equal(sent[0].signal, SIGSTOP);
    assert_int_equal(sent[1].signal, SIGSTOP);
    assert_true(was_sent(ours, SIGSTOP) && was_sent(ours, SIGKILL)); /* never our whole group */
    assert_true(was_sent(-apart, SIGSTOP) && was_sent(-apart, SIGKILL));
    end_child(ours);
    end_child(apart);
}

static void strike_leaves_the_dead_and_the_known(void **state)
{
    (void)state;
    pid_t dead = fork();
    siginfo_t info;

    if (dead == 0)
        _exit(0);
    assert_int_equal(waitid(P_PID, (id_t)dead, &info, WEXITED | WNOWAIT), 0);
    pid_t known = make_child(false);
    const struct sb_tree tree = {.root = getpid(), .skip = &known, .skip_count = 1, .kill = note_kill};
    sent_count = 0;
    assert_true(sb_tree_has_children());
    assert_int_equal(sb_tree_strike(&tree), 0);
    assert_int_equal(sent_count, 0);
    end_child(known);
    assert_int_equal(waitpid(dead, NULL, 0), dead);
    assert_false(sb_tree_has_children());
}

static void strays_are_killed_but_runs_spared(void **state)
{
    (void)state;
    pid_t stray = make_child(true), parent = make_child(true);
    struct sb_gos_run run = {.state = SB_RUN_ALIVE, .parent = parent};
    struct sb_gos gos = {.pid = getpid(), .runs = &run, .kill = note_kill};

    sent_count = 0;
    assert_true(sb_gos_kill_strays(&gos));
    assert_true(was_sent(-stray, SIGKILL));
    assert_false(was_sent(-parent, SIGKILL) || was_sent(parent, SIGKILL));
    end_child(stray);
    sent_count = 0;
    assert_false(sb_gos_kill_strays(&gos));
    assert_int_equal(sent_count, 0);
    end_child(parent);
}

static void kill_of_all_needs_pid_1_a_namespace_and_no_run(void **state)
{
    (void)state;
    pid_t stray = make_child(true);
    struct sb_gos_run run = {.state = SB_RUN_ALIVE, .parent = stray};
    const struct {
        pid_t pid;
        bool own;
        struct sb_gos_run *runs;
        bool all;
    } rows[] = {
        {1, true, NULL, true},
        {1, false, NULL, false},
        {getpid(), true, NULL, false},
        {1, true, &run, false},
    };

    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        struct sb_gos gos = {
            .pid = rows[i].pid, .own_pids = rows[i].own, .runs = rows[i].runs, .kill = note_kill};
        sent_to_all = false;
        sb_gos_kill_strays(&gos);
        assert_int_equal(sent_to_all, rows[i].all);
    }
    end_child(stray);
    sent_to_all = false;
    assert_false(sb_gos_kill_strays(&(struct sb_gos){.pid = 1, .own_pids = true, .kill = note_kill}));
    assert_false(sent_to_all); /* no child left: nothing to kill */
}

/* ---- limits ---- */

static void limits_map_to_resource_limits(void **state)
{
    (void)state;
    const struct sb_wire_limits none = {0};
    const struct sb_wire_limits all = {.wall_ms = 1,
                                       .cpu_ms = 10500,
                                       .output_bytes = 1,
                                       .file_bytes = UINT64_C(1) << 40,
                                       .memory_bytes = 1,
                                       .open_files = 64,
                                       .processes = 5};
    struct sb_rlimit out[SB_RLIMITS_MAX];

    assert_int_equal(sb_rlimits(&none, 2, out), 1);
    assert_int_equal(out[0].what, RLIMIT_CORE);
    assert_int_equal(out[0].value, 0);

    assert_int_equal(sb_rlimits(&all, 3, out), 5);
    assert_int_equal(out[1].what, RLIMIT_FSIZE);
    assert_int_equal(out[1].value, UINT64_C(1) << 40);
    assert_int_equal(out[2].what, RLIMIT_NOFILE);
    assert_int_equal(out[2].value, 64);
    assert_int_equal(out[3].what, RLIMIT_CPU);
    assert_true(out[3].value > 10);
    assert_int_equal(out[4].what, RLIMIT_NPROC); /* last, and with room for what is ours */
    assert_int_equal(out[4].value, 8);
}

static void limit_is_never_raised(void **state)
{
    (void)state;
    struct rlimit before, after;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(sb_rlimit_set(&(struct sb_rlimit){RLIMIT_NOFILE, RLIM_INFINITY}), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &after), 0);
    assert_int_equal(after.rlim_cur, before.rlim_max);
    assert_int_equal(after.rlim_max, before.rlim_max);
}

static void usage_adds_time_and_keeps_the_peak(void **state)
{
    (void)state;
    struct sb_gos_usage usage = {.cpu_us = 1, .peak_bytes = 5000};
    struct rusage used = {0};

    used.ru_utime.tv_sec = 1;
    used.ru_stime.tv_usec = 7;
    used.ru_maxrss = 4;
    sb_usage_add(&usage, &used);
    assert_int_equal(usage.cpu_us, 1000008);
    assert_int_equal(usage.peak_bytes, 5000);
    used.ru_maxrss = 5;
    sb_usage_add(&usage, &used);
    assert_int_equal(usage.peak_bytes, 5120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stat_line_is_parsed),
        cmocka_unit_test(stat_name_may_try_to_lie),
        cmocka_unit_test(stat_that_is_cut_is_refused),
        cmocka_unit_test(list_has_us_below_our_parent),
        cmocka_unit_test(descendants_are_found_whatever_the_order),
        cmocka_unit_test(descendants_survive_nonsense),
        cmocka_unit_test(descendants_of_a_long_chain),
        cmocka_unit_test(strike_stops_before_it_kills),
        cmocka_unit_test(strike_leaves_the_dead_and_the_known),
        cmocka_unit_test(strays_are_killed_but_runs_spared),
        cmocka_unit_test(kill_of_all_needs_pid_1_a_namespace_and_no_run),
        cmocka_unit_test(limits_map_to_resource_limits),
        cmocka_unit_test(limit_is_never_raised),
        cmocka_unit_test(usage_adds_time_and_keeps_the_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
