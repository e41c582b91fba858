/* SPDX-License-Identifier: MIT
 * A workspace of its own for each test, and a guest that knows nothing but it: no process is
 * hardened, no signal touched. */
#ifndef TESTS_UNIT_GUEST_POSIX_WORKSPACE_H
#define TESTS_UNIT_GUEST_POSIX_WORKSPACE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "guest_posix.h"

struct workspace {
    struct sb_gos gos;
    char path[64];
    int fd; /* of the workspace, for the test's own hands */
};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static inline int workspace_open(void **state, bool by_hand)
{
    struct workspace *ws = sb_alloc(sizeof *ws);

    strcpy(ws->path, "/tmp/sb-guest-test-XXXXXX");
    assert_non_null(mkdtemp(ws->path));
    ws->fd = open(ws->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ws->gos = (struct sb_gos){.pid = getpid(), .host_in = -1, .host_out = -1, .signals = -1};
    assert_int_equal(sb_beneath_init(&ws->gos.beneath, ws->fd), 0);
    ws->gos.beneath.by_hand = ws->gos.beneath.by_hand || by_hand;
    *state = ws;
    return 0;
}

static inline int workspace_close(void **state)
{
    struct workspace *ws = *state;

    close(ws->fd);
    nftw(ws->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    sb_free(ws);
    return 0;
}

static inline int kernel_setup(void **state)
{
    return workspace_open(state, false);
}

static inline int by_hand_setup(void **state)
{
    return workspace_open(state, true);
}

/* The same test over openat2 (where there is one) and over the fall-back. */
#define BOTH_WAYS(test)                                                                                      \
    {#test, test, kernel_setup, workspace_close, NULL},                                                      \
    {                                                                                                        \
#test "_by_hand", test, by_hand_setup, workspace_close, NULL                                         \
    }

static inline void make_file(const struct workspace *ws, const char *path, const char *text)
{
    int fd = openat(ws->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static inline void expect_file(const struct workspace *ws, const char *path, const char *text)
{
    char bytes[256] = "";
    int fd = openat(ws->fd, path, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(read(fd, bytes, sizeof bytes - 1), (ssize_t)strlen(text));
    assert_string_equal(bytes, text);
    close(fd);
}

static inline mode_t mode_of(const struct workspace *ws, const char *path)
{
    struct stat st;

    assert_int_equal(fstatat(ws->fd, path, &st, AT_SYMLINK_NOFOLLOW), 0);
    return st.st_mode;
}

static inline bool is_there(const struct workspace *ws, const char *path)
{
    struct stat st;

    return fstatat(ws->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

#endif
