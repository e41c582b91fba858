/* SPDX-License-Identifier: MIT
 * A run: one program in a box, from code to result. Loop thread only.
 *
 * States (table in run.c): QUEUED, INSTALLING, OPENING, COMPILING, RUNNING, DRAINING,
 * COLLECTING, ENDED. Callbacks ring, sb_run_step decides. */
#ifndef SB_SANDBOX_RUN_H
#define SB_SANDBOX_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/buf.h"
#include "languages/language.h"
#include "platform/random.h"
#include "sandbox/box.h"

enum sb_run_state {
    SB_RUN_QUEUED,
    SB_RUN_INSTALLING,
    SB_RUN_OPENING,
    SB_RUN_COMPILING,
    SB_RUN_RUNNING,
    SB_RUN_DRAINING,
    SB_RUN_COLLECTING,
    SB_RUN_ENDED,
    SB_RUN_STATES
};

/* Design part 8; SB_STATUS_NAMES order. */
enum sb_status {
    SB_STATUS_OK,
    SB_STATUS_ERROR,
    SB_STATUS_SIGNAL,
    SB_STATUS_TIMEOUT,
    SB_STATUS_CPU_LIMIT,
    SB_STATUS_MEMORY_LIMIT,
    SB_STATUS_PROCESS_LIMIT,
    SB_STATUS_DISK_LIMIT,
    SB_STATUS_OUTPUT_LIMIT,
    SB_STATUS_COMPILE_ERROR,
    SB_STATUS_INSTALL_ERROR,
    SB_STATUS_CANCELLED,
    SB_STATUS_HOST_ERROR,
    SB_STATUS_COUNT
};
const char *sb_status_name(enum sb_status status); /* "ok", "error", ... */

#endif
