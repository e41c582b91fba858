/* SPDX-License-Identifier: MIT */
#include "sandbox/box.h"

#include <string.h>

#include "base/alloc.h"
#include "platform/boxos.h"
#include "platform/dirs.h"
#include "platform/random.h"

#define ERRORS_MAX 8192 /* of the wrapper's stderr; explain() reads it */
#define INFO_MAX   4096 /* of the wrapper's --info-fd */
#define NUMBER_MS     100 /* from a close to the kill, for a wrapper that has not told its child yet */
#define LAST_WORDS_MS 500 /* from the end of the wrapper or link to the end of the other and of stderr */

static const signed char next_state[SB_BOX_STATES][SB_BOX_EVENTS] = {
    /*                  HELLO         TAKEN           RELEASED       CLOSE           BROKEN          NOTHING_LEFT */
    [SB_BOX_OPENING] = {SB_BOX_READY, -1, -1, SB_BOX_CLOSING, SB_BOX_CLOSING, -1},
    [SB_BOX_READY] = {-1, SB_BOX_BUSY, -1, SB_BOX_CLOSING, SB_BOX_CLOSING, -1},
    [SB_BOX_BUSY] = {-1, -1, SB_BOX_READY, SB_BOX_CLOSING, SB_BOX_CLOSING, -1},
    [SB_BOX_CLOSING] = {-1, -1, -1, -1, -1, SB_BOX_GONE},
    [SB_BOX_GONE] = {-1, -1, -1, -1, -1, -1},
};

int sb_box_next(enum sb_box_state state, enum sb_box_event event)
{
    return next_state[state][event];
}

const char *sb_box_state_name(enum sb_box_state state)
{
    static const char *const names[] = {"opening", "ready", "busy", "closing", "gone"};

    return names[state];
}

struct sb_box {
    enum sb_box_state state;
    char id[SB_ID_LEN + 1];
    const struct sb_backend *backend;
    struct sb_backend_facts facts;
    struct sb_instance *instance;
    struct sb_box_events events;
    struct sb_box_os *os;
    struct sb_proc *proc;
    struct sb_link *link;
    uv_loop_t *loop;
    uv_timer_t timer;
    uv_work_t work; /* removes the host workspace */
    char *host_workspace;
    unsigned undo; /* its journal entry */
    long inner_pid;
    bool own_pids;
    struct sb_buf errors, info;
    char errors_space[4096], info_space[1024];
    /* How it ended, gathered until there is enough for one sentence. */
    struct sb_err why;
    bool link_ended, exited, errors_ended, nothing_left;
    bool number_due, killed; /* the wrapper may yet say its child's number */
    struct sb_proc_end end;
};

const char *sb_box_id(const struct sb_box *box)
{
    return box->id;
}

enum sb_box_state sb_box_state(const struct sb_box *box)
{
    return box->state;
}

struct sb_link *sb_box_link(struct sb_box *box)
{
    return box->state == SB_BOX_CLOSING || box->state == SB_BOX_GONE ? NULL : box->link;
}

const char *sb_box_workspace(const struct sb_box *box)
{
    return box->host_workspace != NULL ? box->host_workspace : box->backend->target().workspace;
}

long sb_box_inner_pid(const struct sb_box *box)
{
    return box->inner_pid;
}

bool sb_box_own_pids(const struct sb_box *box)
{
    return box->own_pids;
}

/* ---- leaving ------------------------------------------------------------------------ */

static void on_timer_closed(uv_handle_t *handle)
{
    struct sb_box *box = handle->data;

    box->events.on_gone(box->events.ctx);
    sb_buf_done(&box->errors);
    sb_buf_done(&box->info);
    sb_free(box->host_workspace);
    sb_free(box);
}

static void let_go(struct sb_box *box)
{
    struct sb_err ignored = {0};

    if (box->nothing_left) /* else something still lives with its uid, which then stays taken */
        sb_box_os_close(box->os);
    if (box->host_workspace != NULL)
        sb_journal_undo(box->instance, box->undo, &ignored); /* what stays is in the journal */
    uv_close((uv_handle_t *)&box->timer, on_timer_closed);
}

static void remove_workspace(uv_work_t *work)
{
    struct sb_box *box = work->data;
    struct sb_err ignored = {0};

    sb_dir_remove_tree(box->host_workspace, &ignored);
}

static void on_workspace_removed(uv_work_t *work, int status)
{
    (void)status;
    let_go(work->data);
}

static void on_proc_closed(void *ctx)
{
    struct sb_box *box = ctx;

    if (box->host_workspace == NULL || uv_queue_work(box->loop, &box->work, remove_workspace, on_workspace_removed) < 0)
        let_go(box);
}

static void on_gone_late(uv_timer_t *timer)
{
    sb_box_step(timer->data, SB_BOX_NOTHING_LEFT);
}

static void kill_all(struct sb_box *box)
{
    if (box->state != SB_BOX_CLOSING || box->killed)
        return;
    box->killed = true;
    sb_proc_kill(box->proc);
    uv_timer_start(&box->timer, on_gone_late, SB_BOX_GONE_MS, 0);
}

static void on_number_late(uv_timer_t *timer)
{
    kill_all(timer->data);
}

/* bwrap 0.8 tells the number of its child before it lets it run. Killed earlier, it leaves a
 * child that nobody knows and that waits for it for ever. */
static void enter_closing(struct sb_box *box)
{
    sb_link_free(box->link);
    box->link = NULL;
    if (box->number_due && !box->exited)
        uv_timer_start(&box->timer, on_number_late, NUMBER_MS, 0);
    else
        kill_all(box);
    if (box->nothing_left)
        sb_box_step(box, SB_BOX_NOTHING_LEFT);
}

void sb_box_step(struct sb_box *box, enum sb_box_event event)
{
    int next = sb_box_next(box->state, event);

    if (next < 0)
        return;
    box->state = (enum sb_box_state)next;
    if (event == SB_BOX_HELLO) {
        if (!box->link_ended && !box->exited) /* then the timer waits for last words */
            uv_timer_stop(&box->timer);
        if (box->events.on_ready != NULL)
            box->events.on_ready(box->events.ctx);
    } else if (box->state == SB_BOX_CLOSING) {
        enter_closing(box);
    } else if (box->state == SB_BOX_GONE) {
        uv_timer_stop(&box->timer);
        sb_proc_free(box->proc, on_proc_closed, box);
    }
}

void sb_box_close(struct sb_box *box)
{
    sb_box_step(box, SB_BOX_CLOSE);
}

/* ---- going wrong -------------------------------------------------------------------- */

static void break_with(struct sb_box *box, const struct sb_err *why, const char *mend)
{
    if (box->state == SB_BOX_CLOSING || box->state == SB_BOX_GONE)
        return;
    sb_box_step(box, SB_BOX_BROKEN);
    if (box->events.on_broken != NULL)
        box->events.on_broken(box->events.ctx, why, mend);
}

/* The guest or the wrapper ended by itself: says why, from all that was heard. */
static void conclude(struct sb_box *box)
{
    bool opening = box->state == SB_BOX_OPENING;
    char mend[480] = "";
    struct sb_err why = box->why;

    if (opening && box->exited)
        box->backend->explain(box->errors.data, &box->end, mend, sizeof mend, &why);
    else if (why.code == SB_OK)
        sb_fail(&why, SB_HOST, "the sandbox ended unexpectedly (%s %u)", box->end.signalled ? "signal" : "exit",
                (unsigned)box->end.code);
    break_with(box, &why, mend);
}

static void on_last_words(uv_timer_t *timer)
{
    conclude(timer->data);
}

/* Something ended: waits a moment for the rest, since the sentence needs all of it. */
static void something_ended(struct sb_box *box)
{
    if (box->state == SB_BOX_CLOSING || box->state == SB_BOX_GONE || !(box->link_ended || box->exited))
        return;
    if (box->exited && box->errors_ended)
        conclude(box);
    else
        uv_timer_start(&box->timer, on_last_words, LAST_WORDS_MS, 0);
}

static void on_open_late(uv_timer_t *timer)
{
    struct sb_box *box = timer->data;
    struct sb_err why = {0};

    sb_fail(&why, SB_TIMEOUT, "backend %s did not start a sandbox within %d s", box->backend->name,
            SB_BOX_OPEN_MS / 1000);
    break_with(box, &why, "");
}

static void on_link_broken(void *ctx, const struct sb_err *why)
{
    struct sb_box *box = ctx;

    box->why = *why;
    if (why->code != SB_HOST) {
        break_with(box, why, "");
        return;
    }
    box->link_ended = true;
    something_ended(box);
}

static void on_hello(void *ctx, const struct sb_wire_hello *hello)
{
    (void)hello;
    sb_box_step(ctx, SB_BOX_HELLO);
}

static void on_exit(void *ctx, const struct sb_proc_end *end)
{
    struct sb_box *box = ctx;

    box->exited = true;
    box->end = *end;
    something_ended(box);
}

static void on_gone(void *ctx)
{
    struct sb_box *box = ctx;

    box->nothing_left = true;
    sb_box_step(box, SB_BOX_NOTHING_LEFT);
}

/* ---- listening to the wrapper ------------------------------------------------------- */

static void on_errors_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    struct sb_box *box = handle->data;

    (void)suggested;
    *out = uv_buf_init(box->errors_space, sizeof box->errors_space);
}

static void on_errors(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf)
{
    struct sb_box *box = stream->data;

    if (count > 0)
        sb_buf_add(&box->errors, buf->base, (size_t)count); /* past its cap: drained and dropped */
    if (count >= 0)
        return;
    uv_read_stop(stream);
    box->errors_ended = true;
    something_ended(box);
}

static void on_info_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    struct sb_box *box = handle->data;

    (void)suggested;
    *out = uv_buf_init(box->info_space, sizeof box->info_space);
}

static void take_number(struct sb_box *box, int known, long pid)
{
    struct sb_err why = {0};

    if (known != 1) {
        sb_fail(&why, SB_HOST, "backend %s wrote garbage where the process number belongs", box->backend->name);
        break_with(box, &why, "");
    } else if (sb_proc_watch_inner(box->proc, pid, &box->own_pids, &why) == 0) {
        box->inner_pid = pid;
    } else { /* dead already, most likely: the wrapper's own words are the better reason */
        box->why = why;
        box->link_ended = true;
        something_ended(box);
    }
}

static void on_info(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf)
{
    struct sb_box *box = stream->data;
    long pid = 0;
    int known = 0;

    if (count == 0)
        return;
    if (count > 0) {
        sb_buf_add(&box->info, buf->base, (size_t)count);
        known = box->backend->inner_pid(box->info.data, box->info.len, &pid);
        if (known == 0 && !box->info.full)
            return;
    }
    uv_read_stop(stream);
    box->number_due = false;
    if (count > 0)
        take_number(box, known, pid);
    kill_all(box); /* if only this was waited for */
}

static int listen_to(struct sb_box *box, struct sb_err *err)
{
    const struct sb_link_events events = {.ctx = box, .on_hello = on_hello, .on_broken = on_link_broken};
    uv_stream_t *errors = sb_proc_errors(box->proc), *info = sb_proc_info(box->proc);

    errors->data = box;
    if (uv_read_start(errors, on_errors_alloc, on_errors) < 0)
        return sb_fail(err, SB_HOST, "cannot read what backend %s says", box->backend->name);
    if (info != NULL) {
        info->data = box;
        if (uv_read_start(info, on_info_alloc, on_info) < 0)
            return sb_fail(err, SB_HOST, "cannot read the process number of backend %s", box->backend->name);
        box->number_due = true;
    }
    return sb_link_open(sb_proc_input(box->proc), sb_proc_output(box->proc), &events, &box->link, err);
}

/* ---- opening ------------------------------------------------------------------------ */

static int make_workspace(struct sb_box *box, struct sb_err *err)
{
    struct sb_buf path;
    struct sb_target target = box->backend->target();
    int rc = -1;

    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    sb_path_join(&path, sb_instance_dir(box->instance), box->id, sb_target_rules(&target));
    if (sb_journal_add(box->instance, SB_UNDO_TREE, path.data, &box->undo, err) < 0)
        goto done;
    if (sb_dir_make(path.data, 0, err) < 0)
        goto done;
    box->host_workspace = sb_buf_take(&path);
    rc = 0;
done:
    sb_buf_done(&path);
    return rc;
}

static int start(struct sb_box *box, const struct sb_box_want *want, struct sb_err *err)
{
    static const char *const none[] = {NULL};
    const struct sb_proc_events events = {.ctx = box, .on_exit = on_exit, .on_gone = on_gone};
    const struct sb_plan_want plan_want = {
        .facts = &box->facts,
        .grant = want->grant,
        .guest = want->guest,
        .workspace = box->host_workspace != NULL ? box->host_workspace : "",
        .read_only = want->read_only != NULL ? want->read_only : none,
    };
    struct sb_plan plan = {0};
    int rc;

    box->backend->plan(&plan_want, &plan);
    const struct sb_launch launch = {
        .program = plan.program,
        .argv = plan.argv.v,
        .env = plan.env.v,
        .cwd = plan.cwd,
        .handles = plan.handles,
        .handle_count = plan.handle_count,
        .os = box->os,
    };
    rc = sb_proc_start(box->loop, &launch, &events, &box->proc, err);
    sb_plan_done(&plan);
    return rc;
}

static void on_failed_closed(uv_handle_t *handle)
{
    struct sb_box *box = handle->data;

    sb_free(box->host_workspace);
    sb_free(box);
}

int sb_box_open(uv_loop_t *loop, const struct sb_box_want *want, const struct sb_box_events *events,
                struct sb_box **out, struct sb_err *err)
{
    struct sb_box *box = sb_alloc(sizeof *box);
    struct sb_box_os_want os_want = {
        .runtime_dir = sb_instance_runtime_dir(want->instance),
        .box_id = box->id,
        .memory_bytes = (uint64_t)want->grant->value[SB_ROW_MEMORY_MB] << 20,
        .processes = (uint32_t)want->grant->value[SB_ROW_PROCESSES],
    };
    struct sb_err ignored = {0};

    sb_random_id(box->id);
    box->backend = want->backend;
    box->facts = *want->facts;
    box->instance = want->instance;
    box->events = *events;
    box->loop = loop;
    box->work.data = box;
    sb_buf_init(&box->errors, ERRORS_MAX);
    sb_buf_init(&box->info, INFO_MAX);
    uv_timer_init(loop, &box->timer);
    box->timer.data = box;
    if (box->backend->host_workspace && make_workspace(box, err) < 0)
        goto failed;
    os_want.workspace = box->host_workspace;
    if (sb_box_os_open(&os_want, &box->os, err) < 0)
        goto failed;
    if (start(box, want, err) < 0)
        goto failed;
    uv_timer_start(&box->timer, on_open_late, SB_BOX_OPEN_MS, 0);
    if (listen_to(box, &box->why) == 0) {
        sb_link_start(box->link, box->facts.own_pids ? SB_START_OWN_PIDS : 0);
    } else { /* it is started: it goes the way of any box whose guest is gone */
        box->link_ended = true;
        something_ended(box);
    }
    *out = box;
    return 0;
failed:
    sb_box_os_close(box->os);
    if (box->host_workspace != NULL)
        sb_journal_undo(box->instance, box->undo, &ignored);
    sb_fail_in(err, "cannot open a box with backend %s", box->backend->name);
    uv_close((uv_handle_t *)&box->timer, on_failed_closed);
    return -1;
}
