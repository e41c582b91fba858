/* SPDX-License-Identifier: MIT
 * The tools over a made-up host with one run of one peer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "base/buf.h"
#include "platform/clock.h"
#include "sandbox/toolbox.h"
#include "server/resource.h"
#include "server/result_text.h"
#include "server/tools/answer.h"
#include "server/tools/tools.h"

/* ---- the host ------------------------------------------------------------------------- */

#define RUN_ID "r_abcdefghijklmnop"

struct sb_host {
    uv_loop_t loop;
};
struct sb_jobs {
    int unused;
};
struct sb_job {
    bool ended;
    unsigned started, killed;
    struct sb_run_result result;
    struct sb_wire_entry files[40];
    struct item {
        const char *name, *bytes;
        size_t len;
    } items[40];
    size_t item_count;
    struct sb_job_want want; /* of the last start */
};
struct sb_job_wait {
    void (*on_ring)(void *ctx, bool ended);
    void *ctx;
};
struct sb_call {
    const char *peer;
    void *own;
    struct sb_buf texts; /* all text blocks, each behind a '|' */
    unsigned images, links;
    char link[200];
    int is_error; /* -1: no reply yet */
};

static struct {
    struct sb_host host;
    struct sb_jobs jobs;
    struct sb_job job;
    struct sb_job_wait wait;
    struct sb_probe_result backend;
} world;

uv_loop_t *sb_host_loop(struct sb_host *host)
{
    return &host->loop;
}

const struct sb_config *sb_host_config(const struct sb_host *host)
{
    (void)host;
    return NULL;
}

/* Here is Python, and nothing else. */
int sb_toolbox_find(const struct sb_language *language, struct sb_buf *out_path, struct sb_err *err)
{
    if (strcmp(language->name, "python") != 0)
        return sb_fail(err, SB_NOT_FOUND, "no %s is here", language->name);
    sb_buf_adds(out_path, "/usr/bin/python3");
    return 0;
}

struct sb_jobs *sb_host_jobs(struct sb_host *host)
{
    (void)host;
    return &world.jobs;
}

void sb_host_backend(struct sb_host *host, void (*on_ready)(void *ctx, const struct sb_probe_result *result),
                     void *ctx)
{
    (void)host;
    on_ready(ctx, &world.backend);
}

struct sb_job *sb_job_find(struct sb_jobs *jobs, const char *peer, const char *id)
{
    (void)jobs;
    return strcmp(peer, "owner") == 0 && strcmp(id, RUN_ID) == 0 ? &world.job : NULL;
}

struct sb_job *sb_job_next(struct sb_jobs *jobs, const char *peer, struct sb_job *previous)
{
    (void)jobs;
    return strcmp(peer, "owner") == 0 && previous == NULL ? &world.job : NULL;
}

static void free_want(struct sb_job_want *want)
{
    sb_free(want->code);
    sb_free(want->input);
    sb_argv_done(&want->args);
    sb_argv_done(&want->env);
    for (size_t i = 0; i < want->file_count; i++) {
        sb_free(want->files[i].path);
        sb_free(want->files[i].bytes);
    }
    sb_free(want->files);
    *want = (struct sb_job_want){0};
}

int sb_job_start(struct sb_jobs *jobs, struct sb_job_want *want, struct sb_job **out, struct sb_err *err)
{
    (void)jobs;
    (void)err;
    world.job.started++;
    free_want(&world.job.want);
    world.job.want = *want;
    *out = &world.job;
    return 0;
}

void sb_job_kill(struct sb_job *job)
{
    job->killed++;
}

struct sb_job_wait *sb_job_wait(struct sb_job *job, int64_t wait_ms, void (*on_ring)(void *ctx, bool ended),
                                void *ctx)
{
    (void)job;
    (void)wait_ms;
    world.wait = (struct sb_job_wait){on_ring, ctx};
    return &world.wait;
}

void sb_job_unwait(struct sb_job_wait *wait)
{
    wait->on_ring = NULL;
}

const char *sb_job_id(const struct sb_job *job)
{
    (void)job;
    return RUN_ID;
}

bool sb_job_json(const struct sb_job *job)
{
    return job->want.json;
}

bool sb_job_ended(const struct sb_job *job)
{
    return job->ended;
}

const char *sb_job_state(const struct sb_job *job)
{
    (void)job;
    return "running";
}

int64_t sb_job_elapsed_ms(const struct sb_job *job)
{
    (void)job;
    return 12345;
}

const char *sb_job_last_line(struct sb_job *job)
{
    (void)job;
    return "step 3";
}

const struct sb_run_result *sb_job_result(const struct sb_job *job)
{
    return &job->result;
}

int sb_job_read(struct sb_job *job, const char *path, uint64_t offset, size_t most, struct sb_buf *out,
                uint64_t *total, struct sb_err *err)
{
    for (size_t i = 0; i < job->item_count; i++) {
        const struct item *item = &job->items[i];
        size_t len;

        if (strcmp(item->name, path) != 0)
            continue;
        len = offset >= item->len ? 0 : item->len - (size_t)offset;
        sb_buf_add(out, item->bytes + (len > 0 ? offset : 0), len < most ? len : most);
        *total = item->len;
        return 0;
    }
    return sb_fail(err, SB_NOT_FOUND, "no '%s' in this run", path);
}

void sb_result_text(const struct sb_run_result *result, const char *run_id, struct sb_buf *out)
{
    sb_buf_addf(out, "%s %s", sb_status_name(result->status), run_id);
}

void sb_result_json(const struct sb_run_result *result, const char *run_id, struct sb_buf *out)
{
    sb_buf_addf(out, "{\"status\":\"%s\",\"run\":\"%s\"}", sb_status_name(result->status), run_id);
}

struct sb_host *sb_call_host(struct sb_call *call)
{
    (void)call;
    return &world.host;
}

const char *sb_call_peer(const struct sb_call *call)
{
    return call->peer;
}

int64_t sb_call_arrived_us(const struct sb_call *call)
{
    (void)call;
    return sb_clock_us();
}

void sb_call_set(struct sb_call *call, void *own)
{
    call->own = own;
}

void *sb_call_get(const struct sb_call *call)
{
    return call->own;
}

void sb_call_text(struct sb_call *call, const char *text, size_t len)
{
    sb_buf_addc(&call->texts, '|');
    sb_buf_add(&call->texts, text, len);
}

void sb_call_image(struct sb_call *call, const void *bytes, size_t len, const char *mime)
{
    assert_non_null(bytes);
    assert_true(len > 0);
    assert_string_equal(mime, "image/png");
    call->images++;
}

void sb_call_link(struct sb_call *call, const char *uri, const char *name, const char *mime, uint64_t size)
{
    (void)name;
    (void)mime;
    (void)size;
    call->links++;
    snprintf(call->link, sizeof call->link, "%s", uri);
}

void sb_call_reply(struct sb_call *call, bool is_error)
{
    assert_int_equal(call->is_error, -1);
    call->is_error = is_error;
}

void sb_call_progress(struct sb_call *call, int64_t elapsed_ms, const char *line)
{
    (void)call;
    (void)elapsed_ms;
    (void)line;
}

/* ---- calls ---------------------------------------------------------------------------- */

static void *args;

static void begin(const struct sb_tool *tool, struct sb_call *call, const char *peer, const char *json)
{
    struct sb_json_doc *doc = NULL;
    struct sb_err err = {0};

    *call = (struct sb_call){.peer = peer, .is_error = -1};
    sb_buf_init(&call->texts, 1 << 20);
    args = sb_alloc(tool->args_size + 1);
    assert_int_equal(sb_json_parse(json, strlen(json), &doc, &err), 0);
    if (sb_fields_decode(tool->fields, sb_json_root(doc), true, args, &err) < 0) {
        sb_call_text(call, err.text, strlen(err.text));
        sb_call_reply(call, true);
    } else {
        tool->start(call, args);
    }
    sb_json_free(doc);
}

static void finish(const struct sb_tool *tool, struct sb_call *call)
{
    sb_fields_done(tool->fields, args);
    sb_free(args);
    sb_buf_done(&call->texts);
    uv_run(&world.host.loop, UV_RUN_NOWAIT);
}

/* One call that replies at once, with exactly this, or with this in it. */
static void answers(const struct sb_tool *tool, const char *json, bool is_error, const char *part)
{
    struct sb_call call;

    begin(tool, &call, "owner", json);
    assert_int_equal(call.is_error, is_error);
    if (strstr(call.texts.data, part) == NULL)
        fail_msg("'%s' is not in '%s'", part, call.texts.data);
    finish(tool, &call);
}

static void add_item(const char *name, const char *bytes, size_t len)
{
    world.job.items[world.job.item_count++] = (struct item){name, bytes, len};
}

static int set_up(void **state)
{
    (void)state;
    free_want(&world.job.want);
    memset(&world.job, 0, sizeof world.job);
    world.job.ended = true;
    world.backend = (struct sb_probe_result){.backend = sb_backends[0], .usable = true};
    return 0;
}

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
    answers(&sb_tool_job, "{\"job_id\":\"" RUN_ID "\",\"offset\":0}", true, "offset is not available");
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
        cmocka_unit_test_setup(images_and_links_are_counted, set_up),
        cmocka_unit_test_setup(our_own_inability_is_an_error_with_its_mend, set_up),
        cmocka_unit_test_setup(what_comes_later_says_so, set_up),
        cmocka_unit_test_setup(languages_look_like_the_references, set_up),
    };
    int failed;

    uv_loop_init(&world.host.loop);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    free_want(&world.job.want);
    uv_loop_close(&world.host.loop);
    return failed;
}
