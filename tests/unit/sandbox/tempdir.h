/* SPDX-License-Identifier: MIT
 * A folder of a test's own, and files in it. */
#ifndef TESTS_UNIT_SANDBOX_TEMPDIR_H
#define TESTS_UNIT_SANDBOX_TEMPDIR_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "base/alloc.h"
#include "platform/dirs.h"

static inline char *tempdir_new(void)
{
    char base[512], *path;
    size_t len = sizeof base;
    uv_fs_t request;

    assert_int_equal(uv_os_tmpdir(base, &len), 0);
    path = sb_asprintf("%s/sb-unit-XXXXXX", base);
    assert_int_equal(uv_fs_mkdtemp(NULL, &request, path, NULL), 0);
    sb_free(path);
    path = sb_strdup(request.path);
    uv_fs_req_cleanup(&request);
    return path;
}

static inline void tempdir_free(char *path)
{
    struct sb_err err = {0};

    if (sb_dir_remove_tree(path, &err) < 0)
        fail_msg("%s", err.text);
    sb_free(path);
}

static inline bool tempdir_has(const char *path)
{
    uv_fs_t request;
    int rc = uv_fs_stat(NULL, &request, path, NULL);

    uv_fs_req_cleanup(&request);
    return rc == 0;
}

static inline void tempdir_mkdir(const char *path)
{
    uv_fs_t request;

    assert_int_equal(uv_fs_mkdir(NULL, &request, path, 0700, NULL), 0);
    uv_fs_req_cleanup(&request);
}

static inline void tempdir_write(const char *path, const char *text, int mode)
{
    FILE *file = fopen(path, "wb");
    uv_fs_t request;

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
    assert_int_equal(uv_fs_chmod(NULL, &request, path, mode, NULL), 0);
    uv_fs_req_cleanup(&request);
}

#endif
