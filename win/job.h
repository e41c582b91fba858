/* SPDX-License-Identifier: MIT
 * Backend `job`: a Job Object around a restricted, low-integrity form of our own user. It
 * ends every process of a box; it hides nothing. */
#ifndef SB_WIN_JOB_H
#define SB_WIN_JOB_H

#include "sandbox/backend.h"

extern const struct sb_backend sb_job;

#endif
