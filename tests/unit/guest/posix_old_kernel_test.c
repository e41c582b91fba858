/* SPDX-License-Identifier: MIT
 * A kernel, or a container's seccomp list, that does not know the newer calls: the guest finds
 * its way round them. Played by a filter on a child of the test. */
#include "posix_workspace.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "guest_sys.h"

static void forget_new_calls(unsigned error)
{
    const struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = SB_COUNT(rules), .filter = (struct sock_filter *)rules};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        _exit(10);
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* The number of the first thing that went wrong. */
static int live_without_new_calls(struct workspace *ws, unsigned error)
{
    const int keep[] = {100, -1, 300};

    forget_new_calls(error);
    if (sb_beneath_init(&ws->gos.beneath, ws->fd) < 0 || !ws->gos.beneath.by_hand)
        return 1;
    for (int fd = 90; fd <= 310; fd += 10)
        if (dup2(1, fd) < 0)
            return 2;
    sb_close_others(keep, SB_COUNT(keep));
    for (int fd = 3; fd <= 310; fd++)
        if (is_open(fd) != (fd == 100 || fd == 300))
            return 3;
    return is_open(0) && is_open(1) && is_open(2) ? 0 : 4;
}

static void expect_life_without(struct workspace *ws, unsigned error)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(live_without_new_calls(ws, error));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void old_kernel_gets_the_fall_backs(void **state)
{
    expect_life_without(*state, ENOSYS);
}

static void old_container_gets_the_fall_backs(void **state)
{
    expect_life_without(*state, EPERM);
}

static void new_kernel_closes_all_but_the_kept(void **state)
{
    const int keep[] = {300, -1, 100};
    int status = -1;
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        int wrong = 0;
        for (int fd = 90; fd <= 310; fd += 10)
            wrong += dup2(1, fd) < 0;
        sb_close_others(keep, SB_COUNT(keep));
        for (int fd = 3; fd <= 310; fd++)
            wrong += is_open(fd) != (fd == 100 || fd == 300);
        _exit(wrong);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(old_kernel_gets_the_fall_backs, kernel_setup, workspace_close),
        cmocka_unit_test_setup_teardown(old_container_gets_the_fall_backs, kernel_setup, workspace_close),
        cmocka_unit_test(new_kernel_closes_all_but_the_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
