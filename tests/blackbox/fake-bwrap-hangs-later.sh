#!/bin/sh
# SPDX-License-Identifier: MIT
# A fake bwrap that knows its version and then never says anything.
[ "$1" = --version ] && echo 'bubblewrap 0.8.0' && exit
exec sleep MARK
