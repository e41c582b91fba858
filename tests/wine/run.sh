#!/bin/sh
# SPDX-License-Identifier: MIT
# sh tests/wine/run.sh PROGRAM ARGS: runs a Windows program under Wine, as ctest does.
# Without WINEPREFIX in the environment the prefix is SB_WINEPREFIX (the build's own), else
# wineprefix beside PROGRAM. It is made once, under a lock, and says Windows 10.
set -eu
[ $# -gt 0 ] || { echo "usage: run.sh PROGRAM ARGS" >&2; exit 2; }
wine=${SB_WINE:-/usr/lib/wine/wine64}
WINEPREFIX=${WINEPREFIX:-${SB_WINEPREFIX:-$(cd "$(dirname "$1")" && pwd)/wineprefix}}
WINEDEBUG=${WINEDEBUG:--all}
WINEDLLOVERRIDES=${WINEDLLOVERRIDES:-mscoree,mshtml=}
export WINEPREFIX WINEDEBUG WINEDLLOVERRIDES

if [ ! -e "$WINEPREFIX/.ready" ]; then
    mkdir -p "$WINEPREFIX"
    # winecfg: a fresh prefix of Wine 8 calls itself Windows 7. -o and the redirections: so that
    # the server, which lives on for a while, holds neither our lock nor our caller's pipes.
    flock -o "$WINEPREFIX/.lock" sh -c '
        [ -e "$WINEPREFIX/.ready" ] && exit 0
        exec >"$WINEPREFIX/.log" 2>&1 </dev/null
        "$0" wineboot -i && "$0" winecfg -v win10 && : >"$WINEPREFIX/.ready"' "$wine" ||
        { echo "run.sh: cannot make the Wine prefix $WINEPREFIX" >&2; exit 125; }
fi
exec "$wine" "$@"
