# SPDX-License-Identifier: MIT
"""Makes as many processes as it can, at most as many as it was told, then ends them all."""
import os
import signal
import sys
import time

made = []
while len(made) < int(sys.argv[1]):
    try:
        pid = os.fork()
    except OSError:
        break
    if pid == 0:
        time.sleep(60)
        os._exit(0)
    made.append(pid)
for pid in made:
    os.kill(pid, signal.SIGKILL)
for pid in made:
    os.waitpid(pid, 0)
print("made", len(made))
