/* SPDX-License-Identifier: MIT
 * One row per language and box OS: everything the product knows about it. */
#ifndef SB_LANGUAGES_LANGUAGE_H
#define SB_LANGUAGES_LANGUAGE_H

#include <stddef.h>

#include "base/argv.h"
#include "wire/wire.h"

#define SB_LANGUAGE_NAMES 8

/* Line ends of the code file: what the interpreter would stumble over is mended, see code.c. */
enum sb_line_ends { SB_LINES_AS_IS, SB_LINES_LF, SB_LINES_CRLF };

struct sb_language {
    const char *name;                       /* "python" */
    enum sb_wire_os os;                     /* of the box */
    const char *aliases[SB_LANGUAGE_NAMES]; /* "py", "python3"; NULL-terminated */
    const char *endings[SB_LANGUAGE_NAMES]; /* ".py"; with the dot; NULL-terminated */
    const char *file;                       /* where the code is put: "main.py" */
    enum sb_line_ends lines;
    const char *programs[SB_LANGUAGE_NAMES]; /* interpreter names to look for, best first */
    const char *version_args[4];             /* prints the version: "--version"; NULL-terminated */
    /* argv template after the interpreter; "{file}" is the code file, relative to the
     * workspace, "{runner}" the runner script, absolute (programs start children of their own
     * elsewhere with the same options); program arguments follow. */
    const char *command[8];
    const char *runner_file; /* below SB_GUEST_RUNNER_DIR; NULL: none */
    const char *runner_text;
    const char *env[SB_LANGUAGE_NAMES];       /* "NAME=value" beyond the target's base environment */
    const char *read_only[SB_LANGUAGE_NAMES]; /* further host paths it needs, shown where they exist */
    const char *install;                      /* the command that installs it, for people */
    const char *sample; /* a program that prints "42\n" ("42\r\n" in cmd): doctor's proof */
};

/* Grouped by box OS, in the order people are shown them. */
extern const struct sb_language sb_languages[];
extern const size_t sb_language_count;

/* By name or alias, ASCII case-insensitive whatever the locale; NULL: none. */
const struct sb_language *sb_language_named(const char *name, enum sb_wire_os os);
const struct sb_language *sb_language_of_ending(const char *ending, enum sb_wire_os os);
/* The known name or alias nearest to a wrong one, or NULL when nothing is near. */
const char *sb_language_nearest(const char *name, enum sb_wire_os os);

/* Appends the code as the file must hold it: without a byte order mark, with line ends the
 * interpreter can read. Everything else arrives unchanged. */
void sb_language_code(const struct sb_language *language, const char *code, size_t len, struct sb_buf *out);

/* argv of the run: `program` is the interpreter as found for the target. */
void sb_language_argv(const struct sb_language *language, const char *program, const char *const *args,
                      struct sb_argv *out);
/* The whole environment of a run: the box OS's base plus the row's. `workspace` as the box
 * sees it; `system_root` only on Windows; `search_path` NULL: the system's own folders. */
void sb_language_env(const struct sb_language *language, const char *workspace, const char *system_root,
                     const char *search_path, struct sb_argv *out);

#endif
