/* SPDX-License-Identifier: MIT
 * The settings themselves: names, values, variables, and which of them change nothing. */
#include <string.h>

#include "base/buf.h"
#include "server/config.h"

#define TEXT_MOST 4095

static const char *const formats[] = {"text", "json", NULL};

#define KEY(row, member)                                                                                     \
    .at = offsetof(struct sb_config, member), .given_at = offsetof(struct sb_config, given[row])

const struct sb_field sb_config_fields[] = {
    [SB_KEY_BACKEND] = {.name = "backend",
                        .type = SB_FIELD_STRING,
                        KEY(SB_KEY_BACKEND, backend),
                        .most = 60,
                        .fallback = "\"auto\"",
                        .text = "Which backend; auto is the best one here."},
    [SB_KEY_ALLOW_WEAK] = {.name = "allow_weak",
                           .type = SB_FIELD_BOOL,
                           KEY(SB_KEY_ALLOW_WEAK, allow_weak),
                           .fallback = "false",
                           .text = "Accepts a backend that keeps less than the default promises."},
    [SB_KEY_STRICT] = {.name = "strict",
                       .type = SB_FIELD_BOOL,
                       KEY(SB_KEY_STRICT, strict),
                       .fallback = "false",
                       .text = "Refuses limits that are only watched, not kept by the kernel."},
    [SB_KEY_TIMEOUT] = {.name = "timeout",
                        .type = SB_FIELD_NUMBER,
                        KEY(SB_KEY_TIMEOUT, timeout),
                        .least = 0.1,
                        .most = 3600,
                        .fallback = "30",
                        .text = "Seconds of a run that names no time."},
    [SB_KEY_TIMEOUT_MOST] = {.name = "timeout_most",
                             .type = SB_FIELD_NUMBER,
                             KEY(SB_KEY_TIMEOUT_MOST, timeout_most),
                             .least = 0.1,
                             .most = 3600,
                             .fallback = "3600",
                             .text = "Seconds that a run may ask for at most."},
    [SB_KEY_MEMORY] = {.name = "memory",
                       .type = SB_FIELD_STRING,
                       KEY(SB_KEY_MEMORY, memory),
                       .most = 30,
                       .text =
                           "Memory of a run that names none, and the most that one may ask for: bytes, or "
                           "a number with k, m or g. Unset: 512m, and what the machine allows."},
    [SB_KEY_CPUS] = {.name = "cpus",
                     .type = SB_FIELD_NUMBER,
                     KEY(SB_KEY_CPUS, cpus),
                     .least = 0.00001,
                     .most = 4096,
                     .text = "CPUs of a run."},
    [SB_KEY_RESULT_FORMAT] = {.name = "result_format",
                              .type = SB_FIELD_STRING,
                              KEY(SB_KEY_RESULT_FORMAT, result_format),
                              .words = formats,
                              .fallback = "\"text\"",
                              .text = "Of execute_code calls that name no format."},
    [SB_KEY_NETWORK_MODE] = {.name = "network_mode",
                             .type = SB_FIELD_STRING,
                             KEY(SB_KEY_NETWORK_MODE, network_mode),
                             .most = 200,
                             .text = "none: no network. host and container:X are refused."},
    [SB_KEY_READ_ONLY] = {.name = "read_only",
                          .type = SB_FIELD_BOOL,
                          KEY(SB_KEY_READ_ONLY, read_only),
                          .text = "System files can't be written."},
    [SB_KEY_PRIVILEGED] = {.name = "privileged",
                           .type = SB_FIELD_BOOL,
                           KEY(SB_KEY_PRIVILEGED, privileged),
                           .text = "true is refused, except for containers."},
    [SB_KEY_CAP_DROP] = {.name = "cap_drop",
                         .type = SB_FIELD_STRINGS,
                         KEY(SB_KEY_CAP_DROP, cap_drop),
                         .most = 64,
                         .text = "Capabilities that containers lose."},
    [SB_KEY_SECURITY_OPT] = {.name = "security_opt",
                             .type = SB_FIELD_STRINGS,
                             KEY(SB_KEY_SECURITY_OPT, security_opt),
                             .most = 64,
                             .text = "Security options of containers."},
    [SB_KEY_DOCKER_HOST] = {.name = "docker_host",
                            .type = SB_FIELD_STRING,
                            KEY(SB_KEY_DOCKER_HOST, docker_host),
                            .most = TEXT_MOST,
                            .text = "Where Docker is."},
    [SB_KEY_KUBECONFIG] = {.name = "kubeconfig",
                           .type = SB_FIELD_STRING,
                           KEY(SB_KEY_KUBECONFIG, kubeconfig),
                           .most = TEXT_MOST,
                           .text = "How Kubernetes is reached."},
    [SB_KEY_NAMESPACE] = {.name = "namespace",
                          .type = SB_FIELD_STRING,
                          KEY(SB_KEY_NAMESPACE, namespace),
                          .most = TEXT_MOST,
                          .text = "Namespace of pods."},
    [SB_KEY_COMMIT_CONTAINER] = {.name = "commit_container",
                                 .type = SB_FIELD_BOOL,
                                 KEY(SB_KEY_COMMIT_CONTAINER, commit_container),
                                 .text = "Keeps a container's changes in its image."},
    [SB_KEY_KEEP_TEMPLATE] = {.name = "keep_template",
                              .type = SB_FIELD_BOOL,
                              KEY(SB_KEY_KEEP_TEMPLATE, keep_template),
                              .text = "Keeps a pulled image."},
    [SB_KEY_R_REPO] = {.name = "r_repo",
                       .type = SB_FIELD_STRING,
                       KEY(SB_KEY_R_REPO, r_repo),
                       .most = TEXT_MOST,
                       .text = "Where R packages come from."},
    [SB_KEY_COUNT] = {.name = NULL},
};

const struct sb_variable sb_config_variables[] = {
    {"BACKEND", SB_KEY_BACKEND, SB_VARIABLE_NAME, false},
    {"SANDBOX_ALLOW_WEAK", SB_KEY_ALLOW_WEAK, SB_VARIABLE_BOOL, false},
    {"SANDBOX_MEMORY", SB_KEY_MEMORY, SB_VARIABLE_PLAIN, true},
    {"SANDBOX_MEM_LIMIT", SB_KEY_MEMORY, SB_VARIABLE_PLAIN, true},
    {"SANDBOX_CPUS", SB_KEY_CPUS, SB_VARIABLE_CPUS, true},
    {"SANDBOX_CPU_COUNT", SB_KEY_CPUS, SB_VARIABLE_CPU_COUNT, true},
    {"SANDBOX_RESULT_FORMAT", SB_KEY_RESULT_FORMAT, SB_VARIABLE_NAME, false},
    {"SANDBOX_NETWORK_MODE", SB_KEY_NETWORK_MODE, SB_VARIABLE_PLAIN, true},
    {"SANDBOX_READ_ONLY", SB_KEY_READ_ONLY, SB_VARIABLE_BOOL, true},
    {"SANDBOX_PRIVILEGED", SB_KEY_PRIVILEGED, SB_VARIABLE_BOOL, true},
    {"SANDBOX_CAP_DROP", SB_KEY_CAP_DROP, SB_VARIABLE_PLAIN, true},
    {"SANDBOX_SECURITY_OPT", SB_KEY_SECURITY_OPT, SB_VARIABLE_PLAIN, true},
    {"DOCKER_HOST", SB_KEY_DOCKER_HOST, SB_VARIABLE_PLAIN, false},
    {"KUBECONFIG", SB_KEY_KUBECONFIG, SB_VARIABLE_PLAIN, false},
    {"NAMESPACE", SB_KEY_NAMESPACE, SB_VARIABLE_PLAIN, false},
    {"COMMIT_CONTAINER", SB_KEY_COMMIT_CONTAINER, SB_VARIABLE_BOOL, false},
    {"KEEP_TEMPLATE", SB_KEY_KEEP_TEMPLATE, SB_VARIABLE_BOOL, false},
    {"R_REPO", SB_KEY_R_REPO, SB_VARIABLE_PLAIN, false},
    {NULL, SB_KEY_COUNT, SB_VARIABLE_PLAIN, false},
};

/* Of what no backend of this build reads: for the value true or "none", and for any other. */
static const struct idle {
    const char *yes, *other;
} idle[SB_KEY_COUNT] = {
    [SB_KEY_CPUS] = {NULL, "no effect: no backend limits the share of CPUs"},
    [SB_KEY_NETWORK_MODE] = {"already so: boxes have no network", "no effect: boxes have no network"},
    [SB_KEY_READ_ONLY] = {"already so: system files are read-only in a box",
                          "no effect: system files are always read-only in a box"},
    [SB_KEY_PRIVILEGED] = {"no effect: only containers can be privileged",
                           "already so: no box is privileged"},
    [SB_KEY_CAP_DROP] = {NULL, "no effect: only containers have capabilities to drop one by one"},
    [SB_KEY_SECURITY_OPT] = {NULL, "no effect: only containers have such options"},
    [SB_KEY_DOCKER_HOST] = {NULL, "no effect: only the backend docker reads it"},
    [SB_KEY_KUBECONFIG] = {NULL, "no effect: only the backend kubernetes reads it"},
    [SB_KEY_NAMESPACE] = {NULL, "no effect: only the backend kubernetes reads it"},
    [SB_KEY_COMMIT_CONTAINER] = {"no effect: only containers have images",
                                 "already so: no box leaves anything behind"},
    [SB_KEY_KEEP_TEMPLATE] = {"no effect: only containers have images",
                              "no effect: only containers have images"},
    [SB_KEY_R_REPO] = {NULL, "no effect: no packages are installed"},
};

const char *sb_config_idle(const struct sb_config *config, enum sb_config_key key)
{
    const struct sb_field *field = &sb_config_fields[key];
    const void *place = (const char *)config + field->at;
    bool yes = false;

    if (!config->given[key])
        return NULL;
    if (field->type == SB_FIELD_BOOL)
        yes = *(const bool *)place;
    else if (key == SB_KEY_NETWORK_MODE)
        yes = strcmp(config->network_mode, "none") == 0;
    return yes ? idle[key].yes : idle[key].other;
}

void sb_config_markdown(struct sb_buf *out)
{
    sb_fields_markdown(sb_config_fields, out);
    sb_buf_adds(out, "\n| Variable | Key | Effect here |\n|---|---|---|\n");
    for (const struct sb_variable *variable = sb_config_variables; variable->name != NULL; variable++) {
        const struct idle *row = &idle[variable->key];
        const char *name = sb_config_fields[variable->key].name;
        bool two = row->yes != NULL && strcmp(row->yes, row->other) != 0;

        sb_buf_addf(out, "| `%s` | `%s` | ", variable->name, name);
        if (two)
            sb_buf_addf(out, "%s: %s; else %s |\n", variable->key == SB_KEY_NETWORK_MODE ? "`none`" : "true",
                        variable->key == SB_KEY_PRIVILEGED ? "refused" : row->yes, row->other);
        else
            sb_buf_addf(out, "%s |\n", row->other != NULL ? row->other : "yes");
    }
}
