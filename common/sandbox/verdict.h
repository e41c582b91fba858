/* SPDX-License-Identifier: MIT
 * From what the canaries said and the host saw to promises. Pure. */
#ifndef SB_SANDBOX_VERDICT_H
#define SB_SANDBOX_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/promise.h"

enum sb_sight { SB_SIGHT_NONE, SB_SIGHT_DENIED, SB_SIGHT_ERROR, SB_SIGHT_OPEN };

/* Zero-initialise. */
struct sb_verdict {
    enum sb_sight of[SB_PROMISE_COUNT]; /* the worst of all answers for one promise */
    char detail[SB_PROMISE_COUNT][64];  /* of an error, or what stood open */
    long left_behind;                   /* pid of the process that `kill` left; 0: none */
};

/* The output of one `guest canary ...`: lines "NAME open [WHAT]", "NAME denied NUMBER", "NAME
 * error TEXT", "kill pid NUMBER". Other lines and a last one without its end say nothing. */
void sb_verdict_read(struct sb_verdict *verdict, const char *text, size_t len);

/* What the host saw with its own eyes counts more than what is said in the box. */
struct sb_verdict_seen {
    bool network, endpoint; /* somebody connected to a bait */
    bool own_pids;          /* the box has a pid namespace of its own */
    bool gone;              /* all of the box was gone in time after its close */
    bool left_behind_dead;  /* also the process that `kill` left */
};

/* True when every canary gave an answer: only that is worth remembering. */
bool sb_verdict_judge(const struct sb_verdict *verdict, const struct sb_verdict_seen *seen,
                      struct sb_promises *out);

#endif
