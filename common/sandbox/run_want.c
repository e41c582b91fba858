/* SPDX-License-Identifier: MIT */
#include "sandbox/run_want.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Windows knows no case in names of files and variables; beyond ASCII the box itself finds
 * the double, less kindly. */
static bool same(const struct sb_run_want *want, const char *a, const char *b, size_t len)
{
    bool windows = want->language->os == SB_WIRE_WINDOWS;

    for (size_t i = 0; i < len; i++)
        if (windows ? lower(a[i]) != lower(b[i]) : a[i] != b[i])
            return false;
    return true;
}

/* ---- files -------------------------------------------------------------------------- */

static enum sb_path_rules rules_of(const struct sb_run_want *want)
{
    const struct sb_target target = {.os = want->language->os};

    return sb_target_rules(&target);
}

char *sb_run_want_path(const struct sb_run_want *want, const struct sb_run_file *file)
{
    struct sb_buf plain;

    sb_buf_init(&plain, SB_PATH_MAX_BYTES);
    sb_path_plain(file->path, strlen(file->path), rules_of(want), &plain, NULL);
    return sb_buf_take(&plain);
}

/* `path` is `folder` or below it. */
static bool is_in(const struct sb_run_want *want, const char *path, const char *folder)
{
    size_t len = strlen(folder);

    return strlen(path) >= len && same(want, path, folder, len) && (path[len] == 0 || path[len] == '/');
}

/* Two files can't be one, nor can one be in the other. */
static int check_pair(const struct sb_run_want *want, const char *path, const char *other, const char *whose,
                      struct sb_err *err)
{
    bool inside = is_in(want, path, other);

    if (!inside && !is_in(want, other, path))
        return 0;
    if (strlen(path) == strlen(other))
        return sb_fail(err, SB_BAD_REQUEST, "'%.100s' is %s", path, whose);
    return sb_fail(err, SB_BAD_REQUEST, "'%.100s' can't be a file and a folder", inside ? other : path);
}

static int check_path(const struct sb_run_want *want, const char *path, char *const *before, size_t count,
                      struct sb_err *err)
{
    if (is_in(want, path, SB_GUEST_TMP))
        return sb_fail(err, SB_DENIED, "'%.100s' is in the folder for temporary files", path);
    if (check_pair(want, path, want->language->file, "the file of the code", err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (check_pair(want, path, before[i], "there twice", err) < 0)
            return -1;
    return 0;
}

static int check_files(const struct sb_run_want *want, struct sb_err *err)
{
    char *paths[SB_RUN_FILES_MAX];
    size_t bytes = 0, count = 0;
    struct sb_buf plain;
    int rc = 0;

    if (want->file_count > SB_RUN_FILES_MAX)
        return sb_fail(err, SB_LIMIT, "%zu files are given; at most %d are allowed", want->file_count,
                       SB_RUN_FILES_MAX);
    sb_buf_init(&plain, SB_PATH_MAX_BYTES);
    for (size_t i = 0; rc == 0 && i < want->file_count; i++) {
        const struct sb_run_file *file = &want->files[i];

        if (file->len > SB_RUN_FILES_BYTES - bytes)
            rc = sb_fail(err, SB_LIMIT, "the files have more than %u MiB together", SB_RUN_FILES_BYTES >> 20);
        else
            rc = sb_path_plain(file->path, strlen(file->path), rules_of(want), &plain, err);
        if (rc == 0)
            rc = check_path(want, plain.data, paths, count, err);
        if (rc == 0)
            paths[count++] = sb_buf_take(&plain);
        bytes += file->len;
    }
    while (count > 0)
        sb_free(paths[--count]);
    sb_buf_done(&plain);
    return rc;
}

/* ---- environment and arguments ------------------------------------------------------ */

static bool same_name(const struct sb_run_want *want, const char *a, const char *b)
{
    size_t len = strcspn(a, "=");

    return strcspn(b, "=") == len && same(want, a, b, len);
}

static int check_env(const struct sb_run_want *want, struct sb_err *err)
{
    const char *const *env = want->env;
    size_t bytes = 0;

    for (size_t i = 0; env != NULL && env[i] != NULL; i++) {
        const char *equals = strchr(env[i], '=');

        if (i == SB_RUN_ENV_MAX)
            return sb_fail(err, SB_LIMIT, "more than %d environment variables are given", SB_RUN_ENV_MAX);
        if (equals == NULL || equals == env[i])
            return sb_fail(err, SB_BAD_REQUEST, "the environment has '%.60s', which is not NAME=value", env[i]);
        if (strlen(env[i]) > SB_RUN_ENV_BYTES - bytes)
            return sb_fail(err, SB_LIMIT, "the environment has more than %u KiB", SB_RUN_ENV_BYTES >> 10);
        bytes += strlen(env[i]);
        for (size_t k = 0; k < i; k++)
            if (same_name(want, env[i], env[k]))
                return sb_fail(err, SB_BAD_REQUEST, "the environment variable '%.*s' is there twice",
                               (int)(equals - env[i]), env[i]);
    }
    return 0;
}

static int check_args(const struct sb_run_want *want, struct sb_err *err)
{
    const char *const *args = want->args;
    size_t bytes = 0;

    for (size_t i = 0; args != NULL && args[i] != NULL; i++) {
        size_t len = strlen(args[i]);

        if (i == SB_RUN_ARGS_MAX)
            return sb_fail(err, SB_LIMIT, "more than %d arguments are given", SB_RUN_ARGS_MAX);
        if (len > SB_WIRE_STRING_MAX)
            return sb_fail(err, SB_LIMIT, "argument %zu has %zu bytes; at most %u are allowed", i + 1, len,
                           SB_WIRE_STRING_MAX);
        if (len > SB_RUN_ARGS_BYTES - bytes)
            return sb_fail(err, SB_LIMIT, "the arguments have more than %u KiB", SB_RUN_ARGS_BYTES >> 10);
        bytes += len;
    }
    return 0;
}

/* The variable keeps the spelling it has: a Windows box takes no second one. */
static void set_env(const struct sb_run_want *want, const char *entry, struct sb_argv *out)
{
    const char *spelled = entry;
    char *name;

    for (size_t i = 0; i < out->n; i++)
        if (same_name(want, out->v[i], entry))
            spelled = out->v[i];
    name = sb_strndup(spelled, strcspn(spelled, "="));
    sb_env_set(out, name, strchr(entry, '=') + 1);
    sb_free(name);
}

void sb_run_want_env(const struct sb_run_want *want, const char *workspace, struct sb_argv *out)
{
    sb_language_env(want->language, workspace, want->box.facts->system_root, NULL, out);
    for (const char *const *entry = want->env; entry != NULL && *entry != NULL; entry++)
        set_env(want, *entry, out);
}

int sb_run_check(const struct sb_run_want *want, struct sb_err *err)
{
    if (want->code_len > SB_RUN_CODE_MAX)
        return sb_fail(err, SB_LIMIT, "the code has %zu bytes; at most %u are allowed", want->code_len,
                       SB_RUN_CODE_MAX);
    if (check_files(want, err) < 0 || check_args(want, err) < 0)
        return -1;
    return check_env(want, err);
}
