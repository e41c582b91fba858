/* SPDX-License-Identifier: MIT
 * The first thing the guest does: it makes itself a hard target for the code it will run,
 * which has the same user and the same box. */
#include "guest_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

static int harden(struct sb_err *err)
{
    /* Non-dumpable comes first: without it user code takes our descriptors by /proc/PID/fd,
     * pidfd_getfd or ptrace. Forks inherit it until they exec. */
    if (prctl(PR_SET_DUMPABLE, 0) < 0)
        return sb_fail_errno(err, errno, "cannot become non-dumpable");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return sb_fail_errno(err, errno, "cannot give up new privileges");
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return sb_fail_errno(err, errno, "cannot become a subreaper");
    umask(022);
    return 0;
}

/* Whatever we inherited: SIGPIPE ignored, SIGCHLD blocked, all else default. A handler would
 * make PID 1 a target for signals from inside the box. */
static void reset_signals(void)
{
    sigset_t child;

    for (int i = 1; i < NSIG; i++)
        signal(i, i == SIGPIPE ? SIG_IGN : SIG_DFL); /* fails for a few numbers: they have no choice */
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_SETMASK, &child, NULL);
}

static int open_parts(struct sb_gos *gos, struct sb_err *err)
{
    gos->host_in = fcntl(0, F_DUPFD_CLOEXEC, 3);
    gos->host_out = fcntl(1, F_DUPFD_CLOEXEC, 3);
    if (gos->host_in < 0 || gos->host_out < 0)
        return sb_fail(err, SB_HOST, "stdin or stdout is closed");
    for (int i = 0; i < 2; i++) {
        int fd = i == 0 ? gos->host_in : gos->host_out;
        int flags = fcntl(fd, F_GETFL);
        if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
            return sb_fail_errno(err, errno, "cannot make stdin and stdout non-blocking");
    }
    int workspace = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (workspace < 0 || sb_beneath_init(&gos->beneath, workspace) < 0)
        return sb_fail_errno(err, errno, "cannot open the current folder");
    gos->signals = sb_signals_open();
    if (gos->signals < 0)
        return sb_fail_errno(err, errno, "cannot wait for signals");
    if (access("/proc/self/stat", R_OK) < 0)
        return sb_fail_errno(err, errno, "cannot see processes in /proc");
    return 0;
}

/* Last, because errors before it are told on stderr. */
static int replace_standard(const struct sb_gos *gos, struct sb_err *err)
{
    const int keep[] = {gos->host_in, gos->host_out, gos->beneath.root, gos->signals};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null < 0)
        return sb_fail_errno(err, errno, "cannot open '/dev/null'");
    for (int i = 0; i < 3; i++)
        dup2(null, i);
    sb_close_others(keep, SB_COUNT(keep)); /* and `null`, and the memfd we may come from */
    return 0;
}

int sb_gos_open(struct sb_gos **out, struct sb_err *err)
{
    struct sb_gos *gos = sb_alloc(sizeof *gos);
    int rc = -1;

    *gos = (struct sb_gos){.pid = getpid(), .host_in = -1, .host_out = -1, .signals = -1, .kill = kill};
    /* Main ends when this fails, so nothing is closed on the way. */
    if (harden(err) < 0)
        goto done;
    reset_signals();
    if (open_parts(gos, err) < 0 || replace_standard(gos, err) < 0)
        goto done;
    *out = gos;
    gos = NULL;
    rc = 0;
done:
    sb_free(gos);
    return rc;
}
