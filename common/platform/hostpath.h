/* SPDX-License-Identifier: MIT */
#ifndef SB_PLATFORM_HOSTPATH_H
#define SB_PLATFORM_HOSTPATH_H

#include "base/path.h"

/* The rules of paths on this host, whatever its boxes run. */
enum sb_path_rules sb_host_rules(void);

#endif
