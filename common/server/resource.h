/* SPDX-License-Identifier: MIT
 * What resources/read gives: sandbox://languages and sandbox://run/RUN_ID/PATH. */
#ifndef SB_SERVER_RESOURCE_H
#define SB_SERVER_RESOURCE_H

#include "base/err.h"
#include "base/path.h"
#include "server/host.h"

struct sb_buf;

#define SB_RESOURCE_URI_MAX   (3 * SB_PATH_MAX_BYTES + 64) /* every byte of a path may be %XX */
#define SB_RESOURCE_BYTES_MAX (2u * 1024 * 1024)           /* larger ones are read in pages by read_file */

/* Appends the value of `contents`: an array with one object. SB_NOT_FOUND: no such
 * resource, or somebody else's. */
int sb_resource_read(struct sb_host *host, const char *peer, const char *uri,
                     struct sb_buf *out_contents_json, struct sb_err *err);

/* "sandbox://run/r_.../a%20b.txt" */
void sb_resource_run_uri(const char *run_id, const char *path, struct sb_buf *out);

#endif
