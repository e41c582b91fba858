/* SPDX-License-Identifier: MIT */
#include "cli/feed.h"

#include <string.h>

#define RETRY_MS 5

static void read_more(struct sb_feed *feed);

static void send_read(struct sb_feed *feed)
{
    if (feed->run == NULL)
        return;
    feed->at += sb_run_send(feed->run, feed->space + feed->at, feed->len - feed->at);
    if (feed->at == feed->len && feed->ended)
        sb_run_send_end(feed->run);
    else if (feed->at == feed->len)
        read_more(feed);
}

static void wait_a_little(uv_work_t *work)
{
    (void)work;
    uv_sleep(RETRY_MS);
}

static void on_waited(uv_work_t *work, int status)
{
    struct sb_feed *feed = work->data;

    (void)status;
    feed->reading = false;
    if (feed->run != NULL)
        read_more(feed);
}

static void on_read(uv_fs_t *request)
{
    struct sb_feed *feed = request->data;
    ssize_t count = request->result;

    uv_fs_req_cleanup(request);
    /* Non-blocking, as somebody who shares it has left it: not empty, only not there yet. */
    if (count == UV_EAGAIN && uv_queue_work(feed->loop, &feed->work, wait_a_little, on_waited) == 0)
        return;
    feed->reading = false;
    feed->at = 0;
    feed->len = count > 0 ? (size_t)count : 0;
    feed->ended = count <= 0; /* an unreadable stdin reads as empty, like a closed one */
    send_read(feed);
}

static void read_more(struct sb_feed *feed)
{
    uv_buf_t piece = uv_buf_init(feed->space, sizeof feed->space);

    feed->reading = true;
    if (uv_fs_read(feed->loop, &feed->request, feed->fd, &piece, 1, -1, on_read) < 0) {
        feed->reading = false;
        feed->ended = true;
        send_read(feed);
    }
}

void sb_feed_start(struct sb_feed *feed, uv_loop_t *loop, int fd, struct sb_run *run)
{
    feed->loop = loop;
    feed->fd = fd;
    feed->run = run;
    feed->request.data = feed->work.data = feed;
    read_more(feed);
}

void sb_feed_more(struct sb_feed *feed)
{
    if (feed->run != NULL && !feed->reading)
        send_read(feed);
}

bool sb_feed_stop(struct sb_feed *feed)
{
    feed->run = NULL;
    return feed->reading;
}
