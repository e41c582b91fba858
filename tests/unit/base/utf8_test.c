/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/utf8.h"

#define FFFD "\xEF\xBF\xBD"

/* An encoder that knows nothing of tables: the other side of the check. */
static size_t encode(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t len = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (size_t i = len - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)((0xF00 >> len & 0xFF) | code);
    return len;
}

static void every_character_is_valid_and_no_surrogate_is(void **state)
{
    char text[4];

    (void)state;
    for (uint32_t code = 0; code <= 0x120000; code++) {
        size_t len = encode(code, text);
        bool right = code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);

        if (sb_utf8_valid(text, len) != right)
            fail_msg("U+%04X", (unsigned)code);
        if (len > 1 && sb_utf8_valid(text, len - 1))
            fail_msg("U+%04X without its last byte", (unsigned)code);
    }
}

static void overlong_and_stray_bytes_are_invalid(void **state)
{
    static const char *const bad[] = {"\x80",
                                      "\xBF",
                                      "\xC0\x80",
                                      "\xC1\xBF",
                                      "\xE0\x80\x80",
                                      "\xE0\x9F\xBF",
                                      "\xF0\x80\x80\x80",
                                      "\xF0\x8F\xBF\xBF",
                                      "\xF5\x80\x80\x80",
                                      "\xFE",
                                      "\xFF",
                                      "\xC3(",
                                      "\xE2\x82(",
                                      "a\xED\xA0\xBDz"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (sb_utf8_valid(bad[i], strlen(bad[i])))
            fail_msg("row %zu is taken for UTF-8", i);
    assert_true(sb_utf8_valid("", 0));
    assert_true(sb_utf8_valid("a\0b", 3));
}

static void a_cut_falls_between_characters(void **state)
{
    char text[400];

    (void)state;
    for (size_t i = 0; i < sizeof text; i += 4)
        memcpy(text + i, "\xF0\x9F\x99\x82", 4); /* the slightly smiling face */
    for (size_t most = 0; most <= sizeof text; most++)
        assert_int_equal(sb_utf8_cut(text, sizeof text, most), most / 4 * 4);
    assert_int_equal(sb_utf8_cut(text, sizeof text, sizeof text + 9), sizeof text);
    assert_int_equal(sb_utf8_cut("a\xC3\xA9z", 4, 2), 1);
    assert_int_equal(sb_utf8_cut("a\xC3\xA9z", 4, 3), 3);
}

static void a_cut_of_bytes_that_are_no_text_stays_close(void **state)
{
    (void)state;
    assert_int_equal(sb_utf8_cut("\x80\x80\x80\x80\x80\x80\x80", 7, 5), 5);
    assert_int_equal(sb_utf8_cut("\xFF\xFF\xFF", 3, 2), 2);
    assert_int_equal(sb_utf8_cut("\xC3\xA9\x80\x80\x80", 5, 4), 4);
    assert_int_equal(sb_utf8_cut("\xC3\xA9\x80\x80", 4, 3), 3);
}

struct repair_case {
    const char *in, *out;
};
/* The first row is the example of The Unicode Standard 15.0, table 3-11; rows 2 to 4 are
 * tables 3-8 to 3-10. */
static const struct repair_case repairs[] = {
    {"a\xF1\x80\x80\xE1\x80\xC2"
     "b\x80"
     "c\x80\xBF"
     "d",
     "a" FFFD FFFD FFFD "b" FFFD "c" FFFD FFFD "d"},
    {"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82"
     "A",
     FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A"},
    {"\xED\xA0\x80\xED\xBF\xBF\xED\xAF"
     "A",
     FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A"},
    {"\xF4\x91\x92\x93\xFF"
     "A\x80\xBF"
     "B",
     FFFD FFFD FFFD FFFD FFFD "A" FFFD FFFD "B"},
    {"h\xC3\xA9 \xE6\x97\xA5 \xF0\x9F\x99\x82", "h\xC3\xA9 \xE6\x97\xA5 \xF0\x9F\x99\x82"},
    {"\xF0\x9F\x99\xF0\x9F\x99\x82\xE6\x97\xC3", FFFD "\xF0\x9F\x99\x82" FFFD FFFD},
    {"\xE2\x82\xE2\x82\xAC\xC2", FFFD "\xE2\x82\xAC" FFFD},
    {"AAAAAA\xED\xA0\xBD\xFF\xFE", "AAAAAA" FFFD FFFD FFFD FFFD FFFD},
    {"plain", "plain"},
};

/* Feeds `text` cut before byte i + 1 wherever bit i of `cuts` is set. */
static void repair_in_chunks(const char *text, size_t len, unsigned cuts, struct sb_buf *out, bool *changed)
{
    struct sb_utf8_repair repair = {0};
    size_t start = 0;

    sb_buf_clear(out);
    for (size_t i = 0; i < len; i++)
        if (i + 1 == len || (cuts >> i & 1)) {
            sb_utf8_repair(&repair, text + start, i + 1 - start, out);
            start = i + 1;
        }
    sb_utf8_repair_end(&repair, out);
    *changed = repair.changed;
}

static void repair_replaces_each_maximal_part_wherever_the_chunks_end(void **state)
{
    struct sb_buf out;
    bool changed;

    (void)state;
    sb_buf_init(&out, 1000);
    for (size_t row = 0; row < sizeof repairs / sizeof repairs[0]; row++) {
        const struct repair_case *c = &repairs[row];
        size_t len = strlen(c->in);

        for (unsigned cuts = 0; cuts < 1u << (len - 1); cuts++) {
            repair_in_chunks(c->in, len, cuts, &out, &changed);
            if (strcmp(out.data, c->out) != 0 || changed != (strcmp(c->in, c->out) != 0))
                fail_msg("row %zu, cuts %x: %s", row, cuts, out.data);
        }
    }
    sb_buf_done(&out);
}

static void repair_keeps_nul_and_takes_empty_chunks(void **state)
{
    struct sb_utf8_repair repair = {0};
    struct sb_buf out;

    (void)state;
    sb_buf_init(&out, 100);
    sb_utf8_repair(&repair, "\xC3", 1, &out);
    sb_utf8_repair(&repair, "", 0, &out);
    assert_int_equal(out.len, 0);
    sb_utf8_repair(&repair, "\xA9\0b", 3, &out);
    sb_utf8_repair_end(&repair, &out);
    sb_utf8_repair_end(&repair, &out);
    assert_int_equal(out.len, 4);
    assert_memory_equal(out.data, "\xC3\xA9\0b", 5);
    assert_false(repair.changed);
    sb_buf_done(&out);
}

static void an_unfinished_character_at_the_end_is_one_replacement(void **state)
{
    struct sb_utf8_repair repair = {0};
    struct sb_buf out;

    (void)state;
    sb_buf_init(&out, 100);
    sb_utf8_repair(&repair, "\xF0\x9F", 2, &out);
    sb_utf8_repair(&repair, "\x99", 1, &out);
    sb_utf8_repair_end(&repair, &out);
    assert_string_equal(out.data, FFFD);
    assert_true(repair.changed);
    sb_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_character_is_valid_and_no_surrogate_is),
        cmocka_unit_test(overlong_and_stray_bytes_are_invalid),
        cmocka_unit_test(a_cut_falls_between_characters),
        cmocka_unit_test(a_cut_of_bytes_that_are_no_text_stays_close),
        cmocka_unit_test(repair_replaces_each_maximal_part_wherever_the_chunks_end),
        cmocka_unit_test(repair_keeps_nul_and_takes_empty_chunks),
        cmocka_unit_test(an_unfinished_character_at_the_end_is_one_replacement),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
