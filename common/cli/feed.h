/* SPDX-License-Identifier: MIT
 * --stdin: our descriptor to the program's stdin, read on a worker, within the credit. */
#ifndef SB_CLI_FEED_H
#define SB_CLI_FEED_H

#include <stdbool.h>
#include <uv.h>

#include "sandbox/run.h"

struct sb_feed {
    uv_loop_t *loop;
    struct sb_run *run; /* NULL: nobody wants more */
    int fd;
    bool reading, ended;
    size_t len, at;
    uv_fs_t request;
    uv_work_t work; /* waits, where the descriptor is non-blocking */
    char space[64 * 1024];
};

void sb_feed_start(struct sb_feed *feed, uv_loop_t *loop, int fd, struct sb_run *run);
void sb_feed_more(struct sb_feed *feed); /* sb_run's on_input */
/* The program is over. True when a read is stuck on the worker: the process must then end
 * without waiting for its workers. */
bool sb_feed_stop(struct sb_feed *feed);

#endif
