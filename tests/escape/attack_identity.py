# SPDX-License-Identifier: MIT
"""Says who it is, as far as the system tells, and tries to be somebody else."""
import os
import platform
import pwd
import socket

try:
    name = pwd.getpwuid(os.getuid()).pw_name
except KeyError:
    name = "?"
print("uid", os.getuid(), name, "groups", os.getgroups(), "node", platform.node())
for what, way in {"setuid": lambda: os.setuid(0), "setgid": lambda: os.setgid(0), "setgroups": lambda: os.setgroups([0]),
                  "chown": lambda: (open("x", "w").close(), os.chown("x", 0, 0)), "nice": lambda: os.nice(-5),
                  "hostname": lambda: socket.sethostname("x")}.items():
    try:
        way()
        print("BECAME by", what)
    except OSError:
        continue
print("end")
