/* SPDX-License-Identifier: MIT
 * The program under the guest in the wire suite: `testprog VERB ARGS...`, one verb per
 * behaviour. Compiled for every system; what differs is in testprog_posix.c and
 * testprog_win.c, which also have main. It links nothing of ours, and runs unsanitised. */
#ifndef TESTS_WIRE_TESTPROG_H
#define TESTS_WIRE_TESTPROG_H

#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Byte `i` of every pattern: all 256 values, no short period. */
#define TP_PATTERN(i) ((unsigned char)((i)*31u + ((i) >> 8) * 7u + ((i) >> 16)))

struct tp_verb {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the verb; the result is the exit code */
};
extern const struct tp_verb tp_os_verbs[]; /* ends in a NULL name */

int tp_main(int argc, char **argv); /* argv is UTF-8 */

/* Bytes as they are, all of them; stream 1 or 2. */
int tp_write(int stream, const void *bytes, size_t len);
void tp_say(const char *fmt, ...) SB_PRINTF(1, 2); /* to stdout, at once */
long tp_read(void *bytes, size_t cap);
void tp_close(int stream);
void tp_sleep_ms(unsigned ms);
_Noreturn void tp_sleep_for_ever(void);
_Noreturn void tp_exit(uint32_t code);
_Noreturn void tp_crash(void);
uint64_t tp_cpu_ms(void);
int tp_cwd(char *out, size_t cap);
void tp_each_env(void (*each)(const char *text));
/* Ignores everything polite that could end it. */
void tp_ignore_signals(void);
/* Starts this program again with the same streams, argv from the verb on. `apart`: as far away
 * from us as the system allows (setsid and a double fork; a new group out of the job). */
int tp_spawn(bool apart, char **argv);
/* The program says "interrupted" and exits 5 when it is interrupted. */
void tp_catch_interrupt(void);

#endif
