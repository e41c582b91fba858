/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/terminal.h"

static const struct {
    const char *in, *out;
} rows[] = {
    {"plain \xc3\xa9 \xf0\x9f\x9a\x80\n", "plain \xc3\xa9 \xf0\x9f\x9a\x80\n"},
    {"tab\tback\b\r\n", "tab\tback\b\r\n"},
    {"\x1b[31mred\x1b[0m", "red"},
    {"\x1b]0;title\x07" "after", "after"},
    {"\x1b]52;c;cGFzdGU=\x1b\\after", "after"},
    {"\x1bPq...\x1b\\x", "x"},
    {"\x1b(Bx\x1b=y", "xy"},
    {"\x1b[?1049h\x1b[2Jz", "z"},
    {"a\x01\x02\x7f" "b\x0e\x0f", "ab"},
    {"\xc2\x9b" "31mc1\xc2\xa0", "c1\xc2\xa0"},
    {"\xc2\x9dtitle\x07" "d", "d"},
    {"\x1b\x1b[1mq", "q"},
    {"a\xc2\x90lost\nkept", "a\nkept"}, /* nobody ends it */
    {"\x1b]0;t\xc2\xa9\xc2\x9c" "after", "after"},
    {"\x1bPab\x18" "c\x1b]d\x1a" "e", "ce"},
    {"\x1b[3\nm", "\nm"},
    {"\x1b[3\x1b[1mb", "b"},
    {"\x1b[3\xc3\xa9", "\xc3\xa9"},
};

static void sequences_are_dropped_wherever_a_chunk_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        size_t len = strlen(rows[i].in);

        for (size_t cut = 0; cut <= len; cut++) {
            struct sb_terminal terminal = {0};
            struct sb_buf out;

            sb_buf_init(&out, 1000);
            sb_terminal_filter(&terminal, rows[i].in, cut, &out);
            sb_terminal_filter(&terminal, rows[i].in + cut, len - cut, &out);
            assert_string_equal(out.data, rows[i].out);
            sb_buf_done(&out);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sequences_are_dropped_wherever_a_chunk_ends)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
