/* SPDX-License-Identifier: MIT */
#include "sandbox/guest_image.h"

#include <stdbool.h>
#include <uv.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "platform/hostpath.h"
#include "platform/oserr.h"

#define MODE_KIND    0170000u /* of st_mode; Windows has no names for them */
#define MODE_REGULAR 0100000u

static bool is_file(const char *path)
{
    uv_fs_t request;
    bool found =
        uv_fs_stat(NULL, &request, path, NULL) == 0 && (request.statbuf.st_mode & MODE_KIND) == MODE_REGULAR;

    uv_fs_req_cleanup(&request);
    return found;
}

int sb_guest_find_beside(const char *program, struct sb_buf *out, struct sb_err *err)
{
    bool windows = sb_host_rules() == SB_PATH_WINDOWS;
    const char *const places[] = {windows ? "llm-sandbox-guest.exe" : "llm-sandbox-guest",
                                  windows ? "..\\libexec\\llm-sandbox\\llm-sandbox-guest.exe"
                                          : "../libexec/llm-sandbox/llm-sandbox-guest"};
    size_t dir_len = (size_t)(sb_path_base(program, sb_host_rules()) - program);

    for (size_t i = 0; i < SB_COUNT(places); i++) {
        sb_buf_clear(out);
        sb_buf_add(out, program, dir_len);
        sb_buf_adds(out, places[i]);
        if (!out->full && is_file(out->data))
            return 0;
    }
    return sb_fail(err, SB_NOT_FOUND,
                   "the guest program is neither '%.*s%s' nor '%.*s%s': install llm-sandbox again",
                   (int)dir_len, program, places[0], (int)dir_len, program, places[1]);
}

int sb_guest_find(struct sb_buf *out, struct sb_err *err)
{
    char program[SB_PATH_MAX_BYTES + 1];
    size_t len = sizeof program;
    int rc = uv_exepath(program, &len);

    if (rc < 0)
        return sb_fail_os_at(err, rc, "cannot tell where this program is");
    return sb_guest_find_beside(program, out, err);
}
