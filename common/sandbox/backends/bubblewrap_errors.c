/* SPDX-License-Identifier: MIT
 * Why there is no box: what bwrap 0.8.0 and newer say, and what a person can do about it. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "sandbox/backends/bubblewrap.h"

#define SAYS         "bwrap: "
#define QUOTED_BYTES 200 /* of a text we don't know */
#define IN_CONTAINER                                                                                         \
    "start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined"
#define ALLOW_USERNS "sysctl -w kernel.unprivileged_userns_clone=1; in a container: " IN_CONTAINER
#define ALLOW_UBUNTU                                                                                         \
    "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or give bwrap an AppArmor profile "           \
    "that allows userns"

/* First match wins. `also` must stand behind the prefix in the same line. */
static const struct {
    const char *prefix, *also;
    enum sb_code code;
    const char *sentence, *mend;
} TEXTS[] = {
    {"Creating new namespace failed: nesting depth or", NULL, SB_UNSUPPORTED,
     "no more user namespaces are allowed: nesting depth or /proc/sys/user/max_*_namespaces exceeded",
     "sysctl -w user.max_user_namespaces=15000, or end programs that hold namespaces"},
    {"Creating new namespace failed, likely because the kernel does not support", NULL, SB_UNSUPPORTED,
     "the kernel has no user namespaces", "use a kernel built with CONFIG_USER_NS=y"},
    /* "create" in Debian, "creating" upstream */
    {"No permissions to creat", NULL, SB_UNSUPPORTED,
     "the kernel does not allow unprivileged user namespaces", ALLOW_USERNS},
    {"Creating new namespace failed", "Resource temporarily unavailable", SB_LIMIT,
     "no more processes can be started", "end some, or raise the limit of processes (ulimit -u, pids.max)"},
    {"Creating new namespace failed", NULL, SB_UNSUPPORTED, "the kernel refuses new namespaces",
     ALLOW_USERNS},
    {"setting up uid map", "Permission denied", SB_UNSUPPORTED,
     "AppArmor does not allow user namespaces to bwrap", ALLOW_UBUNTU},
    {"setting up uid map", NULL, SB_UNSUPPORTED, "the kernel refuses the user mapping of a box",
     ALLOW_USERNS},
    {"loopback: ", "Operation not permitted", SB_UNSUPPORTED,
     "AppArmor does not allow capabilities in user namespaces of bwrap", ALLOW_UBUNTU},
    {"cannot open /proc/sys/user/max_user_namespaces", NULL, SB_UNSUPPORTED,
     "/proc is read-only here, so namespaces inside boxes can't be switched off: we seem to be in a "
     "container",
     IN_CONTAINER},
    {"Can't mount proc", NULL, SB_UNSUPPORTED, "parts of /proc are hidden here: we seem to be in a container",
     IN_CONTAINER},
    {"pivot_root", NULL, SB_UNSUPPORTED,
     "the root of this mount namespace can't be exchanged: we seem to be in a container with CAP_SYS_ADMIN",
     "start the container without --cap-add SYS_ADMIN, with --security-opt seccomp=unconfined --security-opt "
     "systempaths=unconfined"},
    {"The --size option is not permitted in setuid mode", NULL, SB_UNSUPPORTED,
     "bwrap is setuid, and --size is not permitted in setuid mode", "chmod u-s the bwrap program"},
    {"execvp ", NULL, SB_DENIED, "the guest can't be executed in the box",
     "llm-sandbox doctor (it measures anew how the guest can get into a box)"},
};

static size_t line_len(const char *line)
{
    return strcspn(line, "\r\n");
}

static bool holds(const char *line, size_t len, const char *part)
{
    size_t part_len = strlen(part);

    for (size_t i = 0; i + part_len <= len; i++)
        if (memcmp(line + i, part, part_len) == 0)
            return true;
    return false;
}

static bool explain_line(const char *line, size_t len, char *mend, size_t mend_cap, struct sb_err *err)
{
    size_t quoted = sb_utf8_cut(line, len, QUOTED_BYTES);

    for (size_t i = 0; i < SB_COUNT(TEXTS); i++) {
        size_t prefix = strlen(TEXTS[i].prefix);

        if (len < prefix || memcmp(line, TEXTS[i].prefix, prefix) != 0 ||
            (TEXTS[i].also && !holds(line + prefix, len - prefix, TEXTS[i].also)))
            continue;
        snprintf(mend, mend_cap, "%s", TEXTS[i].mend);
        sb_fail(err, TEXTS[i].code, "%s (bwrap: %.*s)", TEXTS[i].sentence, (int)quoted, line);
        return true;
    }
    return false;
}

void sb_bubblewrap_explain(const char *errors, const struct sb_proc_end *end, char *mend, size_t mend_cap,
                           struct sb_err *err)
{
    const char *first = NULL;

    snprintf(mend, mend_cap, "%s", "");
    for (const char *line = errors; *line; line += line_len(line), line += strspn(line, "\r\n")) {
        size_t says = strlen(SAYS);

        if (!first && line_len(line))
            first = line;
        if (strncmp(line, SAYS, says) == 0 &&
            explain_line(line + says, line_len(line + says), mend, mend_cap, err))
            return;
    }
    if (first) {
        size_t quoted = sb_utf8_cut(first, line_len(first), QUOTED_BYTES);

        sb_fail(err, SB_HOST, "bwrap started no box: %.*s", (int)quoted, first);
        return;
    }
    snprintf(mend, mend_cap, "apt-get install --reinstall bubblewrap");
    if (end->signalled)
        sb_fail(err, SB_HOST, "bwrap was ended by signal %u without a word", (unsigned)end->code);
    else
        sb_fail(err, SB_HOST, "bwrap ended with %u without a word", (unsigned)end->code);
}
