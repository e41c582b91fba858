/* SPDX-License-Identifier: MIT
 * run.c over a fake box and a fake link: every cell of its table, and every order of the
 * events that can race. Whatever the order: one on_ended, one on_gone, in that order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "sandbox/run.h"

/* ---- the fakes ---------------------------------------------------------------------- */

struct sb_box {
    struct sb_box_events events;
    bool closed;
};
static struct sb_box box;
static bool open_fails, reads_slowly;
static struct sb_op_events program, artifact;
static unsigned puts_seen, kills, ended, gone;
static bool exec_open;
static struct sb_run_result last;

/* What was put into the box, in order. */
static struct put {
    char path[64];
    struct sb_op_events events;
    size_t got;
    bool ended;
} puts_made[SB_WIRE_OPS_MAX];
static size_t puts_before_exec, credit;
static struct sb_argv exec_env;

int sb_box_open(uv_loop_t *loop, const struct sb_box_want *want, const struct sb_box_events *events,
                struct sb_box **out, struct sb_err *err)
{
    (void)loop;
    (void)want;
    if (open_fails)
        return sb_fail(err, SB_HOST, "no box today");
    box.events = *events;
    box.closed = false;
    *out = &box;
    return 0;
}

void sb_box_close(struct sb_box *b)
{
    b->closed = true;
}

void sb_box_step(struct sb_box *b, enum sb_box_event event)
{
    (void)b;
    (void)event;
}

struct sb_link *sb_box_link(struct sb_box *b)
{
    return b->closed ? NULL : (struct sb_link *)b; /* only its being there is looked at */
}

const char *sb_box_workspace(const struct sb_box *b)
{
    (void)b;
    return "/sandbox";
}

uint32_t sb_link_put(struct sb_link *link, const char *path, unsigned flags, const struct sb_op_events *events,
                     struct sb_err *err)
{
    struct put *put = &puts_made[puts_seen];

    (void)link;
    (void)flags;
    if (puts_seen == SB_COUNT(puts_made)) {
        sb_fail(err, SB_BUSY, "too many");
        return 0;
    }
    memset(put, 0, sizeof *put);
    strncpy(put->path, path, sizeof put->path - 1);
    put->events = *events;
    return 100 + puts_seen++;
}

uint32_t sb_link_get(struct sb_link *link, const char *path, uint64_t offset, uint64_t most,
                     const struct sb_op_events *events, struct sb_err *err)
{
    (void)link;
    (void)path;
    (void)offset;
    (void)most;
    (void)err;
    artifact = *events;
    return 300;
}

uint32_t sb_link_exec(struct sb_link *link, const struct sb_wire_exec *exec, const struct sb_op_events *events,
                      struct sb_err *err)
{
    (void)link;
    (void)err;
    program = *events;
    exec_open = true;
    puts_before_exec = puts_seen;
    sb_argv_done(&exec_env);
    sb_argv_pushv(&exec_env, (const char *const *)exec->env.v);
    return 200;
}

void sb_link_kill(struct sb_link *link, uint32_t id)
{
    (void)link;
    assert_int_equal(id, 200);
    kills++;
}

size_t sb_link_send(struct sb_link *link, uint32_t id, const void *bytes, size_t len)
{
    struct put *put = &puts_made[id - 100];

    (void)link;
    (void)bytes;
    if (len > credit - put->got)
        len = credit - put->got;
    put->got += len;
    return len;
}

void sb_link_send_end(struct sb_link *link, uint32_t id)
{
    (void)link;
    puts_made[id - 100].ended = true;
}

void sb_link_credit(struct sb_link *link, uint32_t id, enum sb_channel channel, size_t bytes)
{
    (void)link;
    (void)id;
    (void)channel;
    (void)bytes;
}

void sb_link_flush(struct sb_link *link)
{
    (void)link;
}

/* ---- the rig ------------------------------------------------------------------------ */

static uv_loop_t loop;
static struct sb_run *run;

static void on_ended(void *ctx, const struct sb_run_result *result)
{
    (void)ctx;
    assert_int_equal(gone, 0);
    ended++;
    last = *result;
}

static void on_gone(void *ctx)
{
    (void)ctx;
    assert_int_equal(ended, 1);
    gone++;
    run = NULL;
}

static void on_artifact(void *ctx, const struct sb_wire_entry *file, const void *bytes, size_t len)
{
    (void)ctx;
    (void)file;
    (void)bytes;
    (void)len;
}

static void on_output(void *ctx, enum sb_channel channel, const void *bytes, size_t len)
{
    (void)ctx; /* a reader that takes nothing */
    (void)channel;
    (void)bytes;
    (void)len;
}

static unsigned artifacts_ok, artifacts_refused;

static void on_artifact_end(void *ctx, const struct sb_wire_entry *file, const struct sb_err *err)
{
    (void)ctx;
    (void)file;
    if (err == NULL)
        artifacts_ok++;
    else
        artifacts_refused++;
}

/* What the next run wants beyond its code. */
static struct sb_run_want extra;

static void start_with(const char *code, size_t len, bool collect)
{
    static const struct sb_backend_facts facts;
    static struct sb_grant grant;
    const struct sb_run_want want = {
        .language = sb_language_named("bash", SB_WIRE_LINUX),
        .program = "/usr/bin/bash",
        .code = code,
        .code_len = len,
        .files = extra.files,
        .file_count = extra.file_count,
        .env = extra.env,
        .collect_files = collect,
        .box = {.facts = &facts, .grant = &grant, .guest = "/guest"},
    };
    const struct sb_run_events events = {.on_output = reads_slowly ? on_output : NULL,
                                         .on_artifact = on_artifact,
                                         .on_artifact_end = on_artifact_end,
                                         .on_ended = on_ended,
                                         .on_gone = on_gone};

    memset(&grant, 0, sizeof grant);
    grant.value[SB_ROW_TIMEOUT_MS] = 3600000;
    grant.value[SB_ROW_OUTPUT_KEPT] = 16;
    puts_seen = kills = ended = gone = artifacts_ok = artifacts_refused = 0;
    exec_open = false;
    credit = SB_WIRE_WINDOW;
    memset(&last, 0, sizeof last);
    memset(&extra, 0, sizeof extra);
    run = sb_run_new(&loop, &want, &events);
}

static void turn(void)
{
    uv_run(&loop, UV_RUN_NOWAIT);
    uv_run(&loop, UV_RUN_NOWAIT);
}

static void make_due(uv_handle_t *handle, void *arg)
{
    (void)arg;
    if (handle->type == UV_TIMER && uv_is_active(handle)) {
        uv_timer_set_repeat((uv_timer_t *)handle, 1);
        uv_timer_again((uv_timer_t *)handle);
    }
}

/* Whatever waits for a time has reached it. */
static void time_passes(void)
{
    uv_walk(&loop, make_due, NULL);
    uv_run(&loop, UV_RUN_ONCE);
    turn();
}

/* ---- the events that can race ------------------------------------------------------- */

static void ready(void)
{
    if (!box.closed)
        box.events.on_ready(box.events.ctx);
}

static void exits(void)
{
    const struct sb_wire_exit exit = {.kind = SB_EXITED, .code = 7, .wall_us = 1000};

    if (box.closed || !exec_open)
        return; /* a closed link says nothing any more */
    exec_open = false;
    program.on_exit(program.ctx, &exit);
}

static void breaks(void)
{
    struct sb_err why = {0};

    sb_fail(&why, SB_HOST, "it broke");
    if (!box.closed) {
        box.closed = true;
        box.events.on_broken(box.events.ctx, &why, "mend it");
    }
}

static void cancels(void)
{
    if (run != NULL && ended == 0)
        sb_run_cancel(run);
}

static void refused(void)
{
    struct sb_err why = {0};

    sb_fail(&why, SB_NOT_FOUND, "no such program");
    if (box.closed || !exec_open)
        return;
    exec_open = false;
    program.on_done(program.ctx, &why);
}

static void finish(void)
{
    turn();
    if (box.closed || ended > 0) {
        box.events.on_gone(box.events.ctx);
        turn();
    }
}

static int set_up(void **state)
{
    (void)state;
    return uv_loop_init(&loop);
}

static int tear_down(void **state)
{
    (void)state;
    sb_argv_done(&exec_env);
    return uv_loop_close(&loop); /* EBUSY: a handle was left */
}

/* ---- tests -------------------------------------------------------------------------- */

static void every_order_of_racing_events_gives_one_answer(void **state)
{
    void (*const events[])(void) = {exits, breaks, cancels, refused};
    enum { N = SB_COUNT(events) };

    (void)state;
    for (unsigned order = 0; order < 256; order++) /* each event at each of four places, with repeats */
        for (unsigned ready_at = 0; ready_at <= N; ready_at++) {
            start_with("true", 4, false);
            for (unsigned i = 0; i <= N; i++) {
                if (i == ready_at)
                    ready();
                if (i < N)
                    events[order >> 2 * i & 3]();
                if ((order & 1) != 0)
                    turn();
            }
            if (!box.closed && ended == 0)
                breaks();
            finish();
            assert_int_equal(ended, 1);
            assert_int_equal(gone, 1);
        }
}

static void exit_code_becomes_status_error(void **state)
{
    (void)state;
    start_with("exit 7", 6, false);
    ready();
    exits();
    finish();
    assert_int_equal(last.status, SB_STATUS_ERROR);
    assert_int_equal(last.code, 7);
    assert_int_equal(gone, 1);
}

static void cancel_kills_and_waits_for_the_last_word(void **state)
{
    (void)state;
    start_with("sleep 9", 7, false);
    ready();
    cancels();
    turn();
    assert_int_equal(kills, 1);
    assert_int_equal(ended, 0);
    exits();
    finish();
    assert_int_equal(last.status, SB_STATUS_CANCELLED);
    assert_int_equal(gone, 1);
}

static void box_that_breaks_after_a_cancel_is_still_a_cancel(void **state)
{
    (void)state;
    start_with("sleep 9", 7, false);
    ready();
    cancels();
    breaks();
    finish();
    assert_int_equal(last.status, SB_STATUS_CANCELLED);
}

static void box_that_cannot_open_is_a_host_error(void **state)
{
    (void)state;
    open_fails = true;
    start_with("true", 4, false);
    open_fails = false;
    turn();
    assert_int_equal(ended, 1);
    assert_int_equal(gone, 1);
    assert_int_equal(last.status, SB_STATUS_HOST_ERROR);
}

static void code_over_its_cap_never_opens_a_box(void **state)
{
    char *code = sb_alloc(SB_RUN_CODE_MAX + 1);

    (void)state;
    memset(code, '#', SB_RUN_CODE_MAX + 1);
    start_with(code, SB_RUN_CODE_MAX + 1, false);
    turn();
    assert_int_equal(puts_seen, 0);
    assert_int_equal(last.status, SB_STATUS_HOST_ERROR);
    assert_non_null(strstr(last.err.text, "4194305"));
    assert_int_equal(gone, 1);
    sb_free(code);
}

static void files_are_put_beside_the_code_before_the_program(void **state)
{
    static const struct sb_run_file files[] = {{"./data//in.csv", "a,b", 3}, {"/sandbox/none", NULL, 0}};

    (void)state;
    extra.files = files;
    extra.file_count = 2;
    start_with("true", 4, false);
    assert_int_equal(puts_before_exec, 3);
    assert_string_equal(puts_made[0].path, "main.sh");
    assert_int_equal(puts_made[0].got, 4);
    assert_string_equal(puts_made[1].path, "data/in.csv");
    assert_int_equal(puts_made[1].got, 3);
    assert_string_equal(puts_made[2].path, "none");
    for (int i = 0; i < 3; i++)
        assert_true(puts_made[i].ended);
    ready();
    exits();
    finish();
    assert_int_equal(gone, 1);
}

static void a_large_file_goes_on_as_credit_comes(void **state)
{
    static char big[SB_WIRE_WINDOW + 1];
    static const struct sb_run_file files[] = {{"big", big, sizeof big}, {"after", "x", 1}};

    (void)state;
    extra.files = files;
    extra.file_count = 2;
    start_with("true", 4, false);
    assert_int_equal(puts_made[1].got, SB_WIRE_WINDOW);
    assert_false(puts_made[1].ended);
    assert_true(puts_made[2].ended); /* does not wait for it */
    assert_true(exec_open);
    credit++;
    puts_made[1].events.on_input(puts_made[1].events.ctx);
    assert_int_equal(puts_made[1].got, sizeof big);
    assert_true(puts_made[1].ended);
    ready();
    exits();
    finish();
    assert_int_equal(gone, 1);
}

static void a_file_is_not_read_any_more_after_the_end(void **state)
{
    static char big[SB_WIRE_WINDOW + 1];
    static const struct sb_run_file files[] = {{"big", big, sizeof big}};

    (void)state;
    extra.files = files;
    extra.file_count = 1;
    start_with("true", 4, false);
    cancels();
    turn();
    assert_int_equal(ended, 1);
    credit++;
    puts_made[1].events.on_input(puts_made[1].events.ctx);
    assert_int_equal(puts_made[1].got, SB_WIRE_WINDOW);
    finish();
    assert_int_equal(gone, 1);
}

static void a_file_that_cannot_be_put_is_named(void **state)
{
    static const struct sb_run_file files[] = {{"a/b", "x", 1}};
    struct sb_err why = {0};

    (void)state;
    extra.files = files;
    extra.file_count = 1;
    start_with("true", 4, false);
    ready();
    puts_made[0].events.on_done(puts_made[0].events.ctx, NULL);
    sb_fail(&why, SB_LIMIT, "no space");
    puts_made[1].events.on_done(puts_made[1].events.ctx, &why);
    finish();
    assert_int_equal(last.status, SB_STATUS_HOST_ERROR);
    assert_string_equal(last.err.text, "cannot put 'a/b' into the box: no space");
    assert_int_equal(gone, 1);
}

static void all_files_that_are_allowed_fit_into_one_box(void **state)
{
    struct sb_run_file files[SB_RUN_FILES_MAX];
    char names[SB_RUN_FILES_MAX][8];

    (void)state;
    for (int i = 0; i < SB_RUN_FILES_MAX; i++) {
        snprintf(names[i], sizeof names[i], "f%d", i);
        files[i] = (struct sb_run_file){names[i], NULL, 0};
    }
    extra.files = files;
    extra.file_count = SB_RUN_FILES_MAX;
    start_with("true", 4, false);
    assert_true(exec_open);
    assert_true(puts_before_exec + 2 <= SB_WIRE_OPS_MAX); /* a runner and the program */
    ready();
    exits();
    finish();
    assert_int_equal(gone, 1);
}

static void a_want_that_is_refused_never_opens_a_box(void **state)
{
    static const struct sb_run_file files[] = {{"main.sh", "x", 1}};

    (void)state;
    extra.files = files;
    extra.file_count = 1;
    start_with("true", 4, false);
    turn();
    assert_int_equal(puts_seen, 0);
    assert_int_equal(last.status, SB_STATUS_HOST_ERROR);
    assert_int_equal(last.err.code, SB_BAD_REQUEST);
    assert_int_equal(gone, 1);
}

static void variables_come_in_place_of_the_languages_own(void **state)
{
    static const char *const env[] = {"TZ=Asia/Tokyo", "MINE=a=b", NULL};

    (void)state;
    extra.env = env;
    start_with("true", 4, false);
    assert_string_equal(sb_env_get(&exec_env, "TZ"), "Asia/Tokyo");
    assert_string_equal(sb_env_get(&exec_env, "MINE"), "a=b");
    assert_string_equal(sb_env_get(&exec_env, "HOME"), "/sandbox");
    ready();
    exits();
    finish();
    assert_int_equal(gone, 1);
}

static void artifacts_beyond_their_caps_are_refused_one_by_one(void **state)
{
    struct sb_wire_entry files[SB_RUN_ARTIFACTS + 3] = {0};
    const struct sb_wire_exit exit = {
        .kind = SB_EXITED, .wall_us = 1, .files = files, .file_count = SB_COUNT(files)};

    (void)state;
    for (size_t i = 0; i < SB_COUNT(files); i++) {
        files[i].path = "f";
        files[i].type = SB_ENTRY_FILE;
        files[i].size = 10;
    }
    files[1].type = SB_ENTRY_LINK;
    files[2].size = SB_RUN_ARTIFACTS_MAX + 1ull;
    start_with("true", 4, true);
    ready();
    exec_open = false;
    program.on_exit(program.ctx, &exit);
    for (unsigned i = 0; i < SB_RUN_ARTIFACTS - 2; i++) {
        assert_int_equal(ended, 0);
        artifact.on_done(artifact.ctx, NULL);
    }
    finish();
    assert_int_equal(artifacts_ok, SB_RUN_ARTIFACTS - 2);
    assert_int_equal(artifacts_refused, 5);
    assert_int_equal(gone, 1);
    assert_int_equal(last.status, SB_STATUS_OK);
}

static void files_of_a_box_that_goes_are_told_to_be_left_out(void **state)
{
    struct sb_wire_entry files[3] = {{.type = SB_ENTRY_FILE, .size = 10, .path = "a"},
                                     {.type = SB_ENTRY_FILE, .size = 10, .path = "b"},
                                     {.type = SB_ENTRY_FILE, .size = 10, .path = "c"}};
    const struct sb_wire_exit exit = {.kind = SB_EXITED, .files = files, .file_count = SB_COUNT(files)};

    (void)state;
    start_with("true", 4, true);
    ready();
    exec_open = false;
    program.on_exit(program.ctx, &exit);
    artifact.on_done(artifact.ctx, NULL);
    breaks();
    finish();
    assert_int_equal(artifacts_ok, 1);
    assert_int_equal(artifacts_refused, 2);
    assert_int_equal(last.status, SB_STATUS_OK);
    assert_int_equal(gone, 1);
}

static void an_empty_file_is_whole_without_being_asked_for(void **state)
{
    struct sb_wire_entry file = {.type = SB_ENTRY_FILE, .path = "e"};
    const struct sb_wire_exit exit = {.kind = SB_EXITED, .files = &file, .file_count = 1};

    (void)state;
    start_with("true", 4, true);
    ready();
    exec_open = false;
    artifact.on_done = NULL;
    program.on_exit(program.ctx, &exit);
    finish();
    assert_null(artifact.on_done); /* GET of 0 bytes means all of a file that may have grown */
    assert_int_equal(artifacts_ok, 1);
    assert_int_equal(gone, 1);
}

static void a_slow_reader_gets_what_is_left_over_and_no_more(void **state)
{
    static const char bytes[SB_WIRE_WINDOW];

    (void)state;
    reads_slowly = true;
    start_with("yes", 3, false);
    reads_slowly = false;
    ready();
    program.on_data(program.ctx, SB_CHAN_OUT, bytes, sizeof bytes);
    for (int i = 0; i < 3; i++)
        time_passes();
    assert_int_equal(ended, 0); /* the guest may have killed it, and its output wait for us */
    for (int i = 0; i < 17; i++) /* a guest that does not */
        program.on_data(program.ctx, SB_CHAN_OUT, bytes, sizeof bytes);
    time_passes();
    finish();
    assert_int_equal(last.status, SB_STATUS_TIMEOUT);
    assert_int_equal(gone, 1);
}

static void limits_name_their_row_and_number(void **state)
{
    const struct sb_wire_exit exit = {.kind = SB_SIGNALLED, .code = 9, .limit = SB_LIMIT_WALL, .wall_us = 1};

    (void)state;
    start_with("sleep 9", 7, false);
    ready();
    exec_open = false;
    program.on_exit(program.ctx, &exit);
    finish();
    assert_int_equal(last.status, SB_STATUS_TIMEOUT);
    assert_int_equal(last.limit_row, SB_ROW_TIMEOUT_MS);
    assert_int_equal(last.limit, 3600000);
}

static void every_cell_leads_forward_or_nowhere(void **state)
{
    (void)state;
    for (int s = 0; s < SB_RUN_STATES; s++)
        for (int e = 0; e < SB_RUN_EVENTS; e++) {
            int next = sb_run_next((enum sb_run_state)s, (enum sb_run_event)e);

            assert_true(next == -1 || next > s);
            assert_true(next < SB_RUN_STATES);
            if (s == SB_RUN_ENDED)
                assert_int_equal(next, -1);
            else if (e == SB_RUN_BROKEN) /* nothing may hang on a broken box */
                assert_int_equal(next, SB_RUN_ENDED);
        }
    assert_string_equal(sb_run_state_name(SB_RUN_DRAINING), "draining");
}

static void every_status_has_a_name(void **state)
{
    (void)state;
    for (int i = 0; i < SB_STATUS_COUNT; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(sb_status_name((enum sb_status)i), sb_status_name((enum sb_status)k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_order_of_racing_events_gives_one_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(exit_code_becomes_status_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cancel_kills_and_waits_for_the_last_word, set_up, tear_down),
        cmocka_unit_test_setup_teardown(box_that_breaks_after_a_cancel_is_still_a_cancel, set_up, tear_down),
        cmocka_unit_test_setup_teardown(box_that_cannot_open_is_a_host_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(code_over_its_cap_never_opens_a_box, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_are_put_beside_the_code_before_the_program, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_large_file_goes_on_as_credit_comes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_is_not_read_any_more_after_the_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_put_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_files_that_are_allowed_fit_into_one_box, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_want_that_is_refused_never_opens_a_box, set_up, tear_down),
        cmocka_unit_test_setup_teardown(variables_come_in_place_of_the_languages_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(artifacts_beyond_their_caps_are_refused_one_by_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_of_a_box_that_goes_are_told_to_be_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_empty_file_is_whole_without_being_asked_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_slow_reader_gets_what_is_left_over_and_no_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limits_name_their_row_and_number, set_up, tear_down),
        cmocka_unit_test(every_cell_leads_forward_or_nowhere),
        cmocka_unit_test(every_status_has_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
