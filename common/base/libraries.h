/* SPDX-License-Identifier: MIT
 * The versions of the libraries that are linked in, as they say themselves. */
#ifndef SB_BASE_LIBRARIES_H
#define SB_BASE_LIBRARIES_H

const char *sb_cjson_version(void);
const char *sb_zlib_version(void);

#endif
