/* SPDX-License-Identifier: MIT */
#include "base/argv.h"

#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"

static void push_owned(struct sb_argv *argv, char *text)
{
    argv->v = sb_realloc(argv->v, (argv->n + 2) * sizeof *argv->v);
    argv->v[argv->n++] = text;
    argv->v[argv->n] = NULL;
}

void sb_argv_push(struct sb_argv *argv, const char *text)
{
    push_owned(argv, sb_strdup(text));
}

void sb_argv_pushf(struct sb_argv *argv, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    push_owned(argv, sb_vasprintf(fmt, args));
    va_end(args);
}

void sb_argv_pushv(struct sb_argv *argv, const char *const *texts)
{
    for (; *texts; texts++)
        sb_argv_push(argv, *texts);
}

void sb_argv_done(struct sb_argv *argv)
{
    for (size_t i = 0; i < argv->n; i++)
        sb_free(argv->v[i]);
    sb_free(argv->v);
    *argv = (struct sb_argv){0};
}

/* The place of NAME= in env, or env->n. */
static size_t find(const struct sb_argv *env, const char *name)
{
    size_t len = strlen(name), i = 0;

    while (i < env->n && (strncmp(env->v[i], name, len) != 0 || env->v[i][len] != '='))
        i++;
    return i;
}

void sb_env_set(struct sb_argv *env, const char *name, const char *value)
{
    char *text = sb_asprintf("%s=%s", name, value);
    size_t i = find(env, name);

    if (i == env->n) {
        push_owned(env, text);
        return;
    }
    sb_free(env->v[i]);
    env->v[i] = text;
}

const char *sb_env_get(const struct sb_argv *env, const char *name)
{
    size_t i = find(env, name);

    return i < env->n ? env->v[i] + strlen(name) + 1 : NULL;
}
