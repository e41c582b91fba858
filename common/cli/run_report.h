/* SPDX-License-Identifier: MIT
 * What `run` says of a result: exit status, one sentence for people, JSON for programs. Pure. */
#ifndef SB_CLI_RUN_REPORT_H
#define SB_CLI_RUN_REPORT_H

#include "sandbox/run.h"

struct sb_buf;

/* Design part 11: the program's own status, 124, 125, 130, 137, 153, 128 + n. */
int sb_run_exit_status(const struct sb_run_result *result);

/* "" when the program's own output and status say it all; else one line without newline. */
void sb_run_sentence(const struct sb_run_result *result, struct sb_buf *out);

void sb_run_json(const struct sb_run_result *result, const char *run_id, const char *backend, struct sb_buf *out);

#endif
