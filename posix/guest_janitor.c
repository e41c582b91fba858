/* SPDX-License-Identifier: MIT
 * The janitor mode of the guest program, run on the host's side: see posix/janitor.h. */
#include "guest_posix.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define GROUPS_MAX 4096 /* boxes of one host at once; more than box uids there are not */
#define ROUNDS     200  /* of 5 ms: a killed process may take a while to be gone */

struct groups {
    pid_t at[GROUPS_MAX];
    size_t count;
};

/* Positive: it began; negative: nothing of it is left. */
static void hear(struct groups *groups, pid_t said)
{
    if (said > 1 && groups->count < GROUPS_MAX)
        groups->at[groups->count++] = said;
    for (size_t i = 0; said < 0 && i < groups->count; i++)
        if (groups->at[i] == -said)
            groups->at[i] = groups->at[--groups->count];
}

static void kill_all(struct groups *groups)
{
    const struct timespec pause = {0, 5 * 1000 * 1000};

    for (int round = 0; round < ROUNDS && groups->count > 0; round++) {
        for (size_t i = groups->count; i-- > 0;)
            if (kill(-groups->at[i], SIGKILL) < 0 && errno == ESRCH)
                groups->at[i] = groups->at[--groups->count];
        if (groups->count > 0)
            nanosleep(&pause, NULL);
    }
}

int sb_guest_janitor(void)
{
    static struct groups groups;
    pid_t said;
    ssize_t got;

    while ((got = read(0, &said, sizeof said)) == (ssize_t)sizeof said || (got < 0 && errno == EINTR))
        if (got > 0)
            hear(&groups, said);
    kill_all(&groups);
    return 0;
}
