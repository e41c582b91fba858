# SPDX-License-Identifier: MIT
"""Connects to Unix sockets whose names it was told in hexadecimal."""
import socket
import sys

for name in sys.argv[1:]:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        s = socket.socket(socket.AF_UNIX, kind)
        s.settimeout(3)
        try:
            s.connect(bytes.fromhex(name))
            print("CONNECTED")
        except (OSError, ValueError):
            continue
print("end")
