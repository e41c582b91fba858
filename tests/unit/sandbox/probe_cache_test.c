/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "sandbox/probe_cache.h"

static const struct sb_probe_basis BASIS = {.boot = "boot-1",
                                            .uid = 1000,
                                            .build = "b1",
                                            .backend = "bubblewrap",
                                            .program = "/usr/bin/bwrap",
                                            .program_bytes = 72080,
                                            .program_mtime_s = 1723600000,
                                            .program_mtime_ns = 5};

static void every_part_of_the_basis_changes_the_key(void **state)
{
    struct sb_probe_basis others[9];
    char keys[9][SB_PROBE_KEY];

    (void)state;
    for (size_t i = 0; i < SB_COUNT(others); i++)
        others[i] = BASIS;
    strcpy(others[1].boot, "boot-2");
    others[2].uid = 0;
    others[3].build = "b2";
    others[4].backend = "nsjail";
    others[5].program = "/usr/local/bin/bwrap";
    others[6].program_bytes++;
    others[7].program_mtime_s++;
    others[8].program_mtime_ns++;
    for (size_t i = 0; i < SB_COUNT(others); i++) {
        sb_probe_key(&others[i], keys[i]);
        assert_int_equal(strlen(keys[i]), SB_PROBE_KEY - 1);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(keys[i], keys[k]);
    }
    sb_probe_key(&BASIS, keys[1]);
    assert_string_equal(keys[0], keys[1]);
}

static void texts_of_the_basis_do_not_run_together(void **state)
{
    struct sb_probe_basis a = BASIS, b = BASIS;
    char key_a[SB_PROBE_KEY], key_b[SB_PROBE_KEY];

    (void)state;
    a.build = "xy", a.backend = "z";
    b.build = "x", b.backend = "yz";
    sb_probe_key(&a, key_a);
    sb_probe_key(&b, key_b);
    assert_string_not_equal(key_a, key_b);
}

static struct sb_probe_result sample(void)
{
    struct sb_probe_result result = {.usable = true, .facts = {.guest_by_data = true}};

    strcpy(result.facts.version, "0.8.0");
    for (int i = 0; i < SB_PROMISE_COUNT; i++) {
        result.promises.of[i] = (enum sb_strength)(i % 3);
        snprintf(result.promises.why[i], sizeof result.promises.why[i], "why \"%d\"", i);
    }
    return result;
}

static void what_was_encoded_comes_back(void **state)
{
    struct sb_probe_result before = sample(), after = {0};
    struct sb_buf text;

    (void)state;
    sb_buf_init(&text, 16384);
    sb_probe_encode("k", &before, &text);
    assert_false(text.full);
    assert_int_equal(sb_probe_decode("k", text.data, text.len, &after), 0);
    assert_string_equal(after.facts.version, "0.8.0");
    assert_true(after.facts.guest_by_data);
    assert_memory_equal(&after.promises, &before.promises, sizeof after.promises);
    sb_buf_done(&text);
}

static void another_key_or_a_damaged_file_is_no_answer(void **state)
{
    struct sb_probe_result before = sample(), after = {0};
    const struct sb_probe_result nothing = {0};
    struct sb_buf text;

    (void)state;
    sb_buf_init(&text, 16384);
    sb_probe_encode("k", &before, &text);
    assert_int_equal(sb_probe_decode("K", text.data, text.len, &after), -1);
    for (size_t len = 0; len + 2 < text.len; len++) /* every torn file */
        assert_int_equal(sb_probe_decode("k", text.data, len, &after), -1);
    *strstr(text.data, "kernel") = 'K';
    assert_int_equal(sb_probe_decode("k", text.data, text.len, &after), -1);
    assert_int_equal(sb_probe_decode("k", "{\"key\":\"k\"}", 11, &after), -1);
    assert_memory_equal(&after, &nothing, sizeof after);
    sb_buf_done(&text);
}

static void texts_too_long_for_their_place_are_refused(void **state)
{
    struct sb_probe_result before = sample(), after = {0};
    struct sb_buf text, longer;
    char *at;

    (void)state;
    sb_buf_init(&text, 16384);
    sb_buf_init(&longer, 16384);
    sb_probe_encode("k", &before, &text);
    at = strstr(text.data, "0.8.0");
    sb_buf_add(&longer, text.data, (size_t)(at - text.data));
    for (int i = 0; i < 100; i++)
        sb_buf_addc(&longer, '9');
    sb_buf_adds(&longer, at);
    assert_int_equal(sb_probe_decode("k", longer.data, longer.len, &after), -1);
    sb_buf_done(&text);
    sb_buf_done(&longer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_of_the_basis_changes_the_key),
        cmocka_unit_test(texts_of_the_basis_do_not_run_together),
        cmocka_unit_test(what_was_encoded_comes_back),
        cmocka_unit_test(another_key_or_a_damaged_file_is_no_answer),
        cmocka_unit_test(texts_too_long_for_their_place_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
