/* SPDX-License-Identifier: MIT
 * mcp: serves one MCP client on stdin and stdout, and ends with it. Joins the running service,
 * if there is one that knows all our settings; else it is a host by itself. */
#include <stdio.h>

#include "base/alloc.h"
#include "cli/choice.h"
#include "cli/join.h"
#include "cli/serving.h"
#include "platform/stdio.h"
#include "server/bridge.h"
#include "server/mcp.h"

#define PEER "self" /* who started us: the only one there is on stdio */

/* ---- by itself ------------------------------------------------------------------------ */

struct alone {
    struct sb_serving serving;
    struct sb_err broken;
    struct sb_mcp *mcp; /* NULL: closed */
};

static void on_mcp_closed(void *ctx)
{
    struct alone *alone = ctx;

    alone->mcp = NULL;
    sb_serving_end(&alone->serving);
}

static void on_serving_end(void *ctx)
{
    struct alone *alone = ctx;

    if (alone->mcp != NULL)
        sb_mcp_close(alone->mcp);
}

/* A server that can run nothing still answers: its client then shows why instead of "failed
 * to connect". */
static int serve_alone(const struct sb_config_want *settings, int fd_out, struct sb_err *err)
{
    struct alone *alone = sb_alloc(sizeof *alone);
    int rc = -1;

    if (sb_serving_open(&alone->serving, settings, &alone->broken, on_serving_end, alone, err) < 0)
        goto done;
    rc = sb_mcp_open(alone->serving.host, 0, fd_out, PEER, on_mcp_closed, alone, &alone->mcp, err);
    if (rc < 0)
        sb_serving_end(&alone->serving);
    sb_serving_run(&alone->serving);
done:
    sb_free(alone);
    return rc;
}

/* ---- through the service -------------------------------------------------------------- */

struct joined {
    struct sb_cli_host own;   /* loop and signals */
    struct sb_bridge *bridge; /* NULL: closed, or closing */
    struct sb_err why;        /* it was not served */
};

static void on_bridge_closed(void *ctx, const struct sb_err *why)
{
    struct joined *joined = ctx;

    joined->bridge = NULL;
    if (why != NULL)
        joined->why = *why;
}

static void on_stop(void *ctx, enum sb_stop_reason reason)
{
    struct joined *joined = ctx;

    (void)reason;
    if (joined->bridge != NULL)
        sb_bridge_close(joined->bridge);
    joined->bridge = NULL;
}

/* 1: it was served; 0: there is no service for us, and why if there is one all the same. */
static int serve_joined(const struct sb_config_want *settings, int fd_out, struct sb_err *err)
{
    struct joined *joined = sb_alloc(sizeof *joined);
    struct sb_bridge_want want = {.fd_in = 0, .fd_out = fd_out, .on_closed = on_bridge_closed, .ctx = joined};
    enum sb_join join;
    int rc = -1;

    if (sb_cli_host_open_bare(&joined->own, on_stop, joined, err) < 0)
        goto done;
    join = sb_join_service(&joined->own.loop, settings, &want.service, &want.ours, &joined->why);
    if (join == SB_JOIN_YES)
        joined->bridge = sb_bridge_open(&want);
    sb_cli_host_run(&joined->own);
    rc = join == SB_JOIN_YES;
    if (join == SB_JOIN_NOT || joined->why.code == SB_BUSY) {
        fprintf(stderr, "llm-sandbox: working without the running service: %s\n", joined->why.text);
        rc = 0;
    } else if (join == SB_JOIN_YES && joined->why.code != SB_OK) {
        *err = joined->why;
        rc = -1;
    }
done:
    sb_free(joined);
    return rc;
}

static int mcp_main(int argc, char **argv)
{
    struct sb_cli_choice choice = {0};
    struct sb_err err = {0};
    int fd_out = -1, rc;

    if (sb_cli_choice_parse(&sb_command_mcp, argc, argv, &choice) < 0)
        return SB_EXIT_HOST;
    if (sb_stdout_take(&fd_out, &err) < 0)
        return sb_cli_fail(&err, "");
    rc = serve_joined(&choice.want, fd_out, &err);
    if (rc == 0)
        rc = serve_alone(&choice.want, fd_out, &err);
    return rc < 0 ? sb_cli_fail(&err, "") : 0;
}

const struct sb_command sb_command_mcp = {.name = "mcp",
                                          .summary = "serves an MCP client on stdin and stdout",
                                          .usage = "[--config FILE] [--backend NAME] [--allow-weak]",
                                          .options = sb_cli_settings_options,
                                          .main = mcp_main};
