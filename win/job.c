/* SPDX-License-Identifier: MIT */
#include "job.h"

#include <windows.h>

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "utf16.h"

static struct sb_target target(void)
{
    return (struct sb_target){.os = SB_WIRE_WINDOWS, .arch = SB_WIRE_X86_64, .workspace = ""};
}

static int find(struct sb_backend_facts *facts, char *mend, size_t mend_cap, struct sb_err *err)
{
    wchar_t wide[260];

    UINT len = GetSystemWindowsDirectoryW(wide, (UINT)SB_COUNT(wide));
    if (len == 0 || len >= SB_COUNT(wide)) {
        snprintf(mend, mend_cap, "%s", "");
        return sb_fail(err, SB_HOST, "cannot tell where Windows is installed");
    }
    char *root = sb_from_utf16(wide);
    *facts = (struct sb_backend_facts){.root = false};
    snprintf(facts->system_root, sizeof facts->system_root, "%s", root);
    sb_free(root);
    return 0;
}

/* The guest where it is installed: a fresh copy would meet virus scanners and AppLocker. */
static void plan(const struct sb_plan_want *want, struct sb_plan *out)
{
    const char *root = want->facts->system_root;
    const struct {
        const char *name, *folder, *rest;
    } env[] = {
        {"SystemRoot", root, ""},
        {"windir", root, ""},
        {"ComSpec", root, "\\System32\\cmd.exe"},
        {"PATHEXT", ".COM;.EXE;.BAT;.CMD", ""},
        {"TEMP", want->workspace, "\\.tmp"},
        {"TMP", want->workspace, "\\.tmp"},
    };

    out->program = sb_strdup(want->guest);
    sb_argv_push(&out->argv, want->guest);
    for (size_t i = 0; i < SB_COUNT(env); i++)
        sb_argv_pushf(&out->env, "%s=%s%s", env[i].name, env[i].folder, env[i].rest);
    out->cwd = sb_strdup(want->workspace);
}

static void explain(const char *errors, const struct sb_proc_end *end, char *mend, size_t mend_cap,
                    struct sb_err *err)
{
    static const struct {
        uint32_t code;
        const char *what, *mend;
    } known[] = {
        {0xC0000135, "a DLL of the guest is missing", "install llm-sandbox again"},
        {0xC0000142, "a DLL of the guest could not start in the box",
         "close some programs and try again: the desktop may be out of memory"},
        {0xC0000022, "Windows denied the guest a file that it needs",
         "install llm-sandbox in a folder that every user may read"},
        {0xC0000017, "Windows has no memory for the guest", "raise the memory limit of the call"},
    };

    for (size_t i = 0; i < SB_COUNT(known); i++)
        if (end->code == known[i].code) {
            snprintf(mend, mend_cap, "%s", known[i].mend);
            sb_fail(err, SB_HOST, "the box ended before its guest spoke: %s (0x%08X)", known[i].what,
                    (unsigned)end->code);
            return;
        }
    int line = (int)strcspn(errors, "\r\n");
    snprintf(mend, mend_cap, "install llm-sandbox again; if that does not help, report it with this text");
    sb_fail(err, SB_HOST, "the box ended before its guest spoke: exit code 0x%08X%s%.*s", (unsigned)end->code,
            line ? ", " : "", line, errors);
}

const struct sb_backend sb_job = {
    .name = "job",
    .isolation = "Job Object, restricted token, low integrity",
    .weak = true,
    .host_workspace = true,
    .target = target,
    .find = find,
    .version_arg = NULL,
    .check_version = NULL,
    .plan = plan,
    .inner_pid = NULL,
    .explain = explain,
};
