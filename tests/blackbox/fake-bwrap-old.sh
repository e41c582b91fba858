#!/bin/sh
# SPDX-License-Identifier: MIT
# A fake bwrap of a version that is too old; asked for more, it would run anything.
[ "$1" = --version ] && echo 'bubblewrap 0.7.0' && exit
exit 1
