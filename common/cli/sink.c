/* SPDX-License-Identifier: MIT */
#include "cli/sink.h"

#include <string.h>

#include "wire/wire.h"

/* Everything a stream may have outstanding, twice: one part flies, one waits. */
#define SINK_MAX (2u * SB_WIRE_WINDOW)
#define RETRY_MS 5

static void write_more(struct sb_sink *sink);

static void wait_a_little(uv_work_t *work)
{
    (void)work;
    uv_sleep(RETRY_MS);
}

static void on_waited(uv_work_t *work, int status)
{
    (void)status;
    write_more(work->data);
}

static void on_written(uv_fs_t *request)
{
    struct sb_sink *sink = request->data;
    ssize_t count = request->result;
    size_t raw;

    uv_fs_req_cleanup(request);
    /* Somebody who shares the descriptor has made it non-blocking, and its reader is slow. */
    if (count == UV_EAGAIN && uv_queue_work(sink->loop, &sink->work, wait_a_little, on_waited) == 0)
        return;
    sink->writing = false;
    if (count < 0 && sink->error == 0)
        sink->error = (int)count;
    sink->flown = sink->error != 0 ? sink->flying.len : sink->flown + (size_t)count;
    if (sink->flown < sink->flying.len) {
        write_more(sink);
        return;
    }
    raw = sink->flying_raw;
    sb_buf_clear(&sink->flying);
    sink->flown = sink->flying_raw = 0;
    write_more(sink);
    sink->on_written(sink, raw);
}

static void write_more(struct sb_sink *sink)
{
    uv_buf_t piece;

    if (sink->flying.len == 0 && sink->flying_raw == 0) {
        struct sb_buf empty = sink->flying;

        sink->flying = sink->waiting;
        sink->waiting = empty;
        sink->flying_raw = sink->waiting_raw;
        sink->waiting_raw = 0;
    }
    if (sink->flying_raw == 0)
        return;
    piece = uv_buf_init(sink->flying.data + sink->flown, (unsigned)(sink->flying.len - sink->flown));
    if (sink->error != 0)
        piece.len = 0;
    sink->writing = true;
    /* An empty write keeps the order of things: the callback comes later, always. */
    uv_fs_write(sink->loop, &sink->request, sink->fd, &piece, 1, -1, on_written);
}

void sb_sink_init(struct sb_sink *sink, uv_loop_t *loop, int fd,
                  void (*written)(struct sb_sink *sink, size_t bytes), void *ctx)
{
    memset(sink, 0, sizeof *sink);
    sink->loop = loop;
    sink->fd = fd;
    sink->filter = uv_guess_handle(fd) == UV_TTY;
    sink->on_written = written;
    sink->ctx = ctx;
    sink->request.data = sink->work.data = sink;
    sb_buf_init(&sink->waiting, SINK_MAX);
    sb_buf_init(&sink->flying, SINK_MAX);
}

void sb_sink_done(struct sb_sink *sink)
{
    sb_buf_done(&sink->waiting);
    sb_buf_done(&sink->flying);
}

void sb_sink_add(struct sb_sink *sink, const void *bytes, size_t len)
{
    if (sink->filter)
        sb_terminal_filter(&sink->terminal, bytes, len, &sink->waiting);
    else
        sb_buf_add(&sink->waiting, bytes, len);
    sink->waiting_raw += len;
    if (!sink->writing)
        write_more(sink);
}

bool sb_sink_idle(const struct sb_sink *sink)
{
    return !sink->writing && sink->waiting_raw == 0;
}
