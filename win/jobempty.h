/* SPDX-License-Identifier: MIT */
#ifndef SB_WIN_JOBEMPTY_H
#define SB_WIN_JOBEMPTY_H

#include <stdbool.h>
#include <windows.h>

/* No process of the job runs any more, nor one of the jobs nested in it. An unreadable job counts
 * as not empty. */
bool sb_job_is_empty(HANDLE job);

#endif
