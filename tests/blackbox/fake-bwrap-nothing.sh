#!/bin/sh
# SPDX-License-Identifier: MIT
# A fake bwrap that knows its version, then does nothing and says it went well.
[ "$1" = --version ] && echo 'bubblewrap 0.8.0'
exit 0
