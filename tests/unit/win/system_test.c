/* SPDX-License-Identifier: MIT
 * The small bodies: error text, clock, random ids, finding programs, reasons to stop. */
#include "win_test.h"

#include <io.h>

#include "platform/clock.h"
#include "platform/dirs.h"
#include "platform/find.h"
#include "platform/oserr.h"
#include "platform/stop.h"

static void an_error_says_what_failed_and_why(void **state)
{
    static const struct {
        long os;
        enum sb_code code;
        const char *text;
    } rows[] = {
        {ERROR_FILE_NOT_FOUND, SB_NOT_FOUND, "cannot open 'x': "},
        {ERROR_ACCESS_DENIED, SB_DENIED, "cannot open 'x': access"},
        {ERROR_SHARING_VIOLATION, SB_HOST, "cannot open 'x': "},
        {UV_EPIPE, SB_HOST, "cannot open 'x': broken pipe"},
        {UV_ENOENT, SB_NOT_FOUND, "cannot open 'x': "},
        {54321098, SB_HOST, "cannot open 'x': system error 54321098"},
    };
    (void)state;
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        struct sb_err err = {0};
        assert_int_equal(sb_fail_os_at(&err, rows[i].os, "cannot open '%s'", "x"), -1);
        assert_int_equal(err.code, rows[i].code);
        assert_int_equal(err.os, rows[i].os);
        assert_memory_equal(err.text, rows[i].text, strlen(rows[i].text));
        assert_true(strlen(err.text) > strlen("cannot open 'x': "));
        assert_null(strpbrk(err.text, "\r\n."));
    }
}

static void the_last_error_is_the_default(void **state)
{
    struct sb_err err = {0};
    (void)state;
    SetLastError(ERROR_PATH_NOT_FOUND);
    sb_fail_os(&err, "x");
    assert_int_equal(err.os, ERROR_PATH_NOT_FOUND);
}

static void the_clock_never_goes_back_and_goes_on(void **state)
{
    int64_t start = sb_clock_us(), last = start;
    ULONGLONG hang = GetTickCount64() + HANG_MS;
    (void)state;
    assert_true(start > 0);
    while (last == start && GetTickCount64() < hang) {
        int64_t now = sb_clock_us();
        assert_true(now >= last);
        last = now;
    }
    assert_true(last > start);
}

static void ids_are_sixteen_base32_digits_and_differ(void **state)
{
    char a[SB_ID_LEN + 1], b[SB_ID_LEN + 1];
    (void)state;
    sb_random_id(a);
    sb_random_id(b);
    assert_int_equal(strlen(a), SB_ID_LEN);
    assert_int_equal(strspn(a, "abcdefghijklmnopqrstuvwxyz234567"), SB_ID_LEN);
    assert_string_not_equal(a, b);
}

static void assert_found(const char *name, const char *expected)
{
    struct sb_buf path;
    struct sb_err err = {0};
    sb_buf_init(&path, 4096);
    int rc = sb_find_program(name, &path, &err);
    if (expected) {
        assert_string_equal(err.text, "");
        assert_string_equal(path.data, expected);
    } else {
        assert_int_equal(rc, -1);
        assert_int_equal(err.code, SB_NOT_FOUND);
    }
    sb_buf_done(&path);
}

static void programs_are_found_on_path_but_not_in_the_store(void **state)
{
    (void)state;
    char *root = new_folder();
    char *store = sb_asprintf("%s\\WindowsApps", root), *good = sb_asprintf("%s\\good", root);
    char *folders[] = {store, good};
    char *tool = sb_asprintf("%s\\tool.exe", good), *decoy = sb_asprintf("%s\\tool.exe", store);
    char *path = sb_asprintf("relative;;%s\\;C:\\no\\such;%s", store, good);
    for (size_t i = 0; i < SB_COUNT(folders); i++)
        assert_int_equal(sb_dir_make(folders[i], 0, NULL), 0);
    write_file(tool, "x");
    write_file(decoy, "x");
    wchar_t *wide = sb_to_utf16(path, NULL);
    SetEnvironmentVariableW(L"PATH", wide);

    assert_found("tool", tool);
    assert_found("tool.exe", tool);
    assert_found("toll", NULL);
    assert_found("..\\good\\tool", NULL);

    assert_int_equal(sb_dir_remove_tree(root, NULL), 0);
    sb_free(wide);
    sb_free(path);
    sb_free(tool);
    sb_free(decoy);
    sb_free(good);
    sb_free(store);
    sb_free(root);
}

/* Started with no standard handles at all, as a program of the desktop is. */
static int child_without_handles(void)
{
    static const DWORD names[] = {STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};
    char byte;
    if (GetStdHandle(STD_OUTPUT_HANDLE))
        return 1; /* the test itself is wrong */
    sb_stop_prepare();
    for (int fd = 0; fd < 3; fd++)
        if (GetFileType(GetStdHandle(names[fd])) != FILE_TYPE_CHAR ||
            GetFileType((HANDLE)_get_osfhandle(fd)) != FILE_TYPE_CHAR)
            return 2 + fd;
    return _read(0, &byte, 1) == 0 && _write(1, "x\n", 2) == 2 && _write(2, "x\n", 2) == 2 ? 0 : 5;
}

static void missing_standard_handles_become_the_null_device(void **state)
{
    STARTUPINFOW how = {.cb = sizeof how, .dwFlags = STARTF_USESTDHANDLES};
    PROCESS_INFORMATION made;
    DWORD code = 1;
    (void)state;
    char *program = own_program(), *line = sb_asprintf("\"%s\" child", program);
    wchar_t *wide = sb_to_utf16(line, NULL);
    assert_true(CreateProcessW(NULL, wide, NULL, NULL, FALSE, DETACHED_PROCESS, NULL, NULL, &how, &made));
    assert_int_equal(WaitForSingleObject(made.hProcess, HANG_MS), WAIT_OBJECT_0);
    GetExitCodeProcess(made.hProcess, &code);
    assert_int_equal(code, 0);
    CloseHandle(made.hThread);
    CloseHandle(made.hProcess);
    sb_free(wide);
    sb_free(line);
    sb_free(program);
}

static void reasons_to_stop_have_the_statuses_of_signals(void **state)
{
    (void)state;
    assert_int_equal(sb_stop_status(SB_STOP_INTERRUPT), 130);
    assert_int_equal(sb_stop_status(SB_STOP_TERMINATE), 143);
    assert_int_equal(sb_stop_status(SB_STOP_HANGUP), 129);
}

static void never_stop(void *ctx, enum sb_stop_reason reason)
{
    (void)ctx;
    (void)reason;
    fail();
}

static void watching_for_a_stop_keeps_no_loop_alive(void **state)
{
    uv_loop_t loop;
    (void)state;
    for (int again = 0; again < 2; again++) {
        uv_loop_init(&loop);
        assert_int_equal(sb_stop_watch(&loop, never_stop, NULL, NULL), 0);
        assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
        sb_stop_unwatch();
        sb_stop_unwatch();
        uv_run(&loop, UV_RUN_DEFAULT);
        assert_int_equal(uv_loop_close(&loop), 0);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child_without_handles();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_says_what_failed_and_why),
        cmocka_unit_test(the_last_error_is_the_default),
        cmocka_unit_test(the_clock_never_goes_back_and_goes_on),
        cmocka_unit_test(ids_are_sixteen_base32_digits_and_differ),
        cmocka_unit_test(programs_are_found_on_path_but_not_in_the_store),
        cmocka_unit_test(missing_standard_handles_become_the_null_device),
        cmocka_unit_test(reasons_to_stop_have_the_statuses_of_signals),
        cmocka_unit_test(watching_for_a_stop_keeps_no_loop_alive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
