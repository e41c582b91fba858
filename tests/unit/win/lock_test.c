/* SPDX-License-Identifier: MIT */
#include "win_test.h"

#include "platform/dirs.h"
#include "platform/lock.h"

static char *folder, *path;

static int new_path(void **state)
{
    (void)state;
    folder = new_folder();
    path = sb_asprintf("%s\\lock", folder);
    return 0;
}

static int remove_path(void **state)
{
    (void)state;
    int rc = sb_dir_remove_tree(folder, NULL);
    sb_free(path);
    sb_free(folder);
    return rc;
}

static void a_second_taker_is_told_that_it_is_busy(void **state)
{
    struct sb_lock *lock = NULL, *second = NULL;
    struct sb_err err = {0};
    (void)state;
    assert_int_equal(sb_lock_take(path, &lock, NULL), 0);
    assert_int_equal(sb_lock_take(path, &second, &err), -1);
    assert_int_equal(err.code, SB_BUSY);
    assert_null(second);
    sb_lock_free(lock, 0);
    assert_true(exists(path));
    assert_int_equal(sb_lock_take(path, &second, NULL), 0);
    sb_lock_free(second, 0);
}

static void the_last_holder_may_remove_the_file(void **state)
{
    struct sb_lock *lock = NULL;
    (void)state;
    assert_int_equal(sb_lock_take(path, &lock, NULL), 0);
    sb_lock_free(lock, 1);
    assert_false(exists(path));
    assert_int_equal(sb_lock_take(path, &lock, NULL), 0);
    sb_lock_free(lock, 1);
    sb_lock_free(NULL, 1);
}

static void a_folder_that_is_not_there_is_not_found(void **state)
{
    struct sb_lock *lock = NULL;
    struct sb_err err = {0};
    (void)state;
    char *below = sb_asprintf("%s\\no\\lock", folder);
    assert_int_equal(sb_lock_take(below, &lock, &err), -1);
    assert_int_equal(err.code, SB_NOT_FOUND);
    sb_free(below);
}

static int child_holds(const char *file, const char *event)
{
    struct sb_lock *lock = NULL;
    wchar_t name[64];
    _snwprintf(name, SB_COUNT(name), L"%hs", event);
    if (sb_lock_take(file, &lock, NULL) < 0)
        return 1;
    SetEvent(OpenEventW(EVENT_MODIFY_STATE, FALSE, name));
    Sleep(INFINITE);
    return 0;
}

static void a_killed_holder_holds_it_no_more(void **state)
{
    struct sb_lock *lock = NULL;
    struct sb_err err = {0};
    STARTUPINFOW how = {.cb = sizeof how};
    PROCESS_INFORMATION made;
    char id[SB_ID_LEN + 1];
    (void)state;

    sb_random_id(id);
    char *program = own_program(), *line = sb_asprintf("\"%s\" child \"%s\" %s", program, path, id);
    wchar_t *wide_line = sb_to_utf16(line, NULL), *name = sb_to_utf16(id, NULL);
    HANDLE holds = CreateEventW(NULL, TRUE, FALSE, name);
    assert_true(CreateProcessW(NULL, wide_line, NULL, NULL, FALSE, 0, NULL, NULL, &how, &made));
    assert_int_equal(WaitForSingleObject(holds, HANG_MS), WAIT_OBJECT_0);
    assert_int_equal(sb_lock_take(path, &lock, &err), -1);
    assert_int_equal(err.code, SB_BUSY);
    TerminateProcess(made.hProcess, 1);
    assert_int_equal(WaitForSingleObject(made.hProcess, HANG_MS), WAIT_OBJECT_0);
    assert_int_equal(sb_lock_take(path, &lock, NULL), 0);
    sb_lock_free(lock, 1);
    CloseHandle(made.hThread);
    CloseHandle(made.hProcess);
    CloseHandle(holds);
    sb_free(wide_line);
    sb_free(name);
    sb_free(line);
    sb_free(program);
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "child") == 0)
        return child_holds(argv[2], argv[3]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_second_taker_is_told_that_it_is_busy, new_path, remove_path),
        cmocka_unit_test_setup_teardown(the_last_holder_may_remove_the_file, new_path, remove_path),
        cmocka_unit_test_setup_teardown(a_folder_that_is_not_there_is_not_found, new_path, remove_path),
        cmocka_unit_test_setup_teardown(a_killed_holder_holds_it_no_more, new_path, remove_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
