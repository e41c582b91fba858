/* SPDX-License-Identifier: MIT
 * Boxes made by bubblewrap (bwrap >= 0.8.0): namespaces, an empty root, no host files but
 * /usr and a few of /etc. All of it is pure but sb_bubblewrap_look. */
#ifndef SB_SANDBOX_BACKENDS_BUBBLEWRAP_H
#define SB_SANDBOX_BACKENDS_BUBBLEWRAP_H

#include "sandbox/backend.h"

extern const struct sb_backend sb_bubblewrap;

/* The pieces of the struct, for it and for tests. */
void sb_bubblewrap_plan(const struct sb_plan_want *want, struct sb_plan *out);
int sb_bubblewrap_find(struct sb_backend_facts *facts, char *mend, size_t mend_cap, struct sb_err *err);
/* Is `path` a bwrap we may start? SB_NOT_FOUND: nothing is there. */
int sb_bubblewrap_look(const char *path, char *mend, size_t mend_cap, struct sb_err *err);
int sb_bubblewrap_version(const char *line, struct sb_backend_facts *facts, char *mend, size_t mend_cap,
                          struct sb_err *err);
int sb_bubblewrap_inner_pid(const char *info, size_t len, long *pid);
void sb_bubblewrap_explain(const char *errors, const struct sb_proc_end *end, char *mend, size_t mend_cap,
                           struct sb_err *err);

#endif
