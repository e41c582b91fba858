/* SPDX-License-Identifier: MIT
 * The guest: first process of every box. main is in posix/guest_main.c and
 * win/guest_main.c; they call one of these. */
#ifndef SB_GUEST_GUEST_H
#define SB_GUEST_GUEST_H

#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

/* Exit codes of the guest itself, seen only by the host's diagnosis. */
enum { SB_GUEST_END = 0, SB_GUEST_PROTOCOL = 70, SB_GUEST_BROKEN = 71 };

struct sb_gos;

/* Serves the host until its stdin ends or breaks the protocol; never returns. */
_Noreturn void sb_guest_serve(struct sb_gos *gos);

/* The canary mode: `guest canary NAME[=ARG]...` tries each named attack and prints one
 * line for it: "NAME open", "NAME denied ERRNO" or "NAME error TEXT". Implemented by
 * posix/guest_canary.c and win/guest_canary.c; run outside a box it shows the attack is
 * real. Names: read-outside=PATH write-outside=PATH network=PORT endpoint=PATH
 * identity processes memory=MIB disk=MIB kill. Returns the exit code: 0, 2 for an
 * unknown name. "kill" leaves a detached process behind and prints "kill pid PID". */
int sb_guest_canary(int count, char *const *names);

#endif
