/* SPDX-License-Identifier: MIT
 * What killed a program, by the code its status `signal` carries. */
#ifndef SB_SANDBOX_SIGNAL_NAME_H
#define SB_SANDBOX_SIGNAL_NAME_H

#include <stdbool.h>
#include <stdint.h>

/* A Windows crash has its NTSTATUS as code; a signal number is small. */
bool sb_signal_is_crash(uint32_t code);
/* "SIGSEGV", "access violation"; "unknown" when there is no name. */
const char *sb_signal_name(uint32_t code);

#endif
