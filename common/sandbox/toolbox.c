/* SPDX-License-Identifier: MIT */
#include "sandbox/toolbox.h"

#include <stdbool.h>
#include <string.h>
#include <uv.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "platform/find.h"
#include "platform/hostpath.h"
#include "platform/oserr.h"

#define PATH_BYTES (64u * 1024) /* of the host's PATH; a longer one is not looked at */
#define IN_BOX     "/usr/"      /* where a Linux box has the host's programs */

static const char *const FOLDERS[] = {"/usr/local/bin", "/usr/bin", "/bin"};

/* The program behind all links; NULL: nothing we can execute. The caller frees. */
static char *real_program(const char *path)
{
    uv_fs_t request;
    char *real = NULL;

    if (uv_fs_access(NULL, &request, path, 1 /* X_OK, which Windows has no name for */, NULL) == 0) {
        uv_fs_req_cleanup(&request);
        if (uv_fs_realpath(NULL, &request, path, NULL) == 0)
            real = sb_strdup(request.ptr);
    }
    uv_fs_req_cleanup(&request);
    return real;
}

static char *join(const char *dir, size_t dir_len, const char *name)
{
    struct sb_buf path;
    char *folder = sb_strndup(dir, dir_len);

    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    sb_path_join(&path, folder, name, sb_host_rules());
    sb_free(folder);
    return sb_buf_take(&path);
}

/* ---- what boxes use ----------------------------------------------------------------- */

static bool find_in_usr(const char *name, struct sb_buf *out)
{
    bool found = false;

    for (size_t i = 0; i < SB_COUNT(FOLDERS) && !found; i++) {
        char *path = join(FOLDERS[i], strlen(FOLDERS[i]), name);
        char *real = real_program(path);

        found = real && strncmp(real, IN_BOX, strlen(IN_BOX)) == 0;
        if (found)
            sb_buf_adds(out, path);
        sb_free(real);
        sb_free(path);
    }
    return found;
}

int sb_toolbox_find(const struct sb_language *language, struct sb_buf *out_path, struct sb_err *err)
{
    for (size_t i = 0; i < SB_LANGUAGE_NAMES && language->programs[i]; i++)
        if (language->os == SB_WIRE_LINUX ? find_in_usr(language->programs[i], out_path)
                                          : sb_find_program(language->programs[i], out_path, NULL) == 0)
            return 0;
    return sb_fail(err, SB_NOT_FOUND, "%s is not installed: no %s in %s", language->name,
                   language->programs[0],
                   language->os == SB_WIRE_LINUX ? "/usr/local/bin, /usr/bin or /bin"
                                                 : "the folders of PATH (WindowsApps does not count)");
}

/* ---- what they don't ---------------------------------------------------------------- */

/* PATH may name a folder twice. */
static bool is_listed(const char *list, const char *path)
{
    size_t len = strlen(path);

    for (const char *at = strstr(list, path); at; at = strstr(at + len, path))
        if ((at == list || at[-1] == ' ') && (at[len] == '\0' || at[len] == ','))
            return true;
    return false;
}

static void add_if_other(const char *dir, size_t dir_len, const char *name, const char *used,
                         struct sb_buf *out)
{
    char *path = join(dir, dir_len, name), *real = real_program(path);

    if (real && (!used || strcmp(real, used) != 0) && !is_listed(out->data, path))
        sb_buf_addf(out, "%s%s", out->len ? ", " : "", path);
    sb_free(real);
    sb_free(path);
}

static void add_others(const char *folders, const char *name, const char *used, struct sb_buf *out)
{
    const char *separator = sb_host_rules() == SB_PATH_WINDOWS ? ";" : ":";

    for (const char *at = folders; *at;) {
        size_t len = strcspn(at, separator);

        if (len && sb_path_is_absolute(at, sb_host_rules()))
            add_if_other(at, len, name, used, out);
        at += len + (at[len] != '\0');
    }
}

void sb_toolbox_passed_over(const struct sb_language *language, struct sb_buf *out)
{
    char *folders = sb_alloc(PATH_BYTES), *used = NULL;
    size_t len = PATH_BYTES;
    struct sb_buf found;

    sb_buf_init(&found, SB_PATH_MAX_BYTES);
    if (sb_toolbox_find(language, &found, NULL) == 0)
        used = real_program(found.data);
    if (uv_os_getenv("PATH", folders, &len) == 0)
        for (size_t i = 0; i < SB_LANGUAGE_NAMES && language->programs[i]; i++)
            add_others(folders, language->programs[i], used, out);
    sb_buf_done(&found);
    sb_free(used);
    sb_free(folders);
}
