#!/bin/sh
# SPDX-License-Identifier: MIT
# A fake bwrap that fails with the words of the true one.
[ "$1" = --version ] && echo 'bubblewrap 0.8.0' && exit
echo 'bwrap: TEXT' >&2
exit 1
