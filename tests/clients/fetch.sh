#!/bin/sh
# SPDX-License-Identifier: MIT
# sh tests/clients/fetch.sh FOLDER: the official MCP SDK for TypeScript, a JSON Schema validator,
# the MCP inspector and (Linux on x64) a Node that is new enough for it, as package-lock.json
# pins them, by npm into FOLDER; once for each lock. vite, which the inspector brings, is kept
# at 8.1.5: 8.4.0 asks for an optional package that the registry does not have, so `npm ci`
# refuses the lock, and whoever takes that name one day would be installed.
# Status 1: npm cannot fetch them here.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
exec 9>.lock
flock 9 # two test runs may ask at once
if ! cmp -s "$here/package-lock.json" .ready; then
    cp "$here/package.json" "$here/package-lock.json" .
    npm ci --silent --ignore-scripts --no-audit --no-fund || exit 1
    cp package-lock.json .ready
fi
