/* SPDX-License-Identifier: MIT
 * What the host asks: one row per frame type. A handler returns -1 only for what breaks
 * the protocol; a request that can't be served is answered by an ERROR of its own. */
#include "guest/dispatch.h"

#include <string.h>

#include "base/alloc.h"

static int on_start(struct sb_guest *guest, const struct sb_frame *frame, struct sb_err *err)
{
    struct sb_wire_start start;
    if (guest->started)
        return sb_fail(err, SB_BAD_REQUEST, "a second START");
    if (sb_wire_get_start(frame, &start, err) < 0)
        return -1;
    if (start.version != SB_WIRE_VERSION)
        return sb_fail(err, SB_UNSUPPORTED, "the host speaks protocol version %lu, this guest speaks %d",
                       (unsigned long)start.version, SB_WIRE_VERSION);
    if (strcmp(start.build, sb_wire_build_id()) != 0)
        return sb_fail(err, SB_UNSUPPORTED, "the host is of build %.12s, this guest is of build %.12s",
                       start.build, sb_wire_build_id());
    guest->started = true;
    sb_gos_own_pids(guest->gos, start.flags & SB_START_OWN_PIDS);
    return 0;
}

/* ---- requests that open an operation ---- */

static int new_id(struct sb_guest *guest, const struct sb_frame *frame, struct sb_err *err)
{
    if (frame->id <= guest->last_id)
        return sb_fail(err, SB_BAD_REQUEST, "id %lu is not new", (unsigned long)frame->id);
    guest->last_id = frame->id;
    return 0;
}

static int runs_open(const struct sb_guest *guest)
{
    int n = 0;
    for (size_t i = 0; i < guest->op_count; i++)
        n += guest->ops[i]->kind == SB_MSG_EXEC;
    return n;
}

static int has_place(const struct sb_guest *guest, enum sb_msg kind, struct sb_err *err)
{
    if (guest->op_count == SB_WIRE_OPS_MAX)
        return sb_fail(err, SB_LIMIT, "%d operations are open already", SB_WIRE_OPS_MAX);
    if (kind == SB_MSG_EXEC && runs_open(guest) == SB_WIRE_RUNS_MAX)
        return sb_fail(err, SB_LIMIT, "%d runs are open already", SB_WIRE_RUNS_MAX);
    return 0;
}

static int on_put(struct sb_guest *guest, const struct sb_frame *frame, struct sb_err *err)
{
    struct sb_wire_put put;
    struct sb_err full;
    if (new_id(guest, frame, err) < 0 || sb_wire_get_put(frame, &put, err) < 0)
        return -1;
    if (has_place(guest, SB_MSG_PUT, &full) < 0)
        sb_guest_put_failed(guest, frame->id, &full);
    else
        sb_guest_put(guest, frame->id, &put);
    return 0;
}

static int on_get(struct sb_guest *guest, const struct sb_frame *frame, struct sb_err *err)
{
    struct sb_wire_get get;
    struct sb_err full;
    if (new_id(guest, frame, err) < 0 || sb_wire_get_get(frame, &get, err) < 0)
        return -1;
    if (has_place(guest, SB_MSG_GET, &full) < 0)
        sb_guest_send_error(guest, frame->id, &full);
    else
        sb_guest_get(guest, frame->id, &get);
    return 0;
}

static int on_list(struct sb_guest *guest, const struct sb_frame *frame, struct sb_err *err)
{
    struct sb_wire_path path;
    struct sb_err full;
    if (new_id(guest, frame, err) < 0 || sb_wire_get_path(frame, &path, err) < 0)
        return -1;
    if (has_place(guest, SB_MSG_LIST, &full) < 0)
        sb_guest_send_error(guest, frame->id, &full);
    else
        sb_guest_list(guest, frame->id, path.path);
    return 0;
}

static int on_remove(struct sb_guest *guest, const struct sb_frame *frame, struct sb_err *err)
{
    struct sb_wire_path path;
    if (new_id(guest, frame, err) < 0 || sb_wire_get_path(frame, &path, err) < 0)
        return -1;
    sb_guest_remove(guest, frame->id, path.path);
    return 0;
}

static int on_exec(struct sb_guest *guest, const struct sb_frame *frame, struct sb_err *err)
{
    struct sb_wire_exec exec;
    struct sb_err full;
    if (new_id(guest, frame, err) < 0 || sb_wire_get_exec(frame, &exec, err) < 0)
        return -1;
    if (has_place(guest, SB_MSG_EXEC, &full) < 0) {
        sb_guest_send_error(guest, frame->id, &full);
        sb_wire_exec_done(&exec);
    } else {
        sb_guest_exec_new(guest, frame->id, &exec);
    }
    return 0;
}

/* ---- frames for an operation that is there ---- */

/* 0 with *out NULL: it has ended, and the frame crossed the answer on the way. */
static int open_op(const struct sb_guest *guest, const struct sb_frame *frame, struct sb_guest_op **out,
                   struct sb_err *err)
{
    if (frame->id > guest->last_id)
        return sb_fail(err, SB_BAD_REQUEST, "id %lu was never opened", (unsigned long)frame->id);
    *out = sb_guest_op_find(guest, frame->id);
    return 0;
}

static int wrong_kind(const struct sb_frame *frame, const char *what, struct sb_err *err)
{
    return sb_fail(err, SB_BAD_REQUEST, "id %lu %s", (unsigned long)frame->id, what);
}

static int on_kill(struct sb_guest *guest, const struct sb_frame *frame, struct sb_err *err)
{
    struct sb_guest_op *op = NULL;
    if (open_op(guest, frame, &op, err) < 0)
        return -1;
    if (op && !op->run)
        return wrong_kind(frame, "is no run to kill", err);
    if (op)
        sb_guest_exec_kill(guest, op);
    return 0;
}

static int on_interrupt(struct sb_guest *guest, const struct sb_frame *frame, struct sb_err *err)
{
    struct sb_guest_op *op = NULL;
    if (open_op(guest, frame, &op, err) < 0)
        return -1;
    if (op && !op->run)
        return wrong_kind(frame, "is no run to interrupt", err);
    if (op && op->run->os && !op->run->ended)
        sb_gos_run_interrupt(op->run->os);
    return 0;
}

static int on_cancel(struct sb_guest *guest, const struct sb_frame *frame, struct sb_err *err)
{
    struct sb_guest_op *op = NULL;
    if (open_op(guest, frame, &op, err) < 0)
        return -1;
    if (op && op->run)
        return wrong_kind(frame, "is a run: it is ended by KILL", err);
    if (op)
        sb_guest_cancel(guest, op);
    if (frame->id == guest->failed_put) /* the host knows: the next EXEC does not depend on it */
        guest->failed_put = 0;
    return 0;
}

static int open_input(const struct sb_guest *guest, const struct sb_frame *frame, struct sb_guest_op **out,
                      struct sb_err *err)
{
    if (open_op(guest, frame, out, err) < 0)
        return -1;
    if (*out && (!(*out)->has_input || (*out)->input_ended || frame->channel != SB_CHAN_IN))
        return wrong_kind(frame, "takes no bytes there", err);
    return 0;
}

static int on_data(struct sb_guest *guest, const struct sb_frame *frame, struct sb_err *err)
{
    struct sb_guest_op *op = NULL;
    if (open_input(guest, frame, &op, err) < 0)
        return -1;
    if (!op)
        return 0;
    if (frame->len > op->may_receive)
        return wrong_kind(frame, "got more bytes than it gave credit for", err);
    op->may_receive -= frame->len;
    if (op->kind == SB_MSG_PUT) {
        sb_guest_put_data(guest, op, frame->payload, frame->len);
    } else {
        sb_buf_add(&op->bytes, frame->payload, frame->len); /* within credit, so it fits */
        sb_guest_exec_input(guest, op);
    }
    return 0;
}

static int on_end(struct sb_guest *guest, const struct sb_frame *frame, struct sb_err *err)
{
    struct sb_guest_op *op = NULL;
    if (open_input(guest, frame, &op, err) < 0)
        return -1;
    if (!op)
        return 0;
    op->input_ended = true;
    if (op->kind == SB_MSG_PUT)
        sb_guest_put_end(guest, op);
    else
        sb_guest_exec_input(guest, op);
    return 0;
}

static int on_credit(struct sb_guest *guest, const struct sb_frame *frame, struct sb_err *err)
{
    struct sb_guest_op *op = NULL;
    uint32_t bytes = 0;
    if (open_op(guest, frame, &op, err) < 0 || sb_wire_get_credit(frame, &bytes, err) < 0)
        return -1;
    if (!op)
        return 0;
    if (op->kind == SB_MSG_PUT || frame->channel == SB_CHAN_IN || (!op->run && frame->channel == SB_CHAN_ERR))
        return wrong_kind(frame, "sends no bytes there", err);
    if (bytes > SB_WIRE_WINDOW - op->may_send[frame->channel])
        return wrong_kind(frame, "got more credit than a window", err);
    op->may_send[frame->channel] += bytes;
    return 0;
}

static const struct {
    uint8_t type;
    int (*handle)(struct sb_guest *, const struct sb_frame *, struct sb_err *);
} requests[] = {
    {SB_MSG_START, on_start},   {SB_MSG_PUT, on_put},
    {SB_MSG_GET, on_get},       {SB_MSG_LIST, on_list},
    {SB_MSG_REMOVE, on_remove}, {SB_MSG_EXEC, on_exec},
    {SB_MSG_KILL, on_kill},     {SB_MSG_INTERRUPT, on_interrupt},
    {SB_MSG_CANCEL, on_cancel}, {SB_MSG_DATA, on_data},
    {SB_MSG_END, on_end},       {SB_MSG_CREDIT, on_credit},
};

int sb_guest_request(struct sb_guest *guest, const struct sb_frame *frame, struct sb_err *err)
{
    if (!guest->started && frame->type != SB_MSG_START)
        return sb_fail(err, SB_BAD_REQUEST, "the first frame is not START");
    for (size_t i = 0; i < SB_COUNT(requests); i++)
        if (requests[i].type == frame->type)
            return requests[i].handle(guest, frame, err);
    return sb_fail(err, SB_BAD_REQUEST, "frame type %u is the guest's to send", frame->type);
}
