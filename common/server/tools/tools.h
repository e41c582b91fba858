/* SPDX-License-Identifier: MIT
 * The rows of tools/list. */
#ifndef SB_SERVER_TOOLS_TOOLS_H
#define SB_SERVER_TOOLS_TOOLS_H

#include "server/tool.h"

#define SB_WAIT_MOST_S 50 /* clients give up a call after 60 s */

extern const struct sb_tool sb_tool_execute_code, sb_tool_get_supported_languages,
    sb_tool_get_language_details, sb_tool_job, sb_tool_session, sb_tool_read_file, sb_tool_write_file,
    sb_tool_list_files;

#endif
