/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <uv.h>

#include "base/alloc.h"
#include "platform/clock.h"
#include "platform/oserr.h"
#include "platform/random.h"

static void text_code_and_number_come_from_errno(void **state)
{
    static const struct {
        int number;
        enum sb_code code;
        const char *text;
    } rows[] = {
        {ENOENT, SB_NOT_FOUND, "cannot open 'x': no such file or directory"},
        {EACCES, SB_DENIED, "cannot open 'x': permission denied"},
        {EPERM, SB_DENIED, "cannot open 'x': operation not permitted"},
        {EMFILE, SB_HOST, "cannot open 'x': too many open files"},
        {ENOSPC, SB_HOST, "cannot open 'x': no space left on device"},
        {EXFULL, SB_HOST, "cannot open 'x': exchange full"},
    };

    (void)state;
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        struct sb_err err = {0};

        errno = rows[i].number;
        assert_int_equal(sb_fail_os(&err, "cannot open '%s'", "x"), -1);
        assert_string_equal(err.text, rows[i].text);
        assert_int_equal(err.code, rows[i].code);
        assert_int_equal(err.os, rows[i].number);
        assert_int_equal(sb_fail_os_at(&err, -rows[i].number, "cannot open '%s'", "x"), -1);
        assert_string_equal(err.text, rows[i].text);
        assert_int_equal(err.os, rows[i].number);
    }
    assert_int_equal(sb_fail_os(NULL, "nobody asks"), -1);
}

static void codes_of_libuv_alone_have_their_text(void **state)
{
    struct sb_err err;

    (void)state;
    sb_fail_os_at(&err, UV_EOF, "read");
    assert_string_equal(err.text, "read: end of file");
    sb_fail_os_at(&err, 123456, "read");
    assert_memory_equal(err.text, "read: ", 6);
    assert_int_not_equal(err.text[6], '\0');
}

static void reason_survives_a_long_name(void **state)
{
    struct sb_err err;
    char name[2000];

    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    errno = ENOENT;
    sb_fail_os(&err, "cannot open '%s'", name);
    assert_non_null(strstr(err.text, ": no such file or directory"));
}

static void ids_are_base32_and_differ(void **state)
{
    char ids[100][SB_ID_LEN + 1];

    (void)state;
    for (int i = 0; i < 100; i++) {
        sb_random_id(ids[i]);
        assert_int_equal(strlen(ids[i]), SB_ID_LEN);
        assert_int_equal(strspn(ids[i], "abcdefghijklmnopqrstuvwxyz234567"), SB_ID_LEN);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(ids[i], ids[j]);
    }
}

static void clock_never_goes_back(void **state)
{
    int64_t last = sb_clock_us();

    (void)state;
    for (int i = 0; i < 1000; i++) {
        int64_t now = sb_clock_us();

        assert_true(now >= last);
        last = now;
    }
    assert_true(last > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_code_and_number_come_from_errno),
        cmocka_unit_test(codes_of_libuv_alone_have_their_text),
        cmocka_unit_test(reason_survives_a_long_name),
        cmocka_unit_test(ids_are_base32_and_differ),
        cmocka_unit_test(clock_never_goes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
