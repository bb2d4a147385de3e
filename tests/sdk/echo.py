"""Answers each call with the call itself, so that a test sees what an adapter sends: echo.py [ID].

With ID every answer carries that id, as those of a child that is out of step would.
"""

import json
import sys

for line in sys.stdin:
    call = json.loads(line)
    wrong = call is not None and len(sys.argv) > 1
    answer = {"id": int(sys.argv[1]) if wrong else call and call["id"]}
    print(json.dumps({**answer, "content": line.strip(), "is_error": False}), flush=True)
