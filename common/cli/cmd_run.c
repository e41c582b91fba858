/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "cli/feed.h"
#include "cli/host.h"
#include "cli/out_dir.h"
#include "cli/run_report.h"
#include "cli/sink.h"
#include "platform/hostpath.h"
#include "sandbox/toolbox.h"

#define JSON_MAX ((size_t)512 * 1024 * 1024) /* both streams at their highest, escaped */

enum {
    OPT_LANGUAGE,
    OPT_CODE,
    OPT_TIMEOUT,
    OPT_MEMORY,
    OPT_STDIN,
    OPT_OUT,
    OPT_JSON,
    OPT_CONFIG,
    OPT_BACKEND,
    OPT_ALLOW_WEAK
};

static const struct sb_option options[] = {
    [OPT_LANGUAGE] = {"language", 'l', "LANG", "language; else by the file's ending, else python"},
    [OPT_CODE] = {"code", 'c', "CODE", "the program itself"},
    [OPT_TIMEOUT] = {"timeout", 't', "SECONDS", "0.1 to 3600; default 30"},
    [OPT_MEMORY] = {"memory", 'm', "MIB", "memory limit; refused where it can't be kept"},
    [OPT_STDIN] = {"stdin", 0, "FILE", "the program's input (- is ours); else it is empty"},
    [OPT_OUT] = {"out", 0, "DIR", "puts the files the program makes into DIR"},
    [OPT_JSON] = {"json", 0, NULL, "prints one JSON object when it is over"},
    [OPT_CONFIG] = {"config", 0, "FILE", "instead of the usual configuration"},
    [OPT_BACKEND] = {"backend", 0, "NAME", "instead of the best one here (see: llm-sandbox doctor)"},
    [OPT_ALLOW_WEAK] = {"allow-weak", 0, NULL, "accepts a backend that keeps less than the default promises"},
    {NULL, 0, NULL, NULL},
};

struct command {
    struct sb_cli_host host;
    const char *language, *code_text, *file, *stdin_file, *out;
    struct sb_config_want settings;
    const char *const *args; /* of the program */
    struct sb_ask ask;
    bool json;
    struct sb_buf code, program, report;
    struct sb_grant grant;
    struct sb_probe_result chosen;
    struct sb_run *run;
    struct sb_sink sinks[2];
    struct sb_feed feed;
    struct sb_out_dir out_dir;
    int stdin_fd; /* -1: empty */
    int status;
    bool over, stuck;
    enum sb_stop_reason stopped;
};

/* ---- what was asked ----------------------------------------------------------------- */

static int number(const char *text, double scale, const char *what, int64_t *out, struct sb_err *err)
{
    char *end;
    double value = strtod(text, &end);

    if (text[0] == '\0' || *end != '\0' || !(value >= -1e12 && value <= 1e12))
        return sb_fail(err, SB_BAD_REQUEST, "%s is '%.40s': a number is needed", what, text);
    *out = (int64_t)(value * scale + (value < 0 ? -0.5 : 0.5));
    return 0;
}

static int set_limit(struct command *c, enum sb_limit_row row, const char *text, double scale,
                     const char *what, struct sb_err *err)
{
    c->ask.set[row] = true;
    return number(text, scale, what, &c->ask.value[row], err);
}

static int set_option(struct command *c, int option, const char *value, struct sb_err *err)
{
    switch (option) {
    case OPT_LANGUAGE:
        c->language = value;
        return 0;
    case OPT_CODE:
        c->code_text = value;
        return 0;
    case OPT_TIMEOUT:
        return set_limit(c, SB_ROW_TIMEOUT_MS, value, 1000, "--timeout", err);
    case OPT_MEMORY:
        return set_limit(c, SB_ROW_MEMORY_MB, value, 1, "--memory", err);
    case OPT_STDIN:
        c->stdin_file = value;
        return 0;
    case OPT_OUT:
        c->out = value;
        return 0;
    case OPT_JSON:
        c->json = true;
        return 0;
    case OPT_CONFIG:
        c->settings.file = value;
        return 0;
    case OPT_BACKEND:
        c->settings.backend = value;
        return 0;
    default:
        c->settings.allow_weak = true;
        return 0;
    }
}

static int parse(struct command *c, int argc, char **argv, struct sb_err *err)
{
    struct sb_options parser = {.table = options, .argc = argc, .at = 1, .argv = argv};
    const char *value;
    int found;

    while ((found = sb_options_next(&parser, &value, err)) >= -1) {
        if (found >= 0 ? set_option(c, found, value, err) < 0 : false)
            return -1;
        if (found == -1 && c->file != NULL)
            return sb_fail(err, SB_BAD_REQUEST,
                           "one program at a time: '%.80s' comes after '%.80s' (arguments "
                           "for the program follow --)",
                           value, c->file);
        if (found == -1)
            c->file = value;
    }
    if (found == -3)
        return -1;
    c->args = (const char *const *)argv + parser.at;
    if (c->file == NULL && c->code_text == NULL)
        return sb_fail(err, SB_BAD_REQUEST, "no program: give a FILE, -c CODE, or - to read it from stdin");
    if (c->file != NULL && c->code_text != NULL)
        return sb_fail(err, SB_BAD_REQUEST, "two programs: -c and '%.80s'", c->file);
    if (c->file != NULL && strcmp(c->file, "-") == 0 && c->stdin_file != NULL &&
        strcmp(c->stdin_file, "-") == 0)
        return sb_fail(err, SB_BAD_REQUEST, "stdin can't be both the program and its input");
    return 0;
}

/* ---- code and input from the user's side -------------------------------------------- */

static int open_read(const char *path, const char *what, int *out, struct sb_err *err)
{
    uv_fs_t request;
    int fd = uv_fs_open(NULL, &request, path, UV_FS_O_RDONLY, 0, NULL);

    uv_fs_req_cleanup(&request);
    if (fd < 0)
        return sb_fail(err, SB_BAD_REQUEST, "cannot read %s '%.300s': %s", what, path, uv_strerror(fd));
    *out = fd;
    return 0;
}

static int read_all(int fd, const char *name, struct sb_buf *out, struct sb_err *err)
{
    for (;;) {
        char *space = sb_buf_reserve(out, 64 * 1024);
        uv_buf_t piece;
        uv_fs_t request;
        int count;

        if (space == NULL)
            return sb_fail(err, SB_LIMIT, "the code in '%.200s' is larger than %u bytes", name,
                           SB_RUN_CODE_MAX);
        piece = uv_buf_init(space, 64 * 1024);
        count = uv_fs_read(NULL, &request, fd, &piece, 1, -1, NULL);
        uv_fs_req_cleanup(&request);
        if (count < 0)
            return sb_fail(err, SB_BAD_REQUEST, "cannot read the code in '%.200s': %s", name,
                           uv_strerror(count));
        if (count == 0)
            return 0;
        out->len += (size_t)count;
        out->data[out->len] = '\0';
    }
}

static int read_code(struct command *c, struct sb_err *err)
{
    uv_fs_t request;
    int fd = 0, rc;

    if (c->code_text != NULL) {
        sb_buf_adds(&c->code, c->code_text);
        return 0;
    }
    if (strcmp(c->file, "-") == 0)
        return read_all(0, "stdin", &c->code, err);
    if (open_read(c->file, "the program", &fd, err) < 0)
        return -1;
    rc = read_all(fd, c->file, &c->code, err);
    uv_fs_close(NULL, &request, fd, NULL);
    uv_fs_req_cleanup(&request);
    return rc;
}

static int open_stdin(struct command *c, struct sb_err *err)
{
    c->stdin_fd = c->stdin_file == NULL ? -1 : 0;
    if (c->stdin_file == NULL || strcmp(c->stdin_file, "-") == 0)
        return 0;
    return open_read(c->stdin_file, "the input", &c->stdin_fd, err);
}

/* ---- the run ------------------------------------------------------------------------ */

/* Workers that wait for somebody to write or to read would keep the loop for ever. Input that
 * nobody wants any more is no reason to stay, unread output only until we are stopped. */
static void leave_stuck(struct command *c)
{
    bool written = sb_sink_idle(&c->sinks[0]) && sb_sink_idle(&c->sinks[1]);

    if (c->over && c->run == NULL && (c->stopped != 0 || (c->stuck && written)))
        uv_stop(&c->host.loop);
}

static void on_written(struct sb_sink *sink, size_t bytes)
{
    struct command *c = sink->ctx;

    if (c->run != NULL)
        sb_run_consumed(c->run, sink == &c->sinks[0] ? SB_CHAN_OUT : SB_CHAN_ERR, bytes);
    if (sink->error != 0 && c->run != NULL && !c->over)
        sb_run_cancel(c->run); /* nobody reads it: the tree must not live on */
    leave_stuck(c);
}

static void on_output(void *ctx, enum sb_channel channel, const void *bytes, size_t len)
{
    struct command *c = ctx;

    sb_sink_add(&c->sinks[channel - SB_CHAN_OUT], bytes, len);
}

static void on_input(void *ctx)
{
    struct command *c = ctx;

    sb_feed_more(&c->feed);
}

static void on_artifact(void *ctx, const struct sb_wire_entry *file, const void *bytes, size_t len)
{
    struct command *c = ctx;

    sb_out_dir_add(&c->out_dir, file->path, bytes, len);
}

static void on_artifact_end(void *ctx, const struct sb_wire_entry *file, const struct sb_err *failed)
{
    struct command *c = ctx;
    struct sb_err err = {0};

    if (sb_out_dir_end(&c->out_dir, file->path, failed, &err) < 0)
        fprintf(stderr, "llm-sandbox: '%.200s' is left out: %s\n", file->path, err.text);
}

static int stop_or(const struct command *c, int status)
{
    if (c->stopped != 0)
        return sb_stop_status(c->stopped);
    for (size_t i = 0; i < 2; i++)
        if (c->sinks[i].error == UV_EPIPE)
            return SB_EXIT_BROKEN_PIPE;
        else if (c->sinks[i].error == UV_EIO && c->sinks[i].filter) /* seen before its signal */
            return sb_stop_status(SB_STOP_HANGUP);
        else if (c->sinks[i].error != 0)
            return SB_EXIT_HOST;
    return status;
}

static void report(struct command *c, const struct sb_run_result *result, const char *run_id)
{
    c->status = stop_or(c, sb_run_exit_status(result));
    if (c->json) {
        sb_run_json(result, run_id, c->chosen.backend != NULL ? c->chosen.backend->name : "", &c->report);
        return;
    }
    sb_run_sentence(result, &c->report);
    for (size_t i = 0; i < 2; i++)
        if (c->sinks[i].error != 0 && c->sinks[i].error != UV_EPIPE)
            fprintf(stderr, "llm-sandbox: cannot write the output: %s\n", uv_strerror(c->sinks[i].error));
    if (c->report.len > 0 && c->stopped == 0) {
        struct sb_err line = {0};

        sb_fail(&line, SB_HOST, "%s", c->report.data);
        sb_cli_fail(&line, result->mend);
    }
}

static void on_ended(void *ctx, const struct sb_run_result *result)
{
    struct command *c = ctx;

    c->over = true;
    c->stuck = sb_feed_stop(&c->feed);
    report(c, result, sb_run_id(c->run));
}

static void on_gone(void *ctx)
{
    struct command *c = ctx;

    c->run = NULL;
    leave_stuck(c);
}

static void refuse(struct command *c, const struct sb_err *err, const char *mend)
{
    struct sb_run_result result = {.status = SB_STATUS_HOST_ERROR, .err = *err};

    strncpy(result.mend, mend, sizeof result.mend - 1);
    c->over = true;
    report(c, &result, "");
}

static const struct sb_language *find_language(const struct command *c, enum sb_wire_os os,
                                               struct sb_err *err)
{
    const char *ending = c->file != NULL ? sb_path_ending(c->file, sb_host_rules()) : "";
    const struct sb_language *language;
    const char *nearest;

    if (c->language == NULL && (c->file == NULL || strcmp(c->file, "-") == 0))
        return sb_language_named("python", os);
    language = c->language != NULL ? sb_language_named(c->language, os) : sb_language_of_ending(ending, os);
    if (language != NULL)
        return language;
    if (c->language == NULL) {
        sb_fail(err, SB_BAD_REQUEST, "no language has files like '%.200s': name it with -l", c->file);
        return NULL;
    }
    nearest = sb_language_nearest(c->language, os);
    sb_fail(err, SB_BAD_REQUEST, "unknown language '%.80s'%s%s%s; see: llm-sandbox languages", c->language,
            nearest != NULL ? ": did you mean '" : "", nearest != NULL ? nearest : "",
            nearest != NULL ? "'?" : "");
    return NULL;
}

static int start(struct command *c, const char **mend, struct sb_err *err)
{
    const struct sb_probe_result *chosen = &c->chosen;
    const struct sb_target target = chosen->backend->target();
    const struct sb_language *language = find_language(c, target.os, err);
    const struct sb_run_events events = {.ctx = c,
                                         .on_output = c->json ? NULL : on_output,
                                         .on_input = on_input,
                                         .on_artifact = on_artifact,
                                         .on_artifact_end = on_artifact_end,
                                         .on_ended = on_ended,
                                         .on_gone = on_gone};

    if (language == NULL)
        return -1;
    *mend = language->install;
    if (sb_toolbox_find(language, &c->program, err) < 0)
        return -1;
    *mend = "";
    if (sb_config_limit(&c->host.config, &c->ask, err) < 0 ||
        sb_policy_grant(&c->ask, &chosen->promises, chosen->backend->name, &c->grant, err) < 0)
        return -1;
    if (!c->json)
        c->grant.value[SB_ROW_OUTPUT_KEPT] = 0; /* it is passed on live */
    const struct sb_run_want want = {
        .language = language,
        .program = c->program.data,
        .code = c->code.data,
        .code_len = c->code.len,
        .args = c->args,
        .feed_stdin = c->stdin_fd >= 0,
        .list_files = c->json,
        .collect_files = c->out != NULL,
        .box = {.backend = chosen->backend,
                .facts = &chosen->facts,
                .grant = &c->grant,
                .guest = c->host.guest.data,
                .read_only = language->read_only,
                .instance = c->host.instance},
    };
    c->run = sb_run_new(&c->host.loop, &want, &events);
    if (c->stdin_fd >= 0)
        sb_feed_start(&c->feed, &c->host.loop, c->stdin_fd, c->run);
    return 0;
}

static void on_chosen(void *ctx, const struct sb_probe_result *result)
{
    struct command *c = ctx;
    struct sb_err err = {0};
    const char *mend = "";

    c->chosen = *result;
    if (!result->usable)
        refuse(c, &result->why, result->mend);
    else if (start(c, &mend, &err) < 0)
        refuse(c, &err, mend);
    else
        sb_instance_sweep(c->host.instance, 4); /* while the box opens */
}

static void on_stop(void *ctx, enum sb_stop_reason reason)
{
    struct command *c = ctx;

    if (c->run == NULL && !c->over) /* a probe, which may hang on a strange backend */
        sb_cli_host_leave(&c->host, reason);
    c->stopped = reason;
    if (c->over)
        c->status = sb_stop_status(reason);
    if (c->run != NULL)
        sb_run_cancel(c->run);
    leave_stuck(c);
}

static int finish(struct command *c)
{
    int rc =
        c->json && c->stopped == 0 && c->report.len > 0 ? sb_cli_print(c->report.data, c->report.len) : 0;

    if (c->stuck || !sb_sink_idle(&c->sinks[0]) || !sb_sink_idle(&c->sinks[1]))
        _Exit(rc != 0 ? rc : c->status); /* libuv would wait for the worker that waits for a reader */
    for (size_t i = 0; i < 2; i++)
        sb_sink_done(&c->sinks[i]);
    return rc != 0 ? rc : c->status;
}

static int run_main(int argc, char **argv)
{
    struct command *c = sb_alloc(sizeof *c);
    struct sb_err err = {0};
    int status = SB_EXIT_HOST;

    sb_buf_init(&c->code, SB_RUN_CODE_MAX + 64 * 1024);
    sb_buf_init(&c->program, SB_PATH_MAX_BYTES);
    sb_buf_init(&c->report, JSON_MAX);
    if (parse(c, argc, argv, &err) < 0) {
        status = sb_cli_usage(&sb_command_run, &err);
        goto done;
    }
    if (read_code(c, &err) < 0 || open_stdin(c, &err) < 0 ||
        sb_cli_host_open(&c->host, &c->settings, on_stop, c, &err) < 0) {
        status = sb_cli_fail(&err, "");
        goto done;
    }
    c->ask.ram_mb = (int64_t)(uv_get_total_memory() >> 20);
    sb_out_dir_init(&c->out_dir, c->out);
    for (int i = 0; i < 2; i++)
        sb_sink_init(&c->sinks[i], &c->host.loop, i + 1, on_written, c);
    sb_cli_host_choose(&c->host, on_chosen, c);
    sb_cli_host_run(&c->host);
    sb_out_dir_done(&c->out_dir);
    status = finish(c);
done:
    sb_buf_done(&c->code);
    sb_buf_done(&c->program);
    sb_buf_done(&c->report);
    sb_free(c);
    return status;
}

const struct sb_command sb_command_run = {
    .name = "run",
    .summary = "runs a program in a sandbox and passes on its output and exit status",
    .usage = "[-l LANG] [-c CODE | FILE | -] [OPTION...] [-- ARG...]",
    .options = options,
    .main = run_main};
