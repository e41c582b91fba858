/* SPDX-License-Identifier: MIT
 * What the guest says. Every field may be a lie: nothing is done before it is checked. */
#include "sandbox/link_inner.h"

#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

bool sb_link_receives(enum sb_link_op_kind kind, int channel)
{
    static const unsigned char streams[] = {
        /* bit per channel */
        [OP_GET] = 1u << SB_CHAN_OUT,
        [OP_EXEC] = 1u << SB_CHAN_OUT | 1u << SB_CHAN_ERR,
    };

    return (streams[kind] & 1u << channel) != 0;
}

/* The guest broke the rules: `why` is the sentence. */
static int refuse(struct sb_err *why, const char *text, uint32_t id)
{
    return sb_fail(why, SB_DENIED, "the guest broke the protocol: %s (operation %u)", text, (unsigned)id);
}

int sb_link_malformed(struct sb_err *why)
{
    sb_fail_in(why, "the guest broke the protocol");
    why->code = SB_DENIED;
    return -1;
}

static int take_hello(struct sb_link *link, const struct sb_frame *frame, struct sb_err *why)
{
    struct sb_wire_hello hello;

    if (link->hello)
        return refuse(why, "a second HELLO", frame->id);
    if (sb_wire_get_hello(frame, &hello, why) < 0)
        return sb_link_malformed(why);
    if (hello.version != SB_WIRE_VERSION)
        return sb_fail(why, SB_DENIED, "the guest speaks protocol version %u, this host %u",
                       (unsigned)hello.version, SB_WIRE_VERSION);
    if (strcmp(hello.build, sb_wire_build_id()) != 0)
        return sb_fail(why, SB_DENIED, "the guest is of another build (%.12s, this host %.12s)", hello.build,
                       sb_wire_build_id());
    link->hello = true;
    link->events.on_hello(link->events.ctx, &hello);
    return 0;
}

/* Ends the operation, then tells its owner: the slot is free before the call. */
static void finish(struct sb_link_op *op, const struct sb_err *error, const struct sb_wire_exit *exit)
{
    struct sb_link_op last = *op;

    memset(op, 0, sizeof *op);
    if (exit != NULL)
        last.events.on_exit(last.events.ctx, exit);
    else
        last.events.on_done(last.events.ctx, error);
}

static int take_error(struct sb_link *link, const struct sb_frame *frame, struct sb_err *why)
{
    struct sb_link_op *op = sb_link_find(link, frame->id);
    struct sb_wire_error error;
    struct sb_err told = {0};
    struct sb_utf8_repair repair = {0};
    struct sb_buf text;

    if (sb_wire_get_error(frame, &error, why) < 0)
        return sb_link_malformed(why);
    if (frame->id != 0 && op == NULL)
        return refuse(why, "ERROR for nothing that is open", frame->id);
    sb_buf_init(&text, sizeof error.text * 3);
    sb_utf8_repair(&repair, error.text, strlen(error.text), &text);
    sb_utf8_repair_end(&repair, &text);
    /* A hostile guest may claim any code: only "it worked" would mislead. */
    sb_fail(&told, error.code > SB_OK && error.code <= SB_BUG ? (enum sb_code)error.code : SB_HOST, "%s",
            text.data);
    told.os = error.os;
    sb_buf_done(&text);
    if (frame->id == 0) {
        *why = told;
        return sb_fail_in(why, "the guest gave up");
    }
    if (op->kind == OP_PUT) { /* "I know": else the guest refuses the next EXEC, since its file is missing */
        sb_wire_put_frame(&link->outgoing, SB_MSG_CANCEL, SB_CHAN_IN, op->id, NULL, 0);
        sb_link_send_soon(link);
    }
    finish(op, &told, NULL);
    return 0;
}

static int take_done(struct sb_link *link, const struct sb_frame *frame, struct sb_err *why)
{
    struct sb_link_op *op = sb_link_find(link, frame->id);

    if (op == NULL || op->kind != OP_PUT)
        return refuse(why, "DONE for nothing that is open", frame->id);
    finish(op, NULL, NULL);
    return 0;
}

static int take_exit(struct sb_link *link, const struct sb_frame *frame, struct sb_err *why)
{
    struct sb_link_op *op = sb_link_find(link, frame->id);
    struct sb_wire_exit exit;

    if (op == NULL || op->kind != OP_EXEC)
        return refuse(why, "EXIT of no run", frame->id);
    if (!op->ended[SB_CHAN_OUT] || !op->ended[SB_CHAN_ERR])
        return refuse(why, "EXIT before the end of the output", frame->id);
    if (sb_wire_get_exit(frame, &exit, why) < 0)
        return sb_link_malformed(why);
    finish(op, NULL, &exit);
    sb_wire_exit_done(&exit);
    return 0;
}

/* The open stream a DATA or END frame belongs to, or NULL. */
static struct sb_link_op *stream_of(struct sb_link *link, const struct sb_frame *frame)
{
    struct sb_link_op *op = sb_link_find(link, frame->id);

    if (op == NULL || !sb_link_receives(op->kind, frame->channel) || op->ended[frame->channel])
        return NULL;
    return op;
}

static int take_data(struct sb_link *link, const struct sb_frame *frame, struct sb_err *why)
{
    struct sb_link_op *op = stream_of(link, frame);

    if (op == NULL)
        return refuse(why, "DATA for no open stream", frame->id);
    if (frame->len > op->may_receive[frame->channel])
        return refuse(why, "DATA beyond its credit", frame->id);
    if (op->kind == OP_GET && frame->len > op->left)
        return refuse(why, "more than was asked for", frame->id);
    op->left -= op->kind == OP_GET ? frame->len : 0;
    op->may_receive[frame->channel] -= frame->len;
    if (frame->len > 0)
        op->events.on_data(op->events.ctx, (enum sb_channel)frame->channel, frame->payload, frame->len);
    return 0;
}

static int take_end(struct sb_link *link, const struct sb_frame *frame, struct sb_err *why)
{
    struct sb_link_op *op = stream_of(link, frame);
    bool last;

    if (op == NULL)
        return refuse(why, "END of no open stream", frame->id);
    op->ended[frame->channel] = true;
    last = op->kind != OP_EXEC;
    if (op->events.on_end != NULL)
        op->events.on_end(op->events.ctx, (enum sb_channel)frame->channel);
    op = sb_link_find(link, frame->id); /* the callback may have closed the link */
    if (last && op != NULL && !link->closing)
        finish(op, NULL, NULL);
    return 0;
}

static int take_credit(struct sb_link *link, const struct sb_frame *frame, struct sb_err *why)
{
    struct sb_link_op *op = sb_link_find(link, frame->id);
    uint32_t bytes;

    if (sb_wire_get_credit(frame, &bytes, why) < 0)
        return sb_link_malformed(why);
    if (frame->channel != SB_CHAN_IN || op == NULL || (op->kind != OP_PUT && op->kind != OP_EXEC))
        return refuse(why, "CREDIT for no stream of ours", frame->id);
    if (bytes > SB_WIRE_WINDOW - op->may_send)
        return refuse(why, "more CREDIT than the window", frame->id);
    op->may_send += bytes;
    if (op->sends && op->events.on_input != NULL)
        op->events.on_input(op->events.ctx);
    return 0;
}

static const struct {
    enum sb_msg type;
    int (*take)(struct sb_link *link, const struct sb_frame *frame, struct sb_err *why);
} answers[] = {
    {SB_MSG_HELLO, take_hello},   {SB_MSG_DATA, take_data}, {SB_MSG_END, take_end},
    {SB_MSG_CREDIT, take_credit}, {SB_MSG_DONE, take_done}, {SB_MSG_EXIT, take_exit},
    {SB_MSG_ERROR, take_error},
};

int sb_link_take(struct sb_link *link, const struct sb_frame *frame, struct sb_err *why)
{
    if (!link->hello && frame->type != SB_MSG_HELLO && !(frame->type == SB_MSG_ERROR && frame->id == 0))
        return refuse(why, "something before HELLO", frame->id);
    for (size_t i = 0; i < SB_COUNT(answers); i++)
        if (answers[i].type == frame->type)
            return answers[i].take(link, frame, why);
    return refuse(why, "a message only a host sends", frame->id);
}
