/* SPDX-License-Identifier: MIT
 * Boxes for the wire suite: the real guest behind two pipes or a socket, in one of three
 * surroundings. None of them is a sandbox: what is tested here is the guest.
 *
 * BOX_PID1 and BOX_SUBREAPER make a pid namespace of their own each and drop to a uid nobody
 * has (as root; else a user namespace): nothing a guest or its programs do by kill(-1) can
 * reach this machine. In BOX_SUBREAPER an init of ours stands between; beside the guest it
 * keeps a bystander of the same uid, which a guest that is not PID 1 must leave alone. */
#ifndef TESTS_WIRE_BOX_H
#define TESTS_WIRE_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

enum box_mode { BOX_PID1, BOX_SUBREAPER, BOX_WINE };

/* How BOX_SUBREAPER's init ends when the guest was not clean. */
enum { BOX_INIT_LEFTOVER = 250, BOX_INIT_BYSTANDER = 251 };

struct box_suite {
    enum box_mode mode;
    char dir[64];    /* made for this run of the suite */
    char guest[512]; /* copies in dir, readable for the box's uid */
    char program[512];
    const char *runner; /* tests/wine/run.sh */
};

struct box {
    enum box_mode mode;
    pid_t pid; /* PID 1 of the namespace; run.sh, later wine, under Wine; 0: none */
    int pidfd;
    int to, from;  /* the guest's stdin and stdout */
    char dir[128]; /* its workspace */
};

/* Makes dir and the copies. -1 with err; SB_UNSUPPORTED: this machine allows no namespaces. */
int box_suite_open(struct box_suite *suite, enum box_mode mode, const char *guest, const char *program,
                   const char *runner, struct sb_err *err);
void box_suite_close(struct box_suite *suite);

int box_open(const struct box_suite *suite, struct box *out, struct sb_err *err);
/* Kills what is left, removes the workspace. A zeroed box is allowed. */
void box_close(struct box *box);
/* Closes our end of the guest's stdin: "its stdin ends". Its stdout stays open, unread. */
void box_end_input(struct box *box);

/* Waits for the box's process: true and its wait status, or false after timeout_ms. */
bool box_wait(struct box *box, int timeout_ms, int *status);
pid_t box_guest_pid(const struct box *box); /* as this machine sees it; 0: not found */
/* True when no process of this machine has `token` in its command line any more. */
bool box_token_gone(const char *token, int timeout_ms);

#endif
