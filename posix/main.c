/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "platform/stop.h"

int main(int argc, char **argv)
{
    sb_stop_prepare();
    return sb_cli_main(argc, argv);
}
