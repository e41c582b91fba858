/* SPDX-License-Identifier: MIT
 * One write is under way at a time, and what comes meanwhile is gathered behind it. A pipe
 * or a terminal is a libuv stream; a file is read and written on the pool. */
#include "server/conn.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "server/line.h"

#define READ_BYTES (64u * 1024) /* at once */
#define KEPT_BYTES (64u * 1024) /* of a buffer's memory, when it is empty */

enum state { READING, PAUSED, CLOSING };

struct sb_conn {
    uv_loop_t *loop;
    struct sb_conn_events events;
    enum state state;
    bool hold;             /* by the owner */
    bool full;             /* on_drained is due */
    uv_stream_t *in, *out; /* NULL: a file; they may be the same */
    int file_in, file_out; /* -1: a stream */
    bool reading;          /* a stream is started, or a read of the file is under way */
    bool writing;
    bool over;        /* the end was read, or it is `dead`: on_end is due, or was rung */
    bool dead;        /* no more can be written */
    bool finish;      /* when all is sent the other side is told the end */
    bool ending;      /* the handles are being closed */
    unsigned open;    /* handles and requests of libuv that still know us */
    uv_timer_t timer; /* on_end that must not ring at once; the last moment of CLOSING */
    unsigned last_ticks;
    size_t last_unsent;
    struct sb_line_reader lines;
    struct sb_buf held; /* read, not yet cut into lines */
    struct sb_buf waiting, flying;
    size_t flown; /* of `flying`, to a file */
    uv_write_t write;
    uv_shutdown_t shutdown;
    uv_fs_t file_read, file_write;
};

static void read_more(struct sb_conn *conn);
static void write_more(struct sb_conn *conn);

static size_t unsent(const struct sb_conn *conn)
{
    size_t flying = conn->out ? uv_stream_get_write_queue_size(conn->out) : conn->flying.len - conn->flown;

    return conn->waiting.len + (conn->writing ? flying : 0);
}

static void empty(struct sb_buf *buf)
{
    if (buf->cap > KEPT_BYTES)
        sb_buf_done(buf);
    else
        sb_buf_clear(buf);
}

/* ---- the end ------------------------------------------------------------------------- */

static void close_file(struct sb_conn *conn, int fd)
{
    uv_fs_t request;

    if (fd <= 2)
        return;
    uv_fs_close(conn->loop, &request, fd, NULL);
    uv_fs_req_cleanup(&request);
}

static void let_go(struct sb_conn *conn)
{
    void (*on_closed)(void *ctx) = conn->events.on_closed;
    void *ctx = conn->events.ctx;

    if (--conn->open > 0)
        return;
    close_file(conn, conn->file_in);
    if (conn->file_out != conn->file_in)
        close_file(conn, conn->file_out);
    sb_line_done(&conn->lines);
    sb_buf_done(&conn->held);
    sb_buf_done(&conn->waiting);
    sb_buf_done(&conn->flying);
    sb_free(conn);
    if (on_closed)
        on_closed(ctx);
}

static void on_timer_closed(uv_handle_t *handle)
{
    let_go(handle->data);
}

static void on_stream_closed(uv_handle_t *handle)
{
    struct sb_conn *conn = handle->data;

    sb_free(handle);
    let_go(conn);
}

static void end(struct sb_conn *conn)
{
    if (conn->ending)
        return;
    conn->ending = true;
    if (conn->in)
        uv_close((uv_handle_t *)conn->in, on_stream_closed);
    if (conn->out && conn->out != conn->in)
        uv_close((uv_handle_t *)conn->out, on_stream_closed);
    uv_close((uv_handle_t *)&conn->timer, on_timer_closed);
}

/* CLOSING: as long as the client takes what is left, it may. */
static void on_last_tick(struct sb_conn *conn)
{
    size_t left = unsent(conn);

    if (left == 0 || left >= conn->last_unsent || ++conn->last_ticks > SB_CONN_LAST_MOST)
        end(conn);
    conn->last_unsent = left;
}

static void ring_end(struct sb_conn *conn)
{
    if (conn->state != CLOSING && conn->events.on_end)
        conn->events.on_end(conn->events.ctx);
}

static void on_timer(uv_timer_t *timer)
{
    struct sb_conn *conn = timer->data;

    if (conn->state == CLOSING)
        on_last_tick(conn);
    else
        ring_end(conn);
}

static void stop_reading(struct sb_conn *conn)
{
    if (conn->in && conn->reading) {
        uv_read_stop(conn->in);
        conn->reading = false;
    }
}

/* The client ended, or is gone; told at the next turn of the loop. */
static void is_over(struct sb_conn *conn)
{
    if (conn->over)
        return;
    conn->over = true;
    stop_reading(conn);
    if (conn->state != CLOSING)
        uv_timer_start(&conn->timer, on_timer, 0, 0);
}

static void is_dead(struct sb_conn *conn)
{
    conn->dead = true;
    is_over(conn);
}

/* ---- in ------------------------------------------------------------------------------ */

/* Cuts what is held into lines until nothing is left or an event has changed our state. */
static void deliver(struct sb_conn *conn)
{
    const char *at = conn->held.data, *line = NULL;
    size_t left = conn->held.len, len = 0;

    while (conn->state == READING && !conn->hold && left > 0)
        switch (sb_line_next(&conn->lines, &at, &left, &line, &len)) {
        case SB_LINE_MORE:
            break;
        case SB_LINE_WHOLE:
            conn->events.on_line(conn->events.ctx, line, len);
            break;
        case SB_LINE_TOO_LONG:
            conn->events.on_too_long(conn->events.ctx);
            break;
        }
    sb_buf_drop(&conn->held, conn->held.len - left);
    if (conn->held.len == 0)
        empty(&conn->held);
}

/* `count` bytes were added to `held`; negative: an error or the end. */
static void took(struct sb_conn *conn, ssize_t count)
{
    if (conn->state == CLOSING || conn->over)
        return;
    if (count < 0) {
        is_over(conn);
        return;
    }
    conn->held.len += (size_t)count;
    deliver(conn);
    if (conn->held.len >= SB_CONN_HELD_MAX)
        stop_reading(conn);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *space)
{
    struct sb_conn *conn = handle->data;

    (void)suggested;
    *space = uv_buf_init(sb_buf_reserve(&conn->held, READ_BYTES), READ_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *space)
{
    (void)space;
    took(stream->data, count);
}

static void on_file_read(uv_fs_t *request)
{
    struct sb_conn *conn = request->data;
    ssize_t count = request->result;

    uv_fs_req_cleanup(request);
    conn->reading = false;
    took(conn, count == 0 ? UV_EOF : count);
    if (conn->state != CLOSING)
        read_more(conn);
    let_go(conn);
}

static void read_more(struct sb_conn *conn)
{
    uv_buf_t space;

    if (conn->reading || conn->over || conn->held.len >= SB_CONN_HELD_MAX)
        return;
    if (conn->in) {
        conn->reading = uv_read_start(conn->in, on_alloc, on_read) == 0;
    } else {
        space = uv_buf_init(sb_buf_reserve(&conn->held, READ_BYTES), READ_BYTES);
        conn->reading =
            uv_fs_read(conn->loop, &conn->file_read, conn->file_in, &space, 1, -1, on_file_read) == 0;
        conn->open += conn->reading;
    }
    if (!conn->reading)
        is_over(conn);
}

/* ---- out ----------------------------------------------------------------------------- */

static void wrote(struct sb_conn *conn, int status)
{
    conn->writing = false;
    conn->flown = 0;
    empty(&conn->flying);
    if (status < 0) {
        sb_buf_done(&conn->waiting);
        is_dead(conn);
    }
    write_more(conn);
    if (conn->state == CLOSING && !conn->writing) {
        end(conn);
    } else if (conn->full && conn->state != CLOSING && !conn->dead && !sb_conn_is_full(conn)) {
        conn->full = false;
        conn->events.on_drained(conn->events.ctx);
    } else if (conn->state == PAUSED && !conn->over && !sb_conn_is_full(conn)) {
        conn->state = READING;
        deliver(conn);
        if (conn->state != CLOSING)
            read_more(conn);
    }
}

static void on_written(uv_write_t *request, int status)
{
    wrote(request->data, status);
}

static int start_file_write(struct sb_conn *conn);

static void on_file_written(uv_fs_t *request)
{
    struct sb_conn *conn = request->data;
    ssize_t count = request->result;
    int status = count < 0 ? (int)count : 0;

    uv_fs_req_cleanup(request);
    conn->flown += count > 0 ? (size_t)count : 0;
    if (status < 0 || conn->flown == conn->flying.len)
        wrote(conn, status);
    else if ((status = start_file_write(conn)) < 0)
        wrote(conn, status);
    let_go(conn);
}

static int start_file_write(struct sb_conn *conn)
{
    uv_buf_t piece = uv_buf_init(conn->flying.data + conn->flown, (unsigned)(conn->flying.len - conn->flown));
    int status = uv_fs_write(conn->loop, &conn->file_write, conn->file_out, &piece, 1, -1, on_file_written);

    conn->open += status == 0;
    return status;
}

static void on_end_told(uv_shutdown_t *request, int status)
{
    (void)status;
    let_go(request->data);
}

static void tell_end(struct sb_conn *conn)
{
    if (conn->finish && conn->out && !conn->dead && conn->state != CLOSING)
        conn->open += uv_shutdown(&conn->shutdown, conn->out, on_end_told) == 0;
}

static void write_more(struct sb_conn *conn)
{
    struct sb_buf none = conn->flying;
    uv_buf_t piece;
    int status;

    if (conn->writing || conn->ending)
        return;
    if (conn->waiting.len == 0) {
        tell_end(conn);
        return;
    }
    conn->flying = conn->waiting;
    conn->waiting = none;
    piece = uv_buf_init(conn->flying.data, (unsigned)conn->flying.len);
    status = conn->out ? uv_write(&conn->write, conn->out, &piece, 1, on_written) : start_file_write(conn);
    conn->writing = status == 0;
    if (!conn->writing) {
        sb_buf_done(&conn->flying);
        is_dead(conn);
    }
}

void sb_conn_send(struct sb_conn *conn, const char *line, size_t len)
{
    if (conn->state == CLOSING || conn->dead || conn->finish)
        return;
    if (len >= SB_CONN_QUEUE_END - unsent(conn)) {
        is_dead(conn);
        return;
    }
    sb_buf_add(&conn->waiting, line, len);
    sb_buf_addc(&conn->waiting, '\n');
    write_more(conn);
    if (!sb_conn_is_full(conn))
        return;
    if (conn->events.on_drained)
        conn->full = true;
    else if (conn->state == READING)
        conn->state = PAUSED;
}

void sb_conn_finish(struct sb_conn *conn)
{
    if (conn->finish)
        return;
    conn->finish = true;
    write_more(conn);
}

bool sb_conn_is_full(const struct sb_conn *conn)
{
    return unsent(conn) > SB_CONN_QUEUE_MAX;
}

void sb_conn_hold(struct sb_conn *conn, bool hold)
{
    conn->hold = hold;
    if (hold || conn->state != READING)
        return;
    deliver(conn);
    if (conn->state != CLOSING)
        read_more(conn);
}

/* ---- from the first to the last ------------------------------------------------------ */

static struct sb_conn *new_conn(uv_loop_t *loop, const struct sb_conn_events *events)
{
    struct sb_conn *conn = sb_alloc(sizeof *conn);

    conn->loop = loop;
    conn->events = *events;
    conn->file_in = conn->file_out = -1;
    conn->open = 1; /* the timer */
    uv_timer_init(loop, &conn->timer);
    conn->timer.data = conn->write.data = conn->shutdown.data = conn;
    conn->file_read.data = conn->file_write.data = conn;
    sb_line_init(&conn->lines, SB_LINE_MAX);
    sb_buf_init(&conn->held, SB_CONN_HELD_MAX + READ_BYTES);
    sb_buf_init(&conn->waiting, SB_CONN_QUEUE_END);
    sb_buf_init(&conn->flying, SB_CONN_QUEUE_END);
    return conn;
}

static void own(struct sb_conn *conn, uv_stream_t *stream)
{
    stream->data = conn;
    conn->open++;
}

static int open_end(struct sb_conn *conn, int fd, bool readable, uv_stream_t **stream, int *file,
                    struct sb_err *err)
{
    union {
        uv_stream_t stream;
        uv_pipe_t pipe;
        uv_tty_t tty;
    } * handle;
    uv_handle_type type = uv_guess_handle(fd);
    int rc;

    *file = fd; /* so that it is closed if we fail */
    if (type == UV_FILE)
        return 0;
    if (type != UV_NAMED_PIPE && type != UV_TTY)
        return sb_fail(err, SB_UNSUPPORTED, "descriptor %d is no pipe, Unix socket, file or terminal", fd);
    handle = sb_alloc(sizeof *handle);
    rc = type == UV_TTY ? uv_tty_init(conn->loop, &handle->tty, fd, readable)
                        : uv_pipe_init(conn->loop, &handle->pipe, 0);
    if (rc < 0) {
        sb_free(handle);
        return sb_fail(err, SB_HOST, "cannot use descriptor %d: %s", fd, uv_strerror(rc));
    }
    *stream = &handle->stream;
    own(conn, *stream);
    if (type == UV_NAMED_PIPE && (rc = uv_pipe_open(&handle->pipe, fd)) < 0)
        return sb_fail(err, SB_HOST, "cannot use descriptor %d: %s", fd, uv_strerror(rc));
    *file = -1;
    return 0;
}

int sb_conn_open(uv_loop_t *loop, int fd_in, int fd_out, const struct sb_conn_events *events,
                 struct sb_conn **out, struct sb_err *err)
{
    static const struct sb_conn_events nobody;
    struct sb_conn *conn = new_conn(loop, events);
    int rc = open_end(conn, fd_in, true, &conn->in, &conn->file_in, err);

    if (fd_out != fd_in && rc == 0) {
        rc = open_end(conn, fd_out, false, &conn->out, &conn->file_out, err);
    } else {
        conn->out = fd_out == fd_in ? conn->in : NULL;
        conn->file_out = fd_out == fd_in ? conn->file_in : fd_out;
    }
    if (rc < 0) {
        conn->events = nobody;
        sb_conn_close(conn);
        return -1;
    }
    read_more(conn);
    *out = conn;
    return 0;
}

struct sb_conn *sb_conn_adopt(uv_pipe_t *stream, const struct sb_conn_events *events)
{
    struct sb_conn *conn = new_conn(stream->loop, events);

    conn->in = conn->out = (uv_stream_t *)stream;
    own(conn, conn->in);
    read_more(conn); /* what cannot be read is told by on_end */
    return conn;
}

static void on_turned_away(uv_handle_t *handle)
{
    sb_free(handle);
}

void sb_conn_turn_away(uv_pipe_t *stream)
{
    uv_close((uv_handle_t *)stream, on_turned_away);
}

void sb_conn_close(struct sb_conn *conn)
{
    if (conn->state == CLOSING)
        return;
    conn->state = CLOSING;
    stop_reading(conn);
    conn->last_unsent = unsent(conn);
    if (conn->writing)
        uv_timer_start(&conn->timer, on_timer, SB_CONN_LAST_MS, SB_CONN_LAST_MS);
    else
        end(conn);
}
