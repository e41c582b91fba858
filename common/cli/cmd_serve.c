/* SPDX-License-Identifier: MIT
 * serve: the host on its Unix socket, for many clients; what a system service runs. */
#include <stdio.h>

#include "base/alloc.h"
#include "cli/choice.h"
#include "cli/serving.h"
#include "server/service.h"

struct command {
    struct sb_serving serving;
    struct sb_service *service; /* NULL: not open */
};

static void on_end(void *ctx)
{
    struct command *c = ctx;

    if (c->service != NULL)
        sb_service_close(c->service);
    c->service = NULL;
}

static int open_door(struct command *c, struct sb_err *err)
{
    struct sb_buf note;
    int rc;

    sb_buf_init(&note, sizeof err->text);
    rc = sb_service_open(c->serving.host, &c->service, &note, err);
    if (rc == 0) {
        if (note.len > 0)
            fprintf(stderr, "llm-sandbox: %s\n", note.data);
        fprintf(stderr, "llm-sandbox: serving at %s\n", sb_service_place(c->service));
    }
    sb_buf_done(&note);
    return rc;
}

static int serve_main(int argc, char **argv)
{
    struct sb_cli_choice choice = {0};
    struct sb_err err = {0};
    struct command *c;
    int status = 0;

    if (sb_cli_choice_parse(&sb_command_serve, argc, argv, &choice) < 0)
        return SB_EXIT_HOST;
    c = sb_alloc(sizeof *c);
    if (sb_serving_open(&c->serving, &choice.want, NULL, on_end, c, &err) < 0) {
        status = sb_cli_fail(&err, "");
        goto done;
    }
    if (open_door(c, &err) < 0) {
        status = sb_cli_fail(&err, "");
        sb_serving_end(&c->serving);
    }
    sb_serving_run(&c->serving);
done:
    sb_free(c);
    return status;
}

const struct sb_command sb_command_serve = {.name = "serve",
                                            .summary =
                                                "serves all MCP clients of this machine at a Unix socket",
                                            .usage = "[--config FILE] [--backend NAME] [--allow-weak]",
                                            .options = sb_cli_settings_options,
                                            .main = serve_main};
