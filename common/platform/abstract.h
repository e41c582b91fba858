/* SPDX-License-Identifier: MIT
 * A listening name without a file: Linux's abstract Unix sockets. Only the probe listens on
 * one, to see that no box can reach it. */
#ifndef SB_PLATFORM_ABSTRACT_H
#define SB_PLATFORM_ABSTRACT_H

#include "base/err.h"

/* A stream socket bound to the abstract NAME, for uv_pipe_open and uv_listen. SB_UNSUPPORTED
 * where the system has no such names. */
int sb_abstract_bind(const char *name, int *out_fd, struct sb_err *err);

#endif
