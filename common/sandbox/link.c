/* SPDX-License-Identifier: MIT */
#include "sandbox/link.h"

#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

/* What one read takes from the guest: a DATA frame and some. */
#define READ_BYTES (128u * 1024)
/* Credit is told in such steps: a guest that sends single bytes must not make us answer each. */
#define CREDIT_STEP (64u * 1024)
/* Unsent bytes: every operation's window and its requests. A guest that talks without reading
 * can fill it with the answers it gets: that breaks the link. */
#define OUTGOING_MAX (SB_WIRE_OPS_MAX * (size_t)(SB_WIRE_WINDOW + SB_WIRE_HEADER) + 4u * SB_WIRE_PAYLOAD_MAX)

enum op_kind { OP_NONE, OP_PUT, OP_GET, OP_LIST, OP_REMOVE, OP_EXEC };

/* Which streams an operation has: bit per channel. */
static const unsigned char receives[] = {
    [OP_GET] = 1u << SB_CHAN_OUT,
    [OP_LIST] = 1u << SB_CHAN_OUT,
    [OP_EXEC] = 1u << SB_CHAN_OUT | 1u << SB_CHAN_ERR,
};

struct op {
    enum op_kind kind;
    uint32_t id;
    struct sb_op_events events;
    bool forgotten; /* nobody listens; its streams are drained */
    bool sends;     /* has an input stream that is not ended */
    uint32_t may_send;
    uint32_t may_receive[SB_CHAN_COUNT];
    uint32_t owed[SB_CHAN_COUNT]; /* credit the owner gave that we have not told yet */
    bool ended[SB_CHAN_COUNT];
};

struct sb_link {
    uv_stream_t *input, *output;
    struct sb_link_events events;
    uv_idle_t flusher; /* sends what was gathered at the next turn */
    struct sb_buf incoming, outgoing;
    struct op ops[SB_WIRE_OPS_MAX];
    uint32_t last_id;
    bool hello, broken, closing;
    struct write *write; /* the one that is on its way; NULL: none */
    char read_space[READ_BYTES];
};

struct write {
    uv_write_t request;
    struct sb_link *link; /* NULL: freed meanwhile */
    char *bytes;
};

static struct op *find(struct sb_link *link, uint32_t id)
{
    for (size_t i = 0; id != 0 && i < SB_COUNT(link->ops); i++)
        if (link->ops[i].kind != OP_NONE && link->ops[i].id == id)
            return &link->ops[i];
    return NULL;
}

static void on_written(uv_write_t *request, int status)
{
    struct write *write = (struct write *)request;
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
        struct write *write = sb_alloc(sizeof *write);
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

static void send_soon(struct sb_link *link)
{
    if (!link->broken && !uv_is_active((uv_handle_t *)&link->flusher))
        uv_idle_start(&link->flusher, on_idle);
}

/* ---- what the guest says ------------------------------------------------------------ */

/* The guest broke the rules: `why` is the sentence. */
static int refuse(struct sb_err *why, const char *text, uint32_t id)
{
    return sb_fail(why, SB_DENIED, "the guest broke the protocol: %s (operation %u)", text, (unsigned)id);
}

/* The same for a frame or message that its decoder refused. */
static int malformed(struct sb_err *why)
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
        return malformed(why);
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
static void finish(struct op *op, const struct sb_err *error, const struct sb_wire_exit *exit)
{
    struct op last = *op;

    memset(op, 0, sizeof *op);
    if (last.forgotten)
        return;
    if (exit != NULL)
        last.events.on_exit(last.events.ctx, exit);
    else
        last.events.on_done(last.events.ctx, error);
}

static int take_error(struct sb_link *link, const struct sb_frame *frame, struct sb_err *why)
{
    struct op *op = find(link, frame->id);
    struct sb_wire_error error;
    struct sb_err told = {0};
    struct sb_utf8_repair repair = {0};
    struct sb_buf text;

    if (sb_wire_get_error(frame, &error, why) < 0)
        return malformed(why);
    if (frame->id != 0 && op == NULL)
        return refuse(why, "ERROR for nothing that is open", frame->id);
    sb_buf_init(&text, sizeof error.text * 3);
    sb_utf8_repair(&repair, error.text, strlen(error.text), &text);
    sb_utf8_repair_end(&repair, &text);
    /* A hostile guest may claim any code: only "it worked" would mislead. */
    sb_fail(&told, error.code > SB_OK && error.code <= SB_BUG ? (enum sb_code)error.code : SB_HOST, "%s", text.data);
    told.os = error.os;
    sb_buf_done(&text);
    if (frame->id == 0) {
        *why = told;
        return sb_fail_in(why, "the guest gave up");
    }
    if (op->kind == OP_PUT) { /* "I know": else the guest refuses the next EXEC, since its file is missing */
        sb_wire_put_frame(&link->outgoing, SB_MSG_CANCEL, SB_CHAN_IN, op->id, NULL, 0);
        send_soon(link);
    }
    finish(op, &told, NULL);
    return 0;
}

static int take_done(struct sb_link *link, const struct sb_frame *frame, struct sb_err *why)
{
    struct op *op = find(link, frame->id);

    if (op == NULL || (op->kind != OP_PUT && op->kind != OP_REMOVE))
        return refuse(why, "DONE for nothing that is open", frame->id);
    finish(op, NULL, NULL);
    return 0;
}

static int take_exit(struct sb_link *link, const struct sb_frame *frame, struct sb_err *why)
{
    struct op *op = find(link, frame->id);
    struct sb_wire_exit exit;

    if (op == NULL || op->kind != OP_EXEC)
        return refuse(why, "EXIT of no run", frame->id);
    if (!op->ended[SB_CHAN_OUT] || !op->ended[SB_CHAN_ERR])
        return refuse(why, "EXIT before the end of the output", frame->id);
    if (sb_wire_get_exit(frame, &exit, why) < 0)
        return malformed(why);
    finish(op, NULL, &exit);
    sb_wire_exit_done(&exit);
    return 0;
}

/* The open stream a DATA or END frame belongs to, or NULL. */
static struct op *stream_of(struct sb_link *link, const struct sb_frame *frame)
{
    struct op *op = find(link, frame->id);

    if (op == NULL || (receives[op->kind] & 1u << frame->channel) == 0 || op->ended[frame->channel])
        return NULL;
    return op;
}

static int take_data(struct sb_link *link, const struct sb_frame *frame, struct sb_err *why)
{
    struct op *op = stream_of(link, frame);

    if (op == NULL)
        return refuse(why, "DATA for no open stream", frame->id);
    if (frame->len > op->may_receive[frame->channel])
        return refuse(why, "DATA beyond its credit", frame->id);
    op->may_receive[frame->channel] -= frame->len;
    if (op->forgotten)
        sb_link_credit(link, op->id, (enum sb_channel)frame->channel, frame->len);
    else if (frame->len > 0)
        op->events.on_data(op->events.ctx, (enum sb_channel)frame->channel, frame->payload, frame->len);
    return 0;
}

static int take_end(struct sb_link *link, const struct sb_frame *frame, struct sb_err *why)
{
    struct op *op = stream_of(link, frame);
    bool last;

    if (op == NULL)
        return refuse(why, "END of no open stream", frame->id);
    op->ended[frame->channel] = true;
    last = op->kind != OP_EXEC;
    if (!op->forgotten && op->events.on_end != NULL)
        op->events.on_end(op->events.ctx, (enum sb_channel)frame->channel);
    op = find(link, frame->id); /* the callback may have closed the link */
    if (last && op != NULL && !link->closing)
        finish(op, NULL, NULL);
    return 0;
}

static int take_credit(struct sb_link *link, const struct sb_frame *frame, struct sb_err *why)
{
    struct op *op = find(link, frame->id);
    uint32_t bytes;

    if (sb_wire_get_credit(frame, &bytes, why) < 0)
        return malformed(why);
    if (frame->channel != SB_CHAN_IN || op == NULL || (op->kind != OP_PUT && op->kind != OP_EXEC))
        return refuse(why, "CREDIT for no stream of ours", frame->id);
    if (bytes > SB_WIRE_WINDOW - op->may_send)
        return refuse(why, "more CREDIT than the window", frame->id);
    op->may_send += bytes;
    if (op->sends && !op->forgotten && op->events.on_input != NULL)
        op->events.on_input(op->events.ctx);
    return 0;
}

static const struct {
    enum sb_msg type;
    int (*take)(struct sb_link *link, const struct sb_frame *frame, struct sb_err *why);
} answers[] = {
    {SB_MSG_HELLO, take_hello}, {SB_MSG_DATA, take_data}, {SB_MSG_END, take_end},   {SB_MSG_CREDIT, take_credit},
    {SB_MSG_DONE, take_done},   {SB_MSG_EXIT, take_exit}, {SB_MSG_ERROR, take_error},
};

static int take_frame(struct sb_link *link, const struct sb_frame *frame, struct sb_err *why)
{
    if (!link->hello && frame->type != SB_MSG_HELLO && !(frame->type == SB_MSG_ERROR && frame->id == 0))
        return refuse(why, "something before HELLO", frame->id);
    for (size_t i = 0; i < SB_COUNT(answers); i++)
        if (answers[i].type == frame->type)
            return answers[i].take(link, frame, why);
    return refuse(why, "a message only a host sends", frame->id);
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
            malformed(&why);
        if (covers < 0 || take_frame(link, &frame, &why) < 0)
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
        sb_fail(&why, SB_DENIED, "the guest broke the protocol: it talks, but does not read what it is answered");
        break_link(link, &why);
    }
    sb_link_flush(link);
}

/* ---- what the owner asks ------------------------------------------------------------ */

int sb_link_open(uv_stream_t *input, uv_stream_t *output, const struct sb_link_events *events, struct sb_link **out,
                 struct sb_err *err)
{
    struct sb_link *link = sb_alloc(sizeof *link);
    int rc;

    link->input = input;
    link->output = output;
    link->events = *events;
    /* One unfinished frame at most, and one read on top of it. */
    sb_buf_init(&link->incoming, SB_WIRE_HEADER + SB_WIRE_PAYLOAD_MAX + READ_BYTES);
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
    send_soon(link);
}

/* A new operation with its id and full windows, or NULL. */
static struct op *begin(struct sb_link *link, enum op_kind kind, const struct sb_op_events *events,
                        struct sb_err *err)
{
    struct op *op = NULL;

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
static uint32_t sent(struct sb_link *link, struct op *op, size_t before, struct sb_err *err)
{
    if (link->outgoing.full) {
        link->outgoing.len = before;
        link->outgoing.full = false;
        memset(op, 0, sizeof *op);
        sb_fail(err, SB_LIMIT, "the request is larger than a box takes (%u bytes of arguments and environment)",
                SB_WIRE_PAYLOAD_MAX);
        return 0;
    }
    send_soon(link);
    return op->id;
}

uint32_t sb_link_put(struct sb_link *link, const char *path, unsigned flags, const struct sb_op_events *events,
                     struct sb_err *err)
{
    struct op *op = begin(link, OP_PUT, events, err);
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
    struct op *op = begin(link, OP_GET, events, err);
    struct sb_wire_get get = {.offset = offset, .most = most};
    size_t before = link->outgoing.len;

    if (op == NULL)
        return 0;
    if (strlen(path) >= sizeof get.path)
        link->outgoing.full = true;
    else
        memcpy(get.path, path, strlen(path) + 1);
    sb_wire_put_get(&link->outgoing, op->id, &get);
    return sent(link, op, before, err);
}

static uint32_t ask_path(struct sb_link *link, enum op_kind kind, enum sb_msg type, const char *path,
                         const struct sb_op_events *events, struct sb_err *err)
{
    struct op *op = begin(link, kind, events, err);
    size_t before = link->outgoing.len;

    if (op == NULL)
        return 0;
    sb_wire_put_path(&link->outgoing, type, op->id, path);
    return sent(link, op, before, err);
}

uint32_t sb_link_list(struct sb_link *link, const char *path, const struct sb_op_events *events, struct sb_err *err)
{
    return ask_path(link, OP_LIST, SB_MSG_LIST, path, events, err);
}

uint32_t sb_link_remove(struct sb_link *link, const char *path, const struct sb_op_events *events,
                        struct sb_err *err)
{
    return ask_path(link, OP_REMOVE, SB_MSG_REMOVE, path, events, err);
}

uint32_t sb_link_exec(struct sb_link *link, const struct sb_wire_exec *exec, const struct sb_op_events *events,
                      struct sb_err *err)
{
    struct op *op = begin(link, OP_EXEC, events, err);
    size_t before = link->outgoing.len;

    if (op == NULL)
        return 0;
    op->sends = (exec->flags & SB_EXEC_STDIN) != 0;
    sb_wire_put_exec(&link->outgoing, op->id, exec);
    return sent(link, op, before, err);
}

static void order(struct sb_link *link, enum sb_msg type, uint32_t id)
{
    if (find(link, id) == NULL)
        return; /* it has ended already */
    sb_wire_put_frame(&link->outgoing, type, SB_CHAN_IN, id, NULL, 0);
    send_soon(link);
}

void sb_link_kill(struct sb_link *link, uint32_t id)
{
    order(link, SB_MSG_KILL, id);
}

void sb_link_interrupt(struct sb_link *link, uint32_t id)
{
    order(link, SB_MSG_INTERRUPT, id);
}

void sb_link_cancel(struct sb_link *link, uint32_t id)
{
    order(link, SB_MSG_CANCEL, id);
}

void sb_link_forget(struct sb_link *link, uint32_t id)
{
    struct op *op = find(link, id);

    if (op == NULL)
        return;
    op->forgotten = true;
    for (int i = 0; i < SB_CHAN_COUNT; i++)
        if ((receives[op->kind] & 1u << i) != 0)
            sb_link_credit(link, id, (enum sb_channel)i, SB_WIRE_WINDOW - op->may_receive[i] - op->owed[i]);
}

size_t sb_link_send(struct sb_link *link, uint32_t id, const void *bytes, size_t len)
{
    struct op *op = find(link, id);
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
        send_soon(link);
    return done;
}

void sb_link_send_end(struct sb_link *link, uint32_t id)
{
    struct op *op = find(link, id);

    if (op == NULL || !op->sends)
        return;
    op->sends = false;
    order(link, SB_MSG_END, id);
}

void sb_link_credit(struct sb_link *link, uint32_t id, enum sb_channel channel, size_t bytes)
{
    struct op *op = find(link, id);

    if (op == NULL || bytes == 0 || op->ended[channel])
        return;
    op->owed[channel] += (uint32_t)bytes;
    if (op->owed[channel] < CREDIT_STEP && op->may_receive[channel] >= CREDIT_STEP)
        return;
    sb_wire_put_credit(&link->outgoing, channel, id, op->owed[channel]);
    op->may_receive[channel] += op->owed[channel];
    op->owed[channel] = 0;
    send_soon(link);
}
