#!/bin/sh
# SPDX-License-Identifier: MIT
# sh tests/clients/fetch.sh FOLDER: the official MCP SDK for TypeScript and a JSON Schema
# validator, as package-lock.json pins them, by npm into FOLDER; once for each lock.
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
