"""The tool runners that the quickstart does not show: async, streaming, and both.

Usage: runner.py async|stream|async-stream
"""

import asyncio
import sys

import anthropic
from agekeep import AgekeepMemory, AsyncAgekeepMemory

WHO = {"actor": "planner", "session": "s-17", "reason": "asked to remember"}
REQUEST = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 4096,
    "betas": ["context-management-2025-06-27"],
    "messages": [{"role": "user", "content": "Remember what we did."}],
}


def say(answer):
    print("\n".join(block.text for block in answer.content if block.type == "text"))


async def run_async():
    async with AsyncAgekeepMemory(**WHO) as memory:
        client = anthropic.AsyncAnthropic()
        say(await client.beta.messages.tool_runner(tools=[memory], **REQUEST).until_done())


def run_stream():
    with AgekeepMemory(**WHO) as memory:
        runner = anthropic.Anthropic().beta.messages.tool_runner(
            tools=[memory], stream=True, run_tools_eagerly=True, **REQUEST
        )
        for stream in runner:
            answer = stream.get_final_message()
        say(answer)


async def run_async_stream():
    async with AsyncAgekeepMemory(**WHO) as memory:
        runner = anthropic.AsyncAnthropic().beta.messages.tool_runner(
            tools=[memory], stream=True, run_tools_eagerly=True, **REQUEST
        )
        async for stream in runner:
            answer = await stream.get_final_message()
        say(answer)


match sys.argv[1]:
    case "async":
        asyncio.run(run_async())
    case "stream":
        run_stream()
    case "async-stream":
        asyncio.run(run_async_stream())
