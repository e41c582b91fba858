/* SPDX-License-Identifier: MIT
 * What the tests of win/guest_*.c share: a guest without a process of its own, that is, without
 * the walls of sb_gos_open, in a new workspace. */
#ifndef TESTS_UNIT_GUEST_WIN_GUEST_H
#define TESTS_UNIT_GUEST_WIN_GUEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/err.h"
#include "guest_win.h"

struct world {
    struct sb_gos gos;
    HANDLE to_guest, from_guest; /* the host's ends */
    struct sb_gos_run *ended;    /* whose end was told before somebody asked for it */
    struct sb_err err;
    wchar_t folder[MAX_PATH];
};

static inline void world_path(const struct world *world, const wchar_t *name, wchar_t out[2 * MAX_PATH])
{
    _snwprintf(out, 2 * MAX_PATH, L"%ls\\%ls", world->folder, name);
}

static inline int world_open(void **state)
{
    static LONG number;
    struct world *world = sb_alloc(sizeof *world);
    wchar_t temp[MAX_PATH];

    GetTempPathW(MAX_PATH, temp);
    do { /* a test that failed leaves its folder, and the number of its process comes again */
        _snwprintf(world->folder, MAX_PATH, L"%lssb-guest-%lu-%ld", temp, GetCurrentProcessId(),
                   InterlockedIncrement(&number));
        if (CreateDirectoryW(world->folder, NULL))
            break;
    } while (GetLastError() == ERROR_ALREADY_EXISTS);
    InitializeSRWLock(&world->gos.lock);
    InitializeConditionVariable(&world->gos.changed);
    world->gos.workspace_path = world->folder; /* borrowed: a guest never gives it back */
    world->gos.workspace = CreateFileW(world->folder, FILE_LIST_DIRECTORY | FILE_TRAVERSE | SYNCHRONIZE,
                                       FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                       OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (world->gos.workspace == INVALID_HANDLE_VALUE)
        return -1;
    sb_guest_beneath_probe(&world->gos);
    *state = world;
    return 0;
}

/* A workspace that is not empty by now fails its test: each removes what it made. */
static inline int world_close(void **state)
{
    struct world *world = *state;
    BOOL empty;

    CloseHandle(world->gos.workspace);
    empty = RemoveDirectoryW(world->folder);
    sb_free(world);
    return empty ? 0 : -1;
}

#endif
