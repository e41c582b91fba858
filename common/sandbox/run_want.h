/* SPDX-License-Identifier: MIT
 * The inside of sb_run_check: a want's paths and environment as the box gets them. Pure. */
#ifndef SB_SANDBOX_RUN_WANT_H
#define SB_SANDBOX_RUN_WANT_H

#include "sandbox/run.h"

/* The plain path of a file that sb_run_check has passed; the caller's. */
char *sb_run_want_path(const struct sb_run_want *want, const struct sb_run_file *file);

/* The language's environment, and the client's in its place or behind it. */
void sb_run_want_env(const struct sb_run_want *want, const char *workspace, struct sb_argv *out);

#endif
