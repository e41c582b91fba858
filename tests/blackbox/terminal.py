# SPDX-License-Identifier: MIT
"""Runs a program on a terminal of its own and reports what came of it.

terminal.py [--hang-up TEXT | --type TEXT BYTES] -- PROGRAM ARG...
  --hang-up TEXT     closes the terminal as soon as TEXT was seen
  --type TEXT BYTES  types BYTES as soon as TEXT was seen
Prints one JSON object: output, status (as of a shell), typed (bytes that wait for the next
reader of the terminal, as a shell would read them), modes (the same afterwards?).
"""
import array, fcntl, json, os, select, sys, termios, time

options, program = sys.argv[1:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]
action = options[0] if options else ""
wanted = options[1].encode() if options else None

master, slave = os.openpty()
modes = termios.tcgetattr(slave)
modes[3] &= ~(termios.ICANON | termios.ECHO)  # what is typed counts without a line's end
termios.tcsetattr(slave, termios.TCSANOW, modes)
before = termios.tcgetattr(slave)

child = os.fork()
if child == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for fd in (0, 1, 2):
        os.dup2(slave, fd)
    os.closerange(3, 256)
    os.execv(program[0], program)

output, status, deadline = b"", None, time.monotonic() + 50
while time.monotonic() < deadline:
    if master >= 0 and select.select([master], [], [], 0.05)[0]:
        output += os.read(master, 65536)
    if wanted is not None and wanted in output:
        wanted = None
        if action == "--type":
            os.write(master, options[2].encode().decode("unicode_escape").encode("latin1"))
        else:
            os.close(slave)
            os.close(master)
            master = slave = -1
    if master < 0:
        time.sleep(0.02)
    if status is None:
        pid, ended = os.waitpid(child, os.WNOHANG)
        if pid:
            status = os.waitstatus_to_exitcode(ended)
            deadline = min(deadline, time.monotonic() + 0.3)  # its last words
            if master < 0:
                break

typed, same = array.array("i", [0]), None
if slave >= 0:
    fcntl.ioctl(slave, termios.FIONREAD, typed)
    same = termios.tcgetattr(slave) == before
if status is None:
    os.kill(child, 9)
print(json.dumps({"output": output.decode("utf-8", "replace"), "typed": typed[0], "modes": same,
                  "status": None if status is None else status if status >= 0 else 128 - status}))
