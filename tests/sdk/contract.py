"""Every case of the contract through the Python adapters: contract.py sync|async CASES STORES.

Case n has a store of its own, STORES/n. Each answer is printed as a line of JSON.
"""

import asyncio
import json
import os
import sys

from agekeep import AgekeepMemory, AsyncAgekeepMemory
from anthropic.lib.tools import ToolError


def show(content, is_error):
    print(json.dumps({"content": content, "is_error": is_error}))


def sync_case(store, inputs):
    with AgekeepMemory(store=store) as memory:
        for call in inputs:
            try:
                show(memory.call(call), False)
            except ToolError as error:
                show(error.content, True)


async def async_case(store, inputs):
    async with AsyncAgekeepMemory(store=store) as memory:
        for call in inputs:
            try:
                show(await memory.call(call), False)
            except ToolError as error:
                show(error.content, True)


with open(sys.argv[2], encoding="utf-8") as file:
    cases = json.load(file)["cases"]
for number, case in enumerate(cases):
    store, inputs = f"{sys.argv[3]}/{number}", [step["input"] for step in case["steps"]]
    # All the stores are copies of one, and what was seen of a copy would tell on the next.
    os.environ["XDG_STATE_HOME"] = f"{sys.argv[3]}/state-{number}"
    if sys.argv[1] == "sync":
        sync_case(store, inputs)
    else:
        asyncio.run(async_case(store, inputs))
