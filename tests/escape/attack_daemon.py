# SPDX-License-Identifier: MIT
"""Leaves a daemon behind: own session, orphaned, deaf to signals, no stream of its parent's.
Its argument is the time it sleeps."""
import os
import signal
import sys

if os.fork() == 0:
    os.setsid()
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue
    if os.fork() == 0:
        os.chdir("/")
        os.closerange(0, 256)
        for _ in range(3):
            os.open("/dev/null", os.O_RDWR)
        os.execv("/usr/bin/sleep", ["sleep", sys.argv[1]])
    os._exit(0)
os.wait()
print("left")
