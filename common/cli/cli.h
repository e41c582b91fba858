/* SPDX-License-Identifier: MIT
 * The command line: a table of commands, one file each. */
#ifndef SB_CLI_CLI_H
#define SB_CLI_CLI_H

/* argv is UTF-8 on every system. Returns the exit status of the process. */
int sb_cli_main(int argc, char **argv);

#endif
