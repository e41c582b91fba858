/* SPDX-License-Identifier: MIT
 * The canary outside a box: each attack is real there, and its refusal is told as such. */
#include "posix_workspace.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "guest/guest.h"

/* Runs the canary in a child whose current folder is the workspace, after `before`. */
static int run(const struct workspace *ws, const char *name, void (*before)(void), char out[512])
{
    char *const names[] = {(char *)name};
    int pipes[2], status = -1;
    size_t len = 0;
    ssize_t got;

    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (fchdir(ws->fd) < 0 || dup2(pipes[1], 1) < 0)
            _exit(99);
        close(pipes[0]);
        close(pipes[1]); /* what the canary leaves behind must not hold it */
        if (before != NULL)
            before();
        _exit(sb_guest_canary(1, names));
    }
    assert_true(pid > 0);
    close(pipes[1]);
    while ((got = read(pipes[0], out + len, 511 - len)) > 0)
        len += (size_t)got;
    out[len] = '\0';
    close(pipes[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void expect(const struct workspace *ws, const char *name, void (*before)(void), const char *line)
{
    char out[512];

    assert_int_equal(run(ws, name, before, out), 0);
    assert_string_equal(out, line);
}

static void small_files_only(void)
{
    const struct rlimit limit = {4096, 4096};

    setrlimit(RLIMIT_FSIZE, &limit);
}

static void little_memory_only(void)
{
    struct rlimit limit = {0, 0};
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file != NULL && fscanf(file, "%ld", &pages) == 1)
        limit.rlim_cur = limit.rlim_max = (rlim_t)(pages + 1024) * 4096;
    setrlimit(RLIMIT_AS, &limit);
}

static void unknown_name_is_refused_before_any_attack(void **state)
{
    char *const names[] = {"write-outside=made", "no-such-attack"};
    const char *const bad[] = {"nothing", "network", "identity=1", "kil", "kills", "", "=", "memory"};
    struct workspace *ws = *state;
    char out[512];

    for (size_t i = 0; i < SB_COUNT(bad); i++) {
        assert_int_equal(run(ws, bad[i], NULL, out), 2);
        assert_string_equal(out, "");
    }
    assert_int_equal(sb_guest_canary(2, names), 2);
    assert_false(is_there(ws, "made"));
}

static void files_outside_are_open_or_told_why_not(void **state)
{
    struct workspace *ws = *state;

    expect(ws, "read-outside=/etc/passwd", NULL, "read-outside open\n");
    expect(ws, "read-outside=/no/such=file", NULL, "read-outside denied 2\n");
    expect(ws, "write-outside=made", NULL, "write-outside open\n");
    assert_true(is_there(ws, "made"));
    expect(ws, "write-outside=/no/such/file", NULL, "write-outside denied 2\n");
}

static void network_reaches_a_listener(void **state)
{
    struct workspace *ws = *state;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    char name[64];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    snprintf(name, sizeof name, "network=%d", ntohs(address.sin_port));
    expect(ws, name, NULL, "network denied 111\n"); /* bound, but nobody listens */
    assert_int_equal(listen(fd, 1), 0);
    expect(ws, name, NULL, "network open\n");
    close(fd);
    expect(ws, "network=0", NULL, "network error not a number from 1 to 65535\n");
    expect(ws, "network=80x", NULL, "network error not a number from 1 to 65535\n");
}

static void endpoint_reaches_files_and_abstract_names(void **state)
{
    struct workspace *ws = *state;
    char name[128];

    for (int abstract = 0; abstract < 2; abstract++) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        snprintf(address.sun_path, sizeof address.sun_path, "%s%s/s", abstract ? "@" : "", ws->path);
        snprintf(name, sizeof name, "endpoint=%s", address.sun_path);
        socklen_t len =
            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(address.sun_path) + !abstract);
        if (abstract)
            address.sun_path[0] = '\0';
        expect(ws, name, NULL, abstract ? "endpoint denied 111\n" : "endpoint denied 2\n");
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
        assert_int_equal(listen(fd, 1), 0);
        expect(ws, name, NULL, "endpoint open\n");
        close(fd);
    }
    expect(ws, "endpoint=", NULL, "endpoint error the path is empty or too long\n");
}

static void processes_memory_and_disk_are_there(void **state)
{
    struct workspace *ws = *state;

    expect(ws, "processes", NULL, "processes open\n");
    expect(ws, "memory=8", NULL, "memory open\n");
    expect(ws, "disk=2", NULL, "disk open\n");
    assert_false(is_there(ws, "canary-disk"));
}

static void limits_are_told_as_denials(void **state)
{
    struct workspace *ws = *state;

    expect(ws, "disk=2", small_files_only, "disk denied 27\n");
    assert_false(is_there(ws, "canary-disk"));
    expect(ws, "memory=64", little_memory_only, "memory denied 12\n");
}

static void identity_outside_a_box_is_open(void **state)
{
    char out[512];

    assert_int_equal(run(*state, "identity", NULL, out), 0);
    assert_int_equal(strncmp(out, "identity open ", 14), 0);
}

static void kill_leaves_a_process_behind(void **state)
{
    char out[512];
    int pid = 0;

    assert_int_equal(run(*state, "kill", NULL, out), 0);
    assert_int_equal(sscanf(out, "kill pid %d\n", &pid), 1);
    assert_true(pid > 1);
    assert_int_not_equal(getsid(pid), getsid(0));
    assert_int_equal(kill(pid, SIGKILL), 0);
}

#define IN_WORKSPACE(test) cmocka_unit_test_setup_teardown(test, kernel_setup, workspace_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORKSPACE(unknown_name_is_refused_before_any_attack),
        IN_WORKSPACE(files_outside_are_open_or_told_why_not),
        IN_WORKSPACE(network_reaches_a_listener),
        IN_WORKSPACE(endpoint_reaches_files_and_abstract_names),
        IN_WORKSPACE(processes_memory_and_disk_are_there),
        IN_WORKSPACE(limits_are_told_as_denials),
        IN_WORKSPACE(identity_outside_a_box_is_open),
        IN_WORKSPACE(kill_leaves_a_process_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
