/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "sandbox/verdict.h"

#define ALL_DENIED                                                                                           \
    "read-outside denied 2\nwrite-outside denied 2\nnetwork denied 111\nendpoint denied 2\nendpoint denied " \
    "111\n"                                                                                                  \
    "identity denied 30\ndisk denied 28\nprocesses denied 11\nmemory denied 12\nkill pid 7\n"

static const struct sb_verdict_seen GOOD = {.own_pids = true, .gone = true};

static bool judge(const char *text, const struct sb_verdict_seen *seen, struct sb_promises *out)
{
    struct sb_verdict verdict = {0};

    sb_verdict_read(&verdict, text, strlen(text));
    return sb_verdict_judge(&verdict, seen, out);
}

static void what_is_seen_denied_is_promised(void **state)
{
    struct sb_promises promises;

    (void)state;
    assert_true(judge(ALL_DENIED, &GOOD, &promises));
    for (int i = 0; i < SB_PROMISE_CPU_SHARE; i++) {
        assert_int_equal(promises.of[i], SB_KERNEL);
        assert_string_equal(promises.why[i], "");
    }
    assert_int_equal(promises.of[SB_PROMISE_CPU_SHARE], SB_NONE);
    assert_true(promises.why[SB_PROMISE_CPU_SHARE][0]);
}

static void silence_promises_nothing_and_is_not_worth_keeping(void **state)
{
    struct sb_promises promises;

    (void)state;
    assert_false(judge("", &GOOD, &promises));
    for (int i = 0; i < SB_PROMISE_COUNT; i++) {
        assert_int_equal(promises.of[i], i == SB_PROMISE_KILL ? SB_KERNEL : SB_NONE);
        assert_true(i == SB_PROMISE_KILL || promises.why[i][0]);
    }
}

static void each_open_canary_takes_its_promise_and_no_other(void **state)
{
    static const struct {
        const char *line;
        enum sb_promise promise;
        const char *why;
    } cases[] = {
        {"read-outside open\n", SB_PROMISE_READ_OUTSIDE, "a file outside the box could be read"},
        {"write-outside open\n", SB_PROMISE_WRITE_OUTSIDE, "could be written"},
        {"network open\n", SB_PROMISE_NETWORK, "loopback"},
        {"endpoint open\n", SB_PROMISE_ENDPOINT, "socket"},
        {"identity open core_pattern\n", SB_PROMISE_IDENTITY, "rights of the host: core_pattern"},
        {"processes open\n", SB_PROMISE_PROCESSES, "second process"},
        {"memory open\n", SB_PROMISE_MEMORY, "128 MiB"},
        {"disk open\n", SB_PROMISE_DISK, "4 MiB"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sb_verdict verdict = {0};
        struct sb_promises promises;

        sb_verdict_read(&verdict, cases[i].line,
                        strlen(cases[i].line)); /* before or after: the worst counts */
        sb_verdict_read(&verdict, ALL_DENIED, strlen(ALL_DENIED));
        assert_true(sb_verdict_judge(&verdict, &GOOD, &promises));
        for (int k = 0; k < SB_PROMISE_CPU_SHARE; k++)
            assert_int_equal(promises.of[k], k == (int)cases[i].promise ? SB_NONE : SB_KERNEL);
        assert_non_null(strstr(promises.why[cases[i].promise], cases[i].why));
    }
}

static void a_canary_that_failed_promises_nothing(void **state)
{
    struct sb_promises promises;

    (void)state;
    assert_false(judge(ALL_DENIED "disk error no space to try\n", &GOOD, &promises));
    assert_int_equal(promises.of[SB_PROMISE_DISK], SB_NONE);
    assert_string_equal(promises.why[SB_PROMISE_DISK], "its canary failed: no space to try");
}

static void the_hosts_own_eyes_count_more_than_the_canary(void **state)
{
    struct sb_verdict_seen seen = GOOD;
    struct sb_promises promises;

    (void)state;
    seen.network = true;
    judge(ALL_DENIED, &seen, &promises);
    assert_int_equal(promises.of[SB_PROMISE_NETWORK], SB_NONE);
    assert_int_equal(promises.of[SB_PROMISE_ENDPOINT], SB_KERNEL);
    seen.network = false;
    seen.endpoint = true;
    judge(ALL_DENIED, &seen, &promises);
    assert_int_equal(promises.of[SB_PROMISE_NETWORK], SB_KERNEL);
    assert_int_equal(promises.of[SB_PROMISE_ENDPOINT], SB_NONE);
}

static void kill_is_promised_when_nothing_can_live_on(void **state)
{
    static const struct {
        const char *text;
        struct sb_verdict_seen seen;
        enum sb_strength kill;
    } cases[] = {
        {"", {.own_pids = true, .gone = true}, SB_KERNEL},
        {"", {.own_pids = true, .gone = false}, SB_NONE},
        {"kill pid 99\n", {.gone = true, .left_behind_dead = true}, SB_KERNEL},
        {"kill pid 99\n", {.gone = true, .left_behind_dead = false}, SB_NONE},
        {"kill error cannot fork\n", {.gone = true, .left_behind_dead = true}, SB_NONE},
        {"kill pid 0\n", {.gone = true, .left_behind_dead = true}, SB_NONE},
        {"kill pid -1\n", {.gone = true, .left_behind_dead = true}, SB_NONE},
        {"kill pid 99\n", {.gone = false, .left_behind_dead = true}, SB_NONE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sb_promises promises;

        judge(cases[i].text, &cases[i].seen, &promises);
        assert_int_equal(promises.of[SB_PROMISE_KILL], cases[i].kill);
        assert_int_equal(promises.why[SB_PROMISE_KILL][0] == '\0', cases[i].kill == SB_KERNEL);
    }
}

static void lines_that_make_no_sense_say_nothing(void **state)
{
    char text[2048];
    size_t len;
    struct sb_verdict verdict = {0};

    (void)state;
    memset(text, 'x', sizeof text);
    memcpy(text, "disk denied 28", 14); /* a line far too long */
    text[1000] = '\n';
    len = 1001;
    len += (size_t)sprintf(text + len, "disk\n\ndisk maybe\ndisc denied 1\n denied\n");
    memcpy(text + len, "network denied\0 1\n", 18);
    len += 18;
    len += (size_t)sprintf(text + len, "memory denied 12"); /* torn */
    sb_verdict_read(&verdict, text, len);
    for (int i = 0; i < SB_PROMISE_COUNT; i++)
        assert_int_equal(verdict.of[i], SB_SIGHT_NONE);
}

static void windows_line_ends_are_line_ends(void **state)
{
    struct sb_verdict verdict = {0};
    static const char text[] = "disk error too odd\r\n";

    (void)state;
    sb_verdict_read(&verdict, text, sizeof text - 1);
    assert_string_equal(verdict.detail[SB_PROMISE_DISK], "too odd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_seen_denied_is_promised),
        cmocka_unit_test(silence_promises_nothing_and_is_not_worth_keeping),
        cmocka_unit_test(each_open_canary_takes_its_promise_and_no_other),
        cmocka_unit_test(a_canary_that_failed_promises_nothing),
        cmocka_unit_test(the_hosts_own_eyes_count_more_than_the_canary),
        cmocka_unit_test(kill_is_promised_when_nothing_can_live_on),
        cmocka_unit_test(lines_that_make_no_sense_say_nothing),
        cmocka_unit_test(windows_line_ends_are_line_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
