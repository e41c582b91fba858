/* SPDX-License-Identifier: MIT
 * The inside of a box's OS part, for the launcher. */
#ifndef SB_WIN_BOXOS_H
#define SB_WIN_BOXOS_H

#include <stdbool.h>
#include <windows.h>

#include "base/err.h"
#include "platform/boxos.h"

struct sb_box_os {
    HANDLE job;
    HANDLE token;   /* restricted, low integrity; NULL: the box runs with our own */
    bool ui_limits; /* set on the job */
};

/* A Job Object that kills what is in it when its last handle closes, so also when we die. */
int sb_job_new(HANDLE *out, struct sb_err *err);

/* The system refused to start a program in this box. Gives up, one at a time, what it may
 * have refused for: UI limits (a host that is in a job itself may not add them), then the
 * token. False: nothing is left to give up. What a box holds is measured, not assumed. */
bool sb_box_os_relax(struct sb_box_os *os);

#endif
