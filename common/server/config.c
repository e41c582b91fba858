/* SPDX-License-Identifier: MIT */
#include "server/config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/path.h"
#include "platform/dirs.h"

#define VARIABLE_BYTES 4096
#define BLANKS         " \t\r\n"

const char *sb_config_origin(const struct sb_config *config, enum sb_config_key key)
{
    if (config->source[key] == SB_FROM_ENVIRONMENT)
        return config->variable[key];
    if (config->source[key] == SB_FROM_OPTION)
        return key == SB_KEY_BACKEND ? "--backend" : "--allow-weak";
    return sb_config_fields[key].name;
}

void sb_config_done(struct sb_config *config)
{
    sb_fields_done(sb_config_fields, config);
    sb_argv_done(&config->shadowed);
    sb_free(config->file);
    memset(config, 0, sizeof *config);
}

/* ---- the file ----------------------------------------------------------------------- */

static int read_text(const char *name, const char *text, size_t len, struct sb_config *out,
                     struct sb_err *err)
{
    struct sb_json_doc *doc = NULL;
    int rc;

    rc = name != NULL ? sb_json_parse(text, len, &doc, err) : 0;
    if (rc == 0)
        rc = sb_fields_decode(sb_config_fields, name != NULL ? sb_json_root(doc) : NULL, false, out, err);
    sb_json_free(doc);
    if (rc < 0)
        return name != NULL ? sb_fail_in(err, "configuration '%.200s'", name) : -1;
    for (int key = 0; key < SB_KEY_COUNT; key++)
        out->source[key] = out->given[key] ? SB_FROM_FILE : SB_FROM_DEFAULT;
    out->file = name != NULL ? sb_strdup(name) : NULL;
    return 0;
}

/* ---- the environment ---------------------------------------------------------------- */

/* The words of the reference, whose tests its users know. */
static int check_cpus(const struct sb_variable *variable, const char *text, struct sb_err *err)
{
    char *end;
    double value = strtod(text, &end);

    if (*end != '\0' || text[strspn(text, "+-.0123456789eE")] != '\0' || !(value > -1e15 && value < 1e15))
        return sb_fail(err, SB_BAD_REQUEST, "%s must be a positive number, not '%.60s'", variable->name,
                       text);
    if (value <= 0)
        return sb_fail(err, SB_BAD_REQUEST, "%s must be greater than 0, not '%.60s'", variable->name, text);
    if (variable->kind == SB_VARIABLE_CPU_COUNT && value != (double)(int64_t)value)
        return sb_fail(err, SB_BAD_REQUEST,
                       "%s must be a whole number when mapped to cpu_period/cpu_quota, not '%.60s'",
                       variable->name, text);
    if (value * 100000 < 1)
        return sb_fail(err, SB_BAD_REQUEST, "%s is too small to translate into cpu_quota: '%.60s'",
                       variable->name, text);
    return 0;
}

static void lower(char *text)
{
    for (; *text != '\0'; text++)
        if (*text >= 'A' && *text <= 'Z')
            *text = (char)(*text - 'A' + 'a');
}

/* `text` is without blanks at its ends and not empty. */
static int set_variable(const struct sb_variable *variable, char *text, struct sb_config *out,
                        struct sb_err *err)
{
    struct sb_field named = sb_config_fields[variable->key];
    char number[40];

    named.name = variable->name;
    switch (variable->kind) {
    case SB_VARIABLE_NAME:
        lower(text);
        break;
    case SB_VARIABLE_CPUS:
    case SB_VARIABLE_CPU_COUNT:
        if (check_cpus(variable, text, err) < 0)
            return -1;
        snprintf(number, sizeof number, "%.15g", strtod(text, NULL)); /* "2." and "+2" are no JSON */
        return sb_fields_set(&named, number, out, err);
    case SB_VARIABLE_BOOL:
        if (sb_fields_set(&named, text, out, NULL) == 0)
            return 0;
        return sb_fail(
            err, SB_BAD_REQUEST,
            "%s is '%.60s': use true or false (%s must be one of: true, false, 1, 0, yes, no, on, off)",
            variable->name, text, variable->name);
    case SB_VARIABLE_PLAIN:
        break;
    }
    return sb_fields_set(&named, text, out, err);
}

/* Without blanks at its ends (sb_free); NULL: not set, or blank. */
static char *value_of(const struct sb_argv *env, const char *name)
{
    const char *value = sb_env_get(env, name);
    size_t len;

    if (value == NULL)
        return NULL;
    value += strspn(value, BLANKS);
    len = strlen(value);
    while (len > 0 && strchr(BLANKS, value[len - 1]) != NULL)
        len--;
    return len > 0 ? sb_asprintf("%.*s", (int)len, value) : NULL;
}

/* Another variable of its key wins: it is not looked at. */
static bool is_shadowed(const struct sb_variable *variable, const struct sb_argv *env)
{
    for (const struct sb_variable *later = variable + 1; later->name != NULL; later++) {
        char *text = later->key == variable->key ? value_of(env, later->name) : NULL;

        sb_free(text);
        if (text != NULL)
            return true;
    }
    return false;
}

static int read_variable(const struct sb_variable *variable, const struct sb_argv *env, struct sb_config *out,
                         struct sb_err *err)
{
    char *text = value_of(env, variable->name);
    int rc = 0;

    if (text != NULL && is_shadowed(variable, env)) {
        sb_argv_push(&out->shadowed, variable->name);
    } else if (text != NULL) {
        rc = set_variable(variable, text, out, err);
        out->source[variable->key] = SB_FROM_ENVIRONMENT;
        out->variable[variable->key] = variable->name;
    }
    sb_free(text);
    return rc;
}

static int read_environment(const struct sb_argv *env, struct sb_config *out, struct sb_err *err)
{
    for (const struct sb_variable *variable = sb_config_variables; variable->name != NULL; variable++)
        if (read_variable(variable, env, out, err) < 0)
            return -1;
    return 0;
}

/* ---- what the table can't check ----------------------------------------------------- */

static int read_memory(struct sb_config *config, struct sb_err *err)
{
    static const struct {
        const char *unit;
        double bytes;
    } units[] = {{"", 1},        {"b", 1},        {"k", 1024},       {"kb", 1024},
                 {"m", 1048576}, {"mb", 1048576}, {"g", 1073741824}, {"gb", 1073741824}};
    const char *name = sb_config_origin(config, SB_KEY_MEMORY);
    char unit[4] = "", *end;
    double value;

    if (config->memory == NULL)
        return 0;
    value = strtod(config->memory, &end);
    if (strlen(end) < sizeof unit &&
        strspn(config->memory, "0123456789.") == (size_t)(end - config->memory)) {
        memcpy(unit, end, strlen(end) + 1);
        lower(unit);
        for (size_t i = 0; end != config->memory && i < SB_COUNT(units); i++)
            if (strcmp(unit, units[i].unit) == 0) {
                value = value * units[i].bytes / 1048576;
                if (value < 16 || value > 1048576)
                    return sb_fail(err, SB_BAD_REQUEST, "%s is '%s': from 16m to 1024g are allowed", name,
                                   config->memory);
                config->memory_mb = (int64_t)value;
                return 0;
            }
    }
    return sb_fail(err, SB_BAD_REQUEST, "%s is '%s': use a number of bytes, or one with k, m or g, like 512m",
                   name, config->memory);
}

static int check_network(const struct sb_config *config, struct sb_err *err)
{
    const char *mode = config->network_mode;
    char *word = mode != NULL ? sb_strdup(mode) : sb_strdup("");
    bool shared;

    lower(word);
    shared = strcmp(word, "host") == 0 || strncmp(word, "container:", 10) == 0;
    sb_free(word);
    if (shared)
        return sb_fail(
            err, SB_DENIED,
            "%s is '%s': a box never shares the network of the host or of a container; use none, or "
            "leave it unset",
            sb_config_origin(config, SB_KEY_NETWORK_MODE), mode);
    return 0;
}

static int check_backend(struct sb_config *config, const struct sb_argv *env, struct sb_err *err)
{
    bool container;

    lower(config->backend);
    container = strcmp(config->backend, "docker") == 0 || strcmp(config->backend, "podman") == 0;

    if (config->privileged && !container)
        return sb_fail(err, SB_DENIED, "%s is true: backend %s never runs privileged, only containers can",
                       sb_config_origin(config, SB_KEY_PRIVILEGED), config->backend);
    if (strcmp(config->backend, "kubernetes") != 0)
        return 0;
    for (const struct sb_variable *variable = sb_config_variables; variable->name != NULL; variable++)
        if (variable->not_on_kubernetes && sb_env_get(env, variable->name) != NULL)
            return sb_fail(err, SB_BAD_REQUEST,
                           "%s can't be used with the backend kubernetes: say it in a pod_manifest",
                           variable->name);
    return 0;
}

static int check(struct sb_config *config, const struct sb_argv *env, struct sb_err *err)
{
    if (read_memory(config, err) < 0 || check_network(config, err) < 0 || check_backend(config, env, err) < 0)
        return -1;
    if (config->timeout > config->timeout_most && !config->given[SB_KEY_TIMEOUT])
        config->timeout = config->timeout_most;
    if (config->timeout > config->timeout_most)
        return sb_fail(err, SB_BAD_REQUEST, "timeout %.15g is above timeout_most %.15g", config->timeout,
                       config->timeout_most);
    return 0;
}

/* ---- all of them -------------------------------------------------------------------- */

static void use_options(const struct sb_config_want *want, struct sb_config *out)
{
    if (want->backend != NULL) {
        sb_free(out->backend);
        out->backend = sb_strdup(want->backend);
        out->given[SB_KEY_BACKEND] = true;
        out->source[SB_KEY_BACKEND] = SB_FROM_OPTION;
    }
    if (want->allow_weak) {
        out->allow_weak = out->given[SB_KEY_ALLOW_WEAK] = true;
        out->source[SB_KEY_ALLOW_WEAK] = SB_FROM_OPTION;
    }
}

/* A variable that an option replaces is not looked at: a mistake in it can be mended so. */
static void drop_replaced(const struct sb_config_want *want, const struct sb_argv *env, struct sb_argv *out)
{
    for (size_t i = 0; i < env->n; i++)
        if (!(want->backend != NULL && strncmp(env->v[i], "BACKEND=", 8) == 0) &&
            !(want->allow_weak && strncmp(env->v[i], "SANDBOX_ALLOW_WEAK=", 19) == 0))
            sb_argv_push(out, env->v[i]);
}

int sb_config_read(const struct sb_config_want *want, const char *name, const char *text, size_t len,
                   const struct sb_argv *env, struct sb_config *out, struct sb_err *err)
{
    struct sb_config made = {0};
    struct sb_argv left = {0};
    int rc;

    drop_replaced(want, env, &left);
    rc = read_text(name, text, len, &made, err);
    if (rc == 0)
        rc = read_environment(&left, &made, err);
    if (rc == 0) {
        use_options(want, &made);
        rc = check(&made, &left, err);
    }
    sb_argv_done(&left);
    if (rc < 0)
        sb_config_done(&made);
    else
        *out = made;
    return rc;
}

static int take_variable(const char *name, struct sb_argv *env, struct sb_err *err)
{
    char text[VARIABLE_BYTES];
    size_t len = sizeof text;
    int rc = uv_os_getenv(name, text, &len);

    if (rc == UV_ENOBUFS)
        return sb_fail(err, SB_BAD_REQUEST, "%s is too long: at most %u bytes are read", name,
                       VARIABLE_BYTES - 1);
    if (rc == 0)
        sb_env_set(env, name, text);
    return 0;
}

static int take_environment(const struct sb_config_want *want, struct sb_argv *env, struct sb_err *err)
{
    for (const struct sb_variable *variable = sb_config_variables; variable->name != NULL; variable++)
        if (!(variable->key == SB_KEY_BACKEND && want->backend != NULL) &&
            take_variable(variable->name, env, err) < 0)
            return -1;
    return want->file == NULL ? take_variable(SB_CONFIG_VARIABLE, env, err) : 0;
}

static int read_file(const char *path, bool named, struct sb_buf *out, bool *there, struct sb_err *err)
{
    uv_fs_t request;
    int fd = uv_fs_open(NULL, &request, path, UV_FS_O_RDONLY, 0, NULL), count = 1;

    uv_fs_req_cleanup(&request);
    *there = fd >= 0;
    if (!named && (fd == UV_ENOENT || fd == UV_ENOTDIR))
        return 0;
    if (fd < 0)
        return sb_fail(err, SB_BAD_REQUEST, "cannot read the configuration '%.300s': %s", path,
                       uv_strerror(fd));
    while (count > 0) {
        char *space = sb_buf_reserve(out, 4096);
        uv_buf_t piece;

        if (space == NULL)
            break;
        piece = uv_buf_init(space, 4096);
        count = uv_fs_read(NULL, &request, fd, &piece, 1, -1, NULL);
        uv_fs_req_cleanup(&request);
        out->len += count > 0 ? (size_t)count : 0;
    }
    uv_fs_close(NULL, &request, fd, NULL);
    uv_fs_req_cleanup(&request);
    if (out->full)
        return sb_fail(err, SB_LIMIT, "the configuration '%.300s' is larger than %u bytes", path,
                       SB_CONFIG_FILE_BYTES);
    if (count < 0)
        return sb_fail(err, SB_BAD_REQUEST, "cannot read the configuration '%.300s': %s", path,
                       uv_strerror(count));
    return 0;
}

int sb_config_load(const struct sb_config_want *want, struct sb_config *out, struct sb_err *err)
{
    struct sb_argv env = {0};
    struct sb_buf path, text;
    const char *named;
    bool there = false;
    int rc = -1;

    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    sb_buf_init(&text, SB_CONFIG_FILE_BYTES + 4096);
    if (take_environment(want, &env, err) < 0)
        goto done;
    named = want->file != NULL ? want->file : sb_env_get(&env, SB_CONFIG_VARIABLE);
    named = named != NULL && named[0] == '\0' ? NULL : named;
    if (named != NULL)
        sb_buf_adds(&path, named);
    else if (sb_dir_config_file(&path, err) < 0)
        goto done;
    if (path.full) {
        sb_fail(err, SB_LIMIT, "the path of the configuration is too long");
        goto done;
    }
    if (read_file(path.data, named != NULL, &text, &there, err) < 0)
        goto done;
    rc = sb_config_read(want, there ? path.data : NULL, text.data, text.len, &env, out, err);
done:
    sb_argv_done(&env);
    sb_buf_done(&path);
    sb_buf_done(&text);
    return rc;
}

int sb_config_limit(const struct sb_config *config, struct sb_ask *ask, struct sb_err *err)
{
    int64_t most_ms = (int64_t)(config->timeout_most * 1000 + 0.5);

    ask->allow_weak = ask->allow_weak || config->allow_weak;
    ask->strict = ask->strict || config->strict;
    if (!ask->set[SB_ROW_TIMEOUT_MS]) {
        ask->set[SB_ROW_TIMEOUT_MS] = true;
        ask->value[SB_ROW_TIMEOUT_MS] = (int64_t)(config->timeout * 1000 + 0.5);
    } else if (config->given[SB_KEY_TIMEOUT_MOST] && ask->value[SB_ROW_TIMEOUT_MS] > most_ms) {
        return sb_fail(err, SB_DENIED, "timeout %.15g s is above the %.15g s that the configuration allows",
                       (double)ask->value[SB_ROW_TIMEOUT_MS] / 1000, config->timeout_most);
    }
    if (config->memory_mb == 0)
        return 0;
    if (!ask->set[SB_ROW_MEMORY_MB]) {
        ask->set[SB_ROW_MEMORY_MB] = true;
        ask->value[SB_ROW_MEMORY_MB] = config->memory_mb;
    } else if (ask->value[SB_ROW_MEMORY_MB] > config->memory_mb) {
        return sb_fail(err, SB_DENIED, "memory_mb %" PRId64 " is above the %" PRId64 " that %s allows",
                       ask->value[SB_ROW_MEMORY_MB], config->memory_mb,
                       sb_config_origin(config, SB_KEY_MEMORY));
    }
    return 0;
}
