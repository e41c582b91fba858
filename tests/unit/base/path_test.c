/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/path.h"

#define BYTES(text) text, sizeof(text) - 1

struct row {
    const char *path;
    size_t len;
    const char *posix, *windows; /* the plain form; NULL: refused */
};

/* The names clients really send, good and bad. */
static const struct row files[] = {
    {BYTES("x"), "x", "x"},
    {BYTES("./x"), "x", "x"},
    {BYTES("/sandbox/x"), "x", "x"},
    {BYTES("/sandbox//x"), "x", "x"},
    {BYTES("/sandbox/./a/b"), "a/b", "a/b"},
    {BYTES("./a//b"), "a/b", "a/b"},
    {BYTES("a/./b"), "a/b", "a/b"},
    {BYTES("a..b.txt"), "a..b.txt", "a..b.txt"},
    {BYTES("..."), "...", NULL},
    {BYTES("-rf"), "-rf", "-rf"},
    {BYTES("\xC3\xBCn\xC3\xAF c\xC3\xB4"
           "de.txt"),
     "\xC3\xBCn\xC3\xAF c\xC3\xB4"
     "de.txt",
     "\xC3\xBCn\xC3\xAF c\xC3\xB4"
     "de.txt"},
    {BYTES("sandbox/x"), "sandbox/x", "sandbox/x"},
    {BYTES("@stdout"), "@stdout", "@stdout"},
    {BYTES("new\nline"), "new\nline", NULL},
    {BYTES(" lead"), " lead", " lead"},
    /* No shell and no percent decoding is between a client and a name: these stay inside. */
    {BYTES("~/.ssh/id"), "~/.ssh/id", "~/.ssh/id"},
    {BYTES("%2e%2e/x"), "%2e%2e/x", "%2e%2e/x"},
    /* Refused everywhere. */
    {BYTES("../x"), NULL, NULL},
    {BYTES("/etc/x"), NULL, NULL},
    {BYTES("a/../../x"), NULL, NULL},
    {BYTES("a/../x"), NULL, NULL},
    {BYTES("/sandbox/../x"), NULL, NULL},
    {BYTES("/sandboxx"), NULL, NULL},
    {BYTES("//sandbox/x"), NULL, NULL},
    {BYTES("/Sandbox/x"), NULL, NULL},
    {BYTES("/"), NULL, NULL},
    {BYTES("..\\x"), NULL, NULL},
    {BYTES("a\\..\\x"), NULL, NULL},
    {BYTES("a/..\\x"), NULL, NULL},
    {BYTES("a\\.."), NULL, NULL},
    {BYTES("C:\\x"), NULL, NULL},
    {BYTES("c:/x"), NULL, NULL},
    {BYTES("\\\\srv\\s"), NULL, NULL},
    {BYTES("\\\\?\\C:\\x"), NULL, NULL},
    {BYTES("\\\\.\\PhysicalDrive0"), NULL, NULL},
    {BYTES("a\0b"), NULL, NULL},
    {BYTES("\0"), NULL, NULL},
    {BYTES(""), NULL, NULL},
    {BYTES("."), NULL, NULL},
    {BYTES("./"), NULL, NULL},
    {BYTES(".."), NULL, NULL},
    {BYTES("/sandbox"), NULL, NULL},
    {BYTES("/sandbox/"), NULL, NULL},
    {BYTES("a/"), NULL, NULL},
    {BYTES("a/."), NULL, NULL},
    {BYTES("x/../CON"), NULL, NULL},
    {BYTES("bad\xFF\xFE.txt"), NULL, NULL},
    {BYTES("\xED\xA0\x80"), NULL, NULL},
    /* Names that only Windows takes for something else. */
    {BYTES("CON"), "CON", NULL},
    {BYTES("con.txt"), "con.txt", NULL},
    {BYTES("a/Nul/b"), "a/Nul/b", NULL},
    {BYTES("NUL.tar.gz"), "NUL.tar.gz", NULL},
    {BYTES("COM1 .txt"), "COM1 .txt", NULL},
    {BYTES("lpt9"), "lpt9", NULL},
    {BYTES("LPT\xC2\xB9"), "LPT\xC2\xB9", NULL},
    {BYTES("com\xC2\xB3.log"), "com\xC2\xB3.log", NULL},
    {BYTES("conin$"), "conin$", NULL},
    {BYTES("CONOUT$.x"), "CONOUT$.x", NULL},
    {BYTES("aux"), "aux", NULL},
    {BYTES("prn.c"), "prn.c", NULL},
    {BYTES("a.txt."), "a.txt.", NULL},
    {BYTES("a.txt "), "a.txt ", NULL},
    {BYTES("a /b"), "a /b", NULL},
    {BYTES("a.txt::$DATA"), "a.txt::$DATA", NULL},
    {BYTES("a:b"), "a:b", NULL},
    {BYTES("C:x"), "C:x", NULL},
    {BYTES("a\\b"), "a\\b", NULL},
    {BYTES("PROGRA~1"), "PROGRA~1", NULL},
    {BYTES("longn~12.txt"), "longn~12.txt", NULL},
    {BYTES("tab\t.txt"), "tab\t.txt", NULL},
    {BYTES("what?"), "what?", NULL},
    {BYTES("a*b"), "a*b", NULL},
    {BYTES("<a>"), "<a>", NULL},
    {BYTES("a|b"), "a|b", NULL},
    {BYTES("q\"q"), "q\"q", NULL},
    /* Near misses are ordinary names on Windows too. */
    {BYTES("CONSOLE"), "CONSOLE", "CONSOLE"},
    {BYTES("COM10"), "COM10", "COM10"},
    {BYTES("COM0"), "COM0", "COM0"},
    {BYTES("COM"), "COM", "COM"},
    {BYTES("a.con"), "a.con", "a.con"},
    {BYTES("backup~"), "backup~", "backup~"},
    {BYTES("~1"), "~1", NULL},
    {BYTES("notes~1.orig"), "notes~1.orig", "notes~1.orig"},
    {BYTES("a~b1"), "a~b1", "a~b1"},
    {BYTES("longername~1"), "longername~1", "longername~1"},
};

static void check_file(const struct row *row, enum sb_path_rules rules, const char *want)
{
    struct sb_buf out;
    struct sb_err err = {0};
    int rc;

    sb_buf_init(&out, SB_PATH_MAX_BYTES);
    sb_buf_adds(&out, "before");
    rc = sb_path_plain(row->path, row->len, rules, &out, &err);
    if (rc != (want ? 0 : -1) || strcmp(out.data, want ? want : "before") != 0)
        fail_msg("'%s', rules %d: %d '%s' %s", row->path, (int)rules, rc, out.data, err.text);
    if (!want && (err.code != SB_BAD_REQUEST || strncmp(err.text, "the path '", 10) != 0))
        fail_msg("'%s': error %d '%s'", row->path, (int)err.code, err.text);
    if (want) { /* what came out is plain already */
        struct row again = {want, strlen(want), want, want};

        rc = sb_path_plain(again.path, again.len, rules, &out, &err);
        if (rc < 0 || strcmp(out.data, want) != 0)
            fail_msg("'%s' is not plain twice", want);
    }
    sb_buf_done(&out);
}

static void client_names_are_plain_or_refused_by_the_rules_of_both_systems(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        check_file(&files[i], SB_PATH_POSIX, files[i].posix);
        check_file(&files[i], SB_PATH_WINDOWS, files[i].windows);
    }
}

static int plain(const char *path, struct sb_buf *out, struct sb_err *err)
{
    return sb_path_plain(path, strlen(path), SB_PATH_POSIX, out, err);
}

static void sizes_hit_their_caps(void **state)
{
    struct sb_buf path, out;
    struct sb_err err = {0};

    (void)state;
    sb_buf_init(&path, 10000);
    sb_buf_init(&out, 10000);

    for (int i = 0; i < SB_PATH_MAX_PART; i++)
        sb_buf_addc(&path, 'n');
    assert_int_equal(plain(path.data, &out, &err), 0);
    sb_buf_addc(&path, 'n');
    assert_int_equal(plain(path.data, &out, &err), -1);
    assert_non_null(strstr(err.text, "255"));

    sb_buf_clear(&path);
    for (int i = 0; i < SB_PATH_MAX_DEPTH; i++)
        sb_buf_adds(&path, i ? "/d" : "d");
    assert_int_equal(plain(path.data, &out, &err), 0);
    sb_buf_adds(&path, "/d");
    assert_int_equal(plain(path.data, &out, &err), -1);
    assert_non_null(strstr(err.text, "64"));

    sb_buf_clear(&path);
    for (int i = 0; i < 16; i++) {
        for (int k = 0; k < 255; k++)
            sb_buf_addc(&path, 'n');
        sb_buf_addc(&path, '/');
    }
    path.data[SB_PATH_MAX_BYTES] = 0;
    assert_int_equal(plain(path.data, &out, &err), 0);
    assert_int_equal(out.len, SB_PATH_MAX_BYTES);
    path.data[SB_PATH_MAX_BYTES] = 'n';
    assert_int_equal(plain(path.data, &out, &err), -1);
    assert_non_null(strstr(err.text, "4095"));

    sb_buf_done(&path);
    sb_buf_init(&path, 2);
    assert_int_equal(plain("abc", &path, &err), -1);
    assert_int_equal(err.code, SB_LIMIT);
    sb_buf_done(&path);
    sb_buf_done(&out);
}

static void an_error_quotes_a_path_in_one_short_line(void **state)
{
    struct sb_buf path, out;
    struct sb_err err = {0};

    (void)state;
    sb_buf_init(&path, 10000);
    sb_buf_init(&out, 10000);
    assert_int_equal(plain("../\x1b[31m\n\xFF", &out, &err), -1);
    assert_string_equal(err.text, "the path '../?[31m?\?' is not UTF-8");
    sb_buf_adds(&path, "/");
    for (int i = 0; i < 1000; i++)
        sb_buf_adds(&path, "\xE6\x97\xA5");
    assert_int_equal(plain(path.data, &out, &err), -1);
    assert_non_null(strstr(err.text, "\xE6\x97\xA5...' is absolute"));
    assert_true(strlen(err.text) < 200);
    sb_buf_done(&path);
    sb_buf_done(&out);
}

static void a_folder_may_be_the_workspace(void **state)
{
    static const struct {
        const char *path, *plain;
    } rows[] = {{"", ""},          {".", ""},   {"./", ""},          {"/sandbox", ""},
                {"/sandbox/", ""}, {"a", "a"},  {"a/", "a"},         {"/sandbox/a/.", "a"},
                {"..", NULL},      {"/", NULL}, {"/sandboxx", NULL}, {"a/..", NULL}};
    struct sb_buf out;
    struct sb_err err = {0};

    (void)state;
    sb_buf_init(&out, 100);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int rules = SB_PATH_POSIX; rules <= SB_PATH_WINDOWS; rules++) {
            int rc = sb_path_plain_folder(rows[i].path, strlen(rows[i].path), (enum sb_path_rules)rules, &out,
                                          &err);

            if (rc != (rows[i].plain ? 0 : -1) || (rows[i].plain && strcmp(out.data, rows[i].plain) != 0))
                fail_msg("'%s': %d '%s'", rows[i].path, rc, out.data);
        }
    sb_buf_done(&out);
}

static void absolute_means_independent_of_any_current_place(void **state)
{
    (void)state;
    assert_true(sb_path_is_absolute("/x", SB_PATH_POSIX));
    assert_false(sb_path_is_absolute("x", SB_PATH_POSIX));
    assert_false(sb_path_is_absolute("", SB_PATH_POSIX));
    assert_false(sb_path_is_absolute("C:\\x", SB_PATH_POSIX));
    assert_true(sb_path_is_absolute("C:\\x", SB_PATH_WINDOWS));
    assert_true(sb_path_is_absolute("z:/x", SB_PATH_WINDOWS));
    assert_true(sb_path_is_absolute("\\\\srv\\share", SB_PATH_WINDOWS));
    assert_false(sb_path_is_absolute("C:x", SB_PATH_WINDOWS));
    assert_false(sb_path_is_absolute("\\x", SB_PATH_WINDOWS));
    assert_false(sb_path_is_absolute("/x", SB_PATH_WINDOWS));
    assert_false(sb_path_is_absolute("1:\\x", SB_PATH_WINDOWS));
    assert_false(sb_path_is_absolute("C", SB_PATH_WINDOWS));
    assert_false(sb_path_is_absolute("", SB_PATH_WINDOWS));
}

static void base_and_ending_follow_the_separators_of_the_system(void **state)
{
    (void)state;
    assert_string_equal(sb_path_base("/usr/bin/python3", SB_PATH_POSIX), "python3");
    assert_string_equal(sb_path_base("a\\b", SB_PATH_POSIX), "a\\b");
    assert_string_equal(sb_path_base("C:\\dir/tool.exe", SB_PATH_WINDOWS), "tool.exe");
    assert_string_equal(sb_path_base("C:tool.exe", SB_PATH_WINDOWS), "tool.exe");
    assert_string_equal(sb_path_base("dir/", SB_PATH_POSIX), "");
    assert_string_equal(sb_path_ending("a/b.tar.gz", SB_PATH_POSIX), ".gz");
    assert_string_equal(sb_path_ending("a.d/b", SB_PATH_POSIX), "");
    assert_string_equal(sb_path_ending("a.d\\b", SB_PATH_WINDOWS), "");
    assert_string_equal(sb_path_ending(".bashrc", SB_PATH_POSIX), "");
    assert_string_equal(sb_path_ending("..", SB_PATH_POSIX), "");
    assert_string_equal(sb_path_ending("a.", SB_PATH_POSIX), "");
}

static void join_puts_one_separator(void **state)
{
    struct sb_buf out;

    (void)state;
    sb_buf_init(&out, 100);
    sb_path_join(&out, "/usr", "bin", SB_PATH_POSIX);
    assert_string_equal(out.data, "/usr/bin");
    sb_buf_clear(&out);
    sb_path_join(&out, "/", "bin", SB_PATH_POSIX);
    assert_string_equal(out.data, "/bin");
    sb_buf_clear(&out);
    sb_path_join(&out, "C:\\d", "x", SB_PATH_WINDOWS);
    assert_string_equal(out.data, "C:\\d\\x");
    sb_buf_clear(&out);
    sb_path_join(&out, "C:/", "x", SB_PATH_WINDOWS);
    assert_string_equal(out.data, "C:/x");
    sb_buf_clear(&out);
    sb_path_join(&out, "", "x", SB_PATH_POSIX);
    assert_string_equal(out.data, "x");
    sb_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(client_names_are_plain_or_refused_by_the_rules_of_both_systems),
        cmocka_unit_test(sizes_hit_their_caps),
        cmocka_unit_test(an_error_quotes_a_path_in_one_short_line),
        cmocka_unit_test(a_folder_may_be_the_workspace),
        cmocka_unit_test(absolute_means_independent_of_any_current_place),
        cmocka_unit_test(base_and_ending_follow_the_separators_of_the_system),
        cmocka_unit_test(join_puts_one_separator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
