#!/usr/bin/env python3
# An agent that remembers, over plain HTTP and with no SDK, as it can be written in any language:
# whole tool_use blocks go into `agekeep tool`, one on each line, and ready tool_result blocks come
# out. Run it with: ./agent.py "What do you remember? Then remember that I like tea."
# Before: agekeep init, and ANTHROPIC_API_KEY set. It needs Python's standard library and no more.
import json
import os
import subprocess
import sys
import urllib.request

URL = os.environ.get("ANTHROPIC_BASE_URL", "https://api.anthropic.com") + "/v1/messages"
HEADERS = {
    "content-type": "application/json",
    "x-api-key": os.environ["ANTHROPIC_API_KEY"],
    "anthropic-version": "2026-10-21",
    "anthropic-beta": "context-management-2025-06-27",
}
AGEKEEP = ["agekeep", "tool", "--actor", "raw-http"]

body = {"model": "claude-sonnet-5-5", "max_tokens": 4096}
body["tools"] = [{"type": "memory_20250818", "name": "memory"}]
body["messages"] = [{"role": "user", "content": sys.argv[1]}]
while body["messages"][-1]["role"] == "user":
    request = urllib.request.Request(URL, json.dumps(body).encode(), HEADERS)
    reply = json.load(urllib.request.urlopen(request))
    body["messages"].append({"role": "assistant", "content": reply["content"]})
    calls = [json.dumps(block) for block in reply["content"] if block["type"] == "tool_use"]
    if calls:
        lines = "\n".join(calls).encode()
        done = subprocess.run(AGEKEEP, input=lines, stdout=subprocess.PIPE, check=True)
        results = [json.loads(line) for line in done.stdout.split(b"\n") if line]
        body["messages"].append({"role": "user", "content": results})
print(reply["content"][-1]["text"])
