/* SPDX-License-Identifier: MIT
 * Signals and descriptors belong to the whole process, so each case has a child of its own,
 * which answers through its exit status: 0, or the number of the check that failed. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "platform/stop.h"

#define CHECK(number, what)                                                                                  \
    do {                                                                                                     \
        if (!(what))                                                                                         \
            return (number);                                                                                 \
    } while (0)

static void in_child(int (*checks)(void))
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    int status;
    pid_t child = fork();

    if (child == 0) {
        alarm(20);
        for (size_t i = 0; i < SB_COUNT(numbers); i++)
            signal(numbers[i], SIG_DFL); /* whatever started the tests */
        _exit(checks());
    }
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static bool is_null_device(int fd)
{
    struct stat status, null_device;

    return fstat(fd, &status) == 0 && stat("/dev/null", &null_device) == 0 &&
           status.st_rdev == null_device.st_rdev && S_ISCHR(status.st_mode);
}

static int closed_descriptors(void)
{
    int fd;

    close(0);
    close(1);
    close(2);
    sb_stop_prepare();
    CHECK(1, is_null_device(0));
    CHECK(2, is_null_device(1));
    CHECK(3, is_null_device(2));
    fd = open("/etc/passwd", O_RDONLY);
    CHECK(4, fd > 2);
    close(1);
    sb_stop_prepare();
    CHECK(5, is_null_device(1));
    return 0;
}

static int open_descriptors(void)
{
    int fds[2];
    struct stat before, after;

    CHECK(1, pipe(fds) == 0);
    dup2(fds[0], 0);
    fstat(0, &before);
    sb_stop_prepare();
    fstat(0, &after);
    CHECK(2, before.st_ino == after.st_ino && before.st_dev == after.st_dev);
    return 0;
}

static int inherited_signals(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, now;
    sigset_t all, mask;
    pid_t child;
    int status;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigaction(SIGCHLD, &ignore, NULL);
    umask(0777);
    sb_stop_prepare();
    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int number = 1; number < SIGRTMAX; number++)
        CHECK(1, sigismember(&mask, number) <= 0);
    sigaction(SIGPIPE, NULL, &now);
    CHECK(2, now.sa_handler == SIG_IGN);
    CHECK(3, umask(0) == 077);
    child = fork();
    if (child == 0)
        _exit(7);
    CHECK(4, waitpid(child, &status, 0) == child); /* not lost, as it is while SIGCHLD is ignored */
    CHECK(5, WEXITSTATUS(status) == 7);
    return 0;
}

static int few_descriptors(void)
{
    struct rlimit files;

    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = 16;
    setrlimit(RLIMIT_NOFILE, &files);
    sb_stop_prepare();
    getrlimit(RLIMIT_NOFILE, &files);
    CHECK(1, files.rlim_cur > 16);
    files.rlim_cur = files.rlim_max = 16;
    CHECK(2, setrlimit(RLIMIT_NOFILE, &files) == 0);
    sb_stop_prepare(); /* can't be mended, does no harm */
    return 0;
}

static int no_file_may_grow(void)
{
    struct rlimit none = {0, 0};
    char path[] = "/tmp/sb-stop-XXXXXX";
    int fd = mkstemp(path);

    unlink(path);
    setrlimit(RLIMIT_FSIZE, &none);
    sb_stop_prepare();
    CHECK(1, write(fd, "x", 1) == -1 && errno == EFBIG);
    return 0;
}

static int seen[4], times;

static void on_stop(void *ctx, enum sb_stop_reason reason)
{
    *(int *)ctx += 1;
    if (times < 4)
        seen[times++] = (int)reason;
}

static void on_time(uv_timer_t *timer)
{
    (void)timer;
}

static int watched_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGINT};
    static const enum sb_stop_reason reasons[] = {SB_STOP_INTERRUPT, SB_STOP_TERMINATE, SB_STOP_HANGUP,
                                                  SB_STOP_INTERRUPT};
    uv_loop_t loop;
    uv_timer_t work;
    int count = 0;

    sb_stop_prepare();
    CHECK(1, uv_loop_init(&loop) == 0);
    CHECK(2, sb_stop_watch(&loop, on_stop, &count, NULL) == 0);
    CHECK(3, sb_stop_watch(&loop, on_stop, &count, NULL) < 0); /* one watcher per process */
    CHECK(4, uv_run(&loop, UV_RUN_DEFAULT) == 0);              /* a watcher alone keeps no loop alive */
    uv_timer_init(&loop, &work);
    uv_timer_start(&work, on_time, 600000, 0);
    for (int i = 0; i < 4; i++) {
        raise(numbers[i]);
        while (times <= i)
            uv_run(&loop, UV_RUN_ONCE);
        CHECK(5, seen[i] == (int)reasons[i]);
    }
    CHECK(6, count == 4);
    uv_close((uv_handle_t *)&work, NULL);
    sb_stop_unwatch();
    sb_stop_unwatch();
    CHECK(7, uv_run(&loop, UV_RUN_DEFAULT) == 0);
    CHECK(8, sb_stop_watch(&loop, on_stop, &count, NULL) == 0); /* and again */
    sb_stop_unwatch();
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(9, uv_loop_close(&loop) == 0);
    return 0;
}

/* nohup llm-sandbox serve & */
static int ignored_signals(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, now;
    uv_loop_t loop;
    int count = 0;

    sigaction(SIGHUP, &ignore, NULL);
    sigaction(SIGINT, &ignore, NULL);
    sigaction(SIGTERM, &ignore, NULL);
    sb_stop_prepare();
    uv_loop_init(&loop);
    CHECK(1, sb_stop_watch(&loop, on_stop, &count, NULL) == 0);
    sigaction(SIGHUP, NULL, &now);
    CHECK(2, now.sa_handler == SIG_IGN);
    sigaction(SIGINT, NULL, &now);
    CHECK(3, now.sa_handler == SIG_IGN);
    sigaction(SIGTERM, NULL, &now);
    CHECK(4, now.sa_handler != SIG_IGN);
    sb_stop_unwatch();
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(5, uv_loop_close(&loop) == 0);
    return 0;
}

static void closed_standard_descriptors_become_the_null_device(void **state)
{
    (void)state;
    in_child(closed_descriptors);
}

static void open_standard_descriptors_stay(void **state)
{
    (void)state;
    in_child(open_descriptors);
}

static void inherited_signal_state_is_undone(void **state)
{
    (void)state;
    in_child(inherited_signals);
}

static void a_low_soft_limit_of_descriptors_is_raised(void **state)
{
    (void)state;
    in_child(few_descriptors);
}

static void a_file_size_limit_is_an_error_not_our_death(void **state)
{
    (void)state;
    in_child(no_file_may_grow);
}

static void each_signal_rings_with_its_reason(void **state)
{
    (void)state;
    in_child(watched_signals);
}

static void what_our_starter_ignores_for_us_stays_ignored(void **state)
{
    (void)state;
    in_child(ignored_signals);
}

static void statuses_are_those_a_shell_expects(void **state)
{
    (void)state;
    assert_int_equal(sb_stop_status(SB_STOP_INTERRUPT), 130);
    assert_int_equal(sb_stop_status(SB_STOP_TERMINATE), 143);
    assert_int_equal(sb_stop_status(SB_STOP_HANGUP), 129);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_standard_descriptors_become_the_null_device),
        cmocka_unit_test(open_standard_descriptors_stay),
        cmocka_unit_test(inherited_signal_state_is_undone),
        cmocka_unit_test(a_low_soft_limit_of_descriptors_is_raised),
        cmocka_unit_test(a_file_size_limit_is_an_error_not_our_death),
        cmocka_unit_test(each_signal_rings_with_its_reason),
        cmocka_unit_test(what_our_starter_ignores_for_us_stays_ignored),
        cmocka_unit_test(statuses_are_those_a_shell_expects),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
