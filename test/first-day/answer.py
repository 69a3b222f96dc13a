"""usage: answer.py COMMAND ANSWER...: runs a command of sh on a terminal, and types one answer at each question."""

import os
import pty
import re
import signal
import sys
import time

command, *answers = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    os.execvp("sh", ["sh", "-c", command])
shown = ""
end = time.monotonic() + 120
while time.monotonic() < end:
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    sys.stdout.write(data.decode(errors="replace"))
    shown += data.decode(errors="replace")
    if answers and re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).endswith(": "):
        os.write(terminal, (answers.pop(0) + "\n").encode())
        shown = ""
else:
    os.kill(child, signal.SIGKILL)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
