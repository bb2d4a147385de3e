"""A session with the official Python client: tools, structured answers, resources, changes."""

import asyncio
import subprocess
import sys

from mcp import Client, StdioServerParameters

era, program, home, store = sys.argv[1:5]
url = sys.argv[5] if len(sys.argv) > 5 else None
environment = {
    "HOME": home,
    "XDG_CONFIG_HOME": f"{home}/config",
    "AGEKEEP_STORE": store,
}


def server():
    return url or StdioServerParameters(command=program, args=["mcp"], env=environment)


def text(result):
    (block,) = result.content
    return block.text


async def tools(client):
    listed = await client.list_tools()
    assert len(listed.tools) == 9, listed
    made = await client.call_tool("memory_create", {"path": "/memories/a.md", "file_text": "one\n"})
    assert not made.is_error, made
    assert text(made) == "File created successfully at: /memories/a.md", made
    assert made.structured_content["version"] == 1 and made.structured_content["bytes"] == 4, made
    # The client checks each structured answer against the tool's output schema.
    for name, arguments in [
        ("memory_view", {"path": "/memories"}),
        ("memory_view", {"path": "/memories/a.md", "view_range": [1, -1]}),
        ("memory_insert", {"path": "/memories/a.md", "insert_line": 1, "insert_text": "two"}),
        ("memory_str_replace", {"path": "/memories/a.md", "old_str": "one", "new_str": "1"}),
        ("memory_history", {"path": "/memories/a.md"}),
        ("memory_diff", {}),
        ("memory_search", {"pattern": "two"}),
        ("memory_rename", {"old_path": "/memories/a.md", "new_path": "/memories/b.md"}),
        ("memory_delete", {"path": "/memories/b.md"}),
    ]:
        done = await client.call_tool(name, arguments)
        assert not done.is_error and done.structured_content, (name, done)
    refused = await client.call_tool("memory_view", {"path": "/memories/none"})
    assert refused.is_error and "does not exist" in text(refused), refused
    try:
        await client.call_tool("memory_erase", {"path": "/memories/a.md"})
    except Exception as error:
        assert "no such tool" in str(error), error
    else:
        raise AssertionError("a tool that is not offered was called")


async def resources(client):
    await client.call_tool("memory_create", {"path": "/memories/d/ü %.md", "file_text": "text\n"})
    listed = await client.list_resources()
    (resource,) = listed.resources
    read = await client.read_resource(resource.uri)
    assert read.contents[0].text == "text\n", read
    try:
        await client.read_resource("memory:///none.md")
    except Exception as error:
        assert "no such memory" in str(error), error
    else:
        raise AssertionError("what is not there was read")


async def changes(client):
    """What another process changes is told: in one stream in the newer era, one by one in the older."""
    command = [program, "write", "d/ü %.md", "--text", "other\n"]
    uri = "memory:///d/%C3%BC%20%25.md"
    if era == "legacy":
        told = asyncio.Queue()

        async def note(message):
            await told.put(message)

        async with Client(server(), mode=era, message_handler=note) as listener:
            await listener.call_tool("memory_view", {"path": "/memories"})
            await listener.session.subscribe_resource(uri)
            await asyncio.to_thread(subprocess.run, command, env=environment, check=True)
            while True:
                message = await asyncio.wait_for(told.get(), 20)
                if getattr(message, "method", "") == "notifications/resources/updated":
                    assert str(message.params.uri) == uri, message
                    return
    async with client.listen(resource_subscriptions=[uri]) as stream:
        await asyncio.to_thread(subprocess.run, command, env=environment, check=True)
        async with asyncio.timeout(20):
            async for event in stream:
                assert getattr(event, "uri", None) == uri, event
                return


async def main():
    async with Client(server(), mode=era) as client:
        await tools(client)
        await resources(client)
        await changes(client)
    async with Client(server(), mode=era) as client:
        viewed = await client.call_tool("memory_view", {"path": "/memories"})
        assert "ü %.md" in text(viewed), viewed
    subprocess.run([program, "verify"], env=environment, check=True, stdout=subprocess.DEVNULL)
    print("all is well")


asyncio.run(main())
