/* SPDX-License-Identifier: MIT */
#include "platform/find.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"

int sb_find_program(const char *name, struct sb_buf *out_path, struct sb_err *err)
{
    static const char *const folders[] = {"/usr/local/bin", "/usr/bin", "/bin"};
    int rc = -1;
    struct sb_buf path;

    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    for (size_t i = 0; i < SB_COUNT(folders) && rc < 0 && !strchr(name, '/'); i++) {
        struct stat file;
        sb_buf_clear(&path);
        sb_path_join(&path, folders[i], name, SB_PATH_POSIX);
        if (!path.full && stat(path.data, &file) == 0 && S_ISREG(file.st_mode) &&
            access(path.data, X_OK) == 0)
            rc = 0;
    }
    if (rc == 0)
        sb_buf_adds(out_path, path.data);
    else
        sb_fail(err, SB_NOT_FOUND, "no program '%s' in /usr/local/bin, /usr/bin or /bin", name);
    sb_buf_done(&path);
    return rc;
}
