#!/bin/sh
# SPDX-License-Identifier: MIT
# From a fresh Debian or Ubuntu to code running in a sandbox: installs what is missing, builds,
# runs doctor and a program. Nothing missing: needs no root. Exit 2: packages are missing and
# nothing was changed; 3: built, but no sandbox works here (doctor says how to mend it).
set -eu
cd "$(dirname "$0")/.."

packages="gcc libc6-dev cmake ninja-build pkg-config libuv1-dev libcjson-dev zlib1g-dev bubblewrap python3"
optional="musl-tools" # a guest of a tenth the size

installed() {
    dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

missing=
for package in $packages $optional; do
    installed "$package" || missing="$missing $package"
done

if [ -n "$missing" ]; then
    command -v apt-get >/dev/null || {
        echo "This is not Debian or Ubuntu. Install the counterparts of:$missing" >&2
        exit 2
    }
    line="apt-get install -y --no-install-recommends$missing"
    echo "Missing (installed size):"
    for package in $missing; do
        size=$(apt-cache show --no-all-versions "$package" 2>/dev/null | sed -n 's/^Installed-Size: //p' | head -n 1)
        printf '  %-14s %s\n' "$package" "${size:+$((size / 1024 + 1)) MiB}"
    done
    if [ "$(id -u)" = 0 ]; then
        :
    elif command -v sudo >/dev/null && [ -t 0 ]; then
        printf 'Run "sudo %s"? [y/N] ' "$line"
        read -r answer
        case $answer in
        [yY]*) line="sudo $line" ;;
        *) exit 2 ;;
        esac
    else
        echo "Run this, then this script again:" >&2
        echo "  sudo $line" >&2
        exit 2
    fi
    if ! $line >/dev/null; then # a package list that is missing or old
        ${line%%apt-get*}apt-get update
        $line >/dev/null
    fi
fi

echo "Building..."
cmake --preset linux -DSB_TESTS=OFF >/dev/null
cmake --build --preset linux | tail -n 1
program=build/linux/llm-sandbox
"$program" doctor || exit 3
printf '\n$ %s run -c "print(6*7)"\n' "$program"
"$program" run -c 'print(6*7)'
