/* SPDX-License-Identifier: MIT
 * box.c over a fake operating system and a fake link (POSIX only for its pipe): every order in which wrapper, guest,
 * kernel and owner can end it. Always one on_gone, last; on_broken at most once, and never
 * for a box its owner closed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "platform/boxos.h"
#include "platform/dirs.h"
#include "sandbox/box.h"

/* ---- the fakes ---------------------------------------------------------------------- */

struct sb_proc {
    struct sb_proc_events events;
    uv_pipe_t errors, info;
    uv_file writer; /* the other end of errors; -1: closed */
    uv_file teller; /* the other end of info */
    unsigned open_pipes;
    unsigned kills;
    void (*on_closed)(void *ctx);
    void *ctx;
};
static struct sb_proc proc;
static struct sb_link_events link_events;
static bool link_open, start_fails, os_fails, has_info, watch_works, link_fails;
static unsigned os_held, frees;

int sb_box_os_open(const struct sb_box_os_want *want, struct sb_box_os **out, struct sb_err *err)
{
    (void)want;
    if (os_fails)
        return sb_fail(err, SB_BUSY, "no uid is free");
    os_held++;
    *out = (struct sb_box_os *)&os_held;
    return 0;
}

void sb_box_os_close(struct sb_box_os *os)
{
    if (os != NULL)
        os_held--;
}

bool sb_box_os_drops_uid(void)
{
    return false;
}

int sb_proc_start(uv_loop_t *loop, const struct sb_launch *launch, const struct sb_proc_events *events,
                  struct sb_proc **out, struct sb_err *err)
{
    uv_file ends[2];

    assert_string_equal(launch->program, "/fake");
    if (start_fails)
        return sb_fail(err, SB_HOST, "cannot start");
    memset(&proc, 0, sizeof proc);
    proc.events = *events;
    assert_int_equal(uv_pipe(ends, 0, 0), 0);
    assert_int_equal(uv_pipe_init(loop, &proc.errors, 0), 0);
    assert_int_equal(uv_pipe_open(&proc.errors, ends[0]), 0);
    proc.writer = ends[1];
    proc.open_pipes = 1;
    if (has_info) {
        assert_int_equal(uv_pipe(ends, 0, 0), 0);
        assert_int_equal(uv_pipe_init(loop, &proc.info, 0), 0);
        assert_int_equal(uv_pipe_open(&proc.info, ends[0]), 0);
        proc.teller = ends[1];
        proc.open_pipes = 2;
    }
    *out = &proc;
    return 0;
}

uv_stream_t *sb_proc_input(struct sb_proc *p)
{
    return (uv_stream_t *)&p->errors;
}

uv_stream_t *sb_proc_output(struct sb_proc *p)
{
    return (uv_stream_t *)&p->errors;
}

uv_stream_t *sb_proc_errors(struct sb_proc *p)
{
    return (uv_stream_t *)&p->errors;
}

uv_stream_t *sb_proc_info(struct sb_proc *p)
{
    return has_info ? (uv_stream_t *)&p->info : NULL;
}

int sb_proc_watch_inner(struct sb_proc *p, long pid, bool *own_pids, struct sb_err *err)
{
    (void)p;
    (void)pid;
    (void)own_pids;
    return watch_works ? 0 : sb_fail(err, SB_NOT_FOUND, "no such process");
}

void sb_proc_kill(struct sb_proc *p)
{
    p->kills++;
}

static void errors_end(void)
{
    uv_fs_t request;

    if (proc.writer >= 0)
        uv_fs_close(NULL, &request, proc.writer, NULL);
    proc.writer = -1;
}

static void on_pipe_closed(uv_handle_t *handle)
{
    (void)handle;
    if (--proc.open_pipes == 0)
        proc.on_closed(proc.ctx);
}

void sb_proc_free(struct sb_proc *p, void (*on_closed)(void *ctx), void *ctx)
{
    frees++;
    errors_end();
    p->on_closed = on_closed;
    p->ctx = ctx;
    uv_close((uv_handle_t *)&p->errors, on_pipe_closed);
    if (has_info) {
        uv_fs_t request;

        uv_fs_close(NULL, &request, p->teller, NULL);
        uv_close((uv_handle_t *)&p->info, on_pipe_closed);
    }
}

int sb_link_open(uv_stream_t *input, uv_stream_t *output, const struct sb_link_events *events, struct sb_link **out,
                 struct sb_err *err)
{
    (void)input;
    (void)output;
    if (link_fails)
        return sb_fail(err, SB_HOST, "cannot read from the guest");
    link_events = *events;
    link_open = true;
    *out = (struct sb_link *)&link_events;
    return 0;
}

void sb_link_free(struct sb_link *link)
{
    if (link != NULL)
        link_open = false;
}

void sb_link_start(struct sb_link *link, unsigned flags)
{
    (void)link;
    assert_int_equal(flags, 0); /* no pid namespace was measured */
}

const char *sb_instance_dir(const struct sb_instance *instance)
{
    (void)instance;
    return "/nowhere";
}

const char *sb_instance_runtime_dir(const struct sb_instance *instance)
{
    (void)instance;
    return "/nowhere";
}

int sb_journal_add(struct sb_instance *instance, enum sb_undo kind, const char *what, unsigned *out_entry,
                   struct sb_err *err)
{
    (void)instance;
    (void)kind;
    (void)what;
    (void)out_entry;
    return sb_fail(err, SB_BUG, "not asked for here");
}

int sb_journal_undo(struct sb_instance *instance, unsigned entry, struct sb_err *err)
{
    (void)instance;
    (void)entry;
    return sb_fail(err, SB_BUG, "not asked for here");
}

/* ---- a backend that only plans ------------------------------------------------------- */

static struct sb_target target(void)
{
    return (struct sb_target){SB_WIRE_LINUX, SB_WIRE_X86_64, "/sandbox"};
}

static void plan(const struct sb_plan_want *want, struct sb_plan *out)
{
    (void)want;
    out->program = sb_strdup("/fake");
    out->cwd = sb_strdup("/");
    sb_argv_push(&out->argv, "fake");
}

static void explain(const char *errors, const struct sb_proc_end *end, char *mend, size_t mend_cap, struct sb_err *err)
{
    (void)errors;
    sb_fail(err, SB_HOST, "explained %u", (unsigned)end->code);
    strncpy(mend, "do this", mend_cap - 1);
}

static int inner_pid(const char *info, size_t len, long *pid)
{
    (void)info;
    *pid = 4711;
    return len > 0;
}

static const struct sb_backend backend = {.name = "fake", .target = target, .plan = plan, .inner_pid = inner_pid, .explain = explain};

/* ---- the rig ------------------------------------------------------------------------ */

static uv_loop_t loop;
static struct sb_box *box;
static unsigned ready, broken, gone;
static bool closed_by_owner;
static struct sb_err why;
static char said_mend[64];

static void on_ready(void *ctx)
{
    (void)ctx;
    ready++;
}

static void on_broken(void *ctx, const struct sb_err *err, const char *mend)
{
    (void)ctx;
    assert_int_equal(gone, 0);
    assert_false(closed_by_owner);
    broken++;
    why = *err;
    strncpy(said_mend, mend, sizeof said_mend - 1);
}

static void on_gone(void *ctx)
{
    (void)ctx;
    gone++;
    box = NULL;
}

static int open_box(struct sb_err *err)
{
    static const struct sb_backend_facts facts;
    static const struct sb_grant grant;
    const struct sb_box_want want = {.backend = &backend, .facts = &facts, .grant = &grant, .guest = "/guest"};
    const struct sb_box_events events = {.on_ready = on_ready, .on_broken = on_broken, .on_gone = on_gone};

    ready = broken = gone = frees = 0;
    closed_by_owner = false;
    memset(&why, 0, sizeof why);
    memset(said_mend, 0, sizeof said_mend);
    return sb_box_open(&loop, &want, &events, &box, err);
}

static void turn(void)
{
    for (int i = 0; i < 3; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
}

static void make_due(uv_handle_t *handle, void *arg)
{
    (void)arg;
    if (handle->type == UV_TIMER && uv_is_active(handle)) {
        uv_timer_t *timer = (uv_timer_t *)handle;

        uv_timer_start(timer, timer->timer_cb, 0, 0);
    }
}

/* Whatever waits for a time has reached it. */
static void time_passes(void)
{
    uv_walk(&loop, make_due, NULL);
    turn();
}

static bool exited, left, link_ended, hello_said;

static void says_hello(void)
{
    const struct sb_wire_hello hello = {.version = SB_WIRE_VERSION};

    if (link_open && !hello_said && !link_ended) {
        hello_said = true;
        link_events.on_hello(link_events.ctx, &hello);
    }
}

static void link_ends(void)
{
    struct sb_err err = {0};

    sb_fail(&err, SB_HOST, "the guest is gone");
    if (link_open && !link_ended) {
        link_ended = true;
        link_events.on_broken(link_events.ctx, &err);
    }
}

static void guest_lies(void)
{
    struct sb_err err = {0};

    sb_fail(&err, SB_DENIED, "the guest broke the protocol");
    if (link_open && !link_ended) {
        link_ended = true;
        link_events.on_broken(link_events.ctx, &err);
    }
}

static void wrapper_exits(void)
{
    const struct sb_proc_end end = {.code = 1};

    if (!exited && !left) {
        exited = true;
        proc.events.on_exit(proc.events.ctx, &end);
    }
}

static void nothing_left(void)
{
    if (exited && !left) {
        left = true;
        proc.events.on_gone(proc.events.ctx);
    }
}

static void owner_closes(void)
{
    if (box != NULL && broken == 0) {
        closed_by_owner = true;
        sb_box_close(box);
    }
}

static int set_up(void **state)
{
    (void)state;
    exited = left = link_ended = hello_said = false;
    return uv_loop_init(&loop);
}

static int tear_down(void **state)
{
    (void)state;
    assert_int_equal(os_held, 0);
    return uv_loop_close(&loop);
}

/* ---- tests -------------------------------------------------------------------------- */

static void every_order_of_ends_leaves_one_gone_and_nothing_held(void **state)
{
    void (*const events[])(void) = {says_hello,    link_ends,    guest_lies, wrapper_exits,
                                     nothing_left, owner_closes, errors_end};
    enum { N = SB_COUNT(events), ORDERS = N * N * N * N };

    (void)state;
    for (int order = 0; order < ORDERS; order++)
        for (int slow = 0; slow < 2; slow++) {
            struct sb_err err = {0};
            int rest = order;

            exited = left = link_ended = hello_said = false;
            assert_int_equal(open_box(&err), 0);
            for (int i = 0; i < 4; i++, rest /= N) {
                events[rest % N]();
                if (slow)
                    turn();
            }
            turn();
            owner_closes();
            wrapper_exits();
            nothing_left();
            turn();
            assert_int_equal(gone, 1);
            assert_true(broken <= 1);
            assert_int_equal(frees, 1);
            assert_int_equal(os_held, 0);
            assert_true(proc.kills >= 1);
        }
}

static void wrapper_that_dies_before_hello_is_explained(void **state)
{
    struct sb_err err = {0};

    (void)state;
    assert_int_equal(open_box(&err), 0);
    link_ends();
    wrapper_exits();
    nothing_left();
    turn();
    assert_int_equal(broken, 0); /* its stderr may still say why */
    errors_end();
    turn();
    assert_int_equal(broken, 1);
    assert_string_equal(why.text, "explained 1");
    assert_string_equal(said_mend, "do this");
    assert_int_equal(gone, 1);
}

static void process_that_is_gone_before_it_is_watched_is_explained(void **state)
{
    struct sb_err err = {0};
    uv_fs_t request;
    uv_buf_t number = uv_buf_init((char[]){"4711"}, 4);

    (void)state;
    has_info = true;
    assert_int_equal(open_box(&err), 0);
    assert_int_equal(uv_fs_write(NULL, &request, proc.teller, &number, 1, -1, NULL), 4);
    turn();
    assert_int_equal(broken, 0); /* how it ended is on its way */
    wrapper_exits();
    errors_end();
    nothing_left();
    turn();
    has_info = false;
    assert_string_equal(why.text, "explained 1");
    assert_int_equal(gone, 1);
}

/* Killed too early, bwrap leaves a child that waits for it for ever. */
static void wrapper_may_say_its_childs_number_before_it_is_killed(void **state)
{
    struct sb_err err = {0};
    uv_fs_t request;
    uv_buf_t number = uv_buf_init((char[]){"4711"}, 4);

    (void)state;
    has_info = watch_works = true;
    for (int silent = 0; silent < 2; silent++) {
        exited = left = false;
        assert_int_equal(open_box(&err), 0);
        owner_closes();
        turn();
        assert_null(sb_box_link(box));
        assert_int_equal(proc.kills, 0);
        if (silent)
            time_passes();
        else
            assert_int_equal(uv_fs_write(NULL, &request, proc.teller, &number, 1, -1, NULL), 4);
        turn();
        assert_int_equal(proc.kills, 1);
        assert_int_equal(sb_box_inner_pid(box), silent ? 0 : 4711);
        assert_int_equal(gone, 0);
        wrapper_exits();
        nothing_left();
        turn();
        assert_int_equal(gone, 1);
    }
    has_info = watch_works = false;
}

static void hello_after_the_end_is_no_beginning(void **state)
{
    struct sb_err err = {0};

    (void)state;
    assert_int_equal(open_box(&err), 0);
    wrapper_exits();
    says_hello();
    time_passes();
    assert_int_equal(broken, 1);
    nothing_left();
    turn();
    assert_int_equal(gone, 1);
}

static void box_that_does_not_die_is_let_go_but_not_its_uid(void **state)
{
    struct sb_err err = {0};

    (void)state;
    assert_int_equal(open_box(&err), 0);
    owner_closes();
    turn();
    assert_int_equal(gone, 0);
    time_passes();
    assert_int_equal(gone, 1);
    assert_int_equal(os_held, 1);
    os_held = 0;
}

static void guest_that_lies_is_closed_at_once(void **state)
{
    struct sb_err err = {0};

    (void)state;
    assert_int_equal(open_box(&err), 0);
    says_hello();
    guest_lies();
    assert_int_equal(broken, 1);
    assert_int_equal(sb_box_state(box), SB_BOX_CLOSING);
    assert_null(sb_box_link(box));
    assert_int_equal(proc.kills, 1);
    wrapper_exits();
    nothing_left();
    turn();
    assert_int_equal(gone, 1);
}

static void failure_at_each_step_of_opening_holds_nothing(void **state)
{
    struct sb_err err = {0};

    (void)state;
    os_fails = true;
    assert_int_equal(open_box(&err), -1);
    os_fails = false;
    assert_non_null(strstr(err.text, "no uid is free"));
    turn();
    start_fails = true;
    memset(&err, 0, sizeof err);
    assert_int_equal(open_box(&err), -1);
    start_fails = false;
    assert_string_equal(err.text, "cannot open a box with backend fake: cannot start");
    turn();
    assert_int_equal(gone, 0);
}

/* It is started, so it must be ended: the one failure that can't be told at once. */
static void box_that_cannot_be_listened_to_ends_like_any_other(void **state)
{
    struct sb_err err = {0};

    (void)state;
    link_fails = true;
    assert_int_equal(open_box(&err), 0);
    link_fails = false;
    assert_null(sb_box_link(box));
    assert_int_equal(broken, 0); /* never inside the call */
    time_passes();
    assert_int_equal(broken, 1);
    assert_string_equal(why.text, "cannot read from the guest");
    assert_int_equal(proc.kills, 1);
    wrapper_exits();
    nothing_left();
    turn();
    assert_int_equal(gone, 1);
}

static void every_cell_leads_forward_or_back_to_ready(void **state)
{
    (void)state;
    for (int s = 0; s < SB_BOX_STATES; s++)
        for (int e = 0; e < SB_BOX_EVENTS; e++) {
            int next = sb_box_next((enum sb_box_state)s, (enum sb_box_event)e);

            assert_true(next == -1 || next > s || (s == SB_BOX_BUSY && next == SB_BOX_READY));
            assert_true(next != SB_BOX_GONE || s == SB_BOX_CLOSING); /* always by the same door */
            if (s < SB_BOX_CLOSING && (e == SB_BOX_CLOSE || e == SB_BOX_BROKEN))
                assert_int_equal(next, SB_BOX_CLOSING);
        }
    assert_string_equal(sb_box_state_name(SB_BOX_GONE), "gone");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_order_of_ends_leaves_one_gone_and_nothing_held, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrapper_that_dies_before_hello_is_explained, set_up, tear_down),
        cmocka_unit_test_setup_teardown(process_that_is_gone_before_it_is_watched_is_explained, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrapper_may_say_its_childs_number_before_it_is_killed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hello_after_the_end_is_no_beginning, set_up, tear_down),
        cmocka_unit_test_setup_teardown(box_that_does_not_die_is_let_go_but_not_its_uid, set_up, tear_down),
        cmocka_unit_test_setup_teardown(guest_that_lies_is_closed_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(box_that_cannot_be_listened_to_ends_like_any_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(failure_at_each_step_of_opening_holds_nothing, set_up, tear_down),
        cmocka_unit_test(every_cell_leads_forward_or_back_to_ready),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
