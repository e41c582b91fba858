/* SPDX-License-Identifier: MIT */
#include "sandbox/backend.h"
#include "sandbox/backends/bubblewrap.h"

const struct sb_backend *const sb_backends[] = {&sb_bubblewrap, NULL};
