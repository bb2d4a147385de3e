"""Stands between an adapter and agekeep, and loses an answer: lossy.py MARK COMMAND...

When the file MARK is there at the time of an answer, it is removed, the answer goes no further, and
both processes are gone: the command was carried out, and nobody heard of it.
"""

import os
import subprocess
import sys

mark = sys.argv[1]
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for line in sys.stdin.buffer:
    child.stdin.write(line)
    child.stdin.flush()
    answer = child.stdout.readline()
    if os.path.exists(mark):
        os.unlink(mark)
        child.kill()
        child.wait()
        os._exit(9)
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
    if not answer:
        break
child.stdin.close()
sys.exit(child.wait())
