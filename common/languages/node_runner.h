/* SPDX-License-Identifier: MIT
 * The preload of JavaScript on Linux. */
#ifndef SB_LANGUAGES_NODE_RUNNER_H
#define SB_LANGUAGES_NODE_RUNNER_H

extern const char sb_node_runner[];

#endif
