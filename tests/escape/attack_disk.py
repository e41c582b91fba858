# SPDX-License-Identifier: MIT
"""Fills folders: FOLDER MIB ...; says how many MiB of each it got."""
import os
import sys

for folder, most in zip(sys.argv[1::2], map(int, sys.argv[2::2])):
    got = 0
    try:
        fd = os.open(os.path.join(folder, "filler"), os.O_CREAT | os.O_WRONLY, 0o600)
        os.unlink(os.path.join(folder, "filler"))  # and nobody can find it
        while got < most:
            os.posix_fallocate(fd, got << 20, 1 << 20)
            got += 1
    except OSError:
        pass
    print(folder, got, "MiB", flush=True)
