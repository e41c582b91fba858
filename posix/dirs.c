/* SPDX-License-Identifier: MIT */
#include "platform/dirs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "platform/oserr.h"

enum place { STATE = SB_DIR_STATE, CACHE = SB_DIR_CACHE, RUNTIME = SB_DIR_RUNTIME, CONFIG, PLACES };

static const struct {
    const char *root;     /* where root's are */
    const char *variable; /* XDG: names the parent, when absolute */
    const char *home;     /* the parent below HOME; NULL: not there */
    const char *fallback; /* below /tmp/llm-sandbox-UID */
} places[PLACES] = {
    [STATE] = {"/var/lib/llm-sandbox", "XDG_STATE_HOME", ".local/state", "state"},
    [CACHE] = {"/var/cache/llm-sandbox", "XDG_CACHE_HOME", ".cache", "cache"},
    [RUNTIME] = {"/run/llm-sandbox", "XDG_RUNTIME_DIR", NULL, "run"},
    [CONFIG] = {"/etc/llm-sandbox", "XDG_CONFIG_HOME", ".config", "config"},
};

/* Variables survive su and sudo: another user's HOME or runtime directory is none of ours. */
static bool is_our_dir(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

static bool is_anothers(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && status.st_uid != geteuid();
}

/* Makes PATH, whose parent is there, unless it is a directory of ours already. The mode is set
 * apart from mkdir, which our umask would cut. */
static int ensure(const char *path, mode_t mode, struct sb_err *err)
{
    struct stat status;

    if (mkdir(path, 0700) == 0) {
        if (chmod(path, mode) < 0)
            return sb_fail_os(err, "cannot set the mode of '%s'", path);
    } else if (errno != EEXIST) {
        return sb_fail_os(err, "cannot make '%s'", path);
    }
    if (lstat(path, &status) < 0)
        return sb_fail_os(err, "cannot look at '%s'", path);
    if (!S_ISDIR(status.st_mode)) /* nor a link to one */
        return sb_fail(err, SB_DENIED, "'%s' is not a directory", path);
    if (status.st_uid != geteuid())
        return sb_fail(err, SB_DENIED, "'%s' belongs to uid %u, not to us (uid %u)", path,
                       (unsigned)status.st_uid, (unsigned)geteuid());
    if (status.st_mode & 022)
        return sb_fail(err, SB_DENIED, "'%s' is writable by others (mode %04o)", path,
                       (unsigned)(status.st_mode & 07777));
    return 0;
}

/* The directories above ours, which may belong to anyone and be links: XDG says 0700. */
static int make_parents(const char *path, struct sb_err *err)
{
    char *parent = sb_strdup(path);
    int rc = 0;

    for (char *slash = strchr(parent + 1, '/'); slash && rc == 0; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(parent, 0700) < 0 && errno != EEXIST) {
            struct stat status;
            int number = errno; /* EACCES or EROFS also where it is there */

            if (stat(parent, &status) < 0)
                rc = sb_fail_os_at(err, number, "cannot make '%s'", parent);
        }
        *slash = '/';
    }
    sb_free(parent);
    return rc;
}

/* The parent of our directory for an ordinary user; false: there is none. */
static bool user_parent(enum place place, struct sb_buf *out)
{
    const char *variable = getenv(places[place].variable), *home = getenv("HOME");

    if (place == RUNTIME) {
        char standard[64];

        snprintf(standard, sizeof standard, "/run/user/%u", (unsigned)geteuid());
        if (!variable || variable[0] != '/' || !is_our_dir(variable))
            variable = is_our_dir(standard) ? standard : NULL;
        if (variable)
            sb_buf_adds(out, variable);
        return variable != NULL;
    }
    if (variable && variable[0] == '/' && !(place == CONFIG && is_anothers(variable))) {
        sb_buf_adds(out, variable);
        return true;
    }
    if (!home || home[0] != '/' || !is_our_dir(home))
        return false;
    sb_path_join(out, home, places[place].home, SB_PATH_POSIX);
    return true;
}

/* Our directory for `place`; where that lies in /tmp, its parent is made and checked first. */
static int locate(enum place place, struct sb_buf *out, struct sb_err *err)
{
    struct sb_buf parent;
    int rc = 0;

    sb_buf_init(&parent, SB_PATH_MAX_BYTES);
    if (geteuid() == 0) {
        sb_buf_adds(out, places[place].root);
    } else if (user_parent(place, &parent)) {
        sb_path_join(out, parent.data, "llm-sandbox", SB_PATH_POSIX);
    } else {
        sb_buf_addf(&parent, "/tmp/llm-sandbox-%u", (unsigned)geteuid());
        rc = ensure(parent.data, 0700, err);
        sb_path_join(out, parent.data, places[place].fallback, SB_PATH_POSIX);
    }
    if (rc == 0 && (parent.full || out->full))
        rc = sb_fail(err, SB_BAD_REQUEST, "the path named by HOME or %s is too long", places[place].variable);
    sb_buf_done(&parent);
    return rc;
}

int sb_dir(enum sb_dir which, struct sb_buf *out, struct sb_err *err)
{
    struct sb_buf path;
    int rc = -1;

    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    if (locate((enum place)which, &path, err) < 0 || make_parents(path.data, err) < 0 ||
        ensure(path.data, geteuid() == 0 ? 0755 : 0700, err) < 0)
        goto done;
    sb_buf_clear(out);
    sb_buf_adds(out, path.data);
    rc = 0;
done:
    sb_buf_done(&path);
    return rc;
}

int sb_dir_config_file(struct sb_buf *out, struct sb_err *err)
{
    struct sb_buf path;
    int rc;

    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    rc = locate(CONFIG, &path, err);
    if (rc == 0) {
        sb_buf_clear(out);
        sb_path_join(out, path.data, "config.json", SB_PATH_POSIX);
    }
    sb_buf_done(&path);
    return rc;
}

int sb_dir_make(const char *path, int others_pass, struct sb_err *err)
{
    if (mkdir(path, 0700) < 0) {
        if (errno == EEXIST)
            return sb_fail(err, SB_BUSY, "'%s' is there already", path);
        return sb_fail_os(err, "cannot make '%s'", path);
    }
    if (chmod(path, others_pass ? 0711 : 0700) < 0) { /* whatever the umask left */
        sb_fail_os(err, "cannot set the mode of '%s'", path);
        rmdir(path);
        return -1;
    }
    return 0;
}
