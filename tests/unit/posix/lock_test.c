/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "platform/lock.h"

static char base[] = "/tmp/sb-lock-XXXXXX";
static char path[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(base, "/tmp/sb-lock-XXXXXX");
    if (!mkdtemp(base))
        return -1;
    snprintf(path, sizeof path, "%s/lock", base);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(base);
}

static struct sb_lock *take(void)
{
    struct sb_lock *lock = NULL;
    struct sb_err err;

    if (sb_lock_take(path, &lock, &err) < 0)
        fail_msg("%s", err.text);
    return lock;
}

static void expect_busy(void)
{
    struct sb_lock *lock = NULL;
    struct sb_err err;

    assert_int_equal(sb_lock_take(path, &lock, &err), -1);
    assert_int_equal(err.code, SB_BUSY);
    assert_null(lock);
}

static void one_holder_at_a_time(void **state)
{
    struct sb_lock *lock = take();

    (void)state;
    expect_busy();
    sb_lock_free(lock, 0);
    assert_int_equal(access(path, F_OK), 0);
    lock = take();
    expect_busy();
    sb_lock_free(lock, 1);
    assert_int_equal(access(path, F_OK), -1);
    sb_lock_free(NULL, 1);
}

static void lock_goes_with_its_killed_holder(void **state)
{
    int fds[2];
    char byte;
    pid_t holder;

    (void)state;
    assert_int_equal(pipe(fds), 0);
    holder = fork();
    if (holder == 0) {
        struct sb_lock *lock;

        if (sb_lock_take(path, &lock, NULL) < 0)
            _exit(1);
        (void)!write(fds[1], "x", 1);
        for (;;)
            pause();
    }
    close(fds[1]);
    assert_int_equal(read(fds[0], &byte, 1), 1);
    expect_busy();
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    sb_lock_free(take(), 0);
    close(fds[0]);
}

static void lock_is_not_inherited_by_programs(void **state)
{
    struct sb_lock *lock = take();
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "ls -l /proc/self/fd | grep -q %s", path);
    assert_int_not_equal(system(command), 0);
    sb_lock_free(lock, 0);
}

static void removed_file_protects_nothing_and_is_made_anew(void **state)
{
    struct sb_lock *first = take(), *second;

    (void)state;
    unlink(path);
    second = take(); /* another file by now */
    expect_busy();
    sb_lock_free(first, 0);
    expect_busy();
    sb_lock_free(second, 0);
}

/* Four processes take, look and remove: never two inside. */
static void takers_and_removers_never_meet(void **state)
{
    char inside[80];
    int status, failures = 0;

    (void)state;
    snprintf(inside, sizeof inside, "%s/inside", base);
    for (int i = 0; i < 4; i++) {
        if (fork() == 0) {
            for (int n = 0; n < 60;) {
                struct sb_lock *lock;

                if (sb_lock_take(path, &lock, NULL) < 0)
                    continue;
                if (mkdir(inside, 0700) < 0)
                    _exit(1);
                rmdir(inside);
                sb_lock_free(lock, 1);
                n++;
            }
            _exit(0);
        }
    }
    while (wait(&status) > 0)
        failures += status != 0;
    assert_int_equal(failures, 0);
}

static void link_in_the_place_is_refused(void **state)
{
    struct sb_lock *lock = NULL;
    struct sb_err err;

    (void)state;
    assert_int_equal(symlink("elsewhere", path), 0);
    assert_int_equal(sb_lock_take(path, &lock, &err), -1);
    assert_non_null(strstr(err.text, path));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(one_holder_at_a_time),
        CASE(lock_goes_with_its_killed_holder),
        CASE(lock_is_not_inherited_by_programs),
        CASE(removed_file_protects_nothing_and_is_made_anew),
        CASE(takers_and_removers_never_meet),
        CASE(link_in_the_place_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
