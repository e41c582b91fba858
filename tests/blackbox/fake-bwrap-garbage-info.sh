#!/bin/sh
# SPDX-License-Identifier: MIT
# A fake bwrap that names a process that is none of its own as its child.
[ "$1" = --version ] && echo 'bubblewrap 0.8.0' && exit
printf '{ "child-pid": 1 }' >&4
exec sleep MARK
