/* SPDX-License-Identifier: MIT
 * A call that waits: for the backend, for a program's word, for a job. At most one wait per
 * call; it lies in the call's own pointer. Loop thread only. */
#ifndef SB_SERVER_TOOLS_WAITING_H
#define SB_SERVER_TOOLS_WAITING_H

#include "sandbox/probe.h"
#include "server/job.h"
#include "server/tool.h"

/* on_ready comes once, perhaps inside this call, with a usable backend. Where there is
 * none, the call is told so and ends. */
void sb_waiting_backend(struct sb_call *call, void *args,
                        void (*on_ready)(struct sb_call *call, void *args,
                                         const struct sb_probe_result *backend));

/* The first line that a program of this host says; "" when it says nothing in time. */
void sb_waiting_line(struct sb_call *call, void *args, const char *program, const char *arg,
                     void (*on_line)(struct sb_call *call, void *args, const char *line));

/* Rings once, perhaps inside this call: the job has ended, or the call is `wait_s` seconds
 * old (counted from its arrival). Tells the client meanwhile how far it is. */
void sb_waiting_job(struct sb_call *call, void *args, struct sb_job *job, double wait_s,
                    void (*on_ring)(struct sb_call *call, void *args, struct sb_job *job, bool ended));

/* For sb_tool.cancel: no callback comes any more. Returns the job it waited for, or NULL. */
struct sb_job *sb_waiting_stop(struct sb_call *call);

#endif
