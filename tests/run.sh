#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the tests.
#
#   sh tests/run.sh           installs the few packages these need, builds, runs units, black box and escape
#   sh tests/run.sh --all     installs the rest (mingw, Wine, clang, cppcheck) and runs everything
#   sh tests/run.sh PART...   only these parts: linux blackbox user clients asan clang windows cppcheck
#
# Each part writes build/log/PART.log and adds a line to build/log/results. A test that is
# skipped needs a row in tests/expected-skips.txt, else it counts as failed.
set -u
cd "$(dirname "$0")/.." || exit 2
here=$(pwd)
log=$here/build/log

# ---- packages --------------------------------------------------------------------------
packages="gcc cmake ninja-build pkg-config libc6-dev musl-tools libuv1-dev libcjson-dev zlib1g-dev libcmocka-dev
    bubblewrap python3 nodejs util-linux procps"
packages_all="clang libclang-rt-14-dev cppcheck gcc-mingw-w64-x86-64-win32 libz-mingw-w64-dev wine wine64 dpkg-dev
    ca-certificates binutils strace"

has() {
    case $1 in
    nodejs) command -v node >/dev/null ;; # whoever installed it
    *) dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed' ;;
    esac
}

install() {
    missing=
    for package in "$@"; do
        has "$package" || missing="$missing $package"
    done
    [ -z "$missing" ] && return 0
    command -v apt-get >/dev/null || { echo "install these first:$missing" >&2; exit 2; }
    if [ "$(id -u)" != 0 ]; then
        echo "these packages are missing; run this, then this script again:" >&2
        echo "  sudo apt-get install -y --no-install-recommends$missing" >&2
        exit 2
    fi
    echo "installing:$missing"
    mkdir -p "$log"
    { [ -n "$(ls /var/lib/apt/lists/*Packages* 2>/dev/null)" ] || apt-get update; } >"$log/apt.log" 2>&1
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing >>"$log/apt.log" 2>&1 || {
        apt-get update >>"$log/apt.log" 2>&1
        DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing >>"$log/apt.log" 2>&1
    } || { tail -n 5 "$log/apt.log" >&2; exit 2; }
}

# ---- how a part's output is counted ------------------------------------------------------
# result PART STATUS SECONDS: passed, failed and skipped of build/log/PART.log. Tests are
# ctest's programs and node's tests; skips are counted inside both.
result() {
    awk -v part="$1" -v status="$2" -v seconds="$3" -v rows="$here/tests/expected-skips.txt" '
        BEGIN {
            while ((getline line < rows) > 0)
                if (line !~ /^[ \t]*(#|$)/) { split(line, cell, /[ \t]+/); known[cell[1]] = 1 }
        }
        / tests? failed out of [0-9]+/ { for (i = 1; i <= NF; i++) { if ($i == "failed") f = $(i - 2); if ($i == "of") n = $(i + 1) }
            passed += n - f; failed += f }
        /^# pass [0-9]+/ { passed += $3 }
        /^# (fail|cancelled) [0-9]+/ { failed += $3 }
        /\[  SKIPPED \] [a-z_0-9]+$/ { skip($NF) }
        /^ *ok [0-9]+ - .*# SKIP/ { name = $0; sub(/^ *ok [0-9]+ - /, "", name); sub(/ # SKIP.*/, "", name); gsub(/ /, "_", name); skip(name) }
        function skip(name,  id) {
            if (seen[name]++) return
            skipped++
            for (id in known) if (id == part "/" name || id == "*/" name) return
            failed++
            print "  not in tests/expected-skips.txt: " part "/" name > "/dev/stderr"
        }
        END {
            if (status != 0 && failed == 0) failed = 1
            printf "%s %d %d %d %d\n", part, passed, failed, skipped, seconds
        }' "$log/$1.log" >>"$log/results"
    tail -n 1 "$log/results" | awk '{ printf "%-10s %4d passed, %d failed, %d skipped, %d s\n", $1, $2, $3, $4, $5 }'
    [ "$2" = 0 ] || { echo "---- end of build/log/$1.log"; grep -E '^not ok|^ *not ok|FAILED|Failed|error:' "$log/$1.log" | head -n 40; tail -n 40 "$log/$1.log"; } >&2
}

part() {
    began=$(date +%s)
    "part_$1" >"$log/$1.log" 2>&1
    result "$1" $? $(($(date +%s) - began))
}

# ---- the parts ---------------------------------------------------------------------------
build() {
    cmake --preset "$1" -DSB_TESTS=ON && cmake --build --preset "$1"
}

units() {
    ctest --test-dir "build/$1" -V -j 4 --no-tests=error
}

part_linux() {
    build linux && units linux
}

black_box() {
    node --test --test-reporter=tap --test-concurrency=3 tests/blackbox/*.test.mjs tests/escape/*.test.mjs
}

part_blackbox() {
    build linux && black_box
}

# The same as an ordinary user, from a copy that user may read.
part_user() {
    [ "$(id -u)" = 0 ] || { black_box; return; }
    build linux || return 1
    home=$(mktemp -d /tmp/llm-sandbox-user.XXXXXX) || return 1
    mkdir -p "$home/build" && cp -R tests README.md "$home/" && cp -R build/linux "$home/build/" &&
        chown -R 1999:1999 "$home" && chmod 755 "$home" &&
        (cd "$home" && env -i PATH=/usr/local/bin:/usr/bin:/bin HOME="$home" \
            setpriv --reuid 1999 --regid 1999 --clear-groups --inh-caps=-all \
            sh -c 'node --test --test-reporter=tap --test-concurrency=3 tests/blackbox/*.test.mjs tests/escape/*.test.mjs')
    status=$?
    rm -rf "$home"
    return $status
}

# The official MCP SDK's client and the MCP inspector; npm fetches them.
part_clients() {
    build linux && node --test --test-reporter=tap tests/clients/*.test.mjs
}

part_asan() {
    build linux-asan && units linux-asan
}

part_clang() {
    build linux-clang && units linux-clang
}

part_windows() {
    build mingw && sh tests/wine/run.sh build/mingw/llm-sandbox.exe version || return 1
    # One server for all programs: it takes seconds to start.
    server="env WINEPREFIX=$here/build/mingw/wineprefix /usr/lib/wine/wineserver64"
    $server -p600
    units mingw && node --test --test-reporter=tap --test-concurrency=2 tests/wine/*.test.mjs
    status=$?
    $server -k
    return $status
}

part_cppcheck() {
    cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,portability --inline-suppr -Icommon -Iposix \
        --suppress=missingIncludeSystem --suppress=checkersReport common posix &&
        echo '0 tests failed out of 1'
}

# ---- what to run -------------------------------------------------------------------------
mkdir -p "$log"
: >"$log/results"
# shellcheck disable=SC2086
case ${1-} in
--all)
    install $packages $packages_all
    # Two chains side by side, since there are two cores; each builds its own folders.
    (part windows; part cppcheck) &
    other=$!
    part linux
    part blackbox
    part user
    part clients
    part clang
    part asan
    wait "$other"
    ;;
'')
    install $packages
    part linux
    part blackbox
    ;;
-*)
    echo "usage: sh tests/run.sh [--all | PART...]" >&2
    exit 2
    ;;
*)
    install $packages
    for name in "$@"; do
        case $name in
        windows | clang | cppcheck) install $packages_all ;;
        esac
        part "$name"
    done
    ;;
esac

awk '{ p += $2; f += $3; s += $4 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 || p == 0 }' "$log/results"
