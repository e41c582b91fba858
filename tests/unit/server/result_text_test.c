/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/utf8.h"
#include "server/result_text.h"

#define KEEP ((size_t)1024 * 1024)

static void set(struct sb_run_result *result, size_t stream, const char *bytes, size_t len)
{
    sb_capture_init(&result->output[stream], KEEP);
    sb_capture_add(&result->output[stream], bytes, len);
}

static void done(struct sb_run_result *result)
{
    sb_capture_done(&result->output[0]);
    sb_capture_done(&result->output[1]);
}

static size_t chars_of(const struct sb_buf *text)
{
    size_t count = 0;

    assert_true(sb_utf8_valid(text->data, text->len));
    for (size_t i = 0; i < text->len; i++)
        count += (text->data[i] & 0xC0) != 0x80;
    return count;
}

/* The text, checked to fit. */
static struct sb_buf text_of(const struct sb_run_result *result)
{
    struct sb_buf out;

    sb_buf_init(&out, KEEP);
    sb_result_text(result, "r_abcdefghijklmnop", &out);
    assert_false(out.full);
    assert_true(chars_of(&out) <= SB_RESULT_CHARS);
    return out;
}

static void check_text(const struct sb_run_result *result, const char *expected)
{
    struct sb_buf out = text_of(result);

    assert_string_equal(out.data, expected);
    sb_buf_done(&out);
}

#define RUN " | run r_abcdefghijklmnop\n"
static const struct {
    struct sb_run_result result;
    const char *text;
} rows[] = {
    {{.status = SB_STATUS_OK, .wall_us = 123456, .cpu_us = 80000, .peak_bytes = 41000000},
     "exit 0 | 123 ms | cpu 80 ms | peak 41 MB" RUN},
    {{.status = SB_STATUS_ERROR, .code = 3}, "exit 3 | 0 ms | cpu 0 ms" RUN},
    {{.status = SB_STATUS_ERROR, .code = 4294967295u}, "exit 4294967295 | 0 ms | cpu 0 ms" RUN},
    {{.status = SB_STATUS_SIGNAL, .code = 11}, "killed by signal 11 (SIGSEGV) | 0 ms | cpu 0 ms" RUN},
    {{.status = SB_STATUS_SIGNAL, .code = 9, .parent_killed = true},
     "killed by signal 9 (SIGKILL) | 0 ms | cpu 0 ms" RUN "the program killed its own run parent\n"},
    {{.status = SB_STATUS_SIGNAL, .code = 0xC0000005u},
     "crashed with 0xC0000005 (access violation) | 0 ms | cpu 0 ms" RUN},
    {{.status = SB_STATUS_TIMEOUT, .limit = 2000, .limit_row = SB_ROW_TIMEOUT_MS, .wall_us = 2003000},
     "timeout after 2.000 s | 2003 ms | cpu 0 ms" RUN "a larger timeout (up to 3600 s) lets it run longer\n"},
    {{.status = SB_STATUS_CPU_LIMIT, .limit = 1050, .limit_row = SB_ROW_TIMEOUT_MS},
     "cpu_limit at 1.050 s | 0 ms | cpu 0 ms" RUN "a larger timeout (up to 3600 s) lets it run longer\n"},
    {{.status = SB_STATUS_MEMORY_LIMIT, .limit = 512, .limit_row = SB_ROW_MEMORY_MB},
     "memory_limit at 512 MiB | 0 ms | cpu 0 ms" RUN "a larger memory_mb lets it use more\n"},
    {{.status = SB_STATUS_PROCESS_LIMIT, .limit = 128, .limit_row = SB_ROW_PROCESSES},
     "process_limit at 128 processes and threads | 0 ms | cpu 0 ms" RUN},
    {{.status = SB_STATUS_OUTPUT_LIMIT, .limit = 1073741824, .limit_row = SB_ROW_OUTPUT_PRODUCED},
     "output_limit at 1,073,741,824 bytes | 0 ms | cpu 0 ms" RUN
     "a program may write large data to files instead\n"},
    {{.status = SB_STATUS_CANCELLED}, "cancelled | 0 ms | cpu 0 ms" RUN},
    {{.status = SB_STATUS_HOST_ERROR, .err = {.text = "no box"}, .mend = "apt-get install it"},
     "host_error | 0 ms | cpu 0 ms" RUN "no box; mend: apt-get install it\n"},
};

static void status_lines_say_how_it_ended(void **state)
{
    (void)state;
    for (size_t i = 0; i < SB_COUNT(rows); i++)
        check_text(&rows[i].result, rows[i].text);
}

static void streams_follow_under_their_names(void **state)
{
    struct sb_run_result result = {.status = SB_STATUS_OK};

    (void)state;
    set(&result, 0, "42", 2);
    check_text(&result, "exit 0 | 0 ms | cpu 0 ms" RUN "stdout:\n42\n");
    set(&result, 1, "warn\n", 5);
    check_text(&result, "exit 0 | 0 ms | cpu 0 ms" RUN "stdout:\n42\nstderr:\nwarn\n");
    done(&result);
}

static void beside_a_page_of_stdout_is_all_the_rest(void **state)
{
    struct sb_run_result result = {.status = SB_STATUS_OK};
    char *bytes = sb_alloc(100000);
    struct sb_buf out;

    (void)state;
    sb_buf_init(&out, KEEP);
    set(&result, 0, "42", 2);
    set(&result, 1, "warn\n", 5);
    sb_result_beside(&result, "r_abcdefghijklmnop", &out);
    assert_string_equal(out.data, "exit 0 | 0 ms | cpu 0 ms" RUN "stderr:\nwarn\n");
    sb_buf_clear(&out);
    sb_result_so_far(&result.output[1], "r_abcdefghijklmnop", &out);
    assert_string_equal(out.data, "stderr:\nwarn\n");
    memset(bytes, 'x', 100000);
    sb_capture_add(&result.output[1], bytes, 100000);
    sb_buf_clear(&out);
    sb_result_beside(&result, "r_abcdefghijklmnop", &out);
    assert_true(chars_of(&out) > SB_RESULT_BESIDE_CHARS - 200 && chars_of(&out) <= SB_RESULT_BESIDE_CHARS);
    assert_non_null(
        strstr(out.data, " bytes omitted; read_file run_id=r_abcdefghijklmnop path=@stderr offset="));
    sb_buf_clear(&out);
    sb_result_so_far(&result.output[1], "r_abcdefghijklmnop", &out);
    assert_true(chars_of(&out) <= SB_RESULT_SO_FAR_CHARS + 10);
    assert_non_null(strstr(out.data, " when the run has ended]\n"));
    sb_buf_done(&out);
    sb_free(bytes);
    done(&result);
}

static void bytes_become_text_and_escapes_go(void **state)
{
    struct sb_run_result result = {.status = SB_STATUS_OK};

    (void)state;
    set(&result, 0, "\x1b[31mred\x1b[0m \xff\xe2\x82 \0.\xe2\x82", 21);
    check_text(&result, "exit 0 | 0 ms | cpu 0 ms" RUN
                        "stdout:\nred \xEF\xBF\xBD\xEF\xBF\xBD .\xEF\xBF\xBD\n");
    done(&result);
}

struct cut {
    uint64_t omitted, offset;
    const char *mark, *after; /* the mark's start, and what comes behind its line */
};

/* What the text says, and nothing else. */
static struct cut find_cut(const char *text, const char *stream)
{
    struct cut cut = {.mark = NULL};
    char *path = sb_asprintf("read_file run_id=r_abcdefghijklmnop path=@%s offset=", stream);
    const char *call = strstr(text, path), *at;

    assert_non_null(call);
    cut.offset = strtoull(call + strlen(path), NULL, 10);
    for (cut.mark = call; strncmp(cut.mark, "[... ", 5) != 0; cut.mark--)
        assert_true(cut.mark > text);
    for (at = cut.mark + 5; *at == ',' || (*at >= '0' && *at <= '9'); at++)
        if (*at != ',')
            cut.omitted = cut.omitted * 10 + (uint64_t)(*at - '0');
    assert_int_equal(strncmp(at, " bytes omitted; ", 16), 0);
    cut.after = strchr(call, '\n') + 1;
    sb_free(path);
    return cut;
}

/* Head, what read_file gives from the offset on, and tail are the whole stream. */
static void check_cut(const char *text, const char *stream, const char *raw, size_t len)
{
    struct cut cut = find_cut(text, stream);
    char *label = sb_asprintf("%s:\n", stream);
    const char *head = strstr(text, label) + strlen(label);
    size_t tail = len - (size_t)cut.offset - (size_t)cut.omitted;

    assert_true(cut.offset > 0 && cut.omitted > 0 && cut.offset + cut.omitted < len);
    assert_memory_equal(head, raw, cut.offset);
    assert_ptr_equal(head + cut.offset + (raw[cut.offset - 1] != '\n'), cut.mark);
    assert_memory_equal(cut.after, raw + len - tail, tail);
    assert_true(sb_utf8_valid(raw, (size_t)cut.offset));
    assert_true(sb_utf8_valid(raw + cut.offset, len - (size_t)cut.offset));
    sb_free(label);
}

static char *repeat(const char *unit, size_t count, size_t *len)
{
    size_t piece = strlen(unit);
    char *text = sb_alloc(piece * count + 1);

    for (size_t i = 0; i < count; i++)
        memcpy(text + i * piece, unit, piece);
    *len = piece * count;
    return text;
}

static void a_cut_says_exactly_where_the_rest_is(void **state)
{
    static const char *const units[] = {"x",            "line\n",           "\xC3\xA9",
                                        "\xE2\x82\xAC", "\xF0\x9F\x99\x82", "a\xF0\x9F\x99\x82"};

    (void)state;
    for (size_t i = 0; i < SB_COUNT(units); i++)
        for (size_t more = 0; more < 4; more++) {
            struct sb_run_result result = {.status = SB_STATUS_OK};
            size_t len;
            char *raw = repeat(units[i], 30000 + more, &len);
            struct sb_buf text;

            set(&result, 0, raw, len);
            text = text_of(&result);
            check_cut(text.data, "stdout", raw, len);
            assert_true(chars_of(&text) > SB_RESULT_CHARS - 200); /* the room is used */
            sb_buf_done(&text);
            done(&result);
            sb_free(raw);
        }
}

static void a_full_capture_is_cut_where_its_bytes_are(void **state)
{
    (void)state;
    for (size_t more = 0; more < 8; more++) { /* the kept tail may start inside a character */
        struct sb_run_result result = {.status = SB_STATUS_OK};
        size_t len;
        char *raw = repeat("\xF0\x9F\x99\x82", 30000, &len);
        struct sb_buf text;

        sb_capture_init(&result.output[0], 20000 + 2 * more);
        sb_capture_add(&result.output[0], raw, len);
        text = text_of(&result);
        check_cut(text.data, "stdout", raw, len);
        assert_null(strstr(text.data, "\xEF\xBF\xBD"));
        sb_buf_done(&text);
        done(&result);
        sb_free(raw);
    }
}

static void what_just_fits_is_whole(void **state)
{
    bool whole = true;

    (void)state;
    for (size_t count = 9900; count < 10000; count++) {
        struct sb_run_result result = {.status = SB_STATUS_OK};
        size_t len;
        char *raw = repeat("x", count, &len);
        struct sb_buf text;

        set(&result, 0, raw, len);
        text = text_of(&result);
        if (strstr(text.data, "omitted") == NULL)
            assert_true(whole); /* and nothing larger is */
        else
            whole = false;
        sb_buf_done(&text);
        done(&result);
        sb_free(raw);
    }
    assert_false(whole);
}

static void stderr_gets_its_share_when_both_overflow(void **state)
{
    struct sb_run_result result = {.status = SB_STATUS_ERROR, .code = 1};
    size_t len;
    char *raw = repeat("line\n", 10000, &len);
    struct sb_buf text;
    const char *errors;

    (void)state;
    set(&result, 0, raw, len);
    set(&result, 1, raw, len);
    text = text_of(&result);
    check_cut(text.data, "stdout", raw, len);
    check_cut(text.data, "stderr", raw, len);
    errors = strstr(text.data, "stderr:\n");
    assert_in_range(strlen(errors), SB_RESULT_STDERR_CHARS - 200, SB_RESULT_STDERR_CHARS + 20);
    sb_buf_done(&text);
    sb_capture_done(&result.output[0]);
    set(&result, 0, "short\n", 6); /* then stderr may have the room */
    text = text_of(&result);
    check_cut(text.data, "stderr", raw, len);
    assert_true(chars_of(&text) > SB_RESULT_CHARS - 200);
    sb_buf_done(&text);
    done(&result);
    sb_free(raw);
}

static void a_cut_never_falls_into_an_escape_sequence(void **state)
{
    struct sb_run_result result = {.status = SB_STATUS_OK};
    size_t len;
    char *raw = repeat("\x1b[38;5;196mX\x1b[0m", 9950, &len);
    struct cut cut;
    struct sb_buf text;

    (void)state;
    set(&result, 0, raw, len);
    text = text_of(&result);
    cut = find_cut(text.data, "stdout");
    assert_int_equal(cut.offset % (len / 9950), 11); /* between the colour and its X */
    assert_int_equal(strspn(strstr(text.data, "stdout:\n") + 8, "X"), (cut.offset + 4) / (len / 9950));
    assert_int_equal(strspn(cut.after, "X\n"), strlen(cut.after));
    sb_buf_done(&text);
    done(&result);
    sb_free(raw);
}

static void an_escape_without_end_hides_nothing_else(void **state)
{
    struct sb_run_result result = {.status = SB_STATUS_OK};
    size_t len;
    char *raw = repeat("y", 50000, &len);
    struct sb_buf text;

    (void)state;
    memcpy(raw, "before\n\x1b]", 9);
    set(&result, 0, raw, len);
    text = text_of(&result);
    assert_string_equal(strstr(text.data, "stdout:"), "stdout:\nbefore\n");
    sb_buf_done(&text);
    done(&result);
    sb_free(raw);
}

static void files_are_named_with_what_is_left_out(void **state)
{
    const char *const why[] = {NULL, NULL, "more than 32 MiB in all"};
    const struct sb_wire_entry files[] = {{.path = "plot.png", .type = SB_ENTRY_FILE, .size = 12345},
                                          {.path = "a\nstdout:", .type = SB_ENTRY_LINK, .size = 3},
                                          {.path = "big", .type = SB_ENTRY_FILE, .size = 99000000}};
    struct sb_run_result result = {
        .status = SB_STATUS_OK, .files = files, .file_count = 3, .left_out = why, .files_cut = true};

    (void)state;
    check_text(&result, "exit 0 | 0 ms | cpu 0 ms" RUN
                        "files: plot.png (12,345 bytes), a?stdout: (3 bytes; left out: a symbolic link), "
                        "big (99,000,000 bytes; left out: more than 32 MiB in all); more than are listed\n");
}

static void many_long_names_leave_room_for_the_output(void **state)
{
    struct sb_wire_entry files[256];
    struct sb_run_result result = {.status = SB_STATUS_OK, .files = files, .file_count = SB_COUNT(files)};
    size_t len;
    char *name = repeat("\xE2\x82\xAC", 300, &len), *raw = repeat("x", 30000, &len);
    struct sb_buf text;

    (void)state;
    for (size_t i = 0; i < SB_COUNT(files); i++)
        files[i] = (struct sb_wire_entry){.path = name, .type = SB_ENTRY_FILE};
    set(&result, 0, raw, len);
    text = text_of(&result);
    assert_non_null(strstr(text.data, " more (list_files run_id=r_abcdefghijklmnop)\n"));
    check_cut(text.data, "stdout", raw, len);
    sb_buf_done(&text);
    done(&result);
    sb_free(raw);
    sb_free(name);
}

static void what_is_not_kept_is_not_offered(void **state)
{
    struct sb_run_result result = {.status = SB_STATUS_OK, .not_kept = "no space left on device"};
    size_t len;
    char *raw = repeat("x", 30000, &len);
    struct sb_buf text;

    (void)state;
    set(&result, 0, raw, len);
    text = text_of(&result);
    assert_non_null(strstr(text.data, "\nthe output of this run is not kept: no space left on device\n"));
    assert_non_null(strstr(text.data, " bytes omitted; they are not kept]\n"));
    assert_null(strstr(text.data, "read_file"));
    sb_buf_done(&text);
    done(&result);
    sb_free(raw);
}

/* ---- JSON --------------------------------------------------------------------------- */

static void json_is_the_references(void **state)
{
    struct sb_run_result result = {.status = SB_STATUS_ERROR, .code = 3};
    struct sb_buf out;

    (void)state;
    set(&result, 0, "a\"\\\n\t\xC3\xA9\xF0\x9F\x99\x82", 11);
    sb_buf_init(&out, KEEP);
    sb_result_json(&result, "r_x", &out);
    assert_string_equal(out.data, "{\n  \"exit_code\": 3,\n  \"stderr\": \"\",\n"
                                  "  \"stdout\": \"a\\\"\\\\\\n\\t\\u00e9\\ud83d\\ude42\"\n}");
    sb_buf_done(&out);
    done(&result);
}

static const struct {
    struct sb_run_result result;
    int64_t code;
    const char *errors;
} json_rows[] = {
    {{.status = SB_STATUS_OK}, 0, ""},
    {{.status = SB_STATUS_SIGNAL, .code = 11}, 139, ""},
    {{.status = SB_STATUS_SIGNAL, .code = 0xC0000005u}, 0xC0000005u, ""},
    {{.status = SB_STATUS_TIMEOUT, .limit = 2050}, 124, "timeout: killed after 2.050 s\n"},
    {{.status = SB_STATUS_MEMORY_LIMIT}, 137, "memory_limit\n"},
    {{.status = SB_STATUS_CANCELLED}, 130, "cancelled\n"},
    {{.status = SB_STATUS_HOST_ERROR, .err = {.text = "no box"}, .mend = "mend it"},
     1,
     "no box; mend: mend it\n"},
};

static void json_codes_tell_how_it_ended(void **state)
{
    (void)state;
    for (size_t i = 0; i < SB_COUNT(json_rows); i++) {
        struct sb_json_doc *doc;
        struct sb_err err = {0};
        struct sb_buf out;
        const char *errors = NULL;
        int64_t code = -1;

        sb_buf_init(&out, KEEP);
        sb_result_json(&json_rows[i].result, "r_x", &out);
        assert_int_equal(sb_json_parse(out.data, out.len, &doc, &err), 0);
        assert_int_equal(sb_json_int(sb_json_get(sb_json_root(doc), "exit_code"), "", &code, &err), 0);
        assert_int_equal(sb_json_string(sb_json_get(sb_json_root(doc), "stderr"), "", &errors, &err), 0);
        assert_int_equal(code, json_rows[i].code);
        assert_string_equal(errors, json_rows[i].errors);
        sb_json_free(doc);
        sb_buf_done(&out);
    }
}

static void json_fits_when_every_character_is_escaped(void **state)
{
    static const char *const units[] = {"\xF0\x9F\x99\x82", "\n", "\"", "x", "\xE2\x82\xAC"};

    (void)state;
    for (size_t i = 0; i < SB_COUNT(units); i++) {
        struct sb_run_result result = {.status = SB_STATUS_TIMEOUT, .limit = 1000};
        size_t len;
        char *raw = repeat(units[i], 20000, &len);
        struct sb_json_doc *doc;
        struct sb_err err = {0};
        struct sb_buf out;

        set(&result, 0, raw, len);
        set(&result, 1, raw, len);
        sb_buf_init(&out, KEEP);
        sb_result_json(&result, "r_abcdefghijklmnop", &out);
        assert_in_range(out.len, SB_RESULT_CHARS - 500, SB_RESULT_CHARS);
        assert_int_equal(sb_json_parse(out.data, out.len, &doc, &err), 0);
        sb_json_free(doc);
        sb_buf_done(&out);
        done(&result);
        sb_free(raw);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_lines_say_how_it_ended),
        cmocka_unit_test(streams_follow_under_their_names),
        cmocka_unit_test(beside_a_page_of_stdout_is_all_the_rest),
        cmocka_unit_test(bytes_become_text_and_escapes_go),
        cmocka_unit_test(a_cut_says_exactly_where_the_rest_is),
        cmocka_unit_test(a_full_capture_is_cut_where_its_bytes_are),
        cmocka_unit_test(what_just_fits_is_whole),
        cmocka_unit_test(stderr_gets_its_share_when_both_overflow),
        cmocka_unit_test(a_cut_never_falls_into_an_escape_sequence),
        cmocka_unit_test(an_escape_without_end_hides_nothing_else),
        cmocka_unit_test(files_are_named_with_what_is_left_out),
        cmocka_unit_test(many_long_names_leave_room_for_the_output),
        cmocka_unit_test(what_is_not_kept_is_not_offered),
        cmocka_unit_test(json_is_the_references),
        cmocka_unit_test(json_codes_tell_how_it_ended),
        cmocka_unit_test(json_fits_when_every_character_is_escaped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
