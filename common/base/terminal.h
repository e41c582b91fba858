/* SPDX-License-Identifier: MIT
 * What a program may do to a person's terminal: print text. Escape sequences and control
 * characters other than tab, line feed, carriage return and backspace are dropped. */
#ifndef SB_BASE_TERMINAL_H
#define SB_BASE_TERMINAL_H

#include <stddef.h>

struct sb_buf;

/* Zero-initialise; one per stream, since a sequence may be cut by a chunk border. */
struct sb_terminal {
    int state; /* 0: no sequence is under way */
};
void sb_terminal_filter(struct sb_terminal *terminal, const char *bytes, size_t len, struct sb_buf *out);

#endif
