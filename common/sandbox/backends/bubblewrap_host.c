/* SPDX-License-Identifier: MIT
 * The bwrap of this host: where it is, whether it may be used, what it says of itself. */
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "base/buf.h"
#include "base/json.h"
#include "platform/boxos.h"
#include "platform/find.h"
#include "platform/oserr.h"
#include "sandbox/backends/bubblewrap.h"

#define MODE_SETUID  04000u /* of st_mode; named here since Windows has no name for them */
#define MODE_GROUP_W 00020u
#define MODE_OTHER_W 00002u

#define PID_HIGHEST 4194304 /* PID_MAX_LIMIT of Linux */
#define INSTALL     "apt-get install bubblewrap"

static void set_mend(char *mend, size_t cap, const char *text, const char *path)
{
    snprintf(mend, cap, "%s%s", text, path);
}

int sb_bubblewrap_look(const char *path, char *mend, size_t mend_cap, struct sb_err *err)
{
    uv_fs_t request;
    uv_stat_t status = {0};
    int rc = uv_fs_stat(NULL, &request, path, NULL);

    if (rc == 0)
        status = request.statbuf;
    uv_fs_req_cleanup(&request);
    if (rc < 0) {
        set_mend(mend, mend_cap, INSTALL, "");
        return sb_fail_os_at(err, rc, "cannot look at '%s'", path);
    }
    if (status.st_mode & MODE_SETUID) {
        set_mend(mend, mend_cap, "chmod u-s ", path);
        return sb_fail(err, SB_UNSUPPORTED,
                       "'%s' is setuid, and bubblewrap does not permit --size in setuid mode: workspaces "
                       "would have no limit",
                       path);
    }
    if (status.st_uid != 0 || (status.st_mode & (MODE_GROUP_W | MODE_OTHER_W))) {
        set_mend(mend, mend_cap, "chown root:root and chmod 755 ", path);
        return sb_fail(err, SB_DENIED, "'%s' does not belong to root, or others may write it", path);
    }
    return 0;
}

int sb_bubblewrap_find(struct sb_backend_facts *facts, char *mend, size_t mend_cap, struct sb_err *err)
{
    struct sb_buf path;
    int rc = -1;

    sb_buf_init(&path, sizeof facts->program - 1);
    if (sb_find_program("bwrap", &path, NULL) < 0) {
        set_mend(mend, mend_cap, INSTALL, "");
        sb_fail(err, SB_NOT_FOUND,
                "bubblewrap is not installed: no bwrap in /usr/local/bin, /usr/bin or /bin");
    } else if (sb_bubblewrap_look(path.data, mend, mend_cap, err) == 0) {
        *facts = (struct sb_backend_facts){.root = sb_box_os_drops_uid(), .own_pids = true};
        memcpy(facts->program, path.data, path.len + 1);
        rc = 0;
    }
    sb_buf_done(&path);
    return rc;
}

int sb_bubblewrap_version(const char *line, struct sb_backend_facts *facts, char *mend, size_t mend_cap,
                          struct sb_err *err)
{
    unsigned major, minor, patch = 0;
    int end = 0;

    if (sscanf(line, "bubblewrap %5u.%5u%n.%5u%n", &major, &minor, &end, &patch, &end) < 2 || line[end]) {
        set_mend(mend, mend_cap, "apt-get install --reinstall bubblewrap, after: rm ", facts->program);
        return sb_fail(err, SB_UNSUPPORTED, "'%s' does not say which bubblewrap it is", facts->program);
    }
    snprintf(facts->version, sizeof facts->version, "%u.%u.%u", major, minor, patch);
    if (major == 0 && minor < 8) {
        set_mend(mend, mend_cap, "install bubblewrap 0.8.0 or newer (Debian 12, Ubuntu 24.04)", "");
        return sb_fail(err, SB_UNSUPPORTED, "bubblewrap %s is too old: 0.8.0 or newer is needed",
                       facts->version);
    }
    return 0;
}

/* {"child-pid": 123, "...-namespace": ...}, written in pieces. */
int sb_bubblewrap_inner_pid(const char *info, size_t len, long *pid)
{
    struct sb_json_doc *doc = NULL;
    int64_t value = 0;
    int rc = -1;

    if (len == 0)
        return 0;
    if (info[0] != '{')
        return -1;
    if (!memchr(info, '}', len))
        return 0;
    if (sb_json_parse(info, len, &doc, NULL) == 0 &&
        sb_json_int(sb_json_get(sb_json_root(doc), "child-pid"), "child-pid", &value, NULL) == 0 &&
        value > 1 && value <= PID_HIGHEST) {
        *pid = (long)value;
        rc = 1;
    }
    sb_json_free(doc);
    return rc;
}
