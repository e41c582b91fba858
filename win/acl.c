/* SPDX-License-Identifier: MIT */
#include "acl.h"

#include <aclapi.h>
#include <sddl.h>

#include "base/alloc.h"
#include "platform/oserr.h"
#include "utf16.h"

/* Everything that changes a directory, what is in it, or who may change it. */
#define WRITES                                                                                               \
    (GENERIC_WRITE | GENERIC_ALL | FILE_ADD_FILE | FILE_ADD_SUBDIRECTORY | FILE_DELETE_CHILD | DELETE |      \
     WRITE_DAC | WRITE_OWNER)

static char *sid_text(PSID sid)
{
    wchar_t *wide = NULL;
    if (!ConvertSidToStringSidW(sid, &wide))
        return sb_strdup("an unknown account");
    char *text = sb_from_utf16(wide);
    LocalFree(wide);
    return text;
}

/* The TOKEN_USER of this process; sb_free. */
static TOKEN_USER *token_user(struct sb_err *err)
{
    HANDLE token = NULL;
    DWORD size = 0;
    TOKEN_USER *user = NULL;

    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) {
        sb_fail_os(err, "cannot open our own token");
        return NULL;
    }
    GetTokenInformation(token, TokenUser, NULL, 0, &size);
    user = sb_alloc(size);
    if (!GetTokenInformation(token, TokenUser, user, size, &size)) {
        sb_fail_os(err, "cannot read our own user from the token");
        sb_free(user);
        user = NULL;
    }
    CloseHandle(token);
    return user;
}

char *sb_acl_user(struct sb_err *err)
{
    TOKEN_USER *user = token_user(err);
    char *text = user ? sid_text(user->User.Sid) : NULL;
    sb_free(user);
    return text;
}

int sb_acl_make(enum sb_acl_shape shape, PSECURITY_DESCRIPTOR *out, struct sb_err *err)
{
    static const struct {
        const char *before, *after; /* the user's SID */
    } shapes[] = {
        [SB_ACL_OURS] = {"D:P(A;;FA;;;", ")"},
        [SB_ACL_DIRECTORY] = {"D:P(A;OICI;FA;;;", ")(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"},
    };
    int rc = -1;
    char *text = NULL;
    wchar_t *wide = NULL;

    char *user = sb_acl_user(err);
    if (!user)
        return -1;
    text = sb_asprintf("%s%s%s", shapes[shape].before, user, shapes[shape].after);
    wide = sb_to_utf16(text, err);
    if (!wide)
        goto done;
    if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(wide, SDDL_REVISION_1, out, NULL)) {
        sb_fail_os(err, "cannot make the security descriptor %s", text);
        goto done;
    }
    rc = 0;
done:
    sb_free(wide);
    sb_free(text);
    sb_free(user);
    return rc;
}

static bool trusted(PSID sid, PSID user)
{
    return EqualSid(sid, user) || IsWellKnownSid(sid, WinLocalSystemSid) ||
           IsWellKnownSid(sid, WinBuiltinAdministratorsSid) || IsWellKnownSid(sid, WinCreatorOwnerSid) ||
           IsWellKnownSid(sid, WinCreatorOwnerRightsSid);
}

/* The first stranger that the list lets write; NULL: there is none. */
static PSID writing_stranger(PACL list, PSID user)
{
    for (DWORD i = 0; i < list->AceCount; i++) {
        ACCESS_ALLOWED_ACE *ace = NULL;
        if (!GetAce(list, i, (void **)&ace) || ace->Header.AceType != ACCESS_ALLOWED_ACE_TYPE)
            continue;
        if ((ace->Mask & WRITES) && !trusted(&ace->SidStart, user))
            return &ace->SidStart;
    }
    return NULL;
}

int sb_acl_check_directory(HANDLE directory, const char *path, struct sb_err *err)
{
    int rc = -1;
    PSECURITY_DESCRIPTOR sd = NULL;
    PSID owner = NULL, stranger = NULL;
    PACL list = NULL;
    char *name = NULL;

    TOKEN_USER *user = token_user(err);
    if (!user)
        return -1;
    DWORD os =
        GetSecurityInfo(directory, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
                        &owner, NULL, &list, NULL, &sd);
    if (os != ERROR_SUCCESS) {
        sb_fail_os_at(err, (long)os, "cannot see whose '%s' is", path);
        goto done;
    }
    if (!trusted(owner, user->User.Sid)) {
        name = sid_text(owner);
        sb_fail(err, SB_DENIED, "'%s' belongs to %s, not to us", path, name);
        goto done;
    }
    if (!list) {
        sb_fail(err, SB_DENIED, "everybody may write in '%s'", path);
        goto done;
    }
    stranger = writing_stranger(list, user->User.Sid);
    if (stranger) {
        name = sid_text(stranger);
        sb_fail(err, SB_DENIED, "%s may write in '%s'", name, path);
        goto done;
    }
    rc = 0;
done:
    sb_free(name);
    sb_free(user);
    if (sd)
        LocalFree(sd);
    return rc;
}
