/* SPDX-License-Identifier: MIT */
#include "wire/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int64_t client_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void client_init(struct client *c, int to, int from)
{
    memset(c, 0, sizeof(*c));
    c->to = to;
    c->from = from;
    sb_buf_init(&c->in, CLIENT_INPUT_MAX);
    sb_buf_init(&c->out, CLIENT_OUT_MAX);
    fcntl(to, F_SETFL, O_NONBLOCK);
    fcntl(from, F_SETFL, O_NONBLOCK);
}

void client_done(struct client *c)
{
    for (size_t i = 0; i < c->op_count; i++) {
        for (int channel = 0; channel < SB_CHAN_COUNT; channel++)
            sb_buf_done(&c->ops[i].bytes[channel]);
        sb_wire_exit_done(&c->ops[i].exit);
    }
    c->op_count = 0;
    sb_buf_done(&c->in);
    sb_buf_done(&c->out);
}

/* ---- what came ------------------------------------------------------------------------ */

static struct client_op *find_op(struct client *c, uint32_t id)
{
    for (size_t i = 0; i < c->op_count; i++) {
        if (c->ops[i].id == id)
            return &c->ops[i];
    }
    return NULL;
}

static bool has_output(const struct client_op *op, uint8_t channel)
{
    if (op->request == SB_MSG_EXEC)
        return channel == SB_CHAN_OUT || channel == SB_CHAN_ERR;
    return (op->request == SB_MSG_GET || op->request == SB_MSG_LIST) && channel == SB_CHAN_OUT;
}

static int on_data(struct client *c, struct client_op *op, const struct sb_frame *f)
{
    if (!has_output(op, f->channel) || op->ended[f->channel])
        return sb_fail(&c->err, SB_DENIED, "data on channel %u of %u, which is not open", f->channel, op->id);
    if (f->len > op->window[f->channel])
        return sb_fail(&c->err, SB_DENIED, "%u bytes on channel %u of %u beyond its credit of %zu", f->len,
                       f->channel, op->id, op->window[f->channel]);
    op->window[f->channel] -= f->len;
    op->got[f->channel] += f->len;
    sb_buf_add(&op->bytes[f->channel], f->payload, f->len);
    if (!op->hold) {
        sb_wire_put_credit(&c->out, (enum sb_channel)f->channel, op->id, f->len);
        op->window[f->channel] += f->len;
    }
    return 0;
}

static int on_end(struct client *c, struct client_op *op, const struct sb_frame *f)
{
    if (!has_output(op, f->channel) || op->ended[f->channel])
        return sb_fail(&c->err, SB_DENIED, "end on channel %u of %u, which is not open", f->channel, op->id);
    op->ended[f->channel] = true;
    if (op->request != SB_MSG_EXEC)
        op->last = SB_MSG_END;
    return 0;
}

static int on_credit(struct client *c, struct client_op *op, const struct sb_frame *f)
{
    uint32_t bytes = 0;

    if (sb_wire_get_credit(f, &bytes, &c->err) < 0)
        return -1;
    if (f->channel != SB_CHAN_IN || (op->request != SB_MSG_PUT && op->request != SB_MSG_EXEC))
        return sb_fail(&c->err, SB_DENIED, "credit on channel %u of %u, which takes no input", f->channel,
                       op->id);
    if (bytes > SB_WIRE_WINDOW - op->credit)
        return sb_fail(&c->err, SB_DENIED, "credit of %u over the window, which has %zu", op->id, op->credit);
    op->credit += bytes;
    return 0;
}

static int on_final(struct client *c, struct client_op *op, const struct sb_frame *f)
{
    if (f->type == SB_MSG_EXIT) {
        if (op->request != SB_MSG_EXEC || !op->ended[SB_CHAN_OUT] || !op->ended[SB_CHAN_ERR])
            return sb_fail(&c->err, SB_DENIED, "EXIT of %u, which is no run or has open outputs", op->id);
        if (sb_wire_get_exit(f, &op->exit, &c->err) < 0)
            return -1;
    } else if (f->type == SB_MSG_ERROR) {
        if (sb_wire_get_error(f, &op->error, &c->err) < 0)
            return -1;
    } else if (op->request != SB_MSG_PUT && op->request != SB_MSG_REMOVE) {
        return sb_fail(&c->err, SB_DENIED, "DONE of %u, which ends otherwise", op->id);
    }
    op->last = (enum sb_msg)f->type;
    return 0;
}

static int on_frame_of_box(struct client *c, const struct sb_frame *f)
{
    if (f->type == SB_MSG_HELLO && !c->hello_seen) {
        if (sb_wire_get_hello(f, &c->hello, &c->err) < 0)
            return -1;
        c->hello_seen = true;
        return 0;
    }
    if (f->type == SB_MSG_ERROR && !c->gave_up) {
        if (sb_wire_get_error(f, &c->error, &c->err) < 0)
            return -1;
        c->gave_up = true;
        return 0;
    }
    return sb_fail(&c->err, SB_DENIED, "frame of type %u with id 0", f->type);
}

static int on_frame(struct client *c, const struct sb_frame *f)
{
    struct client_op *op;

    if (c->gave_up)
        return sb_fail(&c->err, SB_DENIED, "a frame of type %u after ERROR 0", f->type);
    if (f->id == 0)
        return on_frame_of_box(c, f);
    if (!c->hello_seen)
        return sb_fail(&c->err, SB_DENIED, "a frame of type %u before HELLO", f->type);
    op = find_op(c, f->id);
    if (op == NULL)
        return sb_fail(&c->err, SB_DENIED, "a frame of type %u for %u, never opened", f->type, f->id);
    if (op->last != 0)
        return sb_fail(&c->err, SB_DENIED, "a frame of type %u for %u, which is over", f->type, f->id);
    switch ((int)f->type) {
    case SB_MSG_DATA:
        return on_data(c, op, f);
    case SB_MSG_END:
        return on_end(c, op, f);
    case SB_MSG_CREDIT:
        return on_credit(c, op, f);
    case SB_MSG_DONE:
    case SB_MSG_ERROR:
    case SB_MSG_EXIT:
        return on_final(c, op, f);
    default:
        return sb_fail(&c->err, SB_DENIED, "a frame of type %u from a guest", f->type);
    }
}

static int take_frames(struct client *c)
{
    struct sb_frame frame;
    size_t used = 0;
    long n;

    while ((n = sb_wire_take(c->in.data + used, c->in.len - used, &frame, &c->err)) > 0) {
        if (on_frame(c, &frame) < 0)
            return -1;
        used += (size_t)n;
    }
    sb_buf_drop(&c->in, used);
    return n < 0 ? -1 : 0;
}

/* ---- one turn ------------------------------------------------------------------------- */

static int read_some(struct client *c)
{
    char chunk[65536];
    ssize_t n = read(c->from, chunk, sizeof(chunk));

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    /* A guest that was killed with bytes of ours unread resets the socket. */
    if (n == 0 || (n < 0 && errno == ECONNRESET)) {
        c->ended = true;
        if (c->in.len > 0)
            return sb_fail(&c->err, SB_HOST, "the guest's stream ends inside a frame");
        return 0;
    }
    if (n < 0)
        return sb_fail(&c->err, SB_HOST, "cannot read from the guest: %s", strerror(errno));
    sb_buf_add(&c->in, chunk, (size_t)n);
    return take_frames(c);
}

static int write_some(struct client *c)
{
    ssize_t n = write(c->to, c->out.data, c->out.len);

    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        /* What it still said is worth more than that it stopped listening. */
        sb_buf_clear(&c->out);
        return 0;
    }
    if (n > 0)
        sb_buf_drop(&c->out, (size_t)n);
    return 0;
}

/* Waits for one event and handles it: 1, or 0 when the deadline passed, or -1. */
static int turn(struct client *c, int64_t deadline)
{
    struct pollfd fds[2] = {{.fd = c->ended ? -1 : c->from, .events = POLLIN},
                            {.fd = c->out.len > 0 ? c->to : -1, .events = POLLOUT}};
    int64_t left = deadline - client_now_ms();
    int n = poll(fds, 2, left > 0 ? (int)left : 0);

    if (c->out.full)
        return sb_fail(&c->err, SB_BUG, "the client's own queue is full");
    if (n <= 0)
        return 0;
    if (fds[1].revents != 0 && write_some(c) < 0)
        return -1;
    if (fds[0].revents != 0 && read_some(c) < 0)
        return -1;
    return 1;
}

struct wait {
    const struct client_op *op;
    enum sb_channel channel;
    uint64_t count;
    const char *text;
};

/* Turns until `met` says so. */
static int wait_for(struct client *c, bool (*met)(struct client *, const struct wait *),
                    const struct wait *what, const char *name, int timeout_ms)
{
    int64_t deadline = client_now_ms() + timeout_ms;

    while (!met(c, what)) {
        int rc = turn(c, deadline);
        if (rc < 0)
            return -1;
        if (rc == 0)
            return sb_fail(&c->err, SB_TIMEOUT, "no %s within %d ms", name, timeout_ms);
        if (c->ended && !met(c, what))
            return sb_fail(&c->err, SB_HOST, "the guest ended before %s%s%s", name, c->gave_up ? ": " : "",
                           c->gave_up ? c->error.text : "");
    }
    return 0;
}

static bool met_flushed(struct client *c, const struct wait *what)
{
    (void)what;
    return c->out.len == 0;
}

static bool met_hello(struct client *c, const struct wait *what)
{
    (void)what;
    return c->hello_seen;
}

static bool met_over(struct client *c, const struct wait *what)
{
    (void)c;
    return what->op->last != 0;
}

static bool met_bytes(struct client *c, const struct wait *what)
{
    (void)c;
    return what->op->got[what->channel] >= what->count;
}

static bool met_text(struct client *c, const struct wait *what)
{
    (void)c;
    return strstr(what->op->bytes[SB_CHAN_OUT].data, what->text) != NULL;
}

static bool met_credit(struct client *c, const struct wait *what)
{
    (void)c;
    return what->op->credit > 0 || what->op->last != 0;
}

static bool met_ended(struct client *c, const struct wait *what)
{
    (void)what;
    return c->ended;
}

int client_flush(struct client *c, int timeout_ms)
{
    return wait_for(c, met_flushed, NULL, "room for our bytes", timeout_ms);
}

int client_wait_hello(struct client *c, int timeout_ms)
{
    return wait_for(c, met_hello, NULL, "HELLO", timeout_ms);
}

int client_wait(struct client *c, const struct client_op *op, int timeout_ms)
{
    struct wait what = {.op = op};
    return wait_for(c, met_over, &what, "end of an operation", timeout_ms);
}

int client_wait_bytes(struct client *c, const struct client_op *op, enum sb_channel channel, uint64_t count,
                      int timeout_ms)
{
    struct wait what = {.op = op, .channel = channel, .count = count};
    return wait_for(c, met_bytes, &what, "output", timeout_ms);
}

int client_wait_text(struct client *c, const struct client_op *op, const char *text, int timeout_ms)
{
    struct wait what = {.op = op, .text = text};
    return wait_for(c, met_text, &what, text, timeout_ms);
}

int client_wait_ended(struct client *c, int timeout_ms)
{
    return wait_for(c, met_ended, NULL, "end of the guest", timeout_ms);
}

int client_drain(struct client *c, int quiet_ms)
{
    int rc = 1;

    while (rc > 0 && !c->ended)
        rc = turn(c, client_now_ms() + quiet_ms);
    return rc < 0 ? -1 : 0;
}

/* ---- requests ------------------------------------------------------------------------- */

static struct client_op *new_op(struct client *c, enum sb_msg request)
{
    struct client_op *op = &c->ops[c->op_count];

    if (c->op_count == CLIENT_OPS)
        abort();
    op->id = (uint32_t)++c->op_count;
    op->request = request;
    op->credit = SB_WIRE_WINDOW;
    for (int channel = 0; channel < SB_CHAN_COUNT; channel++) {
        op->window[channel] = SB_WIRE_WINDOW;
        sb_buf_init(&op->bytes[channel], CLIENT_KEEP_MAX);
    }
    return op;
}

void client_start(struct client *c, uint32_t flags)
{
    struct sb_wire_start start = {.version = SB_WIRE_VERSION, .flags = flags};

    memcpy(start.build, sb_wire_build_id(), SB_WIRE_BUILD_LEN);
    sb_wire_put_start(&c->out, &start);
}

struct client_op *client_put(struct client *c, const char *path, uint32_t flags)
{
    struct client_op *op = new_op(c, SB_MSG_PUT);
    struct sb_wire_put put = {.flags = flags};

    memcpy(put.path, path, strnlen(path, SB_WIRE_PATH_MAX));
    sb_wire_put_put(&c->out, op->id, &put);
    return op;
}

struct client_op *client_get(struct client *c, const char *path, uint64_t offset, uint64_t most)
{
    struct client_op *op = new_op(c, SB_MSG_GET);
    struct sb_wire_get get = {.offset = offset, .most = most};

    memcpy(get.path, path, strnlen(path, SB_WIRE_PATH_MAX));
    sb_wire_put_get(&c->out, op->id, &get);
    return op;
}

static struct client_op *path_op(struct client *c, enum sb_msg type, const char *path)
{
    struct client_op *op = new_op(c, type);

    sb_wire_put_path(&c->out, type, op->id, path);
    return op;
}

struct client_op *client_list(struct client *c, const char *path)
{
    return path_op(c, SB_MSG_LIST, path);
}

struct client_op *client_remove(struct client *c, const char *path)
{
    return path_op(c, SB_MSG_REMOVE, path);
}

struct client_op *client_exec(struct client *c, const struct sb_wire_exec *exec)
{
    struct client_op *op = new_op(c, SB_MSG_EXEC);

    sb_wire_put_exec(&c->out, op->id, exec);
    return op;
}

void client_simple(struct client *c, enum sb_msg type, const struct client_op *op)
{
    sb_wire_put_frame(&c->out, type, SB_CHAN_IN, op->id, NULL, 0);
}

int client_send(struct client *c, struct client_op *op, const void *bytes, size_t len, int timeout_ms)
{
    const char *at = bytes;
    struct wait what = {.op = op};

    while (len > 0) {
        if (wait_for(c, met_credit, &what, "credit", timeout_ms) < 0)
            return -1;
        if (op->last != 0)
            return 0;
        size_t n = len < op->credit ? len : op->credit;
        n = n < SB_WIRE_DATA_MAX ? n : SB_WIRE_DATA_MAX;
        sb_wire_put_frame(&c->out, SB_MSG_DATA, SB_CHAN_IN, op->id, at, n);
        op->credit -= n;
        at += n;
        len -= n;
    }
    return 0;
}

void client_send_end(struct client *c, struct client_op *op)
{
    sb_wire_put_frame(&c->out, SB_MSG_END, SB_CHAN_IN, op->id, NULL, 0);
}

void client_release(struct client *c, struct client_op *op)
{
    op->hold = false;
    for (int channel = SB_CHAN_OUT; channel < SB_CHAN_COUNT; channel++) {
        uint32_t owed = (uint32_t)(SB_WIRE_WINDOW - op->window[channel]);
        if (owed == 0)
            continue;
        sb_wire_put_credit(&c->out, (enum sb_channel)channel, op->id, owed);
        op->window[channel] = SB_WIRE_WINDOW;
    }
}
