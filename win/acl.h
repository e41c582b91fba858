/* SPDX-License-Identifier: MIT
 * Security descriptors for what belongs to us, and the check of what we find. */
#ifndef SB_WIN_ACL_H
#define SB_WIN_ACL_H

#include <stdbool.h>
#include <windows.h>

#include "base/err.h"

/* S-1-5-21-...: the user this process runs as. NULL and err on failure; sb_free. */
char *sb_acl_user(struct sb_err *err);

enum sb_acl_shape {
    SB_ACL_OURS,     /* full access for our user only: pipes */
    SB_ACL_DIRECTORY /* our user, SYSTEM, Administrators; inherited; nothing from above */
};
/* LocalFree(*out). */
int sb_acl_make(enum sb_acl_shape shape, PSECURITY_DESCRIPTOR *out, struct sb_err *err);

/* 0 when the open directory is owned by our user (or by Administrators or SYSTEM) and
 * nobody but these may write in it; else err says whose it is or who may. */
int sb_acl_check_directory(HANDLE directory, const char *path, struct sb_err *err);

#endif
