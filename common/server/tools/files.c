/* SPDX-License-Identifier: MIT */
#include "server/tools/files.h"

#include <string.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "base/buf.h"

const struct sb_field sb_file_fields[] = {
    {.name = "path",
     .type = SB_FIELD_STRING,
     .flags = SB_FIELD_REQUIRED,
     .at = offsetof(struct sb_file_args, path),
     .most = SB_PATH_MAX_BYTES},
    {.name = "text",
     .type = SB_FIELD_STRING,
     .at = offsetof(struct sb_file_args, text),
     .most = SB_FILES_BYTES},
    {.name = "base64",
     .type = SB_FIELD_STRING,
     .at = offsetof(struct sb_file_args, base64),
     .most = SB_FILES_BYTES / 3 * 4 + 4},
    {.name = NULL},
};

static void free_files(struct sb_run_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sb_free(files[i].path);
        sb_free(files[i].bytes);
    }
    sb_free(files);
}

static int decode_path(const struct sb_file_args *args, const struct sb_run_file *files, size_t count,
                       const char *taken, enum sb_path_rules rules, struct sb_buf *path, struct sb_err *err)
{
    if (sb_path_plain(args->path, strlen(args->path), rules, path, err) < 0)
        return -1;
    if (strcmp(path->data, taken) == 0)
        return sb_fail(err, SB_BAD_REQUEST,
                       "'files' has '%s', where the code itself is put: use another name", taken);
    for (size_t i = 0; i < count; i++)
        if (strcmp(files[i].path, path->data) == 0)
            return sb_fail(err, SB_BAD_REQUEST, "'files' has '%.200s' twice", path->data);
    return 0;
}

static int decode_bytes(const struct sb_file_args *args, struct sb_buf *bytes, struct sb_err *err)
{
    if ((args->text != NULL) == (args->base64 != NULL))
        return sb_fail(err, SB_BAD_REQUEST, "'files': '%.200s' needs either text or base64", args->path);
    if (args->text != NULL)
        sb_buf_adds(bytes, args->text);
    else if (sb_base64_decode(args->base64, strlen(args->base64), bytes, err) < 0 && err->code != SB_LIMIT)
        return sb_fail_in(err, "'files': '%.200s'", args->path);
    else if (err->code == SB_LIMIT)
        bytes->full = true;
    if (bytes->full)
        return sb_fail(err, SB_LIMIT, "'files' are larger than %u bytes together", SB_FILES_BYTES);
    return 0;
}

int sb_files_decode(const struct sb_field_list *list, const char *taken, enum sb_path_rules rules,
                    struct sb_run_file **out, size_t *out_count, struct sb_err *err)
{
    const struct sb_file_args *args = list->items;
    struct sb_run_file *files = list->count > 0 ? sb_alloc(list->count * sizeof *files) : NULL;
    size_t left = SB_FILES_BYTES;

    for (size_t i = 0; i < list->count; i++) {
        struct sb_buf path, bytes;
        int rc;

        sb_buf_init(&path, SB_PATH_MAX_BYTES);
        sb_buf_init(&bytes, left);
        rc = decode_path(&args[i], files, i, taken, rules, &path, err);
        if (rc == 0)
            rc = decode_bytes(&args[i], &bytes, err);
        left -= bytes.len;
        files[i].len = bytes.len;
        files[i].path = sb_buf_take(&path);
        files[i].bytes = sb_buf_take(&bytes);
        if (rc < 0) {
            free_files(files, i + 1);
            return -1;
        }
    }
    *out = files;
    *out_count = list->count;
    return 0;
}
