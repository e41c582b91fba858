/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "server/line.h"

/* Feeds a piece; what comes out is written as "[line]" and "!" into `seen`. */
static void feed(struct sb_line_reader *reader, const char *bytes, size_t len, struct sb_buf *seen)
{
    const char *line = NULL;
    size_t line_len = 0;

    for (;;)
        switch (sb_line_next(reader, &bytes, &len, &line, &line_len)) {
        case SB_LINE_MORE:
            assert_int_equal(len, 0);
            return;
        case SB_LINE_WHOLE:
            sb_buf_addc(seen, '[');
            sb_buf_add(seen, line, line_len);
            sb_buf_addc(seen, ']');
            break;
        case SB_LINE_TOO_LONG:
            sb_buf_addc(seen, '!');
            break;
        }
}

/* The stream in two pieces and a third that is split once more, at every place. A piece is
 * a copy of its exact size, so that the sanitizer sees a byte too far. */
static void check_all_splits(const char *stream, size_t max, const char *wanted)
{
    size_t len = strlen(stream);

    for (size_t first = 0; first <= len; first++)
        for (size_t second = first; second <= len; second++) {
            size_t cuts[4] = {0, first, second, len};
            struct sb_line_reader reader;
            struct sb_buf seen;

            sb_line_init(&reader, max);
            sb_buf_init(&seen, 1000);
            for (int i = 0; i < 3; i++) {
                char *piece = sb_strndup(stream + cuts[i], cuts[i + 1] - cuts[i]);

                feed(&reader, piece, cuts[i + 1] - cuts[i], &seen);
                sb_free(piece);
            }
            assert_string_equal(seen.data, wanted);
            sb_line_done(&reader);
            sb_buf_done(&seen);
        }
}

static void lines_are_the_same_however_they_are_cut(void **state)
{
    (void)state;
    check_all_splits("one\ntwo\n", 100, "[one][two]");
    check_all_splits("{\"a\":\"\xE2\x80\x94 \xF0\x9F\x99\x82 \xC3\xA9\"}\n", 100,
                     "[{\"a\":\"\xE2\x80\x94 \xF0\x9F\x99\x82 \xC3\xA9\"}]");
    check_all_splits("no end", 100, "");
}

static void one_carriage_return_is_dropped(void **state)
{
    (void)state;
    check_all_splits("one\r\ntwo\n", 100, "[one][two]");
    check_all_splits("one\r\r\nt\rwo\n", 100, "[one\r][t\rwo]");
}

static void byte_order_mark_is_dropped(void **state)
{
    (void)state;
    check_all_splits("\xEF\xBB\xBFone\n\xEF\xBB\xBFtwo\r\nthree\xEF\xBB\xBF\n", 100,
                     "[one][two][three\xEF\xBB\xBF]");
    check_all_splits("\xEF\xBBone\n", 100, "[\xEF\xBBone]");
}

static void blank_lines_are_skipped(void **state)
{
    (void)state;
    check_all_splits("\n\r\n \t\n\xEF\xBB\xBF\none\n\n", 100, "[one]");
}

static void line_of_max_is_whole_and_one_more_is_too_long(void **state)
{
    (void)state;
    check_all_splits("12345678\n9\n", 8, "[12345678][9]");
    check_all_splits("123456789\nok\n", 8, "![ok]");
    check_all_splits("1234567890123456789012345678\nok\n", 8, "![ok]");
    check_all_splits("12345678\r\nok\n", 8, "![ok]"); /* all bytes count, the \r too */
}

static void long_line_is_told_before_it_ends_and_not_kept(void **state)
{
    struct sb_line_reader reader;
    struct sb_buf seen;
    static char block[1024 * 1024];

    (void)state;
    memset(block, 'x', sizeof block);
    sb_line_init(&reader, SB_LINE_MAX);
    sb_buf_init(&seen, 1000);
    for (int i = 0; i < 64; i++) {
        feed(&reader, block, sizeof block, &seen);
        assert_true(reader.partial.cap <= SB_LINE_MAX + 1);
        assert_string_equal(seen.data, i < 16 ? "" : "!");
        if (i >= 16)
            assert_int_equal(reader.partial.cap, 0);
    }
    feed(&reader, "\nping\n", 6, &seen);
    assert_string_equal(seen.data, "![ping]");
    sb_line_done(&reader);
    sb_buf_done(&seen);
}

static void memory_of_a_large_line_goes_with_it(void **state)
{
    struct sb_line_reader reader;
    struct sb_buf seen;
    static char block[1024 * 1024];

    (void)state;
    memset(block, 'x', sizeof block);
    sb_line_init(&reader, SB_LINE_MAX);
    sb_buf_init(&seen, 2 * sizeof block);
    feed(&reader, block, sizeof block, &seen);
    feed(&reader, "\n", 1, &seen);
    assert_int_equal(seen.len, sizeof block + 2);
    feed(&reader, "a", 1, &seen);
    assert_true(reader.partial.cap < 1000);
    sb_line_done(&reader);
    sb_buf_done(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_the_same_however_they_are_cut),
        cmocka_unit_test(one_carriage_return_is_dropped),
        cmocka_unit_test(byte_order_mark_is_dropped),
        cmocka_unit_test(blank_lines_are_skipped),
        cmocka_unit_test(line_of_max_is_whole_and_one_more_is_too_long),
        cmocka_unit_test(long_line_is_told_before_it_ends_and_not_kept),
        cmocka_unit_test(memory_of_a_large_line_goes_with_it),
    };

    return cmocka_run_group_tests_name("line", tests, NULL, NULL);
}
