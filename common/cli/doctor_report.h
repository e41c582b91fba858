/* SPDX-License-Identifier: MIT
 * What doctor found, as text for people and JSON for programs. */
#ifndef SB_CLI_DOCTOR_REPORT_H
#define SB_CLI_DOCTOR_REPORT_H

#include <stdbool.h>

#include "cli/join.h"
#include "languages/language.h"
#include "sandbox/probe.h"
#include "server/config.h"

#define SB_DOCTOR_BACKENDS  8
#define SB_DOCTOR_LANGUAGES 16
#define SB_DOCTOR_SETTINGS  32

struct sb_doctor_language {
    const struct sb_language *language;
    char *path;        /* NULL: not found */
    char *passed_over; /* "": nothing */
    struct sb_err why; /* SB_OK: it ran its sample */
};

struct sb_doctor {
    struct sb_probe_result backends[SB_DOCTOR_BACKENDS];
    size_t backend_count;
    const struct sb_probe_result *chosen; /* on which the languages were proved; NULL: none */
    struct sb_doctor_language languages[SB_DOCTOR_LANGUAGES];
    size_t language_count;
    const char *idle[SB_DOCTOR_SETTINGS][2]; /* a variable that is set and why it changes nothing */
    size_t idle_count;
    enum sb_join service; /* what mcp would do */
    struct sb_err service_why;
};

void sb_doctor_done(struct sb_doctor *doctor);
void sb_doctor_backend(struct sb_doctor *doctor, const struct sb_probe_result *result);
void sb_doctor_language(struct sb_doctor *doctor, const struct sb_language *language, const char *path,
                        const struct sb_err *why);
void sb_doctor_settings(struct sb_doctor *doctor, const struct sb_config *config);

/* The usable backend `name`, or what auto would choose; NULL: none. */
const struct sb_probe_result *sb_doctor_choose(const struct sb_doctor *doctor, const char *name,
                                               bool allow_weak);
bool sb_doctor_runs_python(const struct sb_doctor *doctor);

void sb_doctor_text(const struct sb_doctor *doctor, struct sb_buf *out);
void sb_doctor_json(const struct sb_doctor *doctor, struct sb_buf *out);

#endif
