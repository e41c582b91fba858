/* SPDX-License-Identifier: MIT */
#include "platform/dirs.h"

#include <windows.h>

#include <initguid.h> /* before knownfolders.h: defines FOLDERID_LocalAppData here */
#include <knownfolders.h>
#include <shlobj.h>

#include "acl.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "platform/oserr.h"
#include "utf16.h"

/* %LOCALAPPDATA%, else what the profile says (a process without environment); sb_free. */
static char *local_app_data(struct sb_err *err)
{
    PWSTR known = NULL;
    char *path = NULL;

    DWORD cap = GetEnvironmentVariableW(L"LOCALAPPDATA", NULL, 0);
    if (cap > 0) {
        wchar_t *wide = sb_alloc(cap * sizeof *wide);
        GetEnvironmentVariableW(L"LOCALAPPDATA", wide, cap);
        path = sb_from_utf16(wide);
        sb_free(wide);
    } else if (SUCCEEDED(SHGetKnownFolderPath(&FOLDERID_LocalAppData, KF_FLAG_DEFAULT, NULL, &known))) {
        path = sb_from_utf16(known);
        CoTaskMemFree(known);
    }
    if (path && sb_path_is_absolute(path, SB_PATH_WINDOWS))
        return path;
    sb_fail(err, SB_HOST, "LOCALAPPDATA is not set to an absolute path");
    sb_free(path);
    return NULL;
}

int sb_dir_make(const char *path, int others_pass, struct sb_err *err)
{
    int rc = -1;
    PSECURITY_DESCRIPTOR sd = NULL;

    (void)others_pass; /* the boxes of one user are the same user, and traversal is free */
    wchar_t *wide = sb_to_utf16_path(path, err);
    if (!wide)
        return -1;
    if (sb_acl_make(SB_ACL_DIRECTORY, &sd, err) < 0)
        goto done;
    SECURITY_ATTRIBUTES attributes = {sizeof attributes, sd, FALSE};
    if (!CreateDirectoryW(wide, &attributes)) {
        sb_fail_os(err, "cannot make the folder '%s'", path);
        if (err && err->os == ERROR_ALREADY_EXISTS)
            err->code = SB_BUSY;
        goto done;
    }
    rc = 0;
done:
    if (sd)
        LocalFree(sd);
    sb_free(wide);
    return rc;
}

static int check_ours(const char *path, struct sb_err *err)
{
    int rc = -1;
    FILE_ATTRIBUTE_TAG_INFO info;

    wchar_t *wide = sb_to_utf16_path(path, err);
    if (!wide)
        return -1;
    HANDLE directory = CreateFileW(
        wide, READ_CONTROL | FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
        NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    sb_free(wide);
    if (directory == INVALID_HANDLE_VALUE)
        return sb_fail_os(err, "cannot open the folder '%s'", path);
    if (!GetFileInformationByHandleEx(directory, FileAttributeTagInfo, &info, sizeof info))
        sb_fail_os(err, "cannot look at the folder '%s'", path);
    else if (!(info.FileAttributes & FILE_ATTRIBUTE_DIRECTORY) ||
             (info.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT))
        sb_fail(err, SB_DENIED, "'%s' is not a folder", path);
    else
        rc = sb_acl_check_directory(directory, path, err);
    CloseHandle(directory);
    return rc;
}

static int make_or_check(const char *path, struct sb_err *err)
{
    struct sb_err why;
    if (sb_dir_make(path, 0, &why) == 0)
        return 0;
    if (why.code == SB_BUSY)
        return check_ours(path, err);
    if (err)
        *err = why;
    return -1;
}

/* %LOCALAPPDATA%\LLM Sandbox */
static int product_folder(struct sb_buf *out, struct sb_err *err)
{
    char *base = local_app_data(err);
    if (!base)
        return -1;
    sb_path_join(out, base, "LLM Sandbox", SB_PATH_WINDOWS);
    sb_free(base);
    return 0;
}

int sb_dir(enum sb_dir which, struct sb_buf *out, struct sb_err *err)
{
    static const char *const names[] = {
        [SB_DIR_STATE] = "State",
        [SB_DIR_CACHE] = "Cache",
        [SB_DIR_RUNTIME] = "Run",
    };
    int rc = -1;
    struct sb_buf product, path;

    sb_buf_init(&product, SB_PATH_MAX_BYTES);
    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    if (product_folder(&product, err) < 0 || make_or_check(product.data, err) < 0)
        goto done;
    sb_path_join(&path, product.data, names[which], SB_PATH_WINDOWS);
    if (make_or_check(path.data, err) < 0)
        goto done;
    sb_buf_adds(out, path.data);
    rc = 0;
done:
    sb_buf_done(&path);
    sb_buf_done(&product);
    return rc;
}

int sb_dir_config_file(struct sb_buf *out, struct sb_err *err)
{
    struct sb_buf product;

    sb_buf_init(&product, SB_PATH_MAX_BYTES);
    int rc = product_folder(&product, err);
    if (rc == 0)
        sb_path_join(out, product.data, "config.json", SB_PATH_WINDOWS);
    sb_buf_done(&product);
    return rc;
}
