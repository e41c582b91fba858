/* SPDX-License-Identifier: MIT
 * Rings when nothing is left in a Job Object: one completion port and one thread for all
 * jobs of the process. The system does not guarantee the delivery of such messages, so who
 * waits also looks by himself (sb_job_is_empty) when he has another reason to. */
#ifndef SB_WIN_JOBWATCH_H
#define SB_WIN_JOBWATCH_H

#include <uv.h>
#include <windows.h>

#include "base/err.h"

/* `bell` is sent from another thread, perhaps more than once, until sb_job_unwatch returns.
 * A job can be watched once in its life. */
int sb_job_watch(HANDLE job, uv_async_t *bell, ULONG_PTR *out_key, struct sb_err *err);
void sb_job_unwatch(ULONG_PTR key);

#endif
