#!/bin/sh
# SPDX-License-Identifier: MIT
# sh fetch.sh DIR: puts the sources of libuv, cJSON and cmocka, as Debian 12 ships them with its
# security patches, into DIR/libuv, DIR/cjson and DIR/cmocka. Needs no root, changes nothing
# outside DIR. Run once by dependencies.cmake.
#
# The mirror is the machine's own; SB_DEPS_MIRROR and SB_DEPS_SECURITY_MIRROR name others. The
# upstream tarballs are pinned here; Debian's patches on top change with each security upload, and
# apt's check of the archive's signature vouches for them.
set -eu
suite=bookworm
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
pins='libuv  libuv1 libuv1_1.44.2.orig.tar.gz d79b4b06ef04be85fb890bf39d55942cc64c2e15fd14eaa32dae5dce94485484
cjson  cjson  cjson_1.7.15.orig.tar.gz  5308fd4bd90cef7aa060558514de6a1a4a0819974a26e6ed13973c5f624c24b2
cmocka cmocka cmocka_1.1.5.orig.tar.xz  f0ccd8242d55e2fd74b16ba518359151f6f8383ff8aef4976e48393f77bba8b6'

fail() { echo "fetch.sh: $*" >&2; exit 1; }

uri_of() { # LABEL: the address of the machine's repository with that label
    apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Identifier: Packages' |
        sed -n "s/^$1 //p" | head -n 1
}

[ $# -eq 1 ] || fail "usage: fetch.sh DIR"
mkdir -p "$1/apt/lists/partial" "$1/apt/archives/partial"
cd "$1"
for tool in apt-get dpkg-source sha256sum; do
    command -v $tool >/dev/null || fail "$tool is missing (Debian packages: apt, dpkg-dev)"
done

mirror=${SB_DEPS_MIRROR:-$(uri_of Debian)}
security=${SB_DEPS_SECURITY_MIRROR:-$(uri_of Debian-Security)}
[ -n "$mirror" ] || fail "this machine's apt knows no Debian mirror; set SB_DEPS_MIRROR to one"
by=
[ ! -r $keyring ] || by="[signed-by=$keyring] "
{
    echo "deb-src $by$mirror $suite main"
    [ -z "$security" ] || echo "deb-src $by$security $suite-security main"
} >apt/sources.list

# A state of apt that is ours alone; APT::Sandbox: the _apt account may not reach our folder.
set_apt="-q -o Dir::Etc::SourceList=$PWD/apt/sources.list -o Dir::Etc::SourceParts=-
    -o Dir::State::Lists=$PWD/apt/lists -o Dir::Cache=$PWD/apt -o Dir::Cache::pkgcache=
    -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User= -o APT::Get::List-Cleanup=0
    -o APT::Update::Error-Mode=any -o Acquire::Retries=3"
apt-get $set_apt update

echo "$pins" | while read -r name package tarball sha; do
    rm -rf "apt/$name" "$name"
    mkdir "apt/$name"
    (cd "apt/$name" && apt-get $set_apt source --download-only "$package")
    [ -f "apt/$name/$tarball" ] || fail "$suite no longer has $tarball: update the pins in fetch.sh"
    echo "$sha  apt/$name/$tarball" | sha256sum -c --quiet - || fail "$tarball is not the pinned file"
    # Applies Debian's patches as well. apt has checked the .dsc against the signed index.
    dpkg-source --no-check --no-copy -x apt/"$name"/*.dsc "$name"
done
