/* SPDX-License-Identifier: MIT
 * mcp: serves one MCP client on stdin and stdout, and ends with it. Joins the running service,
 * if there is one that knows all our settings; else it is a host by itself. */
#include <stdio.h>

#include "base/alloc.h"
#include "cli/choice.h"
#include "cli/join.h"
#include "cli/serving.h"
#include "platform/endpoint.h"
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
    struct sb_cli_host own; /* loop and signals */
    struct sb_bridge *bridge;
};

static void on_bridge_closed(void *ctx)
{
    struct joined *joined = ctx;

    joined->bridge = NULL;
}

static void on_stop(void *ctx, enum sb_stop_reason reason)
{
    struct joined *joined = ctx;

    (void)reason;
    if (joined->bridge != NULL)
        sb_bridge_close(joined->bridge);
    joined->bridge = NULL;
}

static void on_unused_closed(uv_handle_t *handle)
{
    sb_free(handle);
}

/* A service we may join; 0: there is none. Says why not, when one is there all the same. */
static int find_service(uv_loop_t *loop, const struct sb_config_want *settings,
                        struct sb_endpoint_found *found)
{
    struct sb_buf by;
    struct sb_err err = {0};
    bool hindered;

    if (sb_endpoint_connect(loop, found, &err) < 0) {
        if (err.code != SB_NOT_FOUND)
            fprintf(stderr, "llm-sandbox: not joining the service: %s\n", err.text);
        return 0;
    }
    sb_buf_init(&by, 4096);
    hindered = sb_join_hindered(settings, found->ours, &by);
    if (hindered) {
        fprintf(stderr,
                "llm-sandbox: not joining the running service, which does not know what is set here: %s\n",
                by.data);
        uv_close((uv_handle_t *)found->stream, on_unused_closed);
    }
    sb_buf_done(&by);
    return !hindered;
}

/* 1: it was served; 0: there is no service for us. */
static int serve_joined(const struct sb_config_want *settings, int fd_out, struct sb_err *err)
{
    struct joined *joined = sb_alloc(sizeof *joined);
    struct sb_endpoint_found found;
    int rc = -1;

    if (sb_cli_host_open_bare(&joined->own, on_stop, joined, err) < 0)
        goto done;
    rc = find_service(&joined->own.loop, settings, &found);
    if (rc == 1 &&
        sb_bridge_open(found.stream, 0, fd_out, on_bridge_closed, joined, &joined->bridge, err) < 0)
        rc = -1;
    sb_cli_host_run(&joined->own);
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
