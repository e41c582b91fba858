/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/argv.h"
#include "base/buf.h"

#define ARGV(...) ((char *[]){__VA_ARGS__, NULL})

static void check_posix(char *const *argv, const char *want)
{
    struct sb_buf out;

    sb_buf_init(&out, 1000);
    sb_quote_posix(&out, argv);
    assert_string_equal(out.data, want);
    sb_buf_done(&out);
}

static void posix_leaves_plain_words_alone(void **state)
{
    (void)state;
    check_posix(ARGV("docker", "run", "--memory=512m", "-v", "/a:/b", "me@host", "a,b+c_d.e"),
                "docker run --memory=512m -v /a:/b me@host a,b+c_d.e");
}

static void posix_quotes_what_a_shell_would_touch(void **state)
{
    (void)state;
    check_posix(ARGV("echo", "a b", "$HOME", "`id`", "a;b", "*", "~", "#x", "a\nb", "\xC3\xA9", "%1", ""),
                "echo 'a b' '$HOME' '`id`' 'a;b' '*' '~' '#x' 'a\nb' '\xC3\xA9' '%1' ''");
    check_posix(ARGV("a\\b", "it's", "'"), "'a\\b' 'it'\\''s' ''\\'''");
}

static void posix_quotes_a_first_word_that_is_no_command_otherwise(void **state)
{
    (void)state;
    check_posix(ARGV("A=b", "A=b"), "'A=b' A=b");
    check_posix(ARGV("if", "if"), "'if' if");
    check_posix(ARGV("!", "x"), "'!' x");
    check_posix(ARGV("iffy", "x"), "iffy x");
}

/* Splits like CommandLineToArgvW: the first word ends at a blank, or at the next quote when
 * it starts with one, and knows no backslash; afterwards 2n backslashes and a quote are n
 * backslashes and a border, 2n+1 and a quote are n and a quote, others are themselves; two
 * quotes inside quotes are one quote and end the quoted part. Returns the number of words. */
static size_t split_windows(const char *line, char words[][200], size_t most)
{
    size_t n = 0, at = 0, slashes = 0;
    bool quoted = *line == '"';

    for (line += quoted; *line && (quoted ? *line != '"' : *line != ' ' && *line != '\t'); line++)
        words[0][at++] = *line;
    words[n++][at] = 0;
    line += quoted && *line == '"';
    for (;;) {
        while (*line == ' ' || *line == '\t')
            line++;
        if (!*line || n == most)
            return n;
        at = 0;
        for (quoted = false; *line && (quoted || (*line != ' ' && *line != '\t')); line++) {
            if (*line == '\\') {
                slashes++;
                words[n][at++] = '\\';
                continue;
            }
            if (*line == '"') {
                at -= (slashes + 1) / 2;
                if (slashes % 2 == 1) {
                    words[n][at++] = '"';
                } else if (quoted && line[1] == '"') {
                    words[n][at++] = '"';
                    line++;
                    quoted = false;
                } else {
                    quoted = !quoted;
                }
            } else {
                words[n][at++] = *line;
            }
            slashes = 0;
        }
        slashes = 0;
        words[n++][at] = 0;
    }
}

static void the_splitter_of_this_test_follows_the_published_examples(void **state)
{
    char words[5][200];

    (void)state;
    assert_int_equal(split_windows("p \"a b c\" d e", words, 5), 4);
    assert_string_equal(words[1], "a b c");
    assert_int_equal(split_windows("p \"ab\\\"c\" \"\\\\\" d", words, 5), 4);
    assert_string_equal(words[1], "ab\"c");
    assert_string_equal(words[2], "\\");
    assert_int_equal(split_windows("p a\\\\\\b d\"e f\"g h", words, 5), 4);
    assert_string_equal(words[1], "a\\\\\\b");
    assert_string_equal(words[2], "de fg");
    assert_int_equal(split_windows("p a\\\\\\\"b c d", words, 5), 4);
    assert_string_equal(words[1], "a\\\"b");
    assert_int_equal(split_windows("p a\\\\\\\\\"b c\" d e", words, 5), 4);
    assert_string_equal(words[1], "a\\\\b c");
    assert_int_equal(split_windows("\"C:\\a b\\\" x", words, 5), 2);
    assert_string_equal(words[0], "C:\\a b\\");
}

static void check_windows(char *const *argv)
{
    char words[8][200];
    struct sb_buf out;
    size_t n;

    sb_buf_init(&out, 1000);
    sb_quote_windows(&out, argv);
    n = split_windows(out.data, words, 8);
    for (size_t i = 0; i < n; i++)
        if (!argv[i] || strcmp(words[i], argv[i]) != 0)
            fail_msg("%s: word %zu is '%s'", out.data, i, words[i]);
    assert_null(argv[n]);
    sb_buf_done(&out);
}

static void windows_words_come_back(void **state)
{
    (void)state;
    check_windows(ARGV("C:\\Program Files\\x\\y.exe", "plain", "two words", ""));
    check_windows(ARGV("x", "", "", "a\tb", "a\nb", "end\\", "end \\", "end \\\\"));
    check_windows(ARGV("C:\\dir with blank\\", "a\"b", "\"", "\"\"", "\\\"", "\\\\\" \\", "a\\b c"));
    check_windows(ARGV("x", "--json={\"a\": \"b\\\\c\"}", "\\\\srv\\share\\", "\\\\srv\\my share\\"));
    check_windows(ARGV("x"));
    check_windows(ARGV("", "y"));
}

/* Every word of up to five of the characters that matter. */
static void windows_words_of_blanks_quotes_and_backslashes_all_come_back(void **state)
{
    static const char alphabet[] = "\\\" a";

    (void)state;
    for (unsigned len = 0; len <= 5; len++)
        for (unsigned k = 0; k < 1u << (2 * len); k++) {
            char word[6] = "";

            for (unsigned i = 0; i < len; i++)
                word[i] = alphabet[k >> (2 * i) & 3];
            check_windows(ARGV("p", word, word, "z"));
        }
}

static void a_quote_in_the_program_name_cannot_start_an_argument(void **state)
{
    char words[3][200];
    struct sb_buf out;

    (void)state;
    sb_buf_init(&out, 1000);
    sb_quote_windows(&out, ARGV("p\" --evil", "x"));
    assert_int_equal(split_windows(out.data, words, 3), 2);
    assert_string_equal(words[0], "p --evil");
    sb_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(posix_leaves_plain_words_alone),
        cmocka_unit_test(posix_quotes_what_a_shell_would_touch),
        cmocka_unit_test(posix_quotes_a_first_word_that_is_no_command_otherwise),
        cmocka_unit_test(the_splitter_of_this_test_follows_the_published_examples),
        cmocka_unit_test(windows_words_come_back),
        cmocka_unit_test(windows_words_of_blanks_quotes_and_backslashes_all_come_back),
        cmocka_unit_test(a_quote_in_the_program_name_cannot_start_an_argument),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
