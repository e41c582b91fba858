/* SPDX-License-Identifier: MIT
 * The text a model reads of a run (design part 8), within 10,000 characters. Pure. */
#ifndef SB_SERVER_RESULT_TEXT_H
#define SB_SERVER_RESULT_TEXT_H

#include "sandbox/run.h"

struct sb_buf;
struct sb_capture;

#define SB_RESULT_CHARS        10000 /* the smallest cap of a client: Claude's error path */
#define SB_RESULT_STDERR_CHARS 4000  /* of them, when both streams overflow */
#define SB_RESULT_BESIDE_CHARS 4000  /* of them, for all but stdout, when that is read in pages */
#define SB_RESULT_SO_FAR_CHARS 2000  /* of stderr while the run goes on: each page repeats it */

/* "exit 0 | 123 ms | cpu 80 ms | peak 41 MB | run r_...", a hint line or none, then
 * "stdout:" and "stderr:" each before its non-empty stream: head and tail, with
 * "[... 123,456 bytes omitted; read_file run_id=r_... path=@stdout offset=5000]" between.
 * Invalid UTF-8 becomes U+FFFD, terminal escapes are stripped. */
void sb_result_text(const struct sb_run_result *result, const char *run_id, struct sb_buf *out);

/* The same without stdout, within SB_RESULT_BESIDE_CHARS. */
void sb_result_beside(const struct sb_run_result *result, const char *run_id, struct sb_buf *out);
/* The part about stderr, of a run that goes on. */
void sb_result_so_far(const struct sb_capture *errors, const char *run_id, struct sb_buf *out);

/* The reference's JSON text (format "json", SANDBOX_RESULT_FORMAT=json): a timeout has
 * exit_code 124 and a line on stderr, host_error 1. */
void sb_result_json(const struct sb_run_result *result, const char *run_id, struct sb_buf *out);

#endif
