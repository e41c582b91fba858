#!/bin/sh
# SPDX-License-Identifier: MIT
# sh tests/lint/guest.sh GUEST: the guest runs in boxes that have nothing but it.
set -eu
size=$(wc -c <"$1")
[ "$size" -lt 1048576 ] || { echo "$1 has $size bytes, 1 MiB is too much" >&2; exit 1; }
if od -A n -t c "$1" | tr -d ' \n' | grep -q 'ld-linux\|ld-musl'; then
    echo "$1 needs a dynamic loader" >&2
    exit 1
fi
