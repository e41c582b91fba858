/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/sha256.h"

static void check(const char *text, size_t len, const char *want)
{
    struct sb_sha256 sha;
    char hex[65];

    sb_sha256_init(&sha);
    sb_sha256_add(&sha, text, len);
    sb_sha256_hex(&sha, hex);
    assert_string_equal(hex, want);
}

static void the_nist_examples_come_out(void **state)
{
    (void)state;
    check("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
          "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
          112, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

static void a_million_letters_in_uneven_pieces(void **state)
{
    struct sb_sha256 sha;
    char as[997], hex[65];
    size_t left = 1000000;

    (void)state;
    memset(as, 'a', sizeof as);
    sb_sha256_init(&sha);
    for (size_t part = 1; left > 0; part = part % sizeof as + 1) {
        size_t len = part < left ? part : left;

        sb_sha256_add(&sha, as, len);
        left -= len;
    }
    sb_sha256_hex(&sha, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* The padding changes shape at 55, 56 and 64 bytes. Sums made with coreutils. */
static void lengths_around_a_block_come_out(void **state)
{
    char as[65];

    (void)state;
    memset(as, 'a', sizeof as);
    check(as, 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    check(as, 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    check(as, 63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
    check(as, 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
    check(as, 65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nist_examples_come_out),
        cmocka_unit_test(a_million_letters_in_uneven_pieces),
        cmocka_unit_test(lengths_around_a_block_come_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
