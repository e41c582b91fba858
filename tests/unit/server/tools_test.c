/* SPDX-License-Identifier: MIT
 * The tools over a made-up host with one run of one peer. */
#include "unit/server/tools_rig.h"

/* ---- read_file ------------------------------------------------------------------------ */

/* Follows what the answers say, from the first byte to the end. */
static void read_all(const char *path, struct sb_buf *out)
{
    uint64_t offset = 0;

    for (int pages = 0; pages < 1000; pages++) {
        char *json =
            sb_asprintf("{\"run_id\":\"" RUN_ID "\",\"path\":\"%s\",\"offset\":%u}", path, (unsigned)offset);
        struct sb_call call;
        const char *where, *next;
        size_t len;

        begin(&sb_tool_read_file, &call, "owner", json);
        sb_free(json);
        assert_int_equal(call.is_error, 0);
        assert_true(call.texts.len <= SB_RESULT_CHARS + 2);
        where = strstr(call.texts.data, "|[bytes ");
        assert_non_null(where);
        len = where > call.texts.data ? (size_t)(where - call.texts.data) - 1 : 0;
        if (strstr(where, "as base64") != NULL)
            assert_int_equal(sb_base64_decode(call.texts.data + 1, len, out, NULL), 0);
        else
            sb_buf_add(out, call.texts.data + (len > 0), len);
        next = strstr(where, " offset=");
        offset = next != NULL ? strtoull(next + 8, NULL, 10) : 0;
        assert_true(next != NULL || strstr(where, "; end]") != NULL);
        assert_true(next == NULL || offset == out->len);
        finish(&sb_tool_read_file, &call);
        if (next == NULL)
            return;
    }
    fail();
}

static void check_pages(const char *bytes, size_t len)
{
    struct sb_buf all;

    world.job.item_count = 0;
    add_item("@stdout", bytes, len);
    sb_buf_init(&all, 1 << 20);
    read_all("@stdout", &all);
    assert_int_equal(all.len, len);
    assert_memory_equal(all.data, bytes, len);
    sb_buf_done(&all);
}

static void pages_give_every_byte_once(void **state)
{
    char *bytes = sb_alloc(100000);

    (void)state;
    check_pages("", 0);
    check_pages("one line\n", 9);
    memset(bytes, 'x', 100000);
    check_pages(bytes, 100000);
    for (size_t shift = 0; shift < 4; shift++) { /* characters lie across every border */
        memset(bytes, 'x', shift);
        for (size_t i = shift; i + 4 <= 50000; i += 4)
            memcpy(bytes + i, "\xF0\x9F\x99\x82", 4);
        check_pages(bytes, shift + (50000 - shift) / 4 * 4);
        check_pages(bytes, 40001); /* ends inside one */
        bytes[0] = (char)0xFF;     /* the first page is no text, the second begins with a whole character */
        check_pages(bytes, shift + (50000 - shift) / 4 * 4);
    }
    for (size_t i = 0; i < 100000; i++)
        bytes[i] = (char)(i * 7);
    check_pages(bytes, 100000);
    sb_free(bytes);
}

static void an_offset_inside_a_character_goes_back(void **state)
{
    (void)state;
    add_item("a.txt",
             "a\xE2\x82\xAC"
             "b",
             5);
    answers(&sb_tool_read_file, "{\"run_id\":\"" RUN_ID "\",\"path\":\"a.txt\",\"offset\":3}", false,
            "|\xE2\x82\xAC"
            "b|[bytes 1-5 of 5; end]");
    answers(&sb_tool_read_file, "{\"run_id\":\"" RUN_ID "\",\"path\":\"a.txt\",\"offset\":4}", false,
            "|b|[bytes 4-5 of 5; end]");
    answers(&sb_tool_read_file, "{\"run_id\":\"" RUN_ID "\",\"path\":\"a.txt\",\"offset\":5}", false,
            "|[bytes 5-5 of 5; end]");
    answers(&sb_tool_read_file, "{\"run_id\":\"" RUN_ID "\",\"path\":\"a.txt\",\"offset\":6}", true,
            "offset 6 is behind the end");
}

static void a_strange_path_is_quoted_in_the_next_call(void **state)
{
    static char bytes[20000];

    (void)state;
    memset(bytes, 'x', sizeof bytes);
    add_item("a b.txt", bytes, sizeof bytes);
    answers(&sb_tool_read_file, "{\"run_id\":\"" RUN_ID "\",\"path\":\"a b.txt\"}", false,
            "path=\"a b.txt\" offset=");
}

static void a_picture_is_an_image(void **state)
{
    struct sb_call call;

    (void)state;
    add_item("p.png", "\x89PNG\r\n\x1A\n....", 12);
    begin(&sb_tool_read_file, &call, "owner", "{\"run_id\":\"" RUN_ID "\",\"path\":\"p.png\"}");
    assert_int_equal(call.images, 1);
    assert_string_equal(call.texts.data, "|[bytes 0-12 of 12, as an image; end]");
    finish(&sb_tool_read_file, &call);
}

static void nobody_reads_what_is_not_his(void **state)
{
    const struct sb_tool *const tools[] = {&sb_tool_read_file, &sb_tool_list_files};
    struct sb_call call;
    struct sb_buf out;
    struct sb_err err;

    (void)state;
    add_item("@stdout", "secret", 6);
    for (size_t i = 0; i < 2; i++) {
        begin(tools[i], &call, "stranger", "{\"run_id\":\"" RUN_ID "\",\"path\":\"@stdout\"}");
        assert_int_equal(call.is_error, 1);
        assert_non_null(strstr(call.texts.data, "No run '" RUN_ID "' is known"));
        finish(tools[i], &call);
    }
    begin(&sb_tool_job, &call, "stranger", "{\"job_id\":\"" RUN_ID "\",\"action\":\"kill\"}");
    assert_int_equal(call.is_error, 1);
    assert_int_equal(world.job.killed, 0);
    finish(&sb_tool_job, &call);
    sb_buf_init(&out, 1000);
    assert_int_equal(
        sb_resource_read(&world.host, "stranger", "sandbox://run/" RUN_ID "/%40stdout", &out, &err), -1);
    assert_int_equal(err.code, SB_NOT_FOUND);
    assert_int_equal(out.len, 0);
    sb_buf_done(&out);
}

/* ---- list_files, resources ------------------------------------------------------------ */

static void add_file(size_t at, const char *path, enum sb_entry_type type, const char *bytes, size_t len)
{
    world.job.files[at] = (struct sb_wire_entry){.path = (char *)path, .type = (uint8_t)type, .size = len};
    world.job.result.files = world.job.files;
    world.job.result.file_count = at + 1;
    if (bytes != NULL)
        add_item(path[0] == '@' ? "./@stdout" : path, bytes, len);
}

static void files_are_listed_with_sizes(void **state)
{
    (void)state;
    add_item("@stdout", "12345", 5);
    add_item("@stderr", "", 0);
    add_file(0, "plot.png", SB_ENTRY_FILE, "x", 1);
    add_file(1, "d/link", SB_ENTRY_LINK, NULL, 0);
    add_file(2, "@stdout", SB_ENTRY_FILE, "own", 3);
    answers(&sb_tool_list_files, "{\"run_id\":\"" RUN_ID "\"}", false,
            "|run " RUN_ID "\n@stdout 5 bytes\n@stderr 0 bytes\nplot.png 1 bytes, image/png\n"
            "d/link (not kept: a link)\n./@stdout 3 bytes, application/octet-stream");
    answers(&sb_tool_list_files, "{\"run_id\":\"" RUN_ID "\",\"path\":\"d/\"}", false,
            "|run " RUN_ID "\nd/link (not kept: a link)");
    answers(&sb_tool_list_files, "{\"run_id\":\"" RUN_ID "\",\"path\":\"../x\"}", true, "..");
}

static void resource(const char *uri, const char *want)
{
    struct sb_err err = {0};
    struct sb_buf out;

    sb_buf_init(&out, 1 << 20);
    if (sb_resource_read(&world.host, "owner", uri, &out, &err) < 0) {
        assert_int_equal(err.code, SB_NOT_FOUND);
        assert_null(want);
    } else {
        assert_non_null(want);
        assert_string_equal(out.data, want);
    }
    sb_buf_done(&out);
}

static void resources_are_text_or_blobs(void **state)
{
    (void)state;
    add_item("@stdout", "hi", 2);
    add_item("a b\xC3\xA9.csv", "1,2", 3);
    add_item("b.bin", "\0\xFF", 2);
    resource("sandbox://run/" RUN_ID "/%40stdout",
             "[{\"uri\":\"sandbox://run/" RUN_ID
             "/%40stdout\",\"mimeType\":\"text/plain\",\"text\":\"hi\"}]");
    resource("sandbox://run/" RUN_ID "/a%20b%C3%A9.csv",
             "[{\"uri\":\"sandbox://run/" RUN_ID
             "/a%20b%C3%A9.csv\",\"mimeType\":\"text/csv\",\"text\":\"1,2\"}]");
    resource("sandbox://run/" RUN_ID "/b.bin",
             "[{\"uri\":\"sandbox://run/" RUN_ID
             "/b.bin\",\"mimeType\":\"application/octet-stream\",\"blob\":\"AP8=\"}]");
}

static void a_wrong_uri_is_not_found(void **state)
{
    static const char *const wrong[] = {"",
                                        "file:///etc/passwd",
                                        "sandbox://language",
                                        "sandbox://run/",
                                        "sandbox://run/" RUN_ID,
                                        "sandbox://run/" RUN_ID "/",
                                        "sandbox://run/" RUN_ID "/none",
                                        "sandbox://run/" RUN_ID "/%4",
                                        "sandbox://run/" RUN_ID "/%zz",
                                        "sandbox://run/" RUN_ID "/%00",
                                        "sandbox://run/r_0123456789012345678901234567890123456789/x"};

    (void)state;
    add_item("@stdout", "hi", 2);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        resource(wrong[i], NULL);
}

static void a_uri_says_any_path(void **state)
{
    struct sb_buf uri;

    (void)state;
    sb_buf_init(&uri, SB_RESOURCE_URI_MAX);
    sb_resource_run_uri("r_1", "d/a b%\xC3\xA9?#.txt", &uri);
    assert_string_equal(uri.data, "sandbox://run/r_1/d/a%20b%25%C3%A9%3F%23.txt");
    sb_buf_done(&uri);
}

/* ---- execute_code --------------------------------------------------------------------- */

static void what_is_refused_starts_nothing(void **state)
{
    char *large = sb_alloc(SB_RUN_CODE_MAX + 100);

    (void)state;
    answers(&sb_tool_execute_code, "{}", true, "code");
    answers(&sb_tool_execute_code, "{\"code\":\"\"}", true, "'code' is empty");
    answers(&sb_tool_execute_code, "{\"code\":\"a\\u0000b\"}", true, "NUL");
    answers(&sb_tool_execute_code, "{\"code\":\"1\",\"timeout\":0}", true, "timeout");
    answers(&sb_tool_execute_code, "{\"code\":\"1\",\"timeout\":3601}", true, "timeout");
    answers(&sb_tool_execute_code, "{\"code\":\"1\",\"wait\":51}", true, "wait");
    answers(&sb_tool_execute_code, "{\"code\":\"1\",\"wait\":-1}", true, "wait");
    answers(&sb_tool_execute_code, "{\"code\":\"1\",\"langauge\":\"python\"}", true, "language");
    answers(&sb_tool_execute_code, "{\"code\":\"1\",\"language\":\"cobol\"}", true,
            "unknown language 'cobol'; usable here:");
    answers(&sb_tool_execute_code, "{\"code\":\"1\",\"language\":\"pyhton\"}", true,
            "did you mean 'python'?");
    answers(&sb_tool_execute_code, "{\"code\":\"1\",\"language\":\"C++17\"}", true,
            "language 'cpp' is not available here");
    answers(&sb_tool_execute_code, "{\"code\":\"1\",\"libraries\":[\"numpy\"]}", true,
            "libraries is not available");
    answers(&sb_tool_execute_code, "{\"code\":\"1\",\"session_id\":\"new\"}", true,
            "session_id is not available");
    answers(&sb_tool_execute_code, "{\"code\":\"1\",\"network\":true}", true, "network");
    answers(&sb_tool_execute_code, "{\"code\":\"1\",\"env\":{\"\":\"x\"}}", true, "without a name");
    answers(&sb_tool_execute_code, "{\"code\":\"1\",\"files\":[{\"path\":\"a\"}]}", true,
            "either text or base64");
    memcpy(large, "{\"code\":\"", 9);
    memset(large + 9, 'x', SB_RUN_CODE_MAX + 1);
    memcpy(large + 9 + SB_RUN_CODE_MAX + 1, "\"}", 3);
    answers(&sb_tool_execute_code, large, true, "code");
    sb_free(large);
    assert_int_equal(world.job.started, 0);
}

static void a_missing_language_names_the_usable_ones_and_its_mend(void **state)
{
    const struct sb_language *js = sb_language_named("js", sb_backends[0]->target().os);
    char *want = sb_asprintf(
        "no javascript is here; usable here: python.\nTo mend it, ask the user to run: %s", js->install);

    (void)state;
    answers(&sb_tool_execute_code, "{\"code\":\"1\",\"language\":\"js\"}", true, want);
    sb_free(want);
    assert_int_equal(world.job.started, 0);
}

static void strings_of_a_start_have_caps(void **state)
{
    struct sb_buf json;

    (void)state;
    sb_buf_init(&json, 4 << 20);
    sb_buf_adds(&json, "{\"code\":\"1\",\"args\":[\"");
    for (int i = 0; i < 128 * 1024; i++)
        sb_buf_addc(&json, 'x');
    sb_buf_adds(&json, "\"]}");
    answers(&sb_tool_execute_code, json.data, true, "'args' has a string of 131072 bytes");
    sb_buf_clear(&json);
    sb_buf_adds(&json, "{\"code\":\"1\",\"args\":[\"x\"");
    for (int k = 0; k < 11; k++) {
        sb_buf_adds(&json, ",\"");
        for (int i = 0; i < 100000; i++)
            sb_buf_addc(&json, 'x');
        sb_buf_adds(&json, "\"");
    }
    sb_buf_adds(&json, "]}");
    answers(&sb_tool_execute_code, json.data, true, "together are larger than");
    sb_buf_done(&json);
    assert_int_equal(world.job.started, 0);
}

static void without_a_backend_the_user_is_asked(void **state)
{
    (void)state;
    world.backend.usable = false;
    sb_fail(&world.backend.why, SB_UNSUPPORTED, "bwrap is missing");
    strcpy(world.backend.mend, "apt-get install bubblewrap");
    answers(&sb_tool_execute_code, "{\"code\":\"1\"}", true,
            "bwrap is missing. To mend it, ask the user to run: apt-get install bubblewrap\nDo not retry "
            "until then.");
    answers(&sb_tool_get_supported_languages, "{}", true, "Do not retry");
    answers(&sb_tool_get_language_details, "{\"language\":\"python\"}", true, "Do not retry");
    assert_int_equal(world.job.started, 0);
}

static void all_that_was_asked_reaches_the_job(void **state)
{
    (void)state;
    answers(&sb_tool_execute_code,
            "{\"code\":\"print(1)\",\"language\":\"PY\",\"timeout\":\"0.5\",\"stdin\":\"in\",\"args\":\"["
            "\\\"a\\\"]\","
            "\"env\":{\"A\":\"b\"},\"memory_mb\":64,\"files\":[{\"path\":\"x\",\"text\":\"y\"}]}",
            false, "|ok " RUN_ID);
    assert_int_equal(world.job.started, 1);
    assert_string_equal(world.job.want.peer, "owner");
    assert_string_equal(world.job.want.language, "python");
    assert_string_equal(world.job.want.code, "print(1)");
    assert_string_equal(world.job.want.input, "in");
    assert_int_equal(world.job.want.input_len, 2);
    assert_string_equal(world.job.want.args.v[0], "a");
    assert_string_equal(world.job.want.env.v[0], "A=b");
    assert_string_equal(world.job.want.files[0].path, "x");
    assert_int_equal(world.job.want.ask.value[SB_ROW_TIMEOUT_MS], 500);
    assert_true(world.job.want.ask.set[SB_ROW_MEMORY_MB]);
    assert_int_equal(world.job.want.ask.value[SB_ROW_MEMORY_MB], 64);
}

static void a_default_memory_is_not_asked_for_by_hand(void **state)
{
    (void)state;
    answers(&sb_tool_execute_code, "{\"code\":\"1\"}", false, "ok");
    assert_false(world.job.want.ask.set[SB_ROW_MEMORY_MB]);
}

static void a_long_run_becomes_a_job(void **state)
{
    struct sb_call call;

    (void)state;
    world.job.ended = false;
    answers(&sb_tool_execute_code, "{\"code\":\"1\",\"wait\":0}", false,
            "|running: call job with job_id=" RUN_ID " (running, 12 s so far)\nlast line of stdout: step 3");
    begin(&sb_tool_execute_code, &call, "owner", "{\"code\":\"1\"}");
    assert_int_equal(call.is_error, -1);
    world.wait.on_ring(world.wait.ctx, false);
    assert_int_equal(call.is_error, 0);
    assert_null(call.own);
    finish(&sb_tool_execute_code, &call);
    begin(&sb_tool_job, &call, "owner", "{\"job_id\":\"" RUN_ID "\"}");
    assert_int_equal(call.is_error, -1);
    world.job.ended = true;
    world.wait.on_ring(world.wait.ctx, true);
    assert_string_equal(call.texts.data, "|ok " RUN_ID);
    finish(&sb_tool_job, &call);
    assert_int_equal(world.job.killed, 0);
}

static void a_job_answers_in_the_form_its_run_was_asked_for(void **state)
{
    (void)state;
    world.job.ended = false;
    answers(&sb_tool_execute_code, "{\"code\":\"1\",\"wait\":0,\"format\":\"json\"}", false, "|running: ");
    world.job.ended = true;
    answers(&sb_tool_job, "{\"job_id\":\"" RUN_ID "\"}", false,
            "|{\"status\":\"ok\",\"run\":\"" RUN_ID "\"}");
    answers(&sb_tool_execute_code, "{\"code\":\"1\"}", false, "|ok " RUN_ID);
    answers(&sb_tool_job, "{\"job_id\":\"" RUN_ID "\"}", false, "|ok " RUN_ID);
}

static void a_cancelled_call_kills_its_run_a_wait_does_not(void **state)
{
    struct sb_call call;

    (void)state;
    world.job.ended = false;
    begin(&sb_tool_job, &call, "owner", "{\"job_id\":\"" RUN_ID "\"}");
    sb_tool_job.cancel(&call);
    assert_null(world.wait.on_ring);
    assert_int_equal(world.job.killed, 0);
    finish(&sb_tool_job, &call);
    begin(&sb_tool_execute_code, &call, "owner", "{\"code\":\"1\"}");
    sb_tool_execute_code.cancel(&call);
    assert_null(world.wait.on_ring);
    assert_int_equal(world.job.killed, 1);
    assert_int_equal(call.is_error, -1);
    finish(&sb_tool_execute_code, &call);
    answers(&sb_tool_job, "{\"action\":\"kill\"}", true, "kill needs a job_id");
    answers(&sb_tool_job, "{}", false, "|1 job\n" RUN_ID " running 12345 ms");
}

static void print(const char *bytes, size_t len)
{
    sb_capture_add(&world.job.so_far, bytes, len);
    world.job.result.output[0].total += len;
}

/* What job answers at once to an offset, with exactly these blocks. */
static void follows(const char *args_json, bool is_error, const char *blocks)
{
    char *json = sb_asprintf("{\"job_id\":\"" RUN_ID "\",%s}", args_json);
    struct sb_call call;

    begin(&sb_tool_job, &call, "owner", json);
    assert_int_equal(call.is_error, is_error);
    assert_string_equal(call.texts.data, blocks);
    finish(&sb_tool_job, &call);
    sb_free(json);
}

#define SO_FAR "|running (running, 12 s so far)\noops"

static void a_running_job_is_followed_by_offset(void **state)
{
    (void)state;
    world.job.ended = false;
    sb_capture_init(&world.job.so_far, 1000);
    follows("\"offset\":0,\"wait\":0", false,
            SO_FAR "|[bytes 0-0 of 0 so far; next: job job_id=" RUN_ID " offset=0]");
    print("a\xE2\x82", 3); /* half a character waits for its rest */
    follows("\"offset\":0,\"wait\":0", false,
            SO_FAR "|a|[bytes 0-1 of 3 so far; next: job job_id=" RUN_ID " offset=1]");
    print("\xAC", 1);
    follows("\"offset\":1,\"wait\":0", false,
            SO_FAR "|\xE2\x82\xAC|[bytes 1-4 of 4 so far; next: job job_id=" RUN_ID " offset=4]");
    follows("\"offset\":4,\"wait\":0", false,
            SO_FAR "|[bytes 4-4 of 4 so far; next: job job_id=" RUN_ID " offset=4]");
    print("\xFF", 1);
    print("z", 1);
    follows("\"offset\":4,\"wait\":0", false,
            SO_FAR "|/3o=|[bytes 4-6 of 6 so far, binary: as base64; next: job job_id=" RUN_ID " offset=6]");
    add_item("@stdout", "a\xE2\x82\xAC\xFFz", 6);
    world.job.ended = true;
    follows("\"offset\":1", false,
            "|beside: ok " RUN_ID "|4oKs/3o=|[bytes 1-6 of 6, binary: as base64; end]");
    follows("\"offset\":6", false, "|beside: ok " RUN_ID "|[bytes 6-6 of 6; end]");
}

static void following_goes_on_after_what_was_dropped(void **state)
{
    (void)state;
    world.job.ended = false;
    sb_capture_init(&world.job.so_far, 8);
    print("abcd....\x82\xACxy", 12); /* the rest of a character is no text */
    follows("\"offset\":2,\"wait\":0", false,
            SO_FAR "|cd|[bytes 2-4 of 12 so far; next: job job_id=" RUN_ID " offset=4]");
    follows("\"offset\":4,\"wait\":0", false,
            SO_FAR
            "|xy|[bytes 10-12 of 12 so far; 6 bytes before them were not kept; next: job job_id=" RUN_ID
            " offset=12]");
}

static void following_passes_a_character_whose_end_was_dropped(void **state)
{
    (void)state;
    world.job.ended = false;
    sb_capture_init(&world.job.so_far, 8);
    print("abc\xF0\x9F\x99\x82....wxyz", 15);
    follows("\"offset\":0,\"wait\":0", false,
            SO_FAR "|abc|[bytes 0-3 of 15 so far; next: job job_id=" RUN_ID " offset=3]");
    follows("\"offset\":3,\"wait\":0", false,
            SO_FAR "|8A==|[bytes 3-4 of 15 so far, binary: as base64; next: job job_id=" RUN_ID " offset=4]");
    follows("\"offset\":4,\"wait\":0", false,
            SO_FAR
            "|wxyz|[bytes 11-15 of 15 so far; 7 bytes before them were not kept; next: job job_id=" RUN_ID
            " offset=15]");
}

static void following_waits_unless_a_page_is_full(void **state)
{
    struct sb_call call;

    (void)state;
    world.job.ended = false;
    sb_capture_init(&world.job.so_far, 20000);
    print("some", 4);
    begin(&sb_tool_job, &call, "owner", "{\"job_id\":\"" RUN_ID "\",\"offset\":0}");
    assert_int_equal(call.is_error, -1);
    print("thing", 5);
    world.wait.on_ring(world.wait.ctx, false);
    assert_string_equal(call.texts.data,
                        SO_FAR "|something|[bytes 0-9 of 9 so far; next: job job_id=" RUN_ID " offset=9]");
    finish(&sb_tool_job, &call);
    for (int i = 0; i < 600; i++)
        print("0123456789", 10);
    begin(&sb_tool_job, &call, "owner", "{\"job_id\":\"" RUN_ID "\",\"offset\":0}");
    assert_int_equal(call.is_error, 0);
    finish(&sb_tool_job, &call);
}

static void a_wrong_offset_is_an_error_at_once(void **state)
{
    (void)state;
    world.job.ended = false;
    sb_capture_init(&world.job.so_far, 100);
    print("1234", 4);
    follows("\"offset\":5", true,
            "|offset 5 is behind the end: '@stdout' has 4 bytes so far. Go on where the last answer said, or "
            "begin with offset=0.");
    world.job.ended = true;
    follows(
        "\"offset\":5", true,
        "|offset 5 is behind the end: stdout had 4 bytes. Go on where the last answer said, or begin with "
        "offset=0.");
    answers(&sb_tool_job, "{\"job_id\":\"" RUN_ID "\",\"offset\":-1}", true, "offset");
    answers(&sb_tool_job, "{\"offset\":0}", true, "offset needs a job_id");
    follows("\"offset\":0", false, "|ok " RUN_ID); /* nothing was kept: the whole answer says why */
}

static void images_and_links_are_counted(void **state)
{
    static char names[30][16], large[SB_ANSWER_IMAGE_BYTES] = "\x89PNG\r\n\x1A\n";
    struct sb_call call;

    (void)state;
    for (size_t i = 0; i < 30; i++) {
        snprintf(names[i], sizeof names[i], "p%02u.png", (unsigned)i);
        add_file(i, names[i], SB_ENTRY_FILE, i == 0 ? "no picture" : "\x89PNG\r\n\x1A\n..", 10);
    }
    begin(&sb_tool_execute_code, &call, "owner", "{\"code\":\"1\"}");
    assert_int_equal(call.images, SB_ANSWER_IMAGES);
    assert_int_equal(call.links, SB_ANSWER_LINKS);
    assert_string_equal(call.link, "sandbox://run/" RUN_ID "/p15.png");
    assert_string_equal(call.texts.data, "|ok " RUN_ID "|[14 more files: list_files run_id=" RUN_ID "]");
    finish(&sb_tool_execute_code, &call);
    world.job.item_count = 0;
    for (size_t i = 0; i < 3; i++) /* the second has no room beside the first */
        add_file(i, names[i], SB_ENTRY_FILE, large, i == 1 ? sizeof large : 100);
    begin(&sb_tool_execute_code, &call, "owner", "{\"code\":\"1\",\"format\":\"json\"}");
    assert_int_equal(call.images, 2);
    assert_string_equal(call.texts.data, "|{\"status\":\"ok\",\"run\":\"" RUN_ID "\"}");
    finish(&sb_tool_execute_code, &call);
}

static void our_own_inability_is_an_error_with_its_mend(void **state)
{
    (void)state;
    world.job.result.status = SB_STATUS_HOST_ERROR;
    sb_fail(&world.job.result.err, SB_HOST, "no room");
    strcpy(world.job.result.mend, "make room");
    answers(&sb_tool_execute_code, "{\"code\":\"1\"}", true,
            "no room.\nTo mend it, ask the user to run: make room");
    world.job.result.status = SB_STATUS_ERROR;
    answers(&sb_tool_execute_code, "{\"code\":\"1\"}", false, "|error");
}

/* ---- the others ----------------------------------------------------------------------- */

static void what_comes_later_says_so(void **state)
{
    (void)state;
    answers(&sb_tool_session, "{\"action\":\"create\"}", true, "not available in this version yet");
    answers(&sb_tool_write_file, "{\"session_id\":\"s_1\",\"path\":\"a\",\"text\":\"b\"}", true,
            "not available in this version yet");
    answers(&sb_tool_read_file, "{\"session_id\":\"s_1\",\"path\":\"a\"}", true,
            "session_id is not available");
    answers(&sb_tool_list_files, "{\"session_id\":\"s_1\"}", true, "session_id is not available");
    answers(&sb_tool_read_file, "{\"path\":\"a\"}", true, "run_id is missing");
}

static void languages_look_like_the_references(void **state)
{
    struct sb_err err;
    struct sb_buf out;

    (void)state;
    answers(&sb_tool_get_supported_languages, "{}", false, "|[\n  \"python\"\n]");
    answers(&sb_tool_get_language_details, "{\"language\":\"js\"}", false,
            "|{\"error\": \"Unsupported language: js (its interpreter is not installed here)\"}");
    answers(&sb_tool_get_language_details, "{\"language\":\"XYZ\"}", false,
            "|{\"error\": \"Unsupported language: XYZ\"}");
    answers(&sb_tool_get_language_details, "{\"language\":\"go\"}", false,
            "|{\"error\": \"Unsupported language: go (not available here in this version yet)\"}");
    sb_buf_init(&out, 1 << 20);
    assert_int_equal(sb_resource_read(&world.host, "owner", "sandbox://languages", &out, &err), 0);
    assert_non_null(
        strstr(out.data, "{\\n  \\\"python\\\": {\\n    \\\"version\\\": \\\"\\\",\\n    "
                         "\\\"package_manager\\\": \\\"pip\\\",\\n    \\\"preinstalled_libraries\\\": [],"));
    sb_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(pages_give_every_byte_once, set_up),
        cmocka_unit_test_setup(an_offset_inside_a_character_goes_back, set_up),
        cmocka_unit_test_setup(a_strange_path_is_quoted_in_the_next_call, set_up),
        cmocka_unit_test_setup(a_picture_is_an_image, set_up),
        cmocka_unit_test_setup(nobody_reads_what_is_not_his, set_up),
        cmocka_unit_test_setup(files_are_listed_with_sizes, set_up),
        cmocka_unit_test_setup(resources_are_text_or_blobs, set_up),
        cmocka_unit_test_setup(a_wrong_uri_is_not_found, set_up),
        cmocka_unit_test_setup(a_uri_says_any_path, set_up),
        cmocka_unit_test_setup(what_is_refused_starts_nothing, set_up),
        cmocka_unit_test_setup(a_missing_language_names_the_usable_ones_and_its_mend, set_up),
        cmocka_unit_test_setup(strings_of_a_start_have_caps, set_up),
        cmocka_unit_test_setup(without_a_backend_the_user_is_asked, set_up),
        cmocka_unit_test_setup(all_that_was_asked_reaches_the_job, set_up),
        cmocka_unit_test_setup(a_default_memory_is_not_asked_for_by_hand, set_up),
        cmocka_unit_test_setup(a_long_run_becomes_a_job, set_up),
        cmocka_unit_test_setup(a_job_answers_in_the_form_its_run_was_asked_for, set_up),
        cmocka_unit_test_setup(a_cancelled_call_kills_its_run_a_wait_does_not, set_up),
        cmocka_unit_test_setup(a_running_job_is_followed_by_offset, set_up),
        cmocka_unit_test_setup(following_goes_on_after_what_was_dropped, set_up),
        cmocka_unit_test_setup(following_passes_a_character_whose_end_was_dropped, set_up),
        cmocka_unit_test_setup(following_waits_unless_a_page_is_full, set_up),
        cmocka_unit_test_setup(a_wrong_offset_is_an_error_at_once, set_up),
        cmocka_unit_test_setup(images_and_links_are_counted, set_up),
        cmocka_unit_test_setup(our_own_inability_is_an_error_with_its_mend, set_up),
        cmocka_unit_test_setup(what_comes_later_says_so, set_up),
        cmocka_unit_test_setup(languages_look_like_the_references, set_up),
    };
    int failed;

    uv_loop_init(&world.host.loop);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    free_want(&world.job.want);
    sb_capture_done(&world.job.so_far);
    uv_loop_close(&world.host.loop);
    return failed;
}
