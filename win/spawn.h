/* SPDX-License-Identifier: MIT
 * CreateProcess, explicit about everything: which program, which command line, which
 * environment and folder, which three handles and no others, born in which job, as whom. */
#ifndef SB_WIN_SPAWN_H
#define SB_WIN_SPAWN_H

#include <windows.h>

#include "base/err.h"

/* The texts of one launch as the system takes them. */
struct sb_spawn_text {
    wchar_t *program, *command_line, *env, *cwd;
};
/* `program` must be the absolute path of an .exe: of a batch file the system would start
 * cmd.exe, whose parsing no quoting survives. On failure nothing is left in *out. */
int sb_spawn_text(const char *program, char *const *argv, char *const *env, const char *cwd,
                  struct sb_spawn_text *out, struct sb_err *err);
void sb_spawn_text_done(struct sb_spawn_text *text);

/* `token` NULL: our own. `std` are inheritable handles. *out_process is the caller's. */
int sb_spawn(const struct sb_spawn_text *text, HANDLE job, HANDLE token, const HANDLE std[3],
             HANDLE *out_process, DWORD *out_pid, struct sb_err *err);

#endif
