/* SPDX-License-Identifier: MIT
 * Jobs over made-up runs, a made-up probe and a clock of the test's own; the store is real. */
#include "unit/server/job_rig.h"

/* ---- one job ------------------------------------------------------------------------ */

static void job_runs_what_was_asked(void **state)
{
    struct rig rig;
    struct sb_job_want want = want_of("ann", "PY");
    struct sb_job *job;
    struct sb_run *run;
    struct sb_err err = {0};

    (void)state;
    rig_open(&rig, false);
    sb_argv_push(&want.args, "one");
    sb_argv_push(&want.env, "NAME=value");
    want.files = sb_alloc(sizeof *want.files);
    want.files[0] = (struct sb_run_file){.path = sb_strdup("data.txt"), .bytes = sb_strdup("data"), .len = 4};
    want.file_count = 1;
    assert_int_equal(sb_job_start(rig.jobs, &want, &job, &err), 0);
    assert_string_equal(sb_job_state(job), "queued");
    assert_string_equal(sb_job_backend(job), "");
    tell_probe(true);
    assert_int_equal(run_count, 1);
    run = runs[0];
    assert_string_equal(run->want.language->name, "python");
    assert_string_equal(run->want.program, "/usr/bin/python3");
    assert_memory_equal(run->want.code, "code", run->want.code_len);
    assert_string_equal(run->want.args[0], "one");
    assert_null(run->want.args[1]);
    assert_string_equal(run->want.env[0], "NAME=value");
    assert_string_equal(run->want.files[0].path, "data.txt");
    assert_true(run->want.collect_files);
    assert_false(run->want.feed_stdin);
    assert_int_equal(run->want.box.grant->value[SB_ROW_TIMEOUT_MS], 30000);
    assert_string_equal(run->want.box.guest, "guest");
    assert_string_equal(sb_job_state(job), "opening");
    assert_string_equal(sb_job_backend(job), "made-up");
    run->state = SB_RUN_RUNNING;
    print(run, SB_CHAN_OUT, "half \x1b[1mdo", 11);
    print(run, SB_CHAN_ERR, "error\n", 6);
    assert_int_equal(run->consumed, 17);
    assert_string_equal(sb_job_last_line(job), "half do");
    assert_string_equal(sb_job_state(job), "running");
    check_no(job, "@stdout"); /* not yet */
    clock_us += 2500000;
    assert_int_equal(sb_job_elapsed_ms(job), 2500);
    end_run(run, SB_STATUS_OK);
    clock_us += 1000000;
    assert_true(sb_job_ended(job));
    assert_string_equal(sb_job_state(job), "ended");
    assert_int_equal(sb_job_elapsed_ms(job), 2500);
    check_read(job, "@stdout", 0, "half \x1b[1mdo");
    check_read(job, "@stderr", 3, "or\n");
    assert_int_equal(sb_job_result(job)->output[0].total, 11);
    gone(run);
    assert_ptr_equal(sb_job_find(rig.jobs, "ann", sb_job_id(job)), job);
    rig_close(&rig);
}

static void job_feeds_its_input_as_it_is_taken(void **state)
{
    struct rig rig;
    struct sb_job_want want = want_of("ann", "python");
    struct sb_job *job;
    struct sb_run *run;

    (void)state;
    rig_open(&rig, true);
    next_takes = 4;
    want.input = sb_strdup("0123456789");
    want.input_len = 10;
    assert_int_equal(sb_job_start(rig.jobs, &want, &job, NULL), 0);
    run = runs[0];
    assert_true(run->want.feed_stdin);
    assert_string_equal(run->input.data, "0123");
    run->events.on_input(run->events.ctx);
    assert_false(run->input_ended);
    run->events.on_input(run->events.ctx);
    assert_string_equal(run->input.data, "0123456789");
    assert_true(run->input_ended);
    run->events.on_input(run->events.ctx);
    end_run(run, SB_STATUS_OK);
    run->events.on_input(run->events.ctx); /* late */
    gone(run);
    rig_close(&rig);
}

static void job_without_a_backend_says_how_to_mend_it(void **state)
{
    struct rig rig;
    struct sb_job *first, *second;

    (void)state;
    rig_open(&rig, false);
    first = start(&rig, "ann");
    second = start(&rig, "bob");
    assert_int_equal(probes, 1);
    tell_probe(false);
    assert_true(sb_job_ended(first) && sb_job_ended(second));
    assert_int_equal(sb_job_result(first)->status, SB_STATUS_HOST_ERROR);
    assert_string_equal(sb_job_result(first)->err.text, "no sandbox here");
    assert_string_equal(sb_job_result(second)->mend, "apt-get install one");
    assert_true(sb_job_ended(start(&rig, "ann"))); /* at once: it is known */
    assert_int_equal(probes, 1);
    clock_us += 5000000; /* its user may have mended it */
    first = start(&rig, "ann");
    assert_int_equal(probes, 2);
    tell_probe(true);
    assert_int_equal(run_count, 1);
    end_run(runs[0], SB_STATUS_OK);
    gone(runs[0]);
    clock_us += 60000000;
    first = start(&rig, "ann");
    assert_int_equal(probes, 2);
    assert_int_equal(run_count, 2);
    end_run(runs[1], SB_STATUS_OK);
    gone(runs[1]);
    rig_close(&rig);
}

static void job_that_cannot_start_says_why(void **state)
{
    struct rig rig;
    struct sb_job_want want = want_of("ann", "python");
    struct sb_job *job;

    (void)state;
    rig_open(&rig, true);
    job = start_language(&rig, "pyhton");
    assert_int_equal(sb_job_result(job)->err.code, SB_BAD_REQUEST);
    assert_string_equal(sb_job_result(job)->err.text,
                        "unknown language 'pyhton': did you mean 'python'? Usable here: python, bash");
    job = start_language(&rig, "cobol");
    assert_string_equal(sb_job_result(job)->err.text, "unknown language 'cobol'; usable here: python, bash");
    job = start_language(&rig, "js");
    assert_string_equal(sb_job_result(job)->err.text, "javascript is not installed");
    assert_string_equal(sb_job_result(job)->mend, "apt-get install nodejs");
    want.ask.set[SB_ROW_TIMEOUT_MS] = true;
    want.ask.value[SB_ROW_TIMEOUT_MS] = 1;
    assert_int_equal(sb_job_start(rig.jobs, &want, &job, NULL), 0);
    assert_int_equal(sb_job_result(job)->status, SB_STATUS_HOST_ERROR);
    want = want_of("ann", "python");
    sb_argv_push(&want.env, "=no name");
    assert_int_equal(sb_job_start(rig.jobs, &want, &job, NULL), 0);
    assert_int_equal(sb_job_result(job)->err.code, SB_BAD_REQUEST);
    assert_int_equal(run_count, 0);
    rig_close(&rig);
}

/* ---- queue, kill, waits ------------------------------------------------------------- */

static void jobs_queue_up_and_take_turns(void **state)
{
    struct rig rig;
    struct sb_job_want want = want_of("ann", "python");
    struct sb_job *job = NULL, *bobs;
    struct sb_err err = {0};

    (void)state;
    rig_open(&rig, true);
    for (int i = 0; i < SB_JOBS_RUNNING + SB_JOBS_QUEUED; i++)
        start(&rig, "ann");
    assert_int_equal(run_count, SB_JOBS_RUNNING);
    assert_int_equal(sb_job_start(rig.jobs, &want, &job, &err), -1);
    assert_int_equal(err.code, SB_BUSY);
    assert_non_null(strstr(err.text, "busy, retry in "));
    assert_null(job);
    bobs = start(&rig, "bob");
    end_run(runs[0], SB_STATUS_OK); /* its box is still there */
    gone(runs[0]);
    assert_string_not_equal(sb_job_state(bobs), "queued"); /* before ann's 64 others */
    sb_host_stop(rig.host, on_stopped, &rig);
    for (size_t i = 1; i < run_count; i++) {
        assert_true(runs[i]->cancelled);
        end_run(runs[i], SB_STATUS_CANCELLED);
        gone(runs[i]);
    }
    rig_free(&rig);
}

static void job_is_killed_queued_or_running(void **state)
{
    struct rig rig;
    struct sb_job *jobs[5];

    (void)state;
    rig_open(&rig, true);
    for (size_t i = 0; i < 5; i++)
        jobs[i] = start(&rig, "ann");
    sb_job_kill(jobs[4]);
    assert_true(sb_job_ended(jobs[4]));
    assert_int_equal(sb_job_result(jobs[4])->status, SB_STATUS_CANCELLED);
    sb_job_kill(jobs[4]); /* again is fine */
    sb_job_kill(jobs[0]);
    assert_true(runs[0]->cancelled);
    assert_false(sb_job_ended(jobs[0]));
    for (size_t i = 0; i < 4; i++) {
        end_run(runs[i], SB_STATUS_CANCELLED);
        gone(runs[i]);
    }
    assert_int_equal(run_count, 4); /* the killed one never starts */
    rig_close(&rig);
}

static void job_killed_while_the_backend_is_probed_never_runs(void **state)
{
    struct rig rig;
    struct sb_job *job;

    (void)state;
    rig_open(&rig, false);
    job = start(&rig, "ann");
    sb_job_kill(job);
    assert_int_equal(sb_job_result(job)->status, SB_STATUS_CANCELLED);
    clock_us += INT64_C(1000) * SB_KEPT_MS;
    assert_null(sb_job_next(rig.jobs, "ann", NULL)); /* gone, but for the probe's answer */
    tell_probe(true);
    assert_int_equal(run_count, 0);
    rig_close(&rig);
}

static int rung[2]; /* not ended, ended */

static void on_ring(void *ctx, bool ended)
{
    (void)ctx;
    rung[ended]++;
}

static void waits_ring_once(void **state)
{
    struct rig rig;
    struct sb_job *job;

    (void)state;
    rig_open(&rig, true);
    rung[0] = rung[1] = 0;
    job = start(&rig, "ann");
    sb_job_wait(job, 0, on_ring, NULL);
    sb_job_wait(job, 50000, on_ring, NULL);
    sb_job_wait(job, 50000, on_ring, NULL);
    sb_job_unwait(sb_job_wait(job, 50000, on_ring, NULL));
    assert_int_equal(rung[0], 0); /* not inside the call */
    while (rung[0] == 0)
        uv_run(&rig.loop, UV_RUN_ONCE);
    assert_int_equal(rung[1], 0);
    end_run(runs[0], SB_STATUS_OK);
    assert_int_equal(rung[1], 2);
    gone(runs[0]);
    assert_null(sb_job_wait(job, 50000, on_ring, NULL)); /* ended already */
    assert_int_equal(rung[1], 3);
    rig_close(&rig); /* closes the loop: no timer is left */
    assert_int_equal(rung[0] + rung[1], 4);
}

/* ---- what is kept ------------------------------------------------------------------- */

static void other_peers_see_nothing(void **state)
{
    struct rig rig;
    struct sb_job *anns, *bobs, *second;

    (void)state;
    rig_open(&rig, true);
    anns = start(&rig, "ann");
    bobs = start(&rig, "bob");
    second = start(&rig, "ann");
    assert_null(sb_job_find(rig.jobs, "bob", sb_job_id(anns)));
    assert_null(sb_job_find(rig.jobs, "an", sb_job_id(anns)));
    assert_null(sb_job_find(rig.jobs, "ann", "r_unknown"));
    assert_ptr_equal(sb_job_next(rig.jobs, "ann", NULL), anns);
    assert_ptr_equal(sb_job_next(rig.jobs, "ann", anns), second);
    assert_null(sb_job_next(rig.jobs, "ann", second));
    assert_ptr_equal(sb_job_next(rig.jobs, "bob", NULL), bobs);
    assert_null(sb_job_next(rig.jobs, "bob", bobs));
    assert_null(sb_job_next(rig.jobs, "eve", NULL));
    for (size_t i = 0; i < run_count; i++) {
        end_run(runs[i], SB_STATUS_OK);
        gone(runs[i]);
    }
    rig_close(&rig);
}

static void job_expires_with_its_files(void **state)
{
    struct rig rig;
    struct sb_job *job;
    char *id, *dir, text[10000];

    (void)state;
    rig_open(&rig, true);
    memset(text, 'x', sizeof text);
    job = start(&rig, "ann");
    id = sb_strdup(sb_job_id(job));
    dir = stored(&rig, id, NULL);
    print(runs[0], SB_CHAN_OUT, text, sizeof text);
    end_run(runs[0], SB_STATUS_OK);
    assert_true(tempdir_has(dir));
    clock_us += INT64_C(1000) * SB_KEPT_MS - 1000;
    assert_non_null(sb_job_find(rig.jobs, "ann", id));
    clock_us += 1000;
    assert_null(sb_job_find(rig.jobs, "ann", id));
    assert_false(tempdir_has(dir));
    gone(runs[0]); /* a box that took its time */
    sb_free(id);
    sb_free(dir);
    rig_close(&rig);
}

static void job_is_dropped_when_newer_ones_are_many(void **state)
{
    struct rig rig;
    struct sb_job *job = NULL;
    char *first = NULL;
    size_t count = 0;

    (void)state;
    rig_open(&rig, true);
    for (int i = 0; i <= SB_KEPT_RUNS; i++) {
        clock_us += 1000;
        job = start_language(&rig, "cobol");
        if (i == 0)
            first = sb_strdup(sb_job_id(job));
    }
    assert_null(sb_job_find(rig.jobs, "ann", first));
    for (job = NULL; (job = sb_job_next(rig.jobs, "ann", job)) != NULL;)
        count++;
    assert_int_equal(count, SB_KEPT_RUNS);
    sb_free(first);
    rig_close(&rig);
}

static void large_output_is_kept_to_its_last_byte(void **state)
{
    struct rig rig;
    size_t len = 3 * KEPT_HALF;
    char *text = sb_alloc(len);
    struct sb_job *job;
    struct sb_buf out;
    uint64_t total = 0;

    (void)state;
    rig_open(&rig, true);
    for (size_t i = 0; i < len; i++)
        text[i] = (char)('a' + i % 26);
    job = start(&rig, "ann");
    print(runs[0], SB_CHAN_OUT, text, len);
    print(runs[0], SB_CHAN_ERR, "short", 5);
    end_run(runs[0], SB_STATUS_OK);
    assert_string_equal(sb_job_state(job), "collecting"); /* a worker writes */
    assert_false(sb_job_ended(job));
    sb_job_kill(job); /* too late, and no harm */
    gone(runs[0]);
    while (!sb_job_ended(job))
        uv_run(&rig.loop, UV_RUN_ONCE);
    assert_int_equal(sb_job_result(job)->status, SB_STATUS_OK);
    assert_int_equal(sb_job_result(job)->output[0].total, len);
    assert_true(sb_job_result(job)->output[0].head_cap < 100000); /* it stays in memory for long */
    sb_buf_init(&out, len);
    while (out.len < total || total == 0)
        assert_int_equal(sb_job_read(job, "@stdout", out.len, 50000, &out, &total, NULL), 0);
    assert_memory_equal(out.data, text, KEPT_HALF);
    assert_non_null(strstr(out.data, "\n[... 1048576 bytes were not kept ...]\n"));
    assert_memory_equal(out.data + out.len - KEPT_HALF, text + len - KEPT_HALF, KEPT_HALF);
    check_read(job, "@stderr", 0, "short");
    sb_buf_done(&out);
    sb_free(text);
    rig_close(&rig);
}

static void check_peek(const struct sb_job *job, uint64_t offset, uint64_t from, const char *bytes,
                       uint64_t total)
{
    uint64_t so_far = 0;
    struct sb_buf out;

    sb_buf_init(&out, 100);
    sb_job_peek(job, &offset, 10, &out, &so_far);
    assert_int_equal(offset, from);
    assert_string_equal(out.data, bytes);
    assert_int_equal(so_far, total);
    sb_buf_done(&out);
}

static void output_is_seen_while_the_job_runs(void **state)
{
    struct rig rig;
    size_t len = 3 * KEPT_HALF;
    char *text = sb_alloc(len);
    struct sb_capture errors;
    struct sb_job *job;

    (void)state;
    rig_open(&rig, false);
    job = start(&rig, "ann");
    check_peek(job, 0, 0, "", 0); /* it waits for the probe */
    tell_probe(true);
    print(runs[0], SB_CHAN_OUT, "head", 4);
    print(runs[0], SB_CHAN_ERR, "oops", 4);
    check_peek(job, 1, 1, "ead", 4);
    check_peek(job, 4, 4, "", 4);
    sb_job_stderr(job, &errors);
    assert_int_equal(errors.head_len, 4);
    sb_capture_done(&errors);
    memset(text, 'x', len);
    print(runs[0], SB_CHAN_OUT, text, len);
    print(runs[0], SB_CHAN_OUT, "end", 3);
    check_peek(job, KEPT_HALF - 2, KEPT_HALF - 2, "xx", len + 7);
    check_peek(job, KEPT_HALF, len + 7 - KEPT_HALF, "xxxxxxxxxx", len + 7); /* over what was dropped */
    check_peek(job, len + 4, len + 4, "end", len + 7);

    end_run(runs[0], SB_STATUS_OK);
    assert_false(sb_job_ended(job)); /* a worker writes */
    check_peek(job, 5, 5, "", len + 7);
    gone(runs[0]);
    check_peek(job, 5, 5, "", len + 7);
    while (!sb_job_ended(job))
        uv_run(&rig.loop, UV_RUN_ONCE);
    assert_int_equal(sb_job_kept_at(job, 5), 5);
    assert_int_equal(sb_job_kept_at(job, KEPT_HALF - 1), KEPT_HALF - 1);
    assert_int_equal(sb_job_kept_at(job, KEPT_HALF), KEPT_HALF);
    assert_int_equal(sb_job_kept_at(job, len + 6 - KEPT_HALF), KEPT_HALF);
    check_read(job, "@stdout", sb_job_kept_at(job, len + 4), "end");
    check_read(job, "@stdout", sb_job_kept_at(job, len + 7), "");
    sb_free(text);
    rig_close(&rig);
}

static void artifacts_are_kept_by_their_workspace_paths(void **state)
{
    const struct sb_wire_entry files[] = {{.path = "@stdout", .type = SB_ENTRY_FILE, .size = 4},
                                          {.path = "a/b.txt", .type = SB_ENTRY_FILE, .size = 5},
                                          {.path = "C:\\x", .type = SB_ENTRY_FILE, .size = 0},
                                          {.path = "half", .type = SB_ENTRY_FILE, .size = 9},
                                          {.path = "link", .type = SB_ENTRY_LINK}};
    struct sb_err broken = {.code = SB_HOST, .text = "it went away"};
    struct rig rig;
    struct sb_job *job;
    const struct sb_run_result *result;

    (void)state;
    rig_open(&rig, true);
    job = start(&rig, "ann");
    print(runs[0], SB_CHAN_OUT, "out", 3);
    bring(runs[0], &files[0], "file", 4, NULL);
    bring(runs[0], &files[1], "bytes", 5, NULL);
    bring(runs[0], &files[2], "", 0, NULL);
    bring(runs[0], &files[3], "some", 4, &broken);
    runs[0]->result.files = files;
    runs[0]->result.file_count = SB_COUNT(files);
    end_run(runs[0], SB_STATUS_OK);
    gone(runs[0]);
    check_read(job, "@stdout", 0, "out");
    check_read(job, "./@stdout", 0, "file");
    check_read(job, "a/b.txt", 0, "bytes");
    check_read(job, "./a//b.txt", 1, "ytes");
    check_read(job, "/sandbox/a/b.txt", 0, "bytes");
    check_read(job, "C:\\x", 0, ""); /* no client means it, but a program made it */
    check_no(job, "half");
    check_no(job, "link");
    result = sb_job_result(job);
    assert_int_equal(result->file_count, SB_COUNT(files));
    assert_null(result->left_out[0]);
    assert_null(result->left_out[2]);
    assert_string_equal(result->left_out[3], "it went away");
    assert_string_equal(result->left_out[4], "it was not fetched");
    rig_close(&rig);
}

/* The answer goes out and says so. */
static void check_not_kept(struct sb_job *job)
{
    struct sb_buf text;

    assert_true(sb_job_ended(job));
    assert_int_equal(sb_job_result(job)->status, SB_STATUS_OK);
    assert_true(strlen(sb_job_result(job)->not_kept) > 0);
    check_no(job, "@stdout");
    check_no(job, "@stderr");
    sb_buf_init(&text, 100000);
    sb_result_text(sb_job_result(job), sb_job_id(job), &text);
    assert_non_null(strstr(text.data, "\nthe output of this run is not kept: "));
    assert_non_null(strstr(text.data, "\nstdout:\nxxx"));
    assert_null(strstr(text.data, "read_file"));
    sb_buf_done(&text);
}

static void a_full_disk_costs_what_is_kept_but_not_the_answer(void **state)
{
    const struct sb_wire_entry file = {.path = "file", .type = SB_ENTRY_FILE, .size = 5000};
    struct rig rig;
    struct sb_job *job;
    char text[20000], *kept;

    (void)state;
    rig_open(&rig, true);
    memset(text, 'x', sizeof text);
    kept = stored(&rig, NULL, NULL);
    tempdir_write(kept, "no folder can be made here", 0600);
    job = start(&rig, "ann");
    print(runs[0], SB_CHAN_OUT, text, sizeof text);
    bring(runs[0], &file, text, 5000, NULL);
    runs[0]->result.files = &file;
    runs[0]->result.file_count = 1;
    end_run(runs[0], SB_STATUS_OK);
    gone(runs[0]);
    check_not_kept(job);
    assert_non_null(sb_job_result(job)->left_out[0]);
    sb_free(kept);
    rig_close(&rig);
}

static void a_worker_that_cannot_write_costs_the_same(void **state)
{
    const struct sb_wire_entry file = {.path = "file", .type = SB_ENTRY_FILE, .size = 5000};
    struct rig rig;
    struct sb_job *job;
    char *text = sb_alloc(KEPT_HALF), *in_the_way;

    (void)state;
    rig_open(&rig, true);
    memset(text, 'x', KEPT_HALF);
    job = start(&rig, "ann");
    bring(runs[0], &file, text, 5000, NULL); /* makes the folder, and file 0 */
    in_the_way = stored(&rig, sb_job_id(job), "1");
    tempdir_write(in_the_way, "", 0600);
    print(runs[0], SB_CHAN_OUT, text, KEPT_HALF);
    end_run(runs[0], SB_STATUS_OK);
    while (!sb_job_ended(job))
        uv_run(&rig.loop, UV_RUN_ONCE);
    gone(runs[0]);
    check_not_kept(job);
    sb_free(in_the_way);
    sb_free(text);
    rig_close(&rig);
}

/* ---- the end ------------------------------------------------------------------------ */

static void stop_waits_for_boxes_probes_and_workers(void **state)
{
    struct rig rig;
    struct sb_job_want want = want_of("ann", "python");
    struct sb_job *job;
    struct sb_err err = {0};
    char *text = sb_alloc(KEPT_HALF);

    (void)state;
    rig_open(&rig, true);
    job = start(&rig, "ann");
    print(runs[0], SB_CHAN_OUT, text, KEPT_HALF);
    sb_free(text);
    rung[0] = rung[1] = 0;
    sb_job_wait(job, 50000, on_ring, NULL);
    sb_host_stop(rig.host, on_stopped, &rig);
    assert_true(runs[0]->cancelled);
    assert_int_equal(sb_job_start(rig.jobs, &want, &job, &err), -1);
    assert_int_equal(err.code, SB_CANCELLED);
    end_run(runs[0], SB_STATUS_CANCELLED);
    gone(runs[0]);
    assert_int_equal(rig.stopped, 0); /* a worker writes still */
    uv_run(&rig.loop, UV_RUN_DEFAULT);
    assert_int_equal(rung[1], 1);
    assert_int_equal(rig.stopped, 1);
    rig_free(&rig);
}

static void stop_answers_who_waits_for_the_probe(void **state)
{
    struct rig rig;
    struct sb_job *job;

    (void)state;
    rig_open(&rig, false);
    job = start(&rig, "ann");
    sb_host_stop(rig.host, on_stopped, &rig);
    assert_int_equal(sb_job_result(job)->status, SB_STATUS_CANCELLED);
    uv_run(&rig.loop, UV_RUN_DEFAULT);
    assert_int_equal(rig.stopped, 0);
    tell_probe(true);
    assert_int_equal(rig.stopped, 1);
    assert_int_equal(run_count, 0);
    rig_free(&rig);
}

static void a_broken_host_says_nothing_else(void **state)
{
    const struct sb_err broken = {.code = SB_BAD_REQUEST, .text = "BACKEND is 'x'"};
    uv_loop_t loop;
    struct sb_host *host;
    struct sb_job_want want = want_of("ann", "python");
    struct sb_job *job;
    struct rig rig = {.stopped = 0};

    (void)state;
    probes = 0;
    assert_int_equal(uv_loop_init(&loop), 0);
    host = sb_host_new(&(const struct sb_host_want){.loop = &loop, .guest = "", .broken = &broken});
    clock_us += 60000000;
    sb_host_backend(host, on_seen, NULL);
    assert_false(seen->usable);
    assert_int_equal(sb_job_start(sb_host_jobs(host), &want, &job, NULL), 0);
    assert_string_equal(sb_job_result(job)->err.text, "BACKEND is 'x'");
    assert_int_equal(probes, 0);
    sb_host_stop(host, on_stopped, &rig);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(rig.stopped, 1);
    sb_host_free(host);
    assert_int_equal(uv_loop_close(&loop), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(job_runs_what_was_asked),
        cmocka_unit_test(job_feeds_its_input_as_it_is_taken),
        cmocka_unit_test(job_without_a_backend_says_how_to_mend_it),
        cmocka_unit_test(job_that_cannot_start_says_why),
        cmocka_unit_test(jobs_queue_up_and_take_turns),
        cmocka_unit_test(job_is_killed_queued_or_running),
        cmocka_unit_test(job_killed_while_the_backend_is_probed_never_runs),
        cmocka_unit_test(waits_ring_once),
        cmocka_unit_test(other_peers_see_nothing),
        cmocka_unit_test(job_expires_with_its_files),
        cmocka_unit_test(job_is_dropped_when_newer_ones_are_many),
        cmocka_unit_test(large_output_is_kept_to_its_last_byte),
        cmocka_unit_test(output_is_seen_while_the_job_runs),
        cmocka_unit_test(artifacts_are_kept_by_their_workspace_paths),
        cmocka_unit_test(a_full_disk_costs_what_is_kept_but_not_the_answer),
        cmocka_unit_test(a_worker_that_cannot_write_costs_the_same),
        cmocka_unit_test(stop_waits_for_boxes_probes_and_workers),
        cmocka_unit_test(stop_answers_who_waits_for_the_probe),
        cmocka_unit_test(a_broken_host_says_nothing_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
