/* SPDX-License-Identifier: MIT */
#ifndef SB_BASE_MIME_H
#define SB_BASE_MIME_H

/* The media type by a path's ending; "application/octet-stream" when unknown. Never NULL. */
const char *sb_mime_of(const char *path);

#endif
