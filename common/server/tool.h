/* SPDX-License-Identifier: MIT
 * A tool: one row and one file. Its field table decodes the arguments, prints the schema
 * and the documentation. */
#ifndef SB_SERVER_TOOL_H
#define SB_SERVER_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fields.h"
#include "server/host.h"

struct sb_call; /* one tools/call, from its start to its one reply */

struct sb_tool {
    const char *name, *title, *description;
    bool read_only, always_load; /* annotations; _meta anthropic/alwaysLoad */
    const struct sb_field *fields;
    size_t args_size;
    /* Starts the call; `args` is decoded, the call's until it ends. Replies now or later,
     * exactly once, by sb_call_reply. */
    void (*start)(struct sb_call *call, void *args);
    /* The client cancelled, or is gone: stop. No reply follows; the call is freed on return. */
    void (*cancel)(struct sb_call *call);
};
extern const struct sb_tool *const sb_tools[]; /* NULL-terminated, the order of tools/list */

struct sb_host *sb_call_host(struct sb_call *call);
const char *sb_call_peer(const struct sb_call *call);
int64_t sb_call_arrived_us(const struct sb_call *call); /* sb_clock_us when its line came */
void sb_call_set(struct sb_call *call, void *own); /* the tool's own state */
void *sb_call_get(const struct sb_call *call);

/* Content blocks, in order. */
void sb_call_text(struct sb_call *call, const char *text, size_t len); /* UTF-8 */
void sb_call_image(struct sb_call *call, const void *bytes, size_t len, const char *mime);
void sb_call_link(struct sb_call *call, const char *uri, const char *name, const char *mime, uint64_t size);
/* The answer leaves; the call is gone. is_error: our own inability, its text says what to do. */
void sb_call_reply(struct sb_call *call, bool is_error);
void sb_call_fail(struct sb_call *call, const struct sb_err *err, const char *mend); /* text + reply */

/* notifications/progress, if the client gave a token; at most one every 2 s is sent. */
void sb_call_progress(struct sb_call *call, int64_t elapsed_ms, const char *line);

#endif
