# SPDX-License-Identifier: MIT
"""Makes something in a folder it was told of, by every way it can think of."""
import glob
import os
import socket
import sys

folder = sys.argv[1]
names = [folder, "/sandbox/../.." + folder, "/proc/self/root" + folder]
names += [root + folder for root in glob.glob("/proc/[0-9]*/root")]
ways = {
    "a file": lambda name: open(name, "w").write("x"),
    "a folder": os.mkdir,
    "a link": lambda name: os.symlink("/", name),
    "a pipe": os.mkfifo,
    "a socket": lambda name: socket.socket(socket.AF_UNIX).bind(name),
}
for name in names:
    for what, way in ways.items():
        try:
            way(os.path.join(name, "x-" + what.replace(" ", "-")))
            print("WROTE", what, name)
        except OSError:
            continue
print("end")
