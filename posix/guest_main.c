/* SPDX-License-Identifier: MIT */
#include "guest/guest.h"

#include <stdio.h>
#include <string.h>

#include "guest/guest_os.h"
#include "guest_posix.h"

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "canary") == 0)
        return sb_guest_canary(argc - 2, argv + 2);
    if (argc == 2 && strcmp(argv[1], "janitor") == 0)
        return sb_guest_janitor();

    struct sb_gos *gos = NULL;
    struct sb_err err;
    if (sb_gos_open(&gos, &err) < 0) {
        fprintf(stderr, "llm-sandbox-guest: %s\n", err.text);
        return SB_GUEST_BROKEN;
    }
    sb_guest_serve(gos);
}
