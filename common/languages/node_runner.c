/* SPDX-License-Identifier: MIT */
#include "languages/node_runner.h"

/* On Linux Node writes to a pipe asynchronously, and process.exit loses what the pipe did
 * not take at once: 64 KiB of 3 MiB arrived. A blocking pipe loses nothing.
 *
 * The streams are made when a program first asks for them, which costs 2 ms; so this waits
 * for that moment too, then puts the original property back and leaves no trace. Workers
 * run it as well; their streams have no handle and need nothing. */
const char sb_node_runner[] =
    "'use strict';\n"
    "for (const name of ['stdout', 'stderr']) {\n"
    "    const original = Object.getOwnPropertyDescriptor(process, name);\n"
    "    if (!original || !original.get || !original.configurable) continue;\n"
    "    Object.defineProperty(process, name, {\n"
    "        ...original,\n"
    "        get() {\n"
    "            Object.defineProperty(process, name, original);\n"
    "            const stream = process[name];\n"
    "            const handle = stream && stream._handle;\n"
    "            if (handle && typeof handle.setBlocking === 'function') handle.setBlocking(true);\n"
    "            return stream;\n"
    "        },\n"
    "    });\n"
    "}\n";
