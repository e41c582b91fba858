/* SPDX-License-Identifier: MIT
 * The settings of this process and where each comes from: defaults < file < environment <
 * command line. One table decodes, checks and documents them. Read once, at the start. */
#ifndef SB_SERVER_CONFIG_H
#define SB_SERVER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/argv.h"
#include "base/err.h"
#include "base/fields.h"
#include "sandbox/policy.h"

struct sb_buf;

#define SB_CONFIG_FILE_BYTES (256u * 1024)
#define SB_CONFIG_VARIABLE   "LLM_SANDBOX_CONFIG" /* names the file */

enum sb_config_key { /* rows of sb_config_fields, in its order */
                     SB_KEY_BACKEND,
                     SB_KEY_ALLOW_WEAK,
                     SB_KEY_STRICT,
                     SB_KEY_TIMEOUT,
                     SB_KEY_TIMEOUT_MOST,
                     SB_KEY_MEMORY,
                     SB_KEY_CPUS,
                     SB_KEY_RESULT_FORMAT,
                     SB_KEY_NETWORK_MODE,
                     SB_KEY_READ_ONLY,
                     SB_KEY_PRIVILEGED,
                     SB_KEY_CAP_DROP,
                     SB_KEY_SECURITY_OPT,
                     SB_KEY_DOCKER_HOST,
                     SB_KEY_KUBECONFIG,
                     SB_KEY_NAMESPACE,
                     SB_KEY_COMMIT_CONTAINER,
                     SB_KEY_KEEP_TEMPLATE,
                     SB_KEY_R_REPO,
                     SB_KEY_COUNT
};

enum sb_config_source { SB_FROM_DEFAULT, SB_FROM_FILE, SB_FROM_ENVIRONMENT, SB_FROM_OPTION };

struct sb_config {
    char *backend, *memory, *result_format, *network_mode, *docker_host, *kubeconfig, *namespace, *r_repo;
    bool allow_weak, strict, read_only, privileged, commit_container, keep_template;
    double timeout, timeout_most, cpus; /* seconds; cpus 0: not set */
    struct sb_argv cap_drop, security_opt;
    bool given[SB_KEY_COUNT]; /* by anything but a default */
    enum sb_config_source source[SB_KEY_COUNT];
    const char *variable[SB_KEY_COUNT]; /* SB_FROM_ENVIRONMENT: its name */
    struct sb_argv shadowed;            /* variables that are set, but another wins */
    int64_t memory_mb;                  /* what `memory` says; 0: not set */
    char *file;                         /* that was read; NULL: none */
};

/* What the command line says. */
struct sb_config_want {
    const char *file, *backend; /* NULL: not named */
    bool allow_weak;
};

/* Reads the file (`want`, else LLM_SANDBOX_CONFIG, else the usual place, which may be
 * missing) and this process's environment into the zeroed `out`. Errors name file or
 * variable; nothing is owned then. */
int sb_config_load(const struct sb_config_want *want, struct sb_config *out, struct sb_err *err);
/* The same from what is given: `text` of the file `name` (NULL: no file), `env` as NAME=value. Pure. */
int sb_config_read(const struct sb_config_want *want, const char *name, const char *text, size_t len,
                   const struct sb_argv *env, struct sb_config *out, struct sb_err *err);
void sb_config_done(struct sb_config *config);

/* Defaults for what a call left open; refuses what is above a ceiling. */
int sb_config_limit(const struct sb_config *config, struct sb_ask *ask, struct sb_err *err);

/* Why a setting that was given changes nothing ("already so: ...", "no effect: ..."); NULL:
 * it has an effect, or was not given. */
const char *sb_config_idle(const struct sb_config *config, enum sb_config_key key);
/* "BACKEND", "--backend", "backend": how people know where this value is set. */
const char *sb_config_origin(const struct sb_config *config, enum sb_config_key key);

/* ---- the table ---------------------------------------------------------------------- */

extern const struct sb_field sb_config_fields[];

enum sb_variable_kind {
    SB_VARIABLE_PLAIN,
    SB_VARIABLE_NAME,
    SB_VARIABLE_BOOL,
    SB_VARIABLE_CPUS,
    SB_VARIABLE_CPU_COUNT
};
struct sb_variable {
    const char *name;
    enum sb_config_key key;
    enum sb_variable_kind kind;
    bool not_on_kubernetes; /* the reference refuses it there, even when empty */
};
extern const struct sb_variable sb_config_variables[]; /* of two for one key the later wins */

void sb_config_markdown(struct sb_buf *out); /* keys, then variables: the tables of docs/CONFIG.md */

#endif
