/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "wire/wire.h"

static const unsigned char done_frame[] = {0, 0, 0, 0, SB_MSG_DONE, 0, 0, 0, 7, 0, 0, 0};

static void frame_is_twelve_bytes_and_a_payload(void **state)
{
    static const unsigned char bytes[] = {2, 0, 0, 0, SB_MSG_DATA, SB_CHAN_ERR, 0, 0, 4, 3, 2, 1, 'h', 'i'};
    struct sb_buf out;
    struct sb_frame frame;
    (void)state;
    sb_buf_init(&out, 100);
    sb_wire_put_frame(&out, SB_MSG_DATA, SB_CHAN_ERR, 0x01020304, "hi", 2);
    assert_int_equal(out.len, sizeof bytes);
    assert_memory_equal(out.data, bytes, sizeof bytes);
    assert_int_equal(sb_wire_take(out.data, out.len, &frame, NULL), sizeof bytes);
    assert_int_equal(frame.type, SB_MSG_DATA);
    assert_int_equal(frame.channel, SB_CHAN_ERR);
    assert_int_equal(frame.id, 0x01020304);
    assert_int_equal(frame.len, 2);
    assert_memory_equal(frame.payload, "hi", 2);
    sb_buf_done(&out);
}

static void take_wants_the_whole_frame_and_no_more(void **state)
{
    static const unsigned char bytes[] = {2, 0, 0, 0, SB_MSG_DATA, 0, 0, 0, 1, 0, 0, 0, 'h', 'i', 99};
    struct sb_frame frame;
    (void)state;
    for (size_t len = 0; len < 14; len++)
        assert_int_equal(sb_wire_take(bytes, len, &frame, NULL), 0);
    assert_int_equal(sb_wire_take(bytes, 15, &frame, NULL), 14);
}

/* One byte of a good frame changed. */
static void refuse(size_t at, unsigned char value, const char *why)
{
    unsigned char bytes[sizeof done_frame];
    struct sb_frame frame;
    struct sb_err err = {SB_OK, 0, ""};
    memcpy(bytes, done_frame, sizeof bytes);
    bytes[at] = value;
    assert_int_equal(sb_wire_take(bytes, sizeof bytes, &frame, &err), -1);
    assert_int_equal(err.code, SB_BAD_REQUEST);
    assert_non_null(strstr(err.text, why));
}

static void take_refuses_what_no_frame_can_start_with(void **state)
{
    struct sb_frame frame;
    (void)state;
    assert_int_equal(sb_wire_take(done_frame, sizeof done_frame, &frame, NULL), sizeof done_frame);
    refuse(4, 0, "unknown type");
    refuse(4, SB_MSG_CANCEL + 1, "unknown type");
    refuse(4, SB_MSG_EXIT + 1, "unknown type");
    refuse(4, SB_MSG_CREDIT + 1, "unknown type");
    refuse(5, SB_CHAN_OUT, "channel");
    refuse(5, SB_CHAN_COUNT, "channel");
    refuse(5, 255, "channel");
    refuse(6, 1, "reserved");
    refuse(7, 1, "reserved");
    refuse(0, 1, "at most 0");
    refuse(3, 128, "at most 0");
    refuse(8, 0, "id 0");
    refuse(4, SB_MSG_START, "id 7");
    refuse(4, SB_MSG_HELLO, "id 7");
}

static void too_long_a_payload_is_refused_on_its_header(void **state)
{
    static const struct {
        uint8_t type;
        uint32_t cap;
    } rows[] = {
        {SB_MSG_DATA, SB_WIRE_DATA_MAX},
        {SB_MSG_EXEC, SB_WIRE_PAYLOAD_MAX},
        {SB_MSG_PUT, SB_WIRE_PATH_MAX + 8},
        {SB_MSG_GET, SB_WIRE_PATH_MAX + 20},
        {SB_MSG_LIST, SB_WIRE_PATH_MAX + 4},
        {SB_MSG_REMOVE, SB_WIRE_PATH_MAX + 4},
        {SB_MSG_KILL, 0},
        {SB_MSG_INTERRUPT, 0},
        {SB_MSG_CANCEL, 0},
        {SB_MSG_END, 0},
        {SB_MSG_CREDIT, 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sb_frame frame;
        uint32_t len = rows[i].cap;
        unsigned char header[] = {(unsigned char)len,
                                  (unsigned char)(len >> 8),
                                  (unsigned char)(len >> 16),
                                  0,
                                  rows[i].type,
                                  0,
                                  0,
                                  0,
                                  1,
                                  0,
                                  0,
                                  0};
        assert_int_equal(sb_wire_take(header, sizeof header, &frame, NULL), len == 0 ? SB_WIRE_HEADER : 0);
        header[0]++;
        if (header[0] == 0 && ++header[1] == 0)
            header[2]++;
        assert_int_equal(sb_wire_take(header, sizeof header, &frame, NULL), -1);
    }
}

static void a_frame_past_its_cap_is_not_written(void **state)
{
    static char bytes[SB_WIRE_DATA_MAX + 1];
    struct sb_buf out;
    (void)state;
    sb_buf_init(&out, 1 << 20);
    sb_buf_adds(&out, "before");
    sb_wire_put_frame(&out, SB_MSG_DATA, SB_CHAN_OUT, 1, bytes, sizeof bytes);
    assert_true(out.full);
    assert_string_equal(out.data, "before");
    assert_int_equal(out.len, 6);
    sb_buf_done(&out);
}

static void a_frame_is_written_whole_or_not_at_all(void **state)
{
    struct sb_buf out;
    (void)state;
    for (size_t max = 0; max < SB_WIRE_HEADER + 4; max++) {
        sb_buf_init(&out, max);
        sb_wire_put_credit(&out, SB_CHAN_IN, 1, 5);
        assert_true(out.full);
        assert_int_equal(out.len, 0);
        sb_buf_done(&out);
    }
    sb_buf_init(&out, SB_WIRE_HEADER + 4);
    sb_wire_put_credit(&out, SB_CHAN_IN, 1, 5);
    assert_false(out.full);
    sb_buf_done(&out);
}

static void credit_is_at_least_one_and_at_most_a_window(void **state)
{
    static const struct {
        uint32_t bytes;
        int rc;
    } rows[] = {{0, -1}, {1, 0}, {SB_WIRE_WINDOW, 0}, {SB_WIRE_WINDOW + 1, -1}, {UINT32_MAX, -1}};
    struct sb_buf out;
    (void)state;
    sb_buf_init(&out, 100);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sb_frame frame;
        uint32_t bytes = 77;
        sb_buf_clear(&out);
        sb_wire_put_credit(&out, SB_CHAN_OUT, 3, rows[i].bytes);
        assert_true(sb_wire_take(out.data, out.len, &frame, NULL) > 0);
        assert_int_equal(sb_wire_get_credit(&frame, &bytes, NULL), rows[i].rc);
        assert_int_equal(bytes, rows[i].rc == 0 ? rows[i].bytes : 77);
    }
    sb_buf_done(&out);
}

static void build_id_is_64_hex_digits(void **state)
{
    (void)state;
    assert_int_equal(strlen(sb_wire_build_id()), SB_WIRE_BUILD_LEN);
    assert_int_equal(strspn(sb_wire_build_id(), "0123456789abcdef"), SB_WIRE_BUILD_LEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frame_is_twelve_bytes_and_a_payload),
        cmocka_unit_test(take_wants_the_whole_frame_and_no_more),
        cmocka_unit_test(take_refuses_what_no_frame_can_start_with),
        cmocka_unit_test(too_long_a_payload_is_refused_on_its_header),
        cmocka_unit_test(a_frame_past_its_cap_is_not_written),
        cmocka_unit_test(a_frame_is_written_whole_or_not_at_all),
        cmocka_unit_test(credit_is_at_least_one_and_at_most_a_window),
        cmocka_unit_test(build_id_is_64_hex_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
