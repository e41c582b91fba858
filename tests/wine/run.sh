#!/bin/sh
# SPDX-License-Identifier: MIT
# sh tests/wine/run.sh PROGRAM ARGS: runs a Windows program under Wine, as ctest does.
# Without WINEPREFIX in the environment the prefix is SB_WINEPREFIX (the build's own), else
# wineprefix beside PROGRAM. It is made once and says Windows 10.
set -eu
[ $# -gt 0 ] || { echo "usage: run.sh PROGRAM ARGS" >&2; exit 2; }
wine=${SB_WINE:-/usr/lib/wine/wine64}
WINEPREFIX=${WINEPREFIX:-${SB_WINEPREFIX:-$(cd "$(dirname "$1")" && pwd)/wineprefix}}
WINEDEBUG=${WINEDEBUG:--all}
WINEDLLOVERRIDES=${WINEDLLOVERRIDES:-mscoree,mshtml=}
export WINEPREFIX WINEDEBUG WINEDLLOVERRIDES

# The server and the services that the first program of a session brings up keep that program's
# stderr for as long as any program runs: whoever reads it to its end would wait for the others.
# So the session is begun here, by a program without streams, and lasts 20 s beyond its last one.
# winecfg: a fresh prefix of Wine 8 calls itself Windows 7. -o: the server must not hold the lock.
mkdir -p "$WINEPREFIX"
flock -o "$WINEPREFIX/.lock" sh -c '
    server=${0%/*}/wineserver64
    [ -x "$server" ] || server=wineserver
    if ! "$server" -k0 2>/dev/null; then
        exec >"$WINEPREFIX/.log" 2>&1 </dev/null
        "$server" -p20
        [ -e "$WINEPREFIX/.ready" ] || { "$0" wineboot -i && "$0" winecfg -v win10; } || exit
        "$0" cmd /c exit
        : >"$WINEPREFIX/.ready"
    fi' "$wine" || { echo "run.sh: cannot begin a Wine session in $WINEPREFIX" >&2; exit 125; }
exec "$wine" "$@"
