/* SPDX-License-Identifier: MIT */
#include "server/tools/tools.h"

/* Constant, whatever is installed: some clients keep the list for good. */
const struct sb_tool *const sb_tools[] = {
    &sb_tool_execute_code,
    &sb_tool_get_supported_languages,
    &sb_tool_get_language_details,
    &sb_tool_job,
    &sb_tool_session,
    &sb_tool_read_file,
    &sb_tool_write_file,
    &sb_tool_list_files,
    NULL,
};
