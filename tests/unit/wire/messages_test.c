/* SPDX-License-Identifier: MIT
 * Every message: there and back, cut anywhere, too long by a byte, each field wrong. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "wire/wire.h"

static const char build[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
static char long_path[SB_WIRE_PATH_MAX + 2];

/* ---- one row per message: a full example, and a reader that frees what it got ---- */

static void write_start(struct sb_buf *out)
{
    struct sb_wire_start m = {.version = 0x01020304, .flags = SB_START_OWN_PIDS};
    memcpy(m.build, build, sizeof build);
    sb_wire_put_start(out, &m);
}

static int read_start(const struct sb_frame *f, bool check)
{
    struct sb_wire_start m;
    struct sb_err err;
    if (sb_wire_get_start(f, &m, &err) < 0)
        return -1;
    if (check) {
        assert_int_equal(m.version, 0x01020304);
        assert_string_equal(m.build, build);
        assert_int_equal(m.flags, SB_START_OWN_PIDS);
    }
    return 0;
}

static void write_hello(struct sb_buf *out)
{
    struct sb_wire_hello m = {
        .version = 1, .os = SB_WIRE_WINDOWS, .arch = SB_WIRE_AARCH64, .pid = 0xfffffffe};
    memcpy(m.build, build, sizeof build);
    sb_wire_put_hello(out, &m);
}

static int read_hello(const struct sb_frame *f, bool check)
{
    struct sb_wire_hello m;
    struct sb_err err;
    if (sb_wire_get_hello(f, &m, &err) < 0)
        return -1;
    if (check) {
        assert_int_equal(m.version, 1);
        assert_string_equal(m.build, build);
        assert_int_equal(m.os, SB_WIRE_WINDOWS);
        assert_int_equal(m.arch, SB_WIRE_AARCH64);
        assert_int_equal(m.pid, 0xfffffffe);
    }
    return 0;
}

static void write_put(struct sb_buf *out)
{
    struct sb_wire_put m = {.path = "dir/\xc3\xa9.txt", .flags = SB_PUT_EXECUTABLE};
    sb_wire_put_put(out, 1, &m);
}

static int read_put(const struct sb_frame *f, bool check)
{
    struct sb_wire_put m;
    struct sb_err err;
    if (sb_wire_get_put(f, &m, &err) < 0)
        return -1;
    if (check) {
        assert_string_equal(m.path, "dir/\xc3\xa9.txt");
        assert_int_equal(m.flags, SB_PUT_EXECUTABLE);
    }
    return 0;
}

static void write_get(struct sb_buf *out)
{
    struct sb_wire_get m = {.path = "a", .offset = 0x0102030405060708, .most = UINT64_MAX};
    sb_wire_put_get(out, 1, &m);
}

static int read_get(const struct sb_frame *f, bool check)
{
    struct sb_wire_get m;
    struct sb_err err;
    if (sb_wire_get_get(f, &m, &err) < 0)
        return -1;
    if (check) {
        assert_string_equal(m.path, "a");
        assert_true(m.offset == 0x0102030405060708 && m.most == UINT64_MAX);
    }
    return 0;
}

static void write_list(struct sb_buf *out)
{
    sb_wire_put_path(out, SB_MSG_LIST, 1, "");
}

static void write_remove(struct sb_buf *out)
{
    long_path[SB_WIRE_PATH_MAX] = '\0';
    sb_wire_put_path(out, SB_MSG_REMOVE, 1, long_path);
    long_path[SB_WIRE_PATH_MAX] = 'p';
}

static int read_path(const struct sb_frame *f, bool check)
{
    struct sb_wire_path m;
    struct sb_err err;
    if (sb_wire_get_path(f, &m, &err) < 0)
        return -1;
    if (check)
        assert_int_equal(strlen(m.path), f->type == SB_MSG_LIST ? 0 : SB_WIRE_PATH_MAX);
    return 0;
}

static void write_exec(struct sb_buf *out)
{
    struct sb_wire_exec m = {
        .cwd = "dir", .flags = SB_EXEC_STDIN | SB_EXEC_FILES, .limits = {1, 2, 3, 4, 5, 6, 7}};
    sb_argv_push(&m.argv, "/bin/prog");
    sb_argv_push(&m.argv, "");
    sb_argv_push(&m.argv, "not UTF-8: \xff");
    sb_argv_push(&m.env, "A=b");
    sb_wire_put_exec(out, 1, &m);
    sb_wire_exec_done(&m);
}

static int read_exec(const struct sb_frame *f, bool check)
{
    struct sb_wire_exec m;
    struct sb_err err;
    if (sb_wire_get_exec(f, &m, &err) < 0)
        return -1;
    if (check) {
        assert_string_equal(m.cwd, "dir");
        assert_int_equal(m.flags, SB_EXEC_STDIN | SB_EXEC_FILES);
        assert_true(m.limits.wall_ms == 1 && m.limits.cpu_ms == 2 && m.limits.output_bytes == 3);
        assert_true(m.limits.file_bytes == 4 && m.limits.memory_bytes == 5);
        assert_true(m.limits.open_files == 6 && m.limits.processes == 7);
        assert_int_equal(m.argv.n, 3);
        assert_string_equal(m.argv.v[0], "/bin/prog");
        assert_string_equal(m.argv.v[1], "");
        assert_string_equal(m.argv.v[2], "not UTF-8: \xff");
        assert_null(m.argv.v[3]);
        assert_int_equal(m.env.n, 1);
        assert_string_equal(m.env.v[0], "A=b");
    }
    sb_wire_exec_done(&m);
    return 0;
}

static void write_exit(struct sb_buf *out)
{
    struct sb_wire_entry files[] = {
        {(char *)"a/b", SB_ENTRY_FILE, 0, 5, 1700000000000},
        {(char *)"..c", SB_ENTRY_OTHER, SB_ENTRY_BAD_NAME, UINT64_MAX, INT64_MIN}};
    struct sb_wire_exit m = {SB_CRASHED, 0xC0000005, SB_LIMIT_OUTPUT, 3, 1, 2, 3, 4, 5, files, 2};
    sb_wire_put_exit(out, 1, &m);
}

static int read_exit(const struct sb_frame *f, bool check)
{
    struct sb_wire_exit m;
    struct sb_err err;
    if (sb_wire_get_exit(f, &m, &err) < 0)
        return -1;
    if (check) {
        assert_int_equal(m.kind, SB_CRASHED);
        assert_true(m.code == 0xC0000005);
        assert_int_equal(m.limit, SB_LIMIT_OUTPUT);
        assert_int_equal(m.flags, SB_EXIT_PARENT_KILLED | SB_EXIT_FILES_CUT);
        assert_true(m.wall_us == 1 && m.cpu_us == 2 && m.peak_bytes == 3);
        assert_true(m.out_bytes == 4 && m.err_bytes == 5);
        assert_int_equal(m.file_count, 2);
        assert_string_equal(m.files[0].path, "a/b");
        assert_int_equal(m.files[0].type, SB_ENTRY_FILE);
        assert_true(m.files[0].size == 5 && m.files[0].mtime_ms == 1700000000000);
        assert_string_equal(m.files[1].path, "..c");
        assert_int_equal(m.files[1].flags, SB_ENTRY_BAD_NAME);
        assert_true(m.files[1].size == UINT64_MAX && m.files[1].mtime_ms == INT64_MIN);
    }
    sb_wire_exit_done(&m);
    return 0;
}

static void write_error(struct sb_buf *out)
{
    struct sb_err err = {SB_NOT_FOUND, -2, "cannot open 'a'"};
    sb_wire_put_error(out, 1, &err);
}

static int read_error(const struct sb_frame *f, bool check)
{
    struct sb_wire_error m;
    struct sb_err err;
    if (sb_wire_get_error(f, &m, &err) < 0)
        return -1;
    if (check) {
        assert_int_equal(m.code, SB_NOT_FOUND);
        assert_int_equal(m.os, -2);
        assert_string_equal(m.text, "cannot open 'a'");
    }
    return 0;
}

static const struct {
    void (*write)(struct sb_buf *);
    int (*read)(const struct sb_frame *, bool check);
} rows[] = {
    {write_start, read_start}, {write_hello, read_hello}, {write_put, read_put},
    {write_get, read_get},     {write_list, read_path},   {write_remove, read_path},
    {write_exec, read_exec},   {write_exit, read_exit},   {write_error, read_error},
};

static struct sb_frame take(const struct sb_buf *out)
{
    struct sb_frame frame = {0};
    assert_false(out->full);
    assert_int_equal(sb_wire_take(out->data, out->len, &frame, NULL), out->len);
    return frame;
}

static void every_message_comes_back(void **state)
{
    struct sb_buf out;
    (void)state;
    sb_buf_init(&out, SB_WIRE_PAYLOAD_MAX);
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        sb_buf_clear(&out);
        rows[i].write(&out);
        struct sb_frame frame = take(&out);
        assert_int_equal(rows[i].read(&frame, true), 0);
    }
    sb_buf_done(&out);
}

static void every_message_cut_anywhere_is_refused(void **state)
{
    struct sb_buf out;
    (void)state;
    sb_buf_init(&out, SB_WIRE_PAYLOAD_MAX);
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        sb_buf_clear(&out);
        rows[i].write(&out);
        struct sb_frame frame = take(&out);
        uint32_t whole = frame.len;
        for (frame.len = 0; frame.len < whole; frame.len++) {
            unsigned char *exact = malloc(frame.len + 1u); /* a sanitizer sees what is read beyond */
            struct sb_frame cut = frame;
            assert_non_null(exact);
            memcpy(exact + 1, frame.payload, frame.len);
            cut.payload = exact + 1;
            assert_int_equal(rows[i].read(&cut, false), -1);
            free(exact);
        }
    }
    sb_buf_done(&out);
}

static void every_message_with_bytes_left_over_is_refused(void **state)
{
    struct sb_buf out;
    (void)state;
    sb_buf_init(&out, SB_WIRE_PAYLOAD_MAX);
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        sb_buf_clear(&out);
        rows[i].write(&out);
        sb_buf_addc(&out, 0);
        struct sb_frame frame = {0};
        assert_true(sb_wire_take(out.data, out.len, &frame, NULL) > 0);
        frame.len++;
        assert_int_equal(rows[i].read(&frame, false), -1);
    }
    sb_buf_done(&out);
}

/* ---- wrong fields ---- */

/* The example of a row with one byte changed at `at`, counted from the end when negative. */
static int changed(size_t row, int at, unsigned char value)
{
    struct sb_buf out;
    sb_buf_init(&out, SB_WIRE_PAYLOAD_MAX);
    rows[row].write(&out);
    out.data[at < 0 ? (int)out.len + at : SB_WIRE_HEADER + at] = (char)value;
    struct sb_frame frame = take(&out);
    int rc = rows[row].read(&frame, false);
    sb_buf_done(&out);
    return rc;
}

static void each_field_is_checked(void **state)
{
    enum { START, HELLO, PUT, GET, LIST, REMOVE, EXEC, EXIT, ERROR };
    static const struct {
        size_t row;
        int at;
        unsigned char value;
    } wrong[] = {
        {START, 4, 'g'},        {START, 4, 'A'},   {START, 68, 2}, {START, 71, 1},
        {HELLO, 10, ':'},       {HELLO, 68, 0},    {HELLO, 68, 3}, {HELLO, 72, 0},
        {HELLO, 72, 3},         {PUT, 4, 0},       {PUT, 4, 0xff}, {PUT, 1, 16},
        {PUT, -4, 2},           {GET, 4, 0},       {GET, 4, 0x80}, {GET, 12, 0x80},
        {REMOVE, 4, 0xc3},      {EXEC, 0, 8},      {EXEC, 3, 1},   {EXEC, 56, 0},
        {EXEC, 56, 0xc0},       {EXEC, 59, 0},     {EXEC, 60, 17}, {EXEC, 63, 0},
        {EXEC, -1, 0},          {EXIT, 0, 0},      {EXIT, 0, 4},   {EXIT, 8, SB_LIMIT_COUNT},
        {EXIT, 12, 4},          {EXIT, 57, 2},     {EXIT, 60, 0},  {EXIT, 60, 5},
        {EXIT, 61, 2},          {EXIT, -1, 0xff},  {EXIT, -1, 0},  {ERROR, 0, 0},
        {ERROR, 0, SB_BUG + 1}, {ERROR, -1, 0x80}, {ERROR, -1, 0},
    };
    (void)state;
    for (size_t i = 0; i < SB_COUNT(wrong); i++)
        if (changed(wrong[i].row, wrong[i].at, wrong[i].value) != -1)
            fail_msg("row %d, message %d at %d: %d was taken", (int)i, (int)wrong[i].row, wrong[i].at,
                     wrong[i].value);
}

/* ---- caps ---- */

static void paths_end_at_their_cap(void **state)
{
    struct sb_buf out;
    (void)state;
    sb_buf_init(&out, SB_WIRE_PAYLOAD_MAX);
    sb_wire_put_path(&out, SB_MSG_LIST, 1, long_path);
    assert_true(out.full);
    assert_int_equal(out.len, 0);
    sb_buf_done(&out);
}

static int exec_with(size_t args, size_t arg_len, size_t env_len, bool *full)
{
    struct sb_buf out;
    struct sb_wire_exec m = {.flags = 0}, back;
    struct sb_frame frame = {0};
    char *text = sb_alloc(arg_len + 1), *env = sb_alloc(env_len + 1);
    int rc = -1;
    memset(text, 'a', arg_len);
    memset(env, 'e', env_len);
    for (size_t i = 0; i < args; i++)
        sb_argv_push(&m.argv, text);
    sb_argv_push(&m.env, env);
    sb_buf_init(&out, 3 * SB_WIRE_PAYLOAD_MAX);
    sb_wire_put_exec(&out, 1, &m);
    *full = out.full;
    if (!out.full) {
        frame = take(&out);
        rc = sb_wire_get_exec(&frame, &back, NULL);
        if (rc == 0)
            sb_wire_exec_done(&back);
    }
    sb_wire_exec_done(&m);
    sb_buf_done(&out);
    sb_free(text);
    sb_free(env);
    return rc;
}

static void exec_ends_at_its_caps(void **state)
{
    bool full;
    (void)state;
    assert_int_equal(exec_with(SB_WIRE_ARGS_MAX, 1, 1, &full), 0);
    exec_with(SB_WIRE_ARGS_MAX + 1, 1, 1, &full);
    assert_true(full);
    assert_int_equal(exec_with(1, SB_WIRE_STRING_MAX, SB_WIRE_STRING_MAX, &full), 0);
    exec_with(1, SB_WIRE_STRING_MAX + 1, 1, &full);
    assert_true(full);
    exec_with(1, 1, SB_WIRE_STRING_MAX + 1, &full);
    assert_true(full);
    exec_with(17, SB_WIRE_STRING_MAX, 1, &full); /* more than a payload together */
    assert_true(full);
    assert_int_equal(exec_with(0, 1, 1, &full), -1); /* no program */
}

static void a_count_past_its_cap_is_refused_before_it_is_believed(void **state)
{
    (void)state;
    assert_int_equal(changed(6, 60, 16), -1);  /* argv: 4096 + 3 strings */
    assert_int_equal(changed(6, 63, 255), -1); /* argv: four thousand million */
    assert_int_equal(changed(7, 59, 255), -1); /* files */
}

static void exit_ends_at_its_caps(void **state)
{
    struct sb_wire_entry *files = sb_alloc((SB_WIRE_FILES_MAX + 1) * sizeof *files);
    struct sb_wire_exit m = {.kind = SB_EXITED, .files = files, .file_count = SB_WIRE_FILES_MAX};
    struct sb_buf out;
    (void)state;
    long_path[SB_WIRE_PATH_MAX] = '\0';
    for (size_t i = 0; i <= SB_WIRE_FILES_MAX; i++)
        files[i] = (struct sb_wire_entry){long_path, SB_ENTRY_FILE, 0, 0, 0};
    sb_buf_init(&out, 2 * SB_WIRE_PAYLOAD_MAX);
    sb_wire_put_exit(&out, 1, &m); /* the largest EXIT there is */
    struct sb_frame frame = take(&out);
    struct sb_wire_exit back;
    assert_int_equal(sb_wire_get_exit(&frame, &back, NULL), 0);
    assert_int_equal(back.file_count, SB_WIRE_FILES_MAX);
    sb_wire_exit_done(&back);
    sb_buf_clear(&out);
    m.file_count++;
    sb_wire_put_exit(&out, 1, &m);
    assert_true(out.full);
    long_path[SB_WIRE_PATH_MAX] = 'p';
    sb_buf_done(&out);
    sb_free(files);
}

static void a_build_of_another_length_is_not_written(void **state)
{
    struct sb_wire_start m = {.version = 1, .build = "abc"};
    struct sb_buf out;
    (void)state;
    sb_buf_init(&out, 1000);
    sb_wire_put_start(&out, &m);
    assert_true(out.full);
    assert_int_equal(out.len, 0);
    sb_buf_done(&out);
}

static void error_text_is_repaired_and_fits(void **state)
{
    struct sb_err err = {SB_HOST, 0, ""};
    struct sb_wire_error back;
    struct sb_buf out;
    (void)state;
    sb_buf_init(&out, 1000);
    memset(err.text, 0xff, sizeof err.text - 1); /* each becomes three bytes */
    sb_wire_put_error(&out, 1, &err);
    struct sb_frame frame = take(&out);
    assert_int_equal(sb_wire_get_error(&frame, &back, NULL), 0);
    assert_int_equal(strlen(back.text) % 3, 0);
    assert_true(strlen(back.text) > 470);
    assert_memory_equal(back.text, "\xef\xbf\xbd", 3);
    sb_buf_done(&out);
}

/* ---- entries of a list ---- */

static void entries_follow_each_other(void **state)
{
    struct sb_wire_entry first = {(char *)"a", SB_ENTRY_FOLDER, 0, 1, 2}, e;
    struct sb_wire_entry second = {(char *)"a/b", SB_ENTRY_LINK, SB_ENTRY_BAD_NAME, 3, -4};
    struct sb_buf out;
    long used;
    (void)state;
    sb_buf_init(&out, 1000);
    sb_wire_put_entry(&out, &first);
    size_t middle = out.len;
    sb_wire_put_entry(&out, &second);
    for (size_t len = 0; len < middle; len++)
        assert_int_equal(sb_wire_take_entry(out.data, len, &e, NULL), 0);
    used = sb_wire_take_entry(out.data, out.len, &e, NULL);
    assert_int_equal(used, middle);
    assert_string_equal(e.path, "a");
    sb_free(e.path);
    used = sb_wire_take_entry(out.data + used, out.len - (size_t)used, &e, NULL);
    assert_int_equal(used, out.len - middle);
    assert_string_equal(e.path, "a/b");
    assert_int_equal(e.type, SB_ENTRY_LINK);
    assert_int_equal(e.flags, SB_ENTRY_BAD_NAME);
    assert_true(e.size == 3 && e.mtime_ms == -4);
    sb_free(e.path);
    sb_buf_done(&out);
}

static void entries_that_leave_the_workspace_are_refused(void **state)
{
    static const char *const bad[] = {"",   "/",   "/a",  "a/",   "a//b",   ".",
                                      "..", "./a", "a/.", "../a", "a/../b", "a/.."};
    static const char *const good[] = {"a", ".a", "..a", "a..", "...", "a/.b/..c", "C:\\x", "a\nb"};
    struct sb_buf out;
    struct sb_wire_entry e = {NULL, SB_ENTRY_FILE, 0, 0, 0}, back;
    (void)state;
    sb_buf_init(&out, 1000);
    for (size_t i = 0; i < SB_COUNT(bad); i++) {
        sb_buf_clear(&out);
        e.path = (char *)bad[i];
        sb_wire_put_entry(&out, &e);
        assert_int_equal(sb_wire_take_entry(out.data, out.len, &back, NULL), -1);
    }
    for (size_t i = 0; i < SB_COUNT(good); i++) {
        sb_buf_clear(&out);
        e.path = (char *)good[i];
        sb_wire_put_entry(&out, &e);
        assert_int_equal(sb_wire_take_entry(out.data, out.len, &back, NULL), out.len);
        sb_free(back.path);
    }
    sb_buf_done(&out);
}

static void an_entry_too_long_is_refused_at_its_length(void **state)
{
    static const unsigned char head[] = {SB_ENTRY_FILE, 0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                         0x00,          0x10, 0, 0}; /* 4096 */
    struct sb_wire_entry e;
    (void)state;
    assert_int_equal(sb_wire_take_entry(head, sizeof head, &e, NULL), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_comes_back),
        cmocka_unit_test(every_message_cut_anywhere_is_refused),
        cmocka_unit_test(every_message_with_bytes_left_over_is_refused),
        cmocka_unit_test(each_field_is_checked),
        cmocka_unit_test(paths_end_at_their_cap),
        cmocka_unit_test(exec_ends_at_its_caps),
        cmocka_unit_test(a_count_past_its_cap_is_refused_before_it_is_believed),
        cmocka_unit_test(exit_ends_at_its_caps),
        cmocka_unit_test(a_build_of_another_length_is_not_written),
        cmocka_unit_test(error_text_is_repaired_and_fits),
        cmocka_unit_test(entries_follow_each_other),
        cmocka_unit_test(entries_that_leave_the_workspace_are_refused),
        cmocka_unit_test(an_entry_too_long_is_refused_at_its_length),
    };
    memset(long_path, 'p', sizeof long_path - 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
