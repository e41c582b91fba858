/* SPDX-License-Identifier: MIT */
#include "childpipe.h"

#include <stdio.h>

#include "acl.h"
#include "base/alloc.h"
#include "platform/oserr.h"
#include "platform/random.h"

#define PIPE_BYTES 65536

static void pick_name(wchar_t *name, size_t cap)
{
    char id[SB_ID_LEN + 1];
    sb_random_id(id);
    _snwprintf(name, cap, L"\\\\.\\pipe\\llm-sandbox-%hs", id);
    name[cap - 1] = 0;
}

int sb_childpipe_open(bool we_write, struct sb_childpipe *out, struct sb_err *err)
{
    int rc = -1;
    wchar_t name[64];
    struct sb_childpipe pipe = {NULL, NULL};
    PSECURITY_DESCRIPTOR sd = NULL;
    DWORD mode = (we_write ? PIPE_ACCESS_OUTBOUND : PIPE_ACCESS_INBOUND) | FILE_FLAG_OVERLAPPED |
                 FILE_FLAG_FIRST_PIPE_INSTANCE;
    /* The other half of the attributes' rights: what GetFileType, PeekNamedPipe and a C runtime ask. */
    DWORD access = we_write ? GENERIC_READ | FILE_WRITE_ATTRIBUTES : GENERIC_WRITE | FILE_READ_ATTRIBUTES;

    pick_name(name, SB_COUNT(name));
    if (sb_acl_make(SB_ACL_OURS, &sd, err) < 0)
        return -1;
    SECURITY_ATTRIBUTES only_us = {sizeof only_us, sd, FALSE}, inherited = {sizeof inherited, NULL, TRUE};

    pipe.ours = CreateNamedPipeW(name, mode, PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_REJECT_REMOTE_CLIENTS,
                                 1, PIPE_BYTES, PIPE_BYTES, 0, &only_us);
    if (pipe.ours == INVALID_HANDLE_VALUE) {
        pipe.ours = NULL;
        sb_fail_os(err, "cannot make a pipe");
        goto done;
    }
    /* One instance, so whoever opened it before us has made this fail. */
    pipe.theirs = CreateFileW(name, access, 0, &inherited, OPEN_EXISTING,
                              SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS, NULL);
    if (pipe.theirs == INVALID_HANDLE_VALUE) {
        pipe.theirs = NULL;
        sb_fail_os(err, "cannot open our own pipe");
        goto done;
    }
    *out = pipe;
    rc = 0;
done:
    if (rc < 0)
        sb_childpipe_done(&pipe);
    LocalFree(sd);
    return rc;
}

void sb_childpipe_done(struct sb_childpipe *pipe)
{
    if (pipe->ours)
        CloseHandle(pipe->ours);
    if (pipe->theirs)
        CloseHandle(pipe->theirs);
    *pipe = (struct sb_childpipe){NULL, NULL};
}
