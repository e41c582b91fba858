/* SPDX-License-Identifier: MIT
 * The guest's loop, its operations and its queue to the host. */
#include "guest/guest.h"

#include <string.h>

#include "base/alloc.h"
#include "guest/dispatch.h"

/* ---- operations ---- */

struct sb_guest_op *sb_guest_op_new(struct sb_guest *guest, uint32_t id, enum sb_msg kind)
{
    struct sb_guest_op *op = sb_alloc(sizeof *op);
    op->id = id;
    op->kind = kind;
    op->may_receive = op->may_send[SB_CHAN_OUT] = op->may_send[SB_CHAN_ERR] = SB_WIRE_WINDOW;
    sb_buf_init(&op->bytes, kind == SB_MSG_LIST ? SB_GUEST_LIST_MAX : SB_WIRE_WINDOW);
    guest->ops[guest->op_count++] = op; /* requests.c has seen that there is a place */
    return op;
}

struct sb_guest_op *sb_guest_op_find(const struct sb_guest *guest, uint32_t id)
{
    for (size_t i = 0; i < guest->op_count; i++)
        if (guest->ops[i]->id == id)
            return guest->ops[i];
    return NULL;
}

static void op_done(struct sb_guest_op *op)
{
    sb_gos_file_close(op->file, op->kind != SB_MSG_PUT, NULL); /* an unfinished PUT leaves nothing */
    sb_guest_exec_free(op->run);
    sb_buf_done(&op->bytes);
    sb_free(op);
}

void sb_guest_op_free(struct sb_guest *guest, struct sb_guest_op *op)
{
    size_t i = 0;
    while (guest->ops[i] != op)
        i++;
    guest->op_count--;
    memmove(&guest->ops[i], &guest->ops[i + 1], (guest->op_count - i) * sizeof(struct sb_guest_op *));
    op_done(op);
}

void sb_guest_each(struct sb_guest *guest, void (*step)(struct sb_guest *, struct sb_guest_op *))
{
    for (size_t i = 0; i < guest->op_count;) {
        struct sb_guest_op *op = guest->ops[i];
        step(guest, op);
        if (i < guest->op_count && guest->ops[i] == op)
            i++;
    }
}

/* ---- to the host ---- */

bool sb_guest_has_room(const struct sb_guest *guest)
{
    return guest->out.len < SB_GUEST_QUEUE_ROOM;
}

void sb_guest_send_data(struct sb_guest *guest, struct sb_guest_op *op, enum sb_channel channel,
                        const void *bytes, size_t len)
{
    op->may_send[channel] -= (uint32_t)len;
    sb_wire_put_frame(&guest->out, SB_MSG_DATA, channel, op->id, bytes, len);
}

void sb_guest_send_end(struct sb_guest *guest, uint32_t id, enum sb_channel channel)
{
    sb_wire_put_frame(&guest->out, SB_MSG_END, channel, id, NULL, 0);
}

void sb_guest_send_error(struct sb_guest *guest, uint32_t id, const struct sb_err *err)
{
    sb_wire_put_error(&guest->out, id, err);
}

void sb_guest_used(struct sb_guest *guest, struct sb_guest_op *op, size_t len)
{
    op->owed += (uint32_t)len;
    if (op->owed < SB_GUEST_CREDIT || op->input_ended)
        return;
    sb_wire_put_credit(&guest->out, SB_CHAN_IN, op->id, op->owed);
    op->may_receive += op->owed;
    op->owed = 0;
}

static void flush(struct sb_guest *guest)
{
    struct sb_buf *out = &guest->out;
    if (out->len > 0)
        sb_buf_drop(out, sb_gos_write(guest->gos, out->data, out->len));
    if (out->full) /* answers are lost: the host has stopped reading */
        sb_gos_end(guest->gos, SB_GUEST_PROTOCOL);
    if (guest->write_wanted != (out->len > 0)) {
        guest->write_wanted = !guest->write_wanted;
        sb_gos_want_write(guest->gos, guest->write_wanted);
    }
}

/* The last words may not get out when the host doesn't read; the end comes anyway. */
static _Noreturn void give_up(struct sb_guest *guest, const struct sb_err *why)
{
    sb_guest_send_error(guest, 0, why);
    sb_gos_write(guest->gos, guest->out.data, guest->out.len);
    sb_gos_end(guest->gos, SB_GUEST_PROTOCOL);
}

/* ---- from the host ---- */

static void take_frames(struct sb_guest *guest)
{
    struct sb_err err;
    size_t at = 0;
    for (;;) {
        struct sb_frame frame;
        long used = sb_wire_take(guest->in.data + at, guest->in.len - at, &frame, &err);
        if (used < 0 || (used > 0 && sb_guest_request(guest, &frame, &err) < 0))
            give_up(guest, &err);
        if (used == 0)
            break;
        at += (size_t)used;
    }
    sb_buf_drop(&guest->in, at);
}

static void read_host(struct sb_guest *guest)
{
    /* What take_frames leaves is less than one frame, so there is always room. */
    char *room = sb_buf_reserve(&guest->in, SB_GUEST_READ_CHUNK);
    long n = sb_gos_read(guest->gos, room, SB_GUEST_READ_CHUNK);
    if (n < 0)
        sb_gos_end(guest->gos, SB_GUEST_END);
    guest->in.len += (size_t)n;
    take_frames(guest);
}

/* ---- the loop ---- */

static int64_t next_deadline(const struct sb_guest *guest)
{
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < guest->op_count; i++) {
        const struct sb_guest_op *op = guest->ops[i];
        if (sb_guest_can_produce(guest, op))
            return 0;
        int64_t at = op->run ? sb_guest_exec_deadline(op->run) : INT64_MAX;
        next = at < next ? at : next;
    }
    return next;
}

static void handle(struct sb_guest *guest, const struct sb_gos_event *event)
{
    switch (event->kind) {
    case SB_GOS_DEADLINE:
    case SB_GOS_HOST_WRITABLE: /* flush comes in every turn */
        return;
    case SB_GOS_HOST_READABLE:
        read_host(guest);
        return;
    case SB_GOS_OUTPUT:
    case SB_GOS_INPUT:
    case SB_GOS_ENDED:
        sb_guest_exec_event(guest, event);
        return;
    }
}

void sb_guest_turn(struct sb_guest *guest)
{
    struct sb_gos_event event = {.kind = SB_GOS_DEADLINE};
    sb_gos_next(guest->gos, next_deadline(guest), &event);
    guest->now_us = sb_gos_now_us();
    handle(guest, &event);
    sb_guest_each(guest, sb_guest_produce);
    sb_guest_each(guest, sb_guest_exec_step);
    flush(guest);
    sb_guest_each(guest, sb_guest_exec_watch); /* only now is it known how much room there is */
}

struct sb_guest *sb_guest_new(struct sb_gos *gos)
{
    struct sb_guest *guest = sb_alloc(sizeof *guest);
    struct sb_wire_hello hello = {
        .version = SB_WIRE_VERSION, .os = sb_gos_os(), .arch = sb_gos_arch(), .pid = sb_gos_pid(gos)};
    guest->gos = gos;
    sb_buf_init(&guest->in, SB_WIRE_HEADER + SB_WIRE_PAYLOAD_MAX + SB_GUEST_READ_CHUNK);
    sb_buf_init(&guest->out, SB_GUEST_QUEUE_MAX);
    memcpy(hello.build, sb_wire_build_id(), sizeof hello.build);
    sb_wire_put_hello(&guest->out, &hello);
    flush(guest);
    return guest;
}

void sb_guest_free(struct sb_guest *guest)
{
    for (size_t i = 0; i < guest->op_count; i++)
        op_done(guest->ops[i]);
    sb_buf_done(&guest->in);
    sb_buf_done(&guest->out);
    sb_free(guest);
}

_Noreturn void sb_guest_serve(struct sb_gos *gos)
{
    struct sb_guest *guest = sb_guest_new(gos);
    for (;;)
        sb_guest_turn(guest);
}
