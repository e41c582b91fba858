/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "server/tools/files.h"

static int decode(struct sb_file_args *args, size_t count, struct sb_run_file **out, struct sb_err *err)
{
    const struct sb_field_list list = {.items = args, .count = count};
    size_t out_count = 0;
    int rc;

    *out = NULL;
    *err = (struct sb_err){0};
    rc = sb_files_decode(&list, "main.py", SB_PATH_POSIX, out, &out_count, err);
    assert_int_equal(out_count, rc == 0 ? count : 0);
    return rc;
}

static void free_files(struct sb_run_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sb_free(files[i].path);
        sb_free(files[i].bytes);
    }
    sb_free(files);
}

static void text_and_bytes_become_files(void **state)
{
    struct sb_file_args args[] = {
        {"./d/a.txt", "caf\xC3\xA9", NULL}, {"/sandbox/b.bin", NULL, "AP8="}, {"e", "", NULL}};
    struct sb_run_file *files;
    struct sb_err err;

    (void)state;
    assert_int_equal(decode(args, 3, &files, &err), 0);
    assert_string_equal(files[0].path, "d/a.txt");
    assert_int_equal(files[0].len, 5);
    assert_string_equal(files[1].path, "b.bin");
    assert_int_equal(files[1].len, 2);
    assert_memory_equal(files[1].bytes, "\0\xFF", 2);
    assert_int_equal(files[2].len, 0);
    free_files(files, 3);
}

static void no_files_are_no_files(void **state)
{
    struct sb_run_file *files;
    struct sb_err err;

    (void)state;
    assert_int_equal(decode(NULL, 0, &files, &err), 0);
    assert_null(files);
}

static void refused(struct sb_file_args *args, size_t count, enum sb_code code, const char *part)
{
    struct sb_run_file *files;
    struct sb_err err;

    assert_int_equal(decode(args, count, &files, &err), -1);
    assert_null(files);
    assert_int_equal(err.code, code);
    assert_non_null(strstr(err.text, part));
}

static void the_wrong_file_is_named(void **state)
{
    struct sb_file_args both[] = {{"a", "x", "eA=="}}, none[] = {{"a.txt", NULL, NULL}},
                        out[] = {{"../a", "x", NULL}}, code[] = {{"./main.py", "x", NULL}},
                        twice[] = {{"a", "x", NULL}, {"./a", "y", NULL}}, bad[] = {{"a.bin", NULL, "!!!!"}};

    (void)state;
    refused(both, 1, SB_BAD_REQUEST, "'a' needs either text or base64");
    refused(none, 1, SB_BAD_REQUEST, "'a.txt' needs either");
    refused(out, 1, SB_BAD_REQUEST, "../a");
    refused(code, 1, SB_BAD_REQUEST, "'main.py', where the code itself is put");
    refused(twice, 2, SB_BAD_REQUEST, "'a' twice");
    refused(bad, 1, SB_BAD_REQUEST, "'a.bin': no base64 at character 0");
}

static void all_files_together_have_a_cap(void **state)
{
    char *text = sb_alloc(SB_FILES_BYTES + 1);
    struct sb_file_args args[] = {{"a", text, NULL}, {"b", "x", NULL}, {"c", NULL, "eA=="}};
    struct sb_run_file *files;
    struct sb_err err;

    (void)state;
    memset(text, 'x', SB_FILES_BYTES);
    assert_int_equal(decode(args, 1, &files, &err), 0);
    free_files(files, 1);
    refused(args, 2, SB_LIMIT, "larger than");
    args[1] = args[2];
    refused(args, 2, SB_LIMIT, "larger than");
    sb_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_bytes_become_files),
        cmocka_unit_test(no_files_are_no_files),
        cmocka_unit_test(the_wrong_file_is_named),
        cmocka_unit_test(all_files_together_have_a_cap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
