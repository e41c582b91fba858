/* SPDX-License-Identifier: MIT
 * Why the host should end: a signal, a console event; later service control and a parent
 * that is gone. */
#ifndef SB_PLATFORM_STOP_H
#define SB_PLATFORM_STOP_H

#include <uv.h>

#include "base/err.h"

enum sb_stop_reason { SB_STOP_INTERRUPT = 1, SB_STOP_TERMINATE, SB_STOP_HANGUP };

/* Undoes what we inherited and can't live with: closed 0-2 become the null device, SIGPIPE
 * is ignored, the signal mask is empty, umask 077. First thing in main, before any thread. */
void sb_stop_prepare(void);

/* `on_stop` rings on the loop thread, once per event, until sb_stop_unwatch. One watcher
 * per process. The exit status a shell expects: 130, 143, 129 (128 + signal). */
int sb_stop_watch(uv_loop_t *loop, void (*on_stop)(void *ctx, enum sb_stop_reason reason), void *ctx,
                  struct sb_err *err);
void sb_stop_unwatch(void);
int sb_stop_status(enum sb_stop_reason reason);

#endif
