/* SPDX-License-Identifier: MIT */
#include "server/mcp_inner.h"

bool sb_progress_due(struct sb_progress *progress, int64_t now_ms, int64_t elapsed_ms)
{
    int64_t value = elapsed_ms / 1000;

    if (!progress->token[0] || (progress->told && now_ms - progress->told_ms < SB_PROGRESS_MS))
        return false;
    if (progress->told && value <= progress->value)
        value = progress->value + 1;
    progress->told = true;
    progress->told_ms = now_ms;
    progress->value = value;
    return true;
}
