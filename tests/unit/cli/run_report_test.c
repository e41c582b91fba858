/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"
#include "cli/run_report.h"

static const struct {
    struct sb_run_result result;
    int exit_status;
    const char *sentence;
} rows[] = {
    {{.status = SB_STATUS_OK}, 0, ""},
    {{.status = SB_STATUS_ERROR, .code = 3}, 3, ""},
    {{.status = SB_STATUS_ERROR, .code = 139}, 139, ""},
    {{.status = SB_STATUS_ERROR, .code = 70000}, 70000, ""}, /* Windows: uncut */
    {{.status = SB_STATUS_SIGNAL, .code = 11}, 139, "the program was killed by signal 11 (SIGSEGV)"},
    {{.status = SB_STATUS_SIGNAL, .code = 9, .parent_killed = true},
     137,
     "the program was killed by signal 9 (SIGKILL): it killed its own run parent"},
    {{.status = SB_STATUS_SIGNAL, .code = 0xC0000005u},
     (int)0xC0000005u,
     "the program crashed with 0xC0000005 (access violation)"},
    {{.status = SB_STATUS_TIMEOUT, .limit = 2050, .limit_row = SB_ROW_TIMEOUT_MS},
     124,
     "timeout: killed after 2.050 s"},
    {{.status = SB_STATUS_OUTPUT_LIMIT, .limit = 1024, .limit_row = SB_ROW_OUTPUT_PRODUCED},
     153,
     "output_limit: killed at 1024 (output_produced)"},
    {{.status = SB_STATUS_DISK_LIMIT, .limit = 256, .limit_row = SB_ROW_WORKSPACE_MB},
     153,
     "disk_limit: killed at 256 (workspace_mb)"},
    {{.status = SB_STATUS_MEMORY_LIMIT, .limit = 512, .limit_row = SB_ROW_MEMORY_MB},
     137,
     "memory_limit: killed at 512 (memory_mb)"},
    {{.status = SB_STATUS_CANCELLED}, 130, ""},
    {{.status = SB_STATUS_HOST_ERROR, .err = {.code = SB_HOST, .text = "no box"}}, 125, "no box"},
};

static void every_status_has_its_exit_status_and_sentence(void **state)
{
    (void)state;
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        struct sb_buf out;

        sb_buf_init(&out, 1000);
        sb_run_sentence(&rows[i].result, &out);
        assert_string_equal(out.data, rows[i].sentence);
        assert_int_equal(sb_run_exit_status(&rows[i].result), rows[i].exit_status);
        sb_buf_done(&out);
    }
}

static const struct sb_json *parse(const struct sb_buf *out, struct sb_json_doc **doc)
{
    struct sb_err err = {0};

    assert_int_equal(sb_json_parse(out->data, out->len, doc, &err), 0);
    return sb_json_root(*doc);
}

static void check_string(const struct sb_json *object, const char *key, const char *value)
{
    const char *text = NULL;
    struct sb_err err = {0};

    assert_int_equal(sb_json_string(sb_json_get(object, key), key, &text, &err), 0);
    assert_string_equal(text, value);
}

static void json_of_a_crash_with_odd_bytes_loses_nothing(void **state)
{
    struct sb_run_result result = {.status = SB_STATUS_SIGNAL, .code = 6, .wall_us = 12999, .cpu_us = 1500};
    struct sb_wire_entry files[] = {{.path = "a.png", .type = SB_ENTRY_FILE, .size = 5},
                                    {.path = "l", .type = SB_ENTRY_LINK}};
    struct sb_json_doc *doc;
    const struct sb_json *root;
    struct sb_buf out;

    (void)state;
    sb_buf_init(&out, 65536);
    sb_capture_init(&result.output[0], 8);
    sb_capture_init(&result.output[1], 8);
    sb_capture_add(&result.output[0], "ab\xff" "d0123456789wxyz", 18);
    sb_capture_add(&result.output[1], "\1e", 2);
    result.files = files;
    result.file_count = 2;
    sb_run_json(&result, "r_x", "bubblewrap", &out);
    root = parse(&out, &doc);
    check_string(root, "status", "signal");
    assert_int_equal(sb_json_type(sb_json_get(root, "exit_code")), SB_JSON_NULL);
    check_string(root, "stdout", "ab\xef\xbf\xbd" "d\n[... 10 bytes omitted ...]\nwxyz");
    check_string(root, "stdout_base64", "YWL/ZHd4eXo=");
    assert_null(sb_json_get(root, "stderr_base64"));
    assert_non_null(strstr(out.data, "\"stderr\":\"\\u0001e\""));
    assert_non_null(strstr(out.data, "\"stdout_bytes\":18,\"stderr_bytes\":2,\"truncated\":true"));
    assert_non_null(strstr(out.data, "\"artifacts\":[{\"path\":\"a.png\",\"bytes\":5,\"mime\":\"image/png\"}]"));
    assert_non_null(strstr(out.data, "\"skipped\":[{\"path\":\"l\",\"why\":\"a symbolic link\"}]"));
    sb_json_free(doc);
    sb_capture_done(&result.output[0]);
    sb_capture_done(&result.output[1]);
    sb_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_exit_status_and_sentence),
        cmocka_unit_test(json_of_a_crash_with_odd_bytes_loses_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
