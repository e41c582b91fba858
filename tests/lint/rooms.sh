#!/bin/sh
# SPDX-License-Identifier: MIT
# sh tests/lint/rooms.sh [ROOT]: the rules about who may use whom, as far as text shows them.
# sh tests/lint/rooms.sh --self-test: plants one violation of every rule in a copy of nothing
# and fails unless each of them is found, and nothing else.
#
# Prints FILE:LINE: what is wrong; exit 1 when there is anything.
set -eu
LC_ALL=C
export LC_ALL

# ROOM: the first parts of the includes it may write. "own" is a header of its own folder,
# written without a folder (posix/ and win/ only).
uses='
common/base      base
common/platform  base platform
common/wire      base wire
common/guest     base wire guest
common/languages base wire languages
common/sandbox   base platform wire languages sandbox
common/server    base platform wire languages sandbox server
common/cli       base platform wire languages sandbox server cli guest
posix            base platform wire languages sandbox guest cli own
win              base platform wire languages sandbox guest cli own
'
# wire.h is written over argv of base; languages name an operating system as the wire does.

# HEADER: a pattern of the only files that may include it, and of those among them that may not.
includers='
windows.h     ^win/|^tests/.*(^|/)(win_|[a-z_]*_win\.)|^tests/unit/win/
winsock2.h    ^win/|^tests/.*(^|/)win_|^tests/unit/win/
cJSON.h       ^common/base/json\.c$
cjson/cJSON.h ^common/base/json\.c$
zlib.h        ^common/base/zlib[a-z_]*\.c$
uv.h          ^common/(platform|sandbox|server|cli)/|^posix/|^win/|^tests/ ^(posix|win)/guest_
'

# Functions the product never calls: no length, no error, the shell, the code page of the day.
banned='sprintf vsprintf strcpy strcat gets atoi atol atoll atof strtok system popen
    _popen tmpnam mktemp tempnam alloca scanf WinExec ShellExecuteA CreateFileA CreateProcessA LoadLibraryA LoadLibraryW
    GetModuleFileNameA DeleteFileA RemoveDirectoryA CreateDirectoryA MoveFileA GetEnvironmentVariableA
    SetEnvironmentVariableA RegOpenKeyExA OutputDebugStringA MessageBoxA TerminateThread'

lines_max=600
test_lines_max=900 # tables of cases are long

# The C sources of the product and its tests, relative to the root.
sources() {
    find common posix win tests -type f \( -name '*.c' -o -name '*.h' \) 2>/dev/null | sort
}

# Without comments and the insides of strings, line by line: what is left is code.
check() {
    cd "$1"
    sources | awk -v uses="$uses" -v includers="$includers" -v banned="$banned" -v lines_max="$lines_max" \
        -v test_lines_max="$test_lines_max" '
        BEGIN {
            n = split(uses, row, "\n")
            for (i = 1; i <= n; i++) {
                m = split(row[i], cell, " ")
                if (m > 0) rooms[cell[1]] = 1
                for (k = 2; k <= m; k++) may[cell[1], cell[k]] = 1
            }
            n = split(includers, row, "\n")
            for (i = 1; i <= n; i++) {
                m = split(row[i], cell, " ")
                if (m > 1) only[cell[1]] = cell[2]
                if (m > 2) but_not[cell[1]] = cell[3]
            }
            n = split(banned, cell, " ")
            for (i = 1; i <= n; i++) never[cell[i]] = 1
        }
        { check_file($0) }
        END { exit bad }

        function say(what) { print file ":" line ": " what; bad = 1 }

        function check_file(name,  text, code, most) {
            file = name; line = 0; in_comment = 0; room = ""
            split(name, part, "/")
            if (part[1] == "common") room = part[1] "/" part[2]
            else if (part[1] != "tests") room = part[1]
            if (room != "" && !(room in rooms)) say("no such room: add it to the table of this script")
            while ((getline text < file) > 0) {
                line++
                if (line == 1 && text !~ /SPDX-License-Identifier: MIT/) say("no SPDX line first")
                code = code_of(text)
                if (code ~ /^[ \t]*#[ \t]*include/) check_include(text)
                else if (code ~ /^[ \t]*#/) check_condition(code)
                if (room != "") check_calls(code)
            }
            close(file)
            most = room == "" ? test_lines_max : lines_max
            if (line > most) say("more than " most " lines: look for the second noun")
        }

        # The text without strings, character constants and comments; remembers an open comment.
        function code_of(text,  out, i, c, two, quote) {
            out = ""; quote = ""
            for (i = 1; i <= length(text); i++) {
                c = substr(text, i, 1); two = substr(text, i, 2)
                if (in_comment) { if (two == "*/") { in_comment = 0; i++ }; continue }
                if (quote != "") { if (c == "\\") i++; else if (c == quote) { quote = ""; out = out c }; continue }
                if (two == "/*") { in_comment = 1; i++; out = out " "; continue }
                if (two == "//") break
                if (c == "\"" || c == "\047") quote = c
                out = out c
            }
            return out
        }

        function check_include(text,  name, first, quoted) {
            quoted = match(text, /"[^"]*"/)
            if (!quoted && !match(text, /<[^>]*>/)) return
            name = substr(text, RSTART + 1, RLENGTH - 2)
            if ((name in only && file !~ only[name]) || (name in but_not && file ~ but_not[name]))
                say("<" name "> is not for this file")
            if (!quoted || room == "") return
            if (name ~ /\.\./) { say("an include with .."); return }
            if (name == "build_id.h" && room == "common/wire") return # generated
            first = index(name, "/") ? substr(name, 1, index(name, "/") - 1) : "own"
            if (!((room, first) in may)) say(room " may not use \"" name "\"")
        }

        function check_condition(code) {
            if (room ~ /^common\// && code ~ /_WIN32|_WIN64|WIN32|_MSC_VER|__MINGW|__linux|__unix|__APPLE__|__CYGWIN__|__WINE__/)
                say("an operating system in common/: the seam is in the wrong place")
        }

        function check_calls(code,  rest, name) {
            rest = code
            while (match(rest, /[A-Za-z_][A-Za-z_0-9]*[ \t]*\(/)) {
                name = substr(rest, RSTART, RLENGTH - 1)
                sub(/[ \t]+$/, "", name)
                if (name in never) say(name "() is banned")
                rest = substr(rest, RSTART + RLENGTH)
            }
        }'
}

# ---- the self-test -------------------------------------------------------------------------

# plant FILE LINE "expected text" <<content: one violation, on that line.
plant() {
    mkdir -p "$tree/$(dirname "$1")"
    cat >"$tree/$1"
    printf '%s:%s: %s\n' "$1" "$2" "$3" >>"$tree/expected"
}

spdx='/* SPDX-License-Identifier: MIT */'

self_test() {
    tree=$(mktemp -d)
    trap 'rm -rf "$tree"' EXIT
    : >"$tree/expected"
    printf '%s\n#include "wire/wire.h"\n' "$spdx" | plant common/base/a.c 2 'common/base may not use "wire/wire.h"'
    printf '%s\n#include "guest/guest.h"\n' "$spdx" | plant common/wire/a.c 2 'common/wire may not use "guest/guest.h"'
    printf '%s\n#include "platform/dirs.h"\n' "$spdx" | plant common/guest/a.c 2 'common/guest may not use "platform/dirs.h"'
    printf '%s\n#include "sandbox/box.h"\n' "$spdx" | plant common/languages/a.c 2 'common/languages may not use "sandbox/box.h"'
    printf '%s\n#include "cli/cli.h"\n' "$spdx" | plant common/sandbox/a.c 2 'common/sandbox may not use "cli/cli.h"'
    printf '%s\n#include "other.h"\n' "$spdx" | plant common/sandbox/b.c 2 'common/sandbox may not use "other.h"'
    printf '%s\n#include "../win/job.h"\n' "$spdx" | plant posix/a.c 2 'an include with ..'
    printf '%s\n#include "posix/proc.h"\n' "$spdx" | plant win/a.c 2 'win may not use "posix/proc.h"'
    printf '%s\n#include <windows.h>\n' "$spdx" | plant common/base/b.c 2 '<windows.h> is not for this file'
    printf '%s\n#include <cjson/cJSON.h>\n' "$spdx" | plant common/server/a.c 2 '<cjson/cJSON.h> is not for this file'
    printf '%s\n#include <zlib.h>\n' "$spdx" | plant common/sandbox/c.c 2 '<zlib.h> is not for this file'
    printf '%s\n#include <uv.h>\n' "$spdx" | plant common/guest/b.c 2 '<uv.h> is not for this file'
    printf '%s\n#include <uv.h>\n' "$spdx" | plant posix/guest_a.c 2 '<uv.h> is not for this file'
    printf '%s\n#ifdef _WIN32\n#endif\n' "$spdx" | plant common/cli/a.c 2 \
        'an operating system in common/: the seam is in the wrong place'
    printf '%s\n#if A || defined(__linux__)\n#endif\n' "$spdx" | plant common/cli/b.h 2 \
        'an operating system in common/: the seam is in the wrong place'
    printf '%s\nint f(char *s) { return atoi (s); }\n' "$spdx" | plant posix/b.c 2 'atoi() is banned'
    printf '%s\nint f(void) { return g("/*"), system(0); }\n' "$spdx" | plant common/cli/c.c 2 'system() is banned'
    printf '/* nothing */\n' | plant win/b.h 1 'no SPDX line first'
    printf '%s\n' "$spdx" | plant common/attic/a.h 0 'no such room: add it to the table of this script'
    { echo "$spdx"; yes 'int x;' | head -n "$lines_max"; } | plant posix/long.c $((lines_max + 1)) \
        "more than $lines_max lines: look for the second noun"
    { echo "$spdx"; yes 'int x;' | head -n "$test_lines_max"; } | plant tests/long.c $((test_lines_max + 1)) \
        "more than $test_lines_max lines: look for the second noun"
    # What is allowed, or only looks like a violation, is not told.
    plant_allowed
    sort "$tree/expected" >"$tree/wanted"
    (check "$tree" || :) | sort >"$tree/found"
    if ! diff "$tree/wanted" "$tree/found"; then
        echo "rooms.sh: the self-test failed: < was planted, > was found" >&2
        exit 1
    fi
}

plant_allowed() {
    mkdir -p "$tree/tests/unit/win"
    printf '%s\n#include "base/err.h"\n#include "wire/wire.h"\n#include <stdio.h>\n' "$spdx" >"$tree/common/guest/ok.c"
    printf '%s\n#include <cjson/cJSON.h>\n' "$spdx" >"$tree/common/base/json.c"
    printf '%s\n#include <uv.h>\n' "$spdx" >"$tree/posix/stop.c"
    printf '%s\n#include <windows.h>\n#include "utf16.h"\n#ifdef _WIN32\n#endif\n' "$spdx" >"$tree/win/ok.c"
    printf '%s\n/* as sprintf( and\n * #ifdef _WIN32\n * system( do */\nchar *s = "atoi(x)"; // gets(s)\n' "$spdx" \
        >"$tree/common/base/ok.c"
    printf '%s\nint f(void) { return my_system(1) + sb_strcat(2) + snprintf(0, 0, ""); }\n' "$spdx" >"$tree/posix/ok.c"
    printf '%s\n#include <windows.h>\n#include "../helper.h"\nint f(char *s) { return strcpy(s, ""); }\n' "$spdx" >"$tree/tests/unit/win/ok.c"
}

if [ "${1:-}" = --self-test ]; then
    self_test
else
    check "${1:-$(dirname "$0")/../..}"
fi
