/* SPDX-License-Identifier: MIT */
#include "sandbox/verdict.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#define LINE_BYTES 256

static const struct {
    const char *name;
    enum sb_promise promise;
    const char *open; /* what it means that the attack worked, for people */
} CANARIES[] = {
    {"read-outside", SB_PROMISE_READ_OUTSIDE, "a file outside the box could be read"},
    {"write-outside", SB_PROMISE_WRITE_OUTSIDE, "a file outside the box could be written"},
    {"network", SB_PROMISE_NETWORK, "a listener on the host's loopback could be reached"},
    {"endpoint", SB_PROMISE_ENDPOINT, "a socket or pipe of this program could be reached"},
    {"identity", SB_PROMISE_IDENTITY, "code runs with rights of the host"},
    {"processes", SB_PROMISE_PROCESSES, "a second process was started under a limit of one"},
    {"memory", SB_PROMISE_MEMORY, "128 MiB were used under a limit of 64"},
    {"disk", SB_PROMISE_DISK, "4 MiB were written under a limit of 2"},
};

static void see(struct sb_verdict *verdict, enum sb_promise promise, enum sb_sight sight, const char *detail)
{
    if (sight <= verdict->of[promise])
        return;
    verdict->of[promise] = sight;
    snprintf(verdict->detail[promise], sizeof verdict->detail[promise], "%s", detail);
}

static void read_line(struct sb_verdict *verdict, const char *line)
{
    char name[24], word[8];
    const char *rest;
    int end = 0;
    long pid;

    if (sscanf(line, "kill pid %9ld", &pid) == 1 && pid > 0) {
        verdict->left_behind = pid;
        return;
    }
    if (sscanf(line, "%23s %7s%n", name, word, &end) != 2)
        return;
    rest = line + end + strspn(line + end, " ");
    for (size_t i = 0; i < SB_COUNT(CANARIES); i++) {
        if (strcmp(CANARIES[i].name, name) != 0)
            continue;
        if (strcmp(word, "open") == 0)
            see(verdict, CANARIES[i].promise, SB_SIGHT_OPEN, rest);
        else if (strcmp(word, "denied") == 0)
            see(verdict, CANARIES[i].promise, SB_SIGHT_DENIED, "");
        else if (strcmp(word, "error") == 0)
            see(verdict, CANARIES[i].promise, SB_SIGHT_ERROR, rest);
    }
}

void sb_verdict_read(struct sb_verdict *verdict, const char *text, size_t len)
{
    const char *end;

    for (; (end = memchr(text, '\n', len)) != NULL; len -= (size_t)(end + 1 - text), text = end + 1) {
        size_t line_len = (size_t)(end - text);
        char line[LINE_BYTES];

        if (line_len > 0 && text[line_len - 1] == '\r')
            line_len--;
        if (line_len >= sizeof line || memchr(text, '\0', line_len))
            continue;
        memcpy(line, text, line_len);
        line[line_len] = '\0';
        read_line(verdict, line);
    }
}

static void promise_none(struct sb_promises *out, enum sb_promise promise, const char *why,
                         const char *detail)
{
    out->of[promise] = SB_NONE;
    snprintf(out->why[promise], sizeof out->why[promise], "%s%s%s", why, detail[0] ? ": " : "", detail);
}

static bool judge_canary(size_t row, const struct sb_verdict *verdict, bool seen, struct sb_promises *out)
{
    enum sb_promise promise = CANARIES[row].promise;
    enum sb_sight sight = seen ? SB_SIGHT_OPEN : verdict->of[promise];

    if (sight == SB_SIGHT_DENIED)
        out->of[promise] = SB_KERNEL;
    else if (sight == SB_SIGHT_OPEN)
        promise_none(out, promise, CANARIES[row].open, verdict->detail[promise]);
    else if (sight == SB_SIGHT_ERROR)
        promise_none(out, promise, "its canary failed", verdict->detail[promise]);
    else
        promise_none(out, promise, "its canary gave no answer", "");
    return sight == SB_SIGHT_DENIED || sight == SB_SIGHT_OPEN;
}

/* A pid namespace of its own dies whole with its first process. Without one the sleeper that
 * the canary left must be seen dead. */
static bool judge_kill(const struct sb_verdict *verdict, const struct sb_verdict_seen *seen,
                       struct sb_promises *out)
{
    if (!seen->gone)
        promise_none(out, SB_PROMISE_KILL, "the box was not gone in time after its end", "");
    else if (!seen->own_pids && verdict->left_behind == 0)
        promise_none(out, SB_PROMISE_KILL, "no process could be left behind to see whether it dies", "");
    else if (!seen->own_pids && !seen->left_behind_dead)
        promise_none(out, SB_PROMISE_KILL, "a process of the box outlived it", "");
    else
        out->of[SB_PROMISE_KILL] = SB_KERNEL;
    return seen->own_pids || verdict->left_behind != 0;
}

bool sb_verdict_judge(const struct sb_verdict *verdict, const struct sb_verdict_seen *seen,
                      struct sb_promises *out)
{
    bool complete = true;

    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < SB_COUNT(CANARIES); i++) {
        bool connected = (CANARIES[i].promise == SB_PROMISE_NETWORK && seen->network) ||
                         (CANARIES[i].promise == SB_PROMISE_ENDPOINT && seen->endpoint);

        complete = judge_canary(i, verdict, connected, out) && complete;
    }
    complete = judge_kill(verdict, seen, out) && complete;
    promise_none(out, SB_PROMISE_CPU_SHARE, "boxes are not given shares of the processor", "");
    return complete;
}
