/* SPDX-License-Identifier: MIT */
#include "sandbox/link_inner.h"

#include <string.h>

#include "base/alloc.h"

/* Credit is told in such steps: a guest that sends single bytes must not make us answer each. */
#define CREDIT_STEP (64u * 1024)
/* Unsent bytes: every operation's window and its requests. A guest that talks without reading
 * can fill it with the answers it gets: that breaks the link. */
#define OUTGOING_MAX (SB_WIRE_OPS_MAX * (size_t)(SB_WIRE_WINDOW + SB_WIRE_HEADER) + 4u * SB_WIRE_PAYLOAD_MAX)

struct sb_link_write {
    uv_write_t request;
    struct sb_link *link; /* NULL: freed meanwhile */
    char *bytes;
};

struct sb_link_op *sb_link_find(struct sb_link *link, uint32_t id)
{
    for (size_t i = 0; id != 0 && i < SB_COUNT(link->ops); i++)
        if (link->ops[i].kind != OP_NONE && link->ops[i].id == id)
            return &link->ops[i];
    return NULL;
}

static void on_written(uv_write_t *request, int status)
{
    struct sb_link_write *write = (struct sb_link_write *)request;
    struct sb_link *link = write->link;

    sb_free(write->bytes);
    sb_free(write);
    if (link == NULL)
        return;
    link->write = NULL;
    if (status == 0) /* a guest that went away is seen by the reader */
        sb_link_flush(link);
}

void sb_link_flush(struct sb_link *link)
{
    struct sb_buf *out = &link->outgoing;
    uv_buf_t piece = uv_buf_init(out->data, (unsigned)out->len);
    int sent;

    uv_idle_stop(&link->flusher);
    /* One write at a time: what a guest that reads nothing makes us answer gathers in `out`,
     * which has a cap, and not in the stream's queue, which has none. */
    if (link->broken || link->write != NULL || out->len == 0)
        return;
    sent = uv_try_write(link->input, &piece, 1);
    if (sent > 0)
        sb_buf_drop(out, (size_t)sent);
    if (out->len > 0) {
        struct sb_link_write *write = sb_alloc(sizeof *write);
        unsigned len = (unsigned)out->len;

        link->write = write;
        write->link = link;
        write->bytes = sb_buf_take(out);
        piece = uv_buf_init(write->bytes, len);
        if (uv_write(&write->request, link->input, &piece, 1, on_written) < 0)
            on_written(&write->request, -1);
    }
}

static void on_idle(uv_idle_t *idle)
{
    sb_link_flush(idle->data);
}

void sb_link_send_soon(struct sb_link *link)
{
    if (!link->broken && !link->closing && !uv_is_active((uv_handle_t *)&link->flusher))
        uv_idle_start(&link->flusher, on_idle);
}

static void break_link(struct sb_link *link, const struct sb_err *why)
{
    if (link->broken)
        return;
    link->broken = true;
    uv_read_stop(link->output);
    uv_idle_stop(&link->flusher);
    memset(link->ops, 0, sizeof link->ops);
    if (!link->closing)
        link->events.on_broken(link->events.ctx, why);
}

/* Takes every whole frame of `bytes`; returns how much it used. */
static size_t take_frames(struct sb_link *link, const char *bytes, size_t len)
{
    size_t used = 0;

    while (!link->broken && !link->closing) {
        struct sb_frame frame;
        struct sb_err why = {0};
        long covers = sb_wire_take(bytes + used, len - used, &frame, &why);

        if (covers == 0)
            break;
        if (covers > 0)
            used += (size_t)covers;
        else
            sb_link_malformed(&why);
        if (covers < 0 || sb_link_take(link, &frame, &why) < 0)
            break_link(link, &why);
    }
    return used;
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    struct sb_link *link = handle->data;

    (void)suggested;
    *out = uv_buf_init(link->read_space, sizeof link->read_space);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf)
{
    struct sb_link *link = stream->data;
    struct sb_err why = {0};

    if (count == 0)
        return;
    if (count < 0) {
        sb_fail(&why, SB_HOST, "the guest is gone%s%s", count == UV_EOF ? "" : ": ",
                count == UV_EOF ? "" : uv_strerror((int)count));
        break_link(link, &why);
        return;
    }
    if (link->incoming.len == 0) {
        size_t used = take_frames(link, buf->base, (size_t)count);

        if (!link->broken)
            sb_buf_add(&link->incoming, buf->base + used, (size_t)count - used);
    } else {
        sb_buf_add(&link->incoming, buf->base, (size_t)count);
        sb_buf_drop(&link->incoming, take_frames(link, link->incoming.data, link->incoming.len));
    }
    if (link->outgoing.full) {
        sb_fail(&why, SB_DENIED,
                "the guest broke the protocol: it talks, but does not read what it is answered");
        break_link(link, &why);
    }
    sb_link_flush(link);
}

/* ---- what the owner asks ------------------------------------------------------------ */

int sb_link_open(uv_stream_t *input, uv_stream_t *output, const struct sb_link_events *events,
                 struct sb_link **out, struct sb_err *err)
{
    struct sb_link *link = sb_alloc(sizeof *link);
    int rc;

    link->input = input;
    link->output = output;
    link->events = *events;
    /* One unfinished frame at most, and one read on top of it. */
    sb_buf_init(&link->incoming, SB_WIRE_HEADER + SB_WIRE_PAYLOAD_MAX + SB_LINK_READ);
    sb_buf_init(&link->outgoing, OUTGOING_MAX);
    output->data = link;
    rc = uv_read_start(output, on_alloc, on_read);
    if (rc < 0) {
        sb_free(link);
        return sb_fail(err, SB_HOST, "cannot read from the guest: %s", uv_strerror(rc));
    }
    uv_idle_init(output->loop, &link->flusher);
    link->flusher.data = link;
    *out = link;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    struct sb_link *link = handle->data;

    sb_buf_done(&link->incoming);
    sb_buf_done(&link->outgoing);
    sb_free(link);
}

void sb_link_free(struct sb_link *link)
{
    if (link == NULL || link->closing)
        return;
    if (!link->broken) {
        uv_read_stop(link->output);
        sb_link_flush(link);
    }
    if (link->write != NULL)
        link->write->link = NULL;
    link->closing = true;
    uv_close((uv_handle_t *)&link->flusher, on_closed);
}

void sb_link_start(struct sb_link *link, unsigned flags)
{
    struct sb_wire_start start = {.version = SB_WIRE_VERSION, .flags = flags};

    memcpy(start.build, sb_wire_build_id(), sizeof start.build);
    sb_wire_put_start(&link->outgoing, &start);
    sb_link_send_soon(link);
}

/* A new operation with its id and full windows, or NULL. */
static struct sb_link_op *begin(struct sb_link *link, enum sb_link_op_kind kind,
                                const struct sb_op_events *events, struct sb_err *err)
{
    struct sb_link_op *op = NULL;

    if (link->broken || link->closing) {
        sb_fail(err, SB_HOST, "the box is closed");
        return NULL;
    }
    for (size_t i = 0; op == NULL && i < SB_COUNT(link->ops); i++)
        if (link->ops[i].kind == OP_NONE)
            op = &link->ops[i];
    if (op == NULL) {
        sb_fail(err, SB_BUSY, "%d operations are open in this box: wait for one to end", SB_WIRE_OPS_MAX);
        return NULL;
    }
    op->kind = kind;
    op->id = ++link->last_id;
    op->events = *events;
    op->sends = kind == OP_PUT;
    op->may_send = SB_WIRE_WINDOW;
    for (int i = 0; i < SB_CHAN_COUNT; i++)
        op->may_receive[i] = SB_WIRE_WINDOW;
    return op;
}

/* The request was encoded behind `before`; a request past its caps is taken back whole. */
static uint32_t sent(struct sb_link *link, struct sb_link_op *op, size_t before, struct sb_err *err)
{
    if (link->outgoing.full) {
        link->outgoing.len = before;
        link->outgoing.full = false;
        memset(op, 0, sizeof *op);
        sb_fail(err, SB_LIMIT,
                "the request is larger than a box takes (%u bytes of arguments and environment)",
                SB_WIRE_PAYLOAD_MAX);
        return 0;
    }
    sb_link_send_soon(link);
    return op->id;
}

uint32_t sb_link_put(struct sb_link *link, const char *path, unsigned flags,
                     const struct sb_op_events *events, struct sb_err *err)
{
    struct sb_link_op *op = begin(link, OP_PUT, events, err);
    struct sb_wire_put put = {.flags = flags};
    size_t before = link->outgoing.len;

    if (op == NULL)
        return 0;
    if (strlen(path) >= sizeof put.path)
        link->outgoing.full = true;
    else
        memcpy(put.path, path, strlen(path) + 1);
    sb_wire_put_put(&link->outgoing, op->id, &put);
    return sent(link, op, before, err);
}

uint32_t sb_link_get(struct sb_link *link, const char *path, uint64_t offset, uint64_t most,
                     const struct sb_op_events *events, struct sb_err *err)
{
    struct sb_link_op *op = begin(link, OP_GET, events, err);
    struct sb_wire_get get = {.offset = offset, .most = most};
    size_t before = link->outgoing.len;

    if (op == NULL)
        return 0;
    op->left = most != 0 ? most : UINT64_MAX;
    if (strlen(path) >= sizeof get.path)
        link->outgoing.full = true;
    else
        memcpy(get.path, path, strlen(path) + 1);
    sb_wire_put_get(&link->outgoing, op->id, &get);
    return sent(link, op, before, err);
}

uint32_t sb_link_exec(struct sb_link *link, const struct sb_wire_exec *exec,
                      const struct sb_op_events *events, struct sb_err *err)
{
    struct sb_link_op *op = begin(link, OP_EXEC, events, err);
    size_t before = link->outgoing.len;

    if (op == NULL)
        return 0;
    op->sends = (exec->flags & SB_EXEC_STDIN) != 0;
    sb_wire_put_exec(&link->outgoing, op->id, exec);
    return sent(link, op, before, err);
}

static void order(struct sb_link *link, enum sb_msg type, uint32_t id)
{
    if (sb_link_find(link, id) == NULL)
        return; /* it has ended already */
    sb_wire_put_frame(&link->outgoing, type, SB_CHAN_IN, id, NULL, 0);
    sb_link_send_soon(link);
}

void sb_link_kill(struct sb_link *link, uint32_t id)
{
    order(link, SB_MSG_KILL, id);
}

size_t sb_link_send(struct sb_link *link, uint32_t id, const void *bytes, size_t len)
{
    struct sb_link_op *op = sb_link_find(link, id);
    size_t done = 0;

    while (op != NULL && op->sends && done < len && op->may_send > 0) {
        size_t piece = len - done;

        if (piece > op->may_send)
            piece = op->may_send;
        if (piece > SB_WIRE_DATA_MAX)
            piece = SB_WIRE_DATA_MAX;
        sb_wire_put_frame(&link->outgoing, SB_MSG_DATA, SB_CHAN_IN, id, (const char *)bytes + done, piece);
        op->may_send -= (uint32_t)piece;
        done += piece;
    }
    if (done > 0)
        sb_link_send_soon(link);
    return done;
}

void sb_link_send_end(struct sb_link *link, uint32_t id)
{
    struct sb_link_op *op = sb_link_find(link, id);

    if (op == NULL || !op->sends)
        return;
    op->sends = false;
    order(link, SB_MSG_END, id);
}

void sb_link_credit(struct sb_link *link, uint32_t id, enum sb_channel channel, size_t bytes)
{
    struct sb_link_op *op = sb_link_find(link, id);

    if (op == NULL || bytes == 0 || op->ended[channel])
        return;
    op->owed[channel] += (uint32_t)bytes;
    if (op->owed[channel] < CREDIT_STEP && op->may_receive[channel] >= CREDIT_STEP)
        return;
    sb_wire_put_credit(&link->outgoing, channel, id, op->owed[channel]);
    op->may_receive[channel] += op->owed[channel];
    op->owed[channel] = 0;
    sb_link_send_soon(link);
}
