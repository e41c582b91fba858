/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

#include <windows.h>

#include <shellapi.h> /* needs windows.h */

#include "base/argv.h"
#include "base/alloc.h"
#include "platform/stop.h"
#include "utf16.h"

/* The arguments come from the command line itself and not from main's own parameters: those
 * are in the ANSI code page. (wmain would do, but needs a linker option of mingw's.) */
int main(void)
{
    int argc = 0;
    struct sb_argv argv = {NULL, 0};

    sb_stop_prepare();
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &argc);
    if (!wide)
        return 125;
    for (int i = 0; i < argc; i++) {
        char *text = sb_from_utf16(wide[i]);
        sb_argv_push(&argv, text);
        sb_free(text);
    }
    LocalFree(wide);
    int status = sb_cli_main(argc, argv.v);
    sb_argv_done(&argv);
    return status;
}
