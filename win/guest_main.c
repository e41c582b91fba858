/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <wchar.h>

#include "base/argv.h"
#include "base/alloc.h"
#include "guest/guest.h"
#include "guest/guest_os.h"
#include "utf16.h"

static int canary(int count, wchar_t **names)
{
    struct sb_argv argv = {NULL, 0};

    for (int i = 0; i < count; i++) {
        char *name = sb_from_utf16(names[i]);

        sb_argv_push(&argv, name);
        sb_free(name);
    }
    return sb_guest_canary(count, argv.v);
}

int wmain(int argc, wchar_t **argv); /* no header declares it */

int wmain(int argc, wchar_t **argv)
{
    struct sb_gos *gos;
    struct sb_err err;

    if (argc > 1 && wcscmp(argv[1], L"canary") == 0)
        return canary(argc - 2, argv + 2);
    if (sb_gos_open(&gos, &err) < 0) {
        fprintf(stderr, "llm-sandbox-guest: %s\n", err.text);
        return SB_GUEST_BROKEN;
    }
    sb_guest_serve(gos);
}
