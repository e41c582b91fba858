/* SPDX-License-Identifier: MIT
 * The text a model reads of a run (design part 8), within 10,000 characters. Pure. */
#ifndef SB_SERVER_RESULT_TEXT_H
#define SB_SERVER_RESULT_TEXT_H

#include "sandbox/run.h"

struct sb_buf;

#define SB_RESULT_CHARS        10000 /* the smallest cap of a client: Claude's error path */
#define SB_RESULT_STDERR_CHARS 4000  /* of them, when both streams overflow */

/* "exit 0 | 123 ms | cpu 80 ms | peak 41 MB | run r_...", a hint line or none, then
 * "stdout:" and "stderr:" each before its non-empty stream: head and tail, with
 * "[... 123,456 bytes omitted; read_file run_id=r_... path=@stdout offset=5000]" between.
 * Invalid UTF-8 becomes U+FFFD, terminal escapes are stripped. */
void sb_result_text(const struct sb_run_result *result, const char *run_id, struct sb_buf *out);

/* The reference's JSON text (format "json", SANDBOX_RESULT_FORMAT=json): a timeout has
 * exit_code 124 and a line on stderr, host_error 1. */
void sb_result_json(const struct sb_run_result *result, const char *run_id, struct sb_buf *out);

#endif
