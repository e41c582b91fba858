/* SPDX-License-Identifier: MIT
 * What we know about each language, a row for each box OS. */
#include "languages/language.h"
#include "languages/node_runner.h"

/* -u: what was printed before a kill must be seen (a timeout would take a buffer with it).
 * It costs 5 us per piece printed: 200,000 lines took 1.1 s instead of 0.2 s, one long text
 * the same. Not PYTHONUNBUFFERED, which a program's own children would inherit.
 * PYTHONDONTWRITEBYTECODE: no __pycache__ among the files a run made.
 * Never -P, -I or -s: a program's own modules lie beside it, in the workspace. */
#define PYTHON_COMMON                                                                                        \
    .name = "python", .aliases = {"py", "python3"}, .endings = {".py", ".pyw"}, .file = "main.py",           \
    .version_args = {"--version"}, .command = {"-u", "{file}"},                                              \
    .sample = "import os\nos.write(1, b'42\\n')\n"

/* .js, not .mjs: there Node 20 takes both CommonJS and ES modules, by looking at the code. */
#define JAVASCRIPT_COMMON                                                                                    \
    .name = "javascript", .aliases = {"js", "node", "nodejs"}, .endings = {".js", ".mjs", ".cjs"},           \
    .file = "main.js", .version_args = {"--version"}, .sample = "console.log(42)\n"

const struct sb_language sb_languages[] = {
    {
        PYTHON_COMMON,
        .os = SB_WIRE_LINUX,
        .programs = {"python3"},
        .env = {"PYTHONDONTWRITEBYTECODE=1"},
        .read_only = {"/etc/matplotlibrc"}, /* Debian's matplotlib doesn't import without it */
        .install = "apt-get install python3",
    },
    {
        JAVASCRIPT_COMMON,
        .os = SB_WIRE_LINUX,
        .programs = {"node", "nodejs"},
        .command = {"--require", "{runner}", "{file}"},
        .runner_file = "stdio.cjs",
        .runner_text = sb_node_runner,
        .install = "apt-get install nodejs",
    },
    {
        .name = "bash",
        .os = SB_WIRE_LINUX,
        .aliases = {"sh", "shell"},
        .endings = {".sh", ".bash"},
        .file = "main.sh",
        .lines = SB_LINES_LF,
        .programs = {"bash"},
        .version_args = {"--version"},
        .command = {"{file}"},
        .install = "apt-get install bash",
        .sample = "echo 42\n",
    },
    {
        PYTHON_COMMON,
        .os = SB_WIRE_WINDOWS,
        .programs = {"python.exe", "python3.exe"},
        .env = {"PYTHONDONTWRITEBYTECODE=1",
                "PYTHONUTF8=1"}, /* else files and pipes use the ANSI code page */
        .install = "winget install Python.Python.3.13",
    },
    {
        JAVASCRIPT_COMMON, /* no runner: on Windows Node makes its pipes blocking by itself */
        .os = SB_WIRE_WINDOWS,
        .programs = {"node.exe"},
        .command = {"{file}"},
        .install = "winget install OpenJS.NodeJS.LTS",
    },
    {
        /* /d: no AutoRun from the registry; /q: no echo of every command with the host's path. */
        .name = "cmd",
        .os = SB_WIRE_WINDOWS,
        .aliases = {"bat", "batch"},
        .endings = {".cmd", ".bat"},
        .file = "main.cmd",
        .lines = SB_LINES_CRLF,
        .programs = {"cmd.exe"},
        .version_args = {"/d", "/c", "ver"},
        .command = {"/d", "/q", "/c", "{file}"},
        .install = "it is part of Windows",
        .sample = "echo 42\r\n",
    },
};
const size_t sb_language_count = sizeof sb_languages / sizeof sb_languages[0];
