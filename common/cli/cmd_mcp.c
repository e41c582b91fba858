/* SPDX-License-Identifier: MIT
 * mcp: serves one MCP client on stdin and stdout, and ends with it. */
#include "base/alloc.h"
#include "cli/command.h"
#include "cli/host.h"
#include "platform/stdio.h"
#include "server/mcp.h"

#define PEER           "self" /* who started us: the only one there is on stdio */
#define END_MS         200    /* from a reason to end to the end, whatever is under way */
#define SWEEP_FIRST_MS 1000   /* dead hosts' files: not before the first answers */
#define SWEEP_EVERY_MS 100

struct command {
    struct sb_cli_host own;
    struct sb_host *host;
    struct sb_mcp *mcp; /* NULL: closed */
    uv_timer_t sweep, late;
    bool ending;
};

static void on_late(uv_timer_t *timer)
{
    struct command *c = timer->data;

    sb_cli_host_quit(&c->own, 0);
}

static void on_stopped(void *ctx)
{
    struct command *c = ctx;

    sb_host_free(c->host);
    c->host = NULL;
}

/* All that is under way ends; what hangs does not keep us. */
static void end(struct command *c)
{
    if (c->ending)
        return;
    c->ending = true;
    uv_close((uv_handle_t *)&c->sweep, NULL);
    uv_timer_start(&c->late, on_late, END_MS, 0);
    uv_unref((uv_handle_t *)&c->late);
    sb_host_stop(c->host, on_stopped, c);
}

static void on_closed(void *ctx)
{
    struct command *c = ctx;

    c->mcp = NULL;
    end(c);
}

static void on_stop(void *ctx, enum sb_stop_reason reason)
{
    struct command *c = ctx;

    (void)reason; /* a client that ends us is no failure */
    if (c->ending || c->host == NULL)
        sb_cli_host_quit(&c->own, 0);
    if (c->mcp != NULL)
        sb_mcp_close(c->mcp);
    end(c);
}

static void on_sweep(uv_timer_t *timer)
{
    struct command *c = timer->data;

    if (sb_instance_sweep(c->own.instance, 1) == 0)
        uv_timer_stop(timer);
}

static void start_timers(struct command *c)
{
    uv_timer_init(&c->own.loop, &c->sweep);
    uv_timer_init(&c->own.loop, &c->late);
    c->sweep.data = c->late.data = c;
    if (c->own.instance != NULL)
        uv_timer_start(&c->sweep, on_sweep, SWEEP_FIRST_MS, SWEEP_EVERY_MS);
    uv_unref((uv_handle_t *)&c->sweep);
}

/* A server that can run nothing still answers: its client then shows why instead of "failed
 * to connect". */
static int open_own(struct command *c, const struct sb_config_want *settings, struct sb_err *broken,
                    struct sb_err *err)
{
    if (sb_cli_host_open(&c->own, settings, on_stop, c, broken) == 0)
        return 0;
    return sb_cli_host_open_bare(&c->own, on_stop, c, err);
}

static int serve(struct command *c, const struct sb_config_want *settings, struct sb_err *err)
{
    struct sb_err broken = {0};
    struct sb_host_want want;
    int fd_out = -1;

    if (sb_stdout_take(&fd_out, err) < 0 || open_own(c, settings, &broken, err) < 0)
        return -1;
    want = (struct sb_host_want){.loop = &c->own.loop,
                                 .instance = c->own.instance,
                                 .guest = c->own.guest.data,
                                 .config = broken.code == SB_OK ? &c->own.config : NULL,
                                 .broken = broken.code != SB_OK ? &broken : NULL};
    c->host = sb_host_new(&want);
    start_timers(c);
    if (sb_mcp_open(c->host, 0, fd_out, PEER, on_closed, c, &c->mcp, err) < 0)
        end(c);
    uv_run(&c->own.loop, UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&c->late, NULL);
    sb_cli_host_run(&c->own);
    return err->code == SB_OK ? 0 : -1;
}

enum { OPT_CONFIG, OPT_BACKEND, OPT_ALLOW_WEAK };
static const struct sb_option options[] = {
    [OPT_CONFIG] = {"config", 0, "FILE", "instead of the usual configuration"},
    [OPT_BACKEND] = {"backend", 0, "NAME", "instead of the best one here (see: llm-sandbox doctor)"},
    [OPT_ALLOW_WEAK] = {"allow-weak", 0, NULL, "accepts a backend that keeps less than the default promises"},
    {NULL, 0, NULL, NULL},
};

static int mcp_main(int argc, char **argv)
{
    struct sb_options parser = {.table = options, .argc = argc, .at = 1, .argv = argv};
    struct sb_config_want settings = {0};
    const char *value;
    struct sb_err err = {0};
    struct command *c;
    int found, status = 0;

    while ((found = sb_options_next(&parser, &value, &err)) >= 0) {
        settings.file = found == OPT_CONFIG ? value : settings.file;
        settings.backend = found == OPT_BACKEND ? value : settings.backend;
        settings.allow_weak = settings.allow_weak || found == OPT_ALLOW_WEAK;
    }
    if (found == -1)
        sb_fail(&err, SB_BAD_REQUEST, "'mcp' takes no operand ('%.80s')", value);
    if (err.code != SB_OK)
        return sb_cli_usage(&sb_command_mcp, &err);
    c = sb_alloc(sizeof *c);
    if (serve(c, &settings, &err) < 0)
        status = sb_cli_fail(&err, "");
    sb_free(c);
    return status;
}

const struct sb_command sb_command_mcp = {.name = "mcp",
                                          .summary = "serves an MCP client on stdin and stdout",
                                          .usage = "[--config FILE] [--backend NAME] [--allow-weak]",
                                          .options = options,
                                          .main = mcp_main};
