#!/usr/bin/env python3
# An agent that remembers, over plain HTTP and with no SDK, as it can be written in any language:
# whole tool_use blocks go into `agekeep tool`, one on each line, and ready tool_result blocks come
# out. Run it with: ./agent.py "What do you remember? Then remember that I like tea."
# Before: agekeep init, and ANTHROPIC_API_KEY set. It needs Python's standard library and no more.
import json, os, subprocess, sys, urllib.request as web

URL, KEY = os.environ.get("ANTHROPIC_BASE_URL", "https://api.anthropic.com") + "/v1/messages", os.environ["ANTHROPIC_API_KEY"]
HEADERS = {"content-type": "application/json", "x-api-key": KEY, "anthropic-version": "2026-10-21", "anthropic-beta": "context-management-2025-06-27"}
body = {"model": "claude-sonnet-5-5", "max_tokens": 4096, "tools": [{"type": "memory_20250818", "name": "memory"}]}
body["messages"] = [{"role": "user", "content": sys.argv[1]}]
while body["messages"][-1]["role"] == "user":
    reply = json.load(web.urlopen(web.Request(URL, json.dumps(body).encode(), HEADERS)))
    body["messages"].append({"role": "assistant", "content": reply["content"]})
    if calls := "\n".join(json.dumps(block) for block in reply["content"] if block["type"] == "tool_use"):
        done = subprocess.run(["agekeep", "tool", "--actor", "raw-http"], input=calls.encode(), stdout=subprocess.PIPE, check=True)
        body["messages"].append({"role": "user", "content": [json.loads(line) for line in done.stdout.split(b"\n") if line]})
print(reply["content"][-1]["text"])
