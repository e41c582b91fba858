/* SPDX-License-Identifier: MIT
 * Tools whose arguments are known and whose work is not built yet: the list of tools must
 * not change under clients that keep it. */
#include "server/tools/tools.h"
#include "server/tools/usable.h"

#define ID_MOST   60
#define TEXT_MOST (12 * 1024 * 1024)

static void cancel(struct sb_call *call)
{
    (void)call; /* they reply at once */
}

/* ---- session -------------------------------------------------------------------------- */

struct session_args {
    char *action, *session_id, *saved_id;
    int64_t memory_mb;
};

static void session_start(struct sb_call *call, void *args)
{
    (void)args;
    sb_tool_later(call, "session is");
}

static const char *const actions[] = {"create", "list", "info", "reset", "save", "restore", "close", NULL};

static const struct sb_field session_fields[] = {
    {.name = "action",
     .type = SB_FIELD_STRING,
     .flags = SB_FIELD_REQUIRED,
     .at = offsetof(struct session_args, action),
     .words = actions,
     .text = "What to do."},
    {.name = "session_id",
     .type = SB_FIELD_STRING,
     .at = offsetof(struct session_args, session_id),
     .most = ID_MOST,
     .text = "For info, reset, save and close."},
    {.name = "saved_id",
     .type = SB_FIELD_STRING,
     .at = offsetof(struct session_args, saved_id),
     .most = ID_MOST,
     .text = "For restore: what save gave."},
    {.name = "memory_mb",
     .type = SB_FIELD_INT,
     .at = offsetof(struct session_args, memory_mb),
     .least = 16,
     .most = 1024 * 1024,
     .fallback = "512",
     .text = "For create: memory limit in MiB."},
    {.name = NULL},
};

const struct sb_tool sb_tool_session = {
    .name = "session",
    .title = "Manage sessions",
    .description =
        "Keeps a sandbox with its files, packages and variables over several calls of execute_code. "
        "Not available in this version yet.",
    .fields = session_fields,
    .args_size = sizeof(struct session_args),
    .start = session_start,
    .cancel = cancel,
};

/* ---- write_file ----------------------------------------------------------------------- */

struct write_args {
    char *session_id, *path, *text, *base64;
    bool append, executable;
};

static void write_start(struct sb_call *call, void *args)
{
    (void)args;
    sb_tool_later(call, "write_file needs sessions, which are");
}

static const struct sb_field write_fields[] = {
    {.name = "session_id",
     .type = SB_FIELD_STRING,
     .flags = SB_FIELD_REQUIRED,
     .at = offsetof(struct write_args, session_id),
     .most = ID_MOST,
     .text = "The session whose workspace it is."},
    {.name = "path",
     .type = SB_FIELD_STRING,
     .flags = SB_FIELD_REQUIRED,
     .at = offsetof(struct write_args, path),
     .most = 4095,
     .text = "Relative to the workspace."},
    {.name = "text",
     .type = SB_FIELD_STRING,
     .at = offsetof(struct write_args, text),
     .most = TEXT_MOST,
     .text = "The content, or base64."},
    {.name = "base64",
     .type = SB_FIELD_STRING,
     .at = offsetof(struct write_args, base64),
     .most = TEXT_MOST,
     .text = "The content of a binary file."},
    {.name = "append",
     .type = SB_FIELD_BOOL,
     .at = offsetof(struct write_args, append),
     .fallback = "false",
     .text = "Adds to the file instead of replacing it."},
    {.name = "executable",
     .type = SB_FIELD_BOOL,
     .at = offsetof(struct write_args, executable),
     .fallback = "false",
     .text = "Makes it a program."},
    {.name = NULL},
};

const struct sb_tool sb_tool_write_file = {
    .name = "write_file",
    .title = "Write a file",
    .description =
        "Writes a file into a session's workspace. Not available in this version yet; for a single run "
        "use `files` of execute_code.",
    .fields = write_fields,
    .args_size = sizeof(struct write_args),
    .start = write_start,
    .cancel = cancel,
};
