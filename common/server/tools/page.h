/* SPDX-License-Identifier: MIT
 * A page: what one answer gives of a stream or file, byte-exact, and where the next call goes on. */
#ifndef SB_SERVER_TOOLS_PAGE_H
#define SB_SERVER_TOOLS_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "server/job.h"
#include "server/tool.h"

#define SB_PAGE_TAIL 300 /* characters of its last line, without the next call */

struct sb_page {
    struct sb_job *job;
    const char *path; /* as sb_job_read takes it; NULL: stdout of a job that runs, so far */
    size_t room;      /* characters of its content */
    /* Filled by sb_page_read. */
    uint64_t from, total;
    uint64_t dropped;    /* bytes that were asked for and are not kept, before `from` */
    struct sb_buf bytes; /* from `from` on */
};

/* Reads it from `offset`; inside a character, from that character's first byte. */
int sb_page_read(struct sb_page *page, uint64_t offset, struct sb_err *err);
void sb_page_done(struct sb_page *page); /* also after a failure */

/* Adds its content as a block of its own, so that it is exact, and its last line; `next` is the next
 * call, but for the offset. */
void sb_page_give(struct sb_call *call, const struct sb_page *page, const char *next);
/* Adds the last line alone, of a content that ends before byte `to`. */
void sb_page_say(struct sb_call *call, const struct sb_page *page, uint64_t to, const char *coding,
                 const char *next);

#endif
