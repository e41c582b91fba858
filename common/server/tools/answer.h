/* SPDX-License-Identifier: MIT
 * What a call is told of a job. */
#ifndef SB_SERVER_TOOLS_ANSWER_H
#define SB_SERVER_TOOLS_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "server/job.h"
#include "server/tool.h"

struct sb_buf;

#define SB_ANSWER_IMAGES      4
#define SB_ANSWER_IMAGE_BYTES (1024u * 1024) /* of all images of one answer */
#define SB_ANSWER_LINKS       16             /* resource links; list_files names the others */

/* Replies with all of an ended job: text (or the reference's JSON, if it was asked for), images, links. */
void sb_answer_ended(struct sb_call *call, struct sb_job *job);
/* Adds the images and links of an ended job. */
void sb_answer_files(struct sb_call *call, struct sb_job *job);
/* Replies that it runs on, and with which call to come back. */
void sb_answer_running(struct sb_call *call, struct sb_job *job);
/* Replies that there is no such run, or not any more. */
void sb_answer_unknown(struct sb_call *call, const char *id);

/* By the first bytes: "image/png", or NULL when it is no picture that clients show. */
const char *sb_image_type(const char *bytes, size_t len);
/* Appends the name under which sb_job_read knows an artifact: "./@stdout" for a file called so. */
void sb_artifact_name(const char *path, struct sb_buf *out);

/* The run that a tool was asked about; NULL: it has replied why there is none. */
struct sb_job *sb_answer_run(struct sb_call *call, const char *run_id, const char *session_id);

#endif
