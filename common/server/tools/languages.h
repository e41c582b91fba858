/* SPDX-License-Identifier: MIT
 * The languages usable here, in the reference's JSON shapes. */
#ifndef SB_SERVER_TOOLS_LANGUAGES_H
#define SB_SERVER_TOOLS_LANGUAGES_H

#include "languages/details.h"
#include "wire/wire.h"

struct sb_buf;

#define SB_LANGUAGES_TEXT_MAX (256u * 1024)

/* Texts as Python's json.dumps(..., indent=2) writes them. */
void sb_languages_list(enum sb_wire_os os, struct sb_buf *out);
void sb_languages_one(const struct sb_language_details *details, const char *version, struct sb_buf *out);
/* An object of all usable ones, without versions: those take a process each. Of the
 * backend that comes first, so that nothing need be probed. */
void sb_languages_all(struct sb_buf *out);

#endif
