/* SPDX-License-Identifier: MIT
 * What can be run here, and how a call is told that something can't. */
#ifndef SB_SERVER_TOOLS_USABLE_H
#define SB_SERVER_TOOLS_USABLE_H

#include <stdbool.h>

#include "languages/language.h"
#include "sandbox/probe.h"
#include "server/tool.h"

struct sb_buf;

#define SB_USABLE_NAMES_MAX 512 /* bytes of a list of names */

/* "python, bash": languages of this box system whose interpreter is here. */
void sb_usable_names(enum sb_wire_os os, struct sb_buf *out);

/* The row of a language by any of its names. Unknown, not built, or its interpreter is not
 * here: the sentence names what is usable; *mend is the command that installs it, or "". */
int sb_usable_language(const char *name, enum sb_wire_os os, const struct sb_language **out,
                       const char **mend, struct sb_err *err);

/* Replies with doctor's sentence, the user's command and not to retry until then. */
void sb_usable_refuse(struct sb_call *call, const struct sb_probe_result *result);

/* Replies with one sentence that is an error. */
void sb_tool_refuse(struct sb_call *call, const char *fmt, ...) SB_PRINTF(2, 3);
/* The same of an error, with the command that mends it for the user unless that is "". */
void sb_tool_fail(struct sb_call *call, const struct sb_err *err, const char *mend);
/* Replies that an argument is for a later version. */
void sb_tool_later(struct sb_call *call, const char *what);

#endif
