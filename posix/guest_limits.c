/* SPDX-License-Identifier: MIT
 * Resource limits of programs, and what they used. memory_bytes is not among them yet: RLIMIT_AS counts
 * address space, of which Node and Java reserve gigabytes they never touch, so it would break programs far
 * below the limit. The host's cgroup does this work. */
#include "guest_posix.h"

#include <stdbool.h>

size_t sb_rlimits(const struct sb_wire_limits *limits, uint32_t ours, struct sb_rlimit out[SB_RLIMITS_MAX])
{
    /* RLIMIT_CPU is the net below the dispatcher's finer watch over the tree: it counts whole
     * seconds of one process, by ticks, and so fires early on a busy virtual machine (SIGXCPU
     * for 1 s came at 0.74 s of real use); hence half as much again and a second.
     * RLIMIT_NPROC counts everything of our uid in the user namespace, the guest and its run
     * parents among them; it comes last so that nothing before it can fail on it. */
    uint64_t cpu_s = limits->cpu_ms / 1000 + limits->cpu_ms / 2000 + 1;
    const struct {
        unsigned char what;
        bool set;
        uint64_t value;
    } rows[SB_RLIMITS_MAX] = {
        {RLIMIT_CORE, true, 0},
        {RLIMIT_FSIZE, limits->file_bytes != 0, limits->file_bytes},
        {RLIMIT_NOFILE, limits->open_files != 0, limits->open_files},
        {RLIMIT_CPU, limits->cpu_ms != 0, cpu_s},
        {RLIMIT_NPROC, limits->processes != 0, (uint64_t)limits->processes + ours},
    };
    size_t count = 0;

    for (size_t i = 0; i < SB_RLIMITS_MAX; i++)
        if (rows[i].set)
            out[count++] = (struct sb_rlimit){rows[i].what, (rlim_t)rows[i].value};
    return count;
}

int sb_rlimit_set(const struct sb_rlimit *limit)
{
    struct rlimit now;

    if (getrlimit(limit->what, &now) < 0)
        return -1;
    rlim_t soft = limit->value < now.rlim_max ? limit->value : now.rlim_max;
    /* The soft limit of CPU sends SIGXCPU, the hard one SIGKILL: a second between them lets the
     * first be seen as what ended the program. */
    rlim_t hard = soft + (limit->what == RLIMIT_CPU && soft < now.rlim_max ? 1 : 0);
    return setrlimit(limit->what, &(struct rlimit){soft, hard});
}

void sb_usage_add(struct sb_gos_usage *usage, const struct rusage *used)
{
    uint64_t peak_bytes = (uint64_t)used->ru_maxrss * 1024;

    usage->cpu_us += (uint64_t)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000 +
                     (uint64_t)(used->ru_utime.tv_usec + used->ru_stime.tv_usec);
    if (peak_bytes > usage->peak_bytes)
        usage->peak_bytes = peak_bytes;
}
