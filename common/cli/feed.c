/* SPDX-License-Identifier: MIT */
#include "cli/feed.h"

#include <string.h>

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

static void on_read(uv_fs_t *request)
{
    struct sb_feed *feed = request->data;
    ssize_t count = request->result;

    uv_fs_req_cleanup(request);
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
    feed->request.data = feed;
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
