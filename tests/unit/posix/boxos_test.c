/* SPDX-License-Identifier: MIT
 * As root boxes hold a uid each; as an ordinary user they hold nothing. */
#include <dirent.h>
#include <setjmp.h>
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

#include "../posix/boxos.h"
#include "../posix/uids.h"
#include "platform/dirs.h"

static char base[] = "/dev/shm/sb-boxos-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    strcpy(base, access("/dev/shm", W_OK) == 0 ? "/dev/shm/sb-boxos-XXXXXX" : "/tmp/sb-boxos-XXXXXX");
    return mkdtemp(base) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return sb_dir_remove_tree(base, NULL);
}

static struct sb_box_os *open_one(void)
{
    struct sb_box_os_want want = {.runtime_dir = base, .box_id = "b_test"};
    struct sb_box_os *os = NULL;
    struct sb_err err;

    if (sb_box_os_open(&want, &os, &err) < 0)
        fail_msg("%s", err.text);
    return os;
}

static unsigned locks(void)
{
    char path[64];
    unsigned n = 0;
    DIR *dir;
    struct dirent *entry;

    snprintf(path, sizeof path, "%s/uids", base);
    dir = opendir(path);
    while (dir && (entry = readdir(dir)))
        n += entry->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return n;
}

/* In a child, where root can give up root. */
static int ordinary_box(void)
{
    struct sb_box_os_want want = {.runtime_dir = base, .box_id = "b_test"};
    struct sb_box_os *os;

    if (geteuid() == 0 && setresuid(54321, 54321, 54321) < 0)
        return 1;
    if (sb_box_os_drops_uid() || sb_box_os_open(&want, &os, NULL) < 0 || os->drop)
        return 2;
    sb_box_os_close(os);
    return 0;
}

static void boxes_of_an_ordinary_user_keep_its_uid(void **state)
{
    int status;
    pid_t child = fork();

    (void)state;
    if (child == 0)
        _exit(ordinary_box());
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(locks(), 0);
}

static void boxes_of_root_never_share_a_uid(void **state)
{
    enum { BOXES = 40 };
    struct sb_box_os *boxes[BOXES];

    (void)state;
    if (geteuid() != 0)
        skip();
    assert_true(sb_box_os_drops_uid());
    for (int i = 0; i < BOXES; i++) {
        boxes[i] = open_one();
        assert_true(boxes[i]->drop);
        assert_int_equal(boxes[i]->gid, boxes[i]->uid);
        assert_true(boxes[i]->uid >= 1000);
        for (int j = 0; j < i; j++)
            assert_int_not_equal(boxes[i]->uid, boxes[j]->uid);
    }
    assert_int_equal(locks(), BOXES);
    for (int i = 0; i < BOXES; i++)
        sb_box_os_close(boxes[i]);
    assert_int_equal(locks(), 0);
    sb_box_os_close(NULL);
}

/* All of the pool, one more is refused, and one given back is found again. */
static void a_uid_is_free_again_only_after_close(void **state)
{
    static struct sb_box_os *boxes[SB_UIDS_COUNT];
    struct sb_box_os_want want = {.runtime_dir = base, .box_id = "b_test"};
    struct sb_box_os *more = NULL;
    struct sb_err err = {0};
    size_t n = 0;
    uid_t uid;

    (void)state;
    if (geteuid() != 0)
        skip();
    while (n < SB_UIDS_COUNT && sb_box_os_open(&want, &boxes[n], &err) == 0)
        n++;
    if (n < SB_UIDS_COUNT && err.code != SB_LIMIT) /* a small container has fewer */
        fail_msg("%s", err.text);
    assert_int_equal(sb_box_os_open(&want, &more, &err), -1);
    assert_int_equal(err.code, SB_LIMIT);
    assert_non_null(strstr(err.text, "uids for boxes are in use"));
    assert_null(more);
    uid = boxes[n / 2]->uid;
    sb_box_os_close(boxes[n / 2]);
    boxes[n / 2] = open_one();
    assert_int_equal(boxes[n / 2]->uid, uid);
    for (size_t i = 0; i < n; i++)
        sb_box_os_close(boxes[i]);
}

static void lock_directory_of_another_is_refused(void **state)
{
    struct sb_box_os_want want = {.runtime_dir = base, .box_id = "b_test"};
    struct sb_box_os *os = NULL;
    struct sb_err err;
    char path[64];

    (void)state;
    if (geteuid() != 0)
        skip();
    snprintf(path, sizeof path, "%s/uids", base);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, 0770), 0);
    assert_int_equal(sb_box_os_open(&want, &os, &err), -1);
    assert_int_equal(chmod(path, 0700), 0);
    assert_int_equal(chown(path, 4711, (gid_t)-1), 0);
    assert_int_equal(sb_box_os_open(&want, &os, &err), -1);
    assert_non_null(strstr(err.text, "/uids' is not a directory of root's alone"));
    assert_null(os);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(boxes_of_an_ordinary_user_keep_its_uid),
        CASE(boxes_of_root_never_share_a_uid),
        CASE(a_uid_is_free_again_only_after_close),
        CASE(lock_directory_of_another_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
