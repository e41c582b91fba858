/* SPDX-License-Identifier: MIT */
#include "job.h"
#include "sandbox/backend.h"

const struct sb_backend *const sb_backends[] = {&sb_job, NULL};
