/* SPDX-License-Identifier: MIT
 * A made-up host with one run of one peer, and calls of its tools. For tools_test.c only. */
#ifndef SB_TEST_TOOLS_RIG_H
#define SB_TEST_TOOLS_RIG_H

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
    struct sb_job_want want;  /* of the last start */
    struct sb_capture so_far; /* its stdout */
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

void sb_job_peek(const struct sb_job *job, uint64_t *offset, size_t most, struct sb_buf *out, uint64_t *total)
{
    sb_capture_read(&job->so_far, offset, most, out);
    *total = job->so_far.total;
}

uint64_t sb_job_kept_at(const struct sb_job *job, uint64_t offset)
{
    (void)job;
    return offset;
}

void sb_job_stderr(const struct sb_job *job, struct sb_capture *out)
{
    (void)job;
    sb_capture_init(out, 100);
    sb_capture_add(out, "oops", 4);
}

void sb_result_beside(const struct sb_run_result *result, const char *run_id, struct sb_buf *out)
{
    sb_buf_addf(out, "beside: %s %s", sb_status_name(result->status), run_id);
}

void sb_result_so_far(const struct sb_capture *errors, const char *run_id, struct sb_buf *out)
{
    (void)run_id;
    sb_capture_head(errors, out);
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
    sb_capture_done(&world.job.so_far);
    memset(&world.job, 0, sizeof world.job);
    world.job.ended = true;
    world.backend = (struct sb_probe_result){.backend = sb_backends[0], .usable = true};
    return 0;
}

#endif
