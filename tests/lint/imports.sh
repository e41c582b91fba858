#!/bin/sh
# SPDX-License-Identifier: MIT
# sh tests/lint/imports.sh EXE...: each program may need no DLL but those that every Windows has.
# A DLL of the compiler or of zlib would be there under Wine and missing on a user's machine.
set -eu
[ $# -gt 0 ] || { echo "usage: imports.sh EXE..." >&2; exit 2; }
system=" advapi32.dll dbghelp.dll iphlpapi.dll kernel32.dll msvcrt.dll ntdll.dll ole32.dll psapi.dll \
 shell32.dll user32.dll userenv.dll ws2_32.dll "
objdump=${OBJDUMP:-x86_64-w64-mingw32-objdump}
bad=0
for exe in "$@"; do
    dlls=$("$objdump" -p "$exe" | sed -n 's/^[[:space:]]*DLL Name: //p' | tr 'A-Z' 'a-z')
    case " $dlls" in
    *kernel32.dll*) ;;
    *) echo "$exe: objdump shows no import of kernel32.dll, so it is not to be trusted" >&2; bad=1 ;;
    esac
    for dll in $dlls; do
        case "$system" in
        *" $dll "*) ;;
        *) echo "$exe: needs $dll, which is not part of Windows" >&2; bad=1 ;;
        esac
    done
done
exit $bad
