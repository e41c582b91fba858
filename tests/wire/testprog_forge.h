/* SPDX-License-Identifier: MIT
 * Attacks on the guest by a program of the same user: each tries to get at the descriptor
 * the protocol runs over, or into the process that has it. POSIX only. */
#ifndef TESTS_WIRE_TESTPROG_FORGE_H
#define TESTS_WIRE_TESTPROG_FORGE_H

/* forge RUN_ID PID...: "NAME PID denied ERRNO" or "NAME PID OPEN" per attack; PID 0 is the
 * parent. What it reaches, it writes the frame END of RUN_ID's stdout to, on its own stdout too
 * (first, as plain bytes). */
int tp_forge(int argc, char **argv);

/* forge-control RUN_ID: the same against an ordinary child: the attacks are real. */
int tp_forge_control(int argc, char **argv);

#endif
