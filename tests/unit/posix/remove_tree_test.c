/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "platform/dirs.h"

static char base[] = "/dev/shm/sb-tree-XXXXXX";

/* In memory where that can be had: ten thousand directories keep a busy disk for seconds. */
static int set_up(void **state)
{
    (void)state;
    strcpy(base, access("/dev/shm", W_OK) == 0 ? "/dev/shm/sb-tree-XXXXXX" : "/tmp/sb-tree-XXXXXX");
    return mkdtemp(base) ? chdir(base) : -1;
}

/* Without the function under test: what it left over must not stay. */
static int tear_down(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "chmod -R u+rwx %s; rm -rf %s", base, base);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static void touch(const char *path, mode_t mode)
{
    int fd = open(path, O_CREAT | O_WRONLY, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, "x", 1), 1);
    fchmod(fd, mode);
    close(fd);
}

static void make_dir(const char *path)
{
    assert_int_equal(mkdir(path, 0700), 0);
}

/* Root is stopped by no mode, so root removes as someone else. 0, or 1 with the text printed. */
static int remove_as_user(const char *path)
{
    int status;
    pid_t child;

    if (geteuid() == 0)
        assert_int_equal(system("chown -hR 54321 ."), 0);
    child = fork();
    if (child == 0) {
        struct sb_err err;

        if (geteuid() == 0 && setresuid(54321, 54321, 54321) < 0)
            _exit(2);
        if (sb_dir_remove_tree(path, &err) == 0)
            _exit(0);
        fprintf(stderr, "%s\n", err.text);
        _exit(1);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

static void closed_directories_and_files_are_removed_by_their_owner(void **state)
{
    (void)state;
    make_dir("t");
    make_dir("t/a");
    make_dir("t/a/b");
    make_dir("t/a/b/c");
    touch("t/a/b/c/file", 0);
    touch("t/a/file", 0400);
    chmod("t/a/b/c", 0);
    chmod("t/a/b", 0100);
    chmod("t/a", 0);
    chmod("t", 0555);
    assert_int_equal(remove_as_user("t"), 0);
    assert_int_equal(access("t", F_OK), -1);
}

static void root_of_the_tree_may_be_closed(void **state)
{
    (void)state;
    make_dir("t");
    touch("t/file", 0600);
    chmod("t", 0);
    assert_int_equal(remove_as_user("t"), 0);
    assert_int_equal(access("t", F_OK), -1);
}

static void links_are_removed_and_their_targets_stay(void **state)
{
    (void)state;
    make_dir("kept");
    touch("kept/file", 0600);
    make_dir("t");
    make_dir("t/d");
    assert_int_equal(symlink("../kept", "t/to_dir"), 0);
    assert_int_equal(symlink("../../kept", "t/d/to_dir"), 0);
    assert_int_equal(symlink("..", "t/d/up"), 0);
    assert_int_equal(symlink("../kept/file", "t/to_file"), 0);
    assert_int_equal(symlink("/nowhere", "t/dangling"), 0);
    assert_int_equal(link("kept/file", "t/hard"), 0);
    assert_int_equal(sb_dir_remove_tree("t", NULL), 0);
    assert_int_equal(access("t", F_OK), -1);
    assert_int_equal(access("kept/file", F_OK), 0);
}

static void a_link_in_place_of_the_tree_goes_itself(void **state)
{
    (void)state;
    make_dir("kept");
    touch("kept/file", 0600);
    assert_int_equal(symlink("kept", "t"), 0);
    assert_int_equal(sb_dir_remove_tree("t", NULL), 0);
    assert_int_equal(access("t", F_OK), -1);
    assert_int_equal(access("kept/file", F_OK), 0);
    touch("t", 0600);
    assert_int_equal(sb_dir_remove_tree("t", NULL), 0);
    assert_int_equal(access("t", F_OK), -1);
}

static void special_files_are_removed_without_being_opened(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "t/socket"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)state;
    make_dir("t");
    make_dir("t/d");
    assert_int_equal(mkfifo("t/fifo", 0600), 0);
    assert_int_equal(mkfifo("t/d/fifo", 0600), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    assert_int_equal(sb_dir_remove_tree("t", NULL), 0);
    assert_int_equal(access("t", F_OK), -1);
}

/* 5,000 levels of 200 bytes: a million bytes of path, with few descriptors. */
static void a_tree_deeper_than_any_path_is_removed(void **state)
{
    char name[201];
    struct rlimit files, few;

    (void)state;
    memset(name, 'n', 200);
    name[200] = '\0';
    make_dir("t");
    assert_int_equal(chdir("t"), 0);
    for (int i = 0; i < 5000; i++) {
        make_dir(name);
        if (i % 1000 == 0)
            touch("file", 0);
        assert_int_equal(chdir(name), 0);
    }
    assert_int_equal(chdir(base), 0);
    getrlimit(RLIMIT_NOFILE, &files);
    few = files;
    few.rlim_cur = 16;
    setrlimit(RLIMIT_NOFILE, &few);
    assert_int_equal(sb_dir_remove_tree("t", NULL), 0);
    setrlimit(RLIMIT_NOFILE, &files);
    assert_int_equal(access("t", F_OK), -1);
}

static void names_we_would_use_ourselves_may_be_there(void **state)
{
    (void)state;
    make_dir("t");
    make_dir("t/.removing-0");
    make_dir("t/.removing-0/.removing-1");
    touch("t/.removing-0/.removing-1/x", 0600);
    make_dir("t/.removing-0/.removing-0");
    touch("t/.removing-0/.removing-0/x", 0600);
    touch("t/.removing-1", 0600);
    make_dir("t/a");
    make_dir("t/a/b");
    make_dir("t/a/b/c");
    assert_int_equal(sb_dir_remove_tree("t", NULL), 0);
    assert_int_equal(access("t", F_OK), -1);
}

static void wide_trees_go_as_well(void **state)
{
    char path[64];

    (void)state;
    make_dir("t");
    for (int i = 0; i < 20; i++) {
        snprintf(path, sizeof path, "t/%d", i);
        make_dir(path);
        for (int j = 0; j < 20; j++) {
            snprintf(path, sizeof path, "t/%d/%d", i, j);
            make_dir(path);
            snprintf(path, sizeof path, "t/%d/%d/f", i, j);
            touch(path, 0600);
        }
    }
    assert_int_equal(sb_dir_remove_tree("t", NULL), 0);
    assert_int_equal(access("t", F_OK), -1);
}

static void missing_is_fine_and_what_refuses_is_named(void **state)
{
    struct sb_err err;
    char file[] = "/proc/self/task";

    (void)state;
    assert_int_equal(sb_dir_remove_tree("not/there", NULL), 0);
    assert_int_equal(sb_dir_remove_tree("there", NULL), 0);
    assert_int_equal(sb_dir_remove_tree(file, &err), -1);
    assert_non_null(strstr(err.text, "cannot remove '/proc/self/task"));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(closed_directories_and_files_are_removed_by_their_owner),
        CASE(root_of_the_tree_may_be_closed),
        CASE(links_are_removed_and_their_targets_stay),
        CASE(a_link_in_place_of_the_tree_goes_itself),
        CASE(special_files_are_removed_without_being_opened),
        CASE(a_tree_deeper_than_any_path_is_removed),
        CASE(names_we_would_use_ourselves_may_be_there),
        CASE(wide_trees_go_as_well),
        CASE(missing_is_fine_and_what_refuses_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
