/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "sandbox/capture.h"

static char pattern(size_t i)
{
    return (char)('a' + (i * 7 + i / 26) % 26);
}

/* Reads from `at` to the end of what is kept, two bytes at a time. */
static void check_from(const struct sb_capture *capture, size_t at, size_t dropped_at, size_t tail_at)
{
    size_t next = at;
    struct sb_buf out;

    sb_buf_init(&out, 2);
    do {
        uint64_t from = next;

        sb_buf_clear(&out);
        sb_capture_read(capture, &from, 2, &out);
        assert_int_equal(from, next >= dropped_at && next < tail_at ? tail_at : next);
        for (size_t i = 0; i < out.len; i++)
            assert_int_equal(out.data[i], pattern((size_t)from + i));
        next = (size_t)from + out.len;
    } while (out.len > 0);
    assert_int_equal(next, capture->total);
    sb_buf_done(&out);
}

/* Feeds `total` bytes in pieces of `piece` and compares with what should be kept. */
static void check(size_t keep, size_t total, size_t piece)
{
    struct sb_capture capture;
    struct sb_buf head, tail;
    size_t half = keep / 2, omitted = total > 2 * half ? total - 2 * half : 0;
    size_t head_len = total < half ? total : half;

    sb_capture_init(&capture, keep);
    for (size_t at = 0; at < total; at += piece) {
        char bytes[64];
        size_t len = total - at < piece ? total - at : piece;

        for (size_t i = 0; i < len; i++)
            bytes[i] = pattern(at + i);
        sb_capture_add(&capture, bytes, len);
    }
    sb_buf_init(&head, 1000);
    sb_buf_init(&tail, 1000);
    sb_capture_head(&capture, &head);
    sb_capture_tail(&capture, &tail);
    assert_int_equal(capture.total, total);
    assert_int_equal(sb_capture_omitted(&capture), omitted);
    assert_int_equal(head.len, head_len);
    assert_int_equal(head.len + tail.len + omitted, total);
    for (size_t i = 0; i < head.len; i++)
        assert_int_equal(head.data[i], pattern(i));
    for (size_t i = 0; i < tail.len; i++)
        assert_int_equal(tail.data[i], pattern(total - tail.len + i));
    for (size_t at = 0; at <= total; at++)
        check_from(&capture, at, head_len, total - tail.len);
    sb_buf_done(&head);
    sb_buf_done(&tail);
    sb_capture_done(&capture);
}

static void every_length_and_piece_keeps_both_ends_exactly(void **state)
{
    (void)state;
    for (size_t keep = 0; keep <= 20; keep += 2)
        for (size_t total = 0; total <= 70; total++)
            for (size_t piece = 1; piece <= 64; piece += 3)
                check(keep, total, piece);
}

static void memory_grows_with_what_arrives_not_with_the_cap(void **state)
{
    struct sb_capture capture;

    (void)state;
    sb_capture_init(&capture, (size_t)64 << 20);
    sb_capture_add(&capture, "x", 1);
    assert_true(capture.head_cap <= 4096);
    assert_int_equal(capture.tail_cap, 0);
    sb_capture_done(&capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_and_piece_keeps_both_ends_exactly),
        cmocka_unit_test(memory_grows_with_what_arrives_not_with_the_cap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
