/* SPDX-License-Identifier: MIT
 * doctor: measures every backend anew, then proves every language by running its sample. */
#include <string.h>

#include "base/alloc.h"
#include "cli/choice.h"
#include "cli/doctor_report.h"
#include "cli/host.h"
#include "sandbox/run.h"
#include "sandbox/toolbox.h"

#define TEXT_MAX (256 * 1024)

struct command {
    struct sb_cli_host host;
    size_t backend, language; /* rows being worked on */
    struct sb_doctor report;
    struct sb_buf program;
    struct sb_grant grant;
    struct sb_err proof; /* of the language being run */
};

static void next_backend(struct command *c);
static void next_language(struct command *c);

/* ---- languages ---------------------------------------------------------------------- */

static void on_ended(void *ctx, const struct sb_run_result *result)
{
    struct command *c = ctx;
    struct sb_buf out;

    sb_buf_init(&out, 4096);
    sb_capture_head(&result->output[0], &out);
    if (result->status == SB_STATUS_HOST_ERROR)
        c->proof = result->err;
    else if (result->status != SB_STATUS_OK || strcmp(out.data, "42\n") != 0)
        if (strcmp(out.data, "42\r\n") != 0) {
            sb_buf_clear(&out);
            sb_capture_head(&result->output[1], &out);
            out.data[strcspn(out.data, "\n")] = '\0';
            sb_fail(&c->proof, SB_HOST, "its sample program ended with %s %u: %.200s",
                    sb_status_name(result->status), (unsigned)result->code, out.data);
        }
    sb_buf_done(&out);
}

static void on_gone(void *ctx)
{
    struct command *c = ctx;

    sb_doctor_language(&c->report, &sb_languages[c->language], c->program.data, &c->proof);
    c->language++;
    next_language(c);
}

static void prove(struct command *c, const struct sb_language *language)
{
    const struct sb_probe_result *chosen = c->report.chosen;
    const struct sb_run_events events = {.ctx = c, .on_ended = on_ended, .on_gone = on_gone};
    const struct sb_run_want want = {
        .language = language,
        .program = c->program.data,
        .code = language->sample,
        .code_len = strlen(language->sample),
        .box = {.backend = chosen->backend,
                .facts = &chosen->facts,
                .grant = &c->grant,
                .guest = c->host.guest.data,
                .read_only = language->read_only,
                .instance = c->host.instance},
    };

    memset(&c->proof, 0, sizeof c->proof);
    sb_run_new(&c->host.loop, &want, &events);
}

static void next_language(struct command *c)
{
    const struct sb_target target = c->report.chosen->backend->target();

    for (; c->language < sb_language_count; c->language++) {
        const struct sb_language *language = &sb_languages[c->language];
        struct sb_err missing = {0};

        if (language->os != target.os)
            continue;
        sb_buf_clear(&c->program);
        if (sb_toolbox_find(language, &c->program, &missing) == 0) {
            prove(c, language);
            return;
        }
        sb_doctor_language(&c->report, language, NULL, &missing);
    }
}

static void start_languages(struct command *c)
{
    struct sb_ask ask = {.allow_weak = c->host.config.allow_weak};
    struct sb_err err = {0};

    c->report.chosen = sb_doctor_choose(&c->report, c->host.config.backend, c->host.config.allow_weak);
    if (c->report.chosen == NULL || sb_policy_grant(&ask, &c->report.chosen->promises,
                                                    c->report.chosen->backend->name, &c->grant, &err) < 0) {
        c->report.chosen = NULL;
        return;
    }
    next_language(c);
}

/* ---- backends ----------------------------------------------------------------------- */

static void on_probed(void *ctx, const struct sb_probe_result *result)
{
    struct command *c = ctx;

    sb_doctor_backend(&c->report, result);
    c->backend++;
    next_backend(c);
}

static void next_backend(struct command *c)
{
    const struct sb_probe_want want = {.backend = sb_backends[c->backend],
                                       .instance = c->host.instance,
                                       .guest = c->host.guest.data,
                                       .fresh = true};

    if (want.backend == NULL)
        start_languages(c);
    else
        sb_probe_start(&c->host.loop, &want, on_probed, c);
}

static void on_stop(void *ctx, enum sb_stop_reason reason)
{
    struct command *c = ctx;

    sb_cli_host_leave(&c->host, reason);
}

static int survey(struct command *c, const struct sb_cli_choice *choice)
{
    struct sb_err err = {0};
    struct sb_buf out;
    int status;

    if (sb_cli_host_open(&c->host, &choice->want, on_stop, c, &err) < 0)
        return sb_cli_fail(&err, "");
    sb_instance_sweep(c->host.instance, 1000);
    sb_doctor_settings(&c->report, &c->host.config);
    c->report.service = sb_join_ask(&c->host.loop, &choice->want, &c->report.service_why);
    next_backend(c);
    sb_cli_host_run(&c->host);
    sb_buf_init(&out, TEXT_MAX);
    if (choice->json)
        sb_doctor_json(&c->report, &out);
    else
        sb_doctor_text(&c->report, &out);
    status = sb_cli_print(out.data, out.len);
    sb_buf_done(&out);
    return status != 0 ? status : sb_doctor_runs_python(&c->report) ? 0 : SB_EXIT_UNUSABLE;
}

static int doctor_main(int argc, char **argv)
{
    struct command *c = sb_alloc(sizeof *c);
    struct sb_cli_choice choice = {0};
    int status = SB_EXIT_HOST;

    sb_buf_init(&c->program, SB_PATH_MAX_BYTES);
    if (sb_cli_choice_parse(&sb_command_doctor, argc, argv, &choice) == 0)
        status = survey(c, &choice);
    sb_buf_done(&c->program);
    sb_doctor_done(&c->report);
    sb_free(c);
    return status;
}

const struct sb_command sb_command_doctor = {
    .name = "doctor",
    .summary = "says what works here, what doesn't, why, and how to mend it",
    .usage = "[--json] [--config FILE] [--backend NAME [--allow-weak]]",
    .options = sb_cli_choice_options,
    .main = doctor_main};
