/* SPDX-License-Identifier: MIT */
#include "boxos.h"

#include <sddl.h>

#include "acl.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "platform/oserr.h"
#include "utf16.h"

/* Without HANDLES and GLOBALATOMS, which PowerShell does not start under (0xC0000142). */
#define UI_LIMITS                                                                                            \
    (JOB_OBJECT_UILIMIT_DESKTOP | JOB_OBJECT_UILIMIT_DISPLAYSETTINGS | JOB_OBJECT_UILIMIT_EXITWINDOWS |      \
     JOB_OBJECT_UILIMIT_READCLIPBOARD | JOB_OBJECT_UILIMIT_WRITECLIPBOARD |                                  \
     JOB_OBJECT_UILIMIT_SYSTEMPARAMETERS)

/* The limits speak of the programs of a box; the guest comes on top of them. */
#define GUEST_PROCESSES 1
#define GUEST_BYTES     (16ull << 20)

static int limit_job(HANDLE job, DWORD more, uint32_t processes, uint64_t memory_bytes, struct sb_err *err)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {0};

    limits.BasicLimitInformation.LimitFlags =
        JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION | more;
    limits.BasicLimitInformation.ActiveProcessLimit = processes + GUEST_PROCESSES;
    limits.JobMemoryLimit = (SIZE_T)(memory_bytes + GUEST_BYTES);
    if (!SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits))
        return sb_fail_os(err, "cannot set the limits of a Job Object");
    return 0;
}

int sb_job_new(HANDLE *out, struct sb_err *err)
{
    HANDLE job = CreateJobObjectW(NULL, NULL);
    if (!job)
        return sb_fail_os(err, "cannot make a Job Object");
    if (limit_job(job, 0, 0, 0, err) < 0) {
        CloseHandle(job);
        return -1;
    }
    *out = job;
    return 0;
}

static bool set_ui_limits(HANDLE job, DWORD which)
{
    JOBOBJECT_BASIC_UI_RESTRICTIONS ui = {which};
    return SetInformationJobObject(job, JobObjectBasicUIRestrictions, &ui, sizeof ui);
}

/* Our own token without its privileges and at low integrity: still our user. It needs no
 * privilege, for a restricted form of the caller's token may always be assigned. NULL where the
 * system refuses. */
static HANDLE low_token(void)
{
    HANDLE own = NULL, token = NULL;
    PSID low = NULL;
    TOKEN_MANDATORY_LABEL label = {{NULL, SE_GROUP_INTEGRITY}};
    bool ok = false;

    if (!OpenProcessToken(GetCurrentProcess(),
                          TOKEN_DUPLICATE | TOKEN_ASSIGN_PRIMARY | TOKEN_QUERY | TOKEN_ADJUST_DEFAULT,
                          &own) ||
        !CreateRestrictedToken(own, DISABLE_MAX_PRIVILEGE, 0, NULL, 0, NULL, 0, NULL, &token) ||
        !ConvertStringSidToSidW(L"S-1-16-4096", &low))
        goto done;
    label.Label.Sid = low;
    ok = SetTokenInformation(token, TokenIntegrityLevel, &label, (DWORD)sizeof label + GetLengthSid(low));
done:
    if (low)
        LocalFree(low);
    if (!ok && token) {
        CloseHandle(token);
        token = NULL;
    }
    if (own)
        CloseHandle(own);
    return token;
}

/* Low integrity may write in nothing that has no label of its own. */
static bool label_low(const char *path)
{
    PSECURITY_DESCRIPTOR label = NULL;

    wchar_t *wide = sb_to_utf16_path(path, NULL);
    bool ok = wide &&
              ConvertStringSecurityDescriptorToSecurityDescriptorW(L"S:(ML;OICI;NW;;;LW)", SDDL_REVISION_1,
                                                                   &label, NULL) &&
              SetFileSecurityW(wide, LABEL_SECURITY_INFORMATION, label);
    if (label)
        LocalFree(label);
    sb_free(wide);
    return ok;
}

/* Where TEMP of the box points; it inherits list and label of the workspace. */
static int make_tmp(const char *workspace, struct sb_err *err)
{
    struct sb_buf path;
    wchar_t *wide = NULL;
    int rc = -1;

    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    sb_path_join(&path, workspace, ".tmp", SB_PATH_WINDOWS);
    wide = sb_to_utf16_path(path.data, err);
    if (wide)
        rc = CreateDirectoryW(wide, NULL) ? 0 : sb_fail_os(err, "cannot make the folder '%s'", path.data);
    sb_free(wide);
    sb_buf_done(&path);
    return rc;
}

static void drop_token(struct sb_box_os *os)
{
    CloseHandle(os->token);
    os->token = NULL;
}

int sb_box_os_open(const struct sb_box_os_want *want, struct sb_box_os **out, struct sb_err *err)
{
    int rc = -1;
    DWORD more = (want->processes ? JOB_OBJECT_LIMIT_ACTIVE_PROCESS : 0) |
                 (want->memory_bytes ? JOB_OBJECT_LIMIT_JOB_MEMORY : 0);
    struct sb_box_os *os = sb_alloc(sizeof *os);

    if (sb_job_new(&os->job, err) < 0 ||
        limit_job(os->job, more, want->processes, want->memory_bytes, err) < 0)
        goto done;
    os->ui_limits = set_ui_limits(os->job, UI_LIMITS);
    os->token = low_token();
    /* A box that can't write in its own folder is no use; Wine refuses the label. */
    if (os->token && want->workspace && !label_low(want->workspace))
        drop_token(os);
    if (want->workspace && make_tmp(want->workspace, err) < 0)
        goto done;
    *out = os;
    os = NULL;
    rc = 0;
done:
    sb_box_os_close(os);
    return rc;
}

void sb_box_os_close(struct sb_box_os *os)
{
    if (!os)
        return;
    if (os->token)
        CloseHandle(os->token);
    if (os->job)
        CloseHandle(os->job);
    sb_free(os);
}

bool sb_box_os_relax(struct sb_box_os *os)
{
    if (os->ui_limits) {
        set_ui_limits(os->job, 0);
        os->ui_limits = false;
        return true;
    }
    if (os->token) {
        drop_token(os);
        return true;
    }
    return false;
}

bool sb_box_os_drops_uid(void)
{
    return false;
}
