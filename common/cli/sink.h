/* SPDX-License-Identifier: MIT
 * Our stdout or stderr while a program runs: writes happen on a worker, so that a slow
 * reader never stops the loop, and the descriptor stays blocking for those who share it. */
#ifndef SB_CLI_SINK_H
#define SB_CLI_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "base/buf.h"
#include "base/terminal.h"

struct sb_sink {
    uv_loop_t *loop;
    int fd;
    bool filter;  /* a terminal: escape sequences are dropped */
    bool writing;
    int error;    /* libuv code of the first failed write; later bytes are dropped */
    struct sb_terminal terminal;
    struct sb_buf waiting, flying;
    size_t flown, waiting_raw, flying_raw; /* raw: bytes as they came, for on_written */
    uv_fs_t request;
    uv_work_t work; /* waits, where the descriptor is non-blocking */
    void (*on_written)(struct sb_sink *sink, size_t bytes); /* after each write, also a failed one */
    void *ctx;
};

void sb_sink_init(struct sb_sink *sink, uv_loop_t *loop, int fd,
                  void (*on_written)(struct sb_sink *sink, size_t bytes), void *ctx);
void sb_sink_done(struct sb_sink *sink); /* only when idle */
void sb_sink_add(struct sb_sink *sink, const void *bytes, size_t len); /* bounded by the caller's credit */
bool sb_sink_idle(const struct sb_sink *sink);

#endif
