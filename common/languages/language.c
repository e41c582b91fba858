/* SPDX-License-Identifier: MIT */
#include "languages/language.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"

/* In a Linux box; a Windows row has no runner yet. */
#define RUNNER_FOLDER "/sandbox/" SB_GUEST_RUNNER_DIR "/"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; /* not tolower: Turkish i */
}

static bool same(const char *a, const char *b)
{
    while (*a && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return lower(*a) == lower(*b);
}

static bool listed(const char *text, const char *const *list)
{
    for (size_t i = 0; i < SB_LANGUAGE_NAMES && list[i]; i++)
        if (same(text, list[i]))
            return true;
    return false;
}

const struct sb_language *sb_language_named(const char *name, enum sb_wire_os os)
{
    for (size_t i = 0; i < sb_language_count; i++) {
        const struct sb_language *row = &sb_languages[i];

        if (row->os == os && (same(name, row->name) || listed(name, row->aliases)))
            return row;
    }
    return NULL;
}

const struct sb_language *sb_language_of_ending(const char *ending, enum sb_wire_os os)
{
    for (size_t i = 0; i < sb_language_count; i++)
        if (sb_languages[i].os == os && listed(ending, sb_languages[i].endings))
            return &sb_languages[i];
    return NULL;
}

const char *sb_language_nearest(const char *name, enum sb_wire_os os)
{
    struct sb_nearest nearest;

    sb_nearest_begin(&nearest, name, strlen(name));
    for (size_t i = 0; i < sb_language_count; i++) {
        const struct sb_language *row = &sb_languages[i];

        if (row->os != os)
            continue;
        sb_nearest_try(&nearest, row->name);
        for (size_t k = 0; k < SB_LANGUAGE_NAMES && row->aliases[k]; k++)
            sb_nearest_try(&nearest, row->aliases[k]);
    }
    return nearest.found;
}

void sb_language_argv(const struct sb_language *language, const char *program, const char *const *args,
                      struct sb_argv *out)
{
    sb_argv_push(out, program);
    for (size_t i = 0; i < SB_COUNT(language->command) && language->command[i]; i++) {
        const char *part = language->command[i];

        if (strcmp(part, "{file}") == 0)
            sb_argv_push(out, language->file);
        else if (strcmp(part, "{runner}") == 0)
            sb_argv_pushf(out, RUNNER_FOLDER "%s", language->runner_file);
        else
            sb_argv_push(out, part);
    }
    if (args)
        sb_argv_pushv(out, args);
}

/* Nothing of the host's own environment: a row here is the documented minimum. */
static void env_of_linux(const char *workspace, const char *search_path, struct sb_argv *out)
{
    sb_env_set(out, "PATH", search_path ? search_path : "/usr/local/bin:/usr/bin:/bin");
    sb_env_set(out, "HOME", workspace);
    sb_env_set(out, "TMPDIR", "/tmp");
    sb_env_set(out, "LANG", "C.UTF-8");
    sb_env_set(out, "LC_ALL", "C.UTF-8"); /* without it Java, Ruby and R take text for ASCII */
    sb_env_set(out, "TZ", "UTC");
    sb_env_set(out, "USER", "sandbox");
    sb_env_set(out, "LOGNAME", "sandbox");
}

static void env_below(struct sb_argv *out, const char *name, const char *folder, const char *rest)
{
    char *value = sb_asprintf("%s%s", folder, rest);

    sb_env_set(out, name, value);
    sb_free(value);
}

/* Without SystemRoot Python finds no random numbers and no sockets, without PATHEXT cmd finds
 * no programs; the rest are the places programs write to by themselves. */
static void env_of_windows(const char *workspace, const char *root, const char *search_path,
                           struct sb_argv *out)
{
    char drive[3] = {root[0], root[0] ? root[1] : '\0', '\0'};
    char *path = search_path ? sb_strdup(search_path) : sb_asprintf("%s\\System32;%s", root, root);

    sb_env_set(out, "PATH", path);
    sb_env_set(out, "PATHEXT", ".COM;.EXE;.BAT;.CMD");
    sb_env_set(out, "SystemRoot", root);
    sb_env_set(out, "windir", root);
    sb_env_set(out, "SystemDrive", drive);
    env_below(out, "ComSpec", root, "\\System32\\cmd.exe");
    sb_env_set(out, "USERPROFILE", workspace);
    env_below(out, "APPDATA", workspace, "\\.tmp");
    env_below(out, "LOCALAPPDATA", workspace, "\\.tmp");
    env_below(out, "TEMP", workspace, "\\.tmp");
    env_below(out, "TMP", workspace, "\\.tmp");
    sb_env_set(out, "USERNAME", "sandbox");
    sb_env_set(out, "TZ", "UTC");
    sb_free(path);
}

void sb_language_env(const struct sb_language *language, const char *workspace, const char *system_root,
                     const char *search_path, struct sb_argv *out)
{
    if (language->os == SB_WIRE_WINDOWS)
        env_of_windows(workspace, system_root ? system_root : "C:\\Windows", search_path, out);
    else
        env_of_linux(workspace, search_path, out);
    for (size_t i = 0; i < SB_LANGUAGE_NAMES && language->env[i]; i++)
        sb_argv_push(out, language->env[i]);
}
