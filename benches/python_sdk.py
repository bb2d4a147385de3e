"""The Python SDK's own local-filesystem memory tool beside the adapter: create and view.

    cargo build --release && tests/peers/install
    target/peers/python/bin/python benches/python_sdk.py [AGEKEEP [FOLDER [MEMORIES]]]

One process, one disk, the same memories of 2 to 4 KB. The tools take turns in random order, so that
what else the machine does, and what a turn leaves in its caches, falls on all of them alike. Goals:
create within 3 times the SDK's tool, view within 5 times.
"""

import asyncio
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "packaging/python"))
sys.dont_write_bytecode = True

import anthropic  # noqa: E402
from agekeep import AgekeepMemory, AsyncAgekeepMemory  # noqa: E402
from anthropic.tools import memory as sdk  # noqa: E402

MEMORIES = int(sys.argv[3]) if len(sys.argv) > 3 else 500
GOALS = {"create": 3, "view": 5}
WORDS = "the customer asked whether the lamp can stay outside in winter and was told no".split()


def inputs(command):
    """The same calls in every run: texts are lines of words, 2 to 4 KB each."""
    chance = random.Random(1)
    for number in range(MEMORIES):
        size, text = chance.randint(2048, 4096), ""
        while len(text) < size:
            text += " ".join(chance.choices(WORDS, k=12)) + "\n"
        call = {"command": command, "path": f"/memories/topic-{number % 20}/note-{number}.md"}
        yield {**call, "file_text": text} if command == "create" else call


class Durable(sdk.BetaLocalFilesystemMemoryTool):
    """The SDK's tool, which syncs the file it makes, and then the folder, so that it stays."""

    def create(self, command):
        answer = super().create(command)
        folder = self.memory_root / Path(command.path[len("/memories/") :]).parent
        opened = os.open(folder, os.O_RDONLY)
        os.fsync(opened)
        os.close(opened)
        return answer


class Bare:
    """`agekeep tool` with nothing between: ready lines into its pipe, and lines out of it."""

    def __init__(self, command, store):
        command = [*command, "--store", store]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lines = {c: {i["path"]: json.dumps(i).encode() for i in inputs(c)} for c in GOALS}

    def call(self, call):
        line = self.lines[call["command"]][call["path"]]
        self.child.stdin.write(line + b"\n")
        self.child.stdin.flush()
        return self.child.stdout.readline()


async def measure(tools):
    """Milliseconds of each call, by command and tool."""
    os.sync()  # what others left unwritten would be waited for by the first sync of ours
    times = {(command, name): [] for command in GOALS for name in tools}
    order = list(tools)
    for command in GOALS:
        for call in inputs(command):
            random.shuffle(order)
            for name in order:
                begin = time.perf_counter_ns()
                answer = tools[name](call)
                if asyncio.iscoroutine(answer):
                    await answer
                took = (time.perf_counter_ns() - begin) / 1e6
                times[command, name].append(took)
    return times


def show(times, kind=""):
    print(f"{'':32}{'median':>8} {'10 %':>8} {'90 %':>8} {'ratio':>7}")
    for (command, name), all_times in times.items():
        tenths, middle = statistics.quantiles(all_times, n=10), statistics.median(all_times)
        ratio = middle / statistics.median(times[command, "SDK"])
        goal = f"  (goal {GOALS[command]})" if name == "agekeep" else ""
        row = f"{middle:8.3f} {tenths[0]:8.3f} {tenths[-1]:8.3f} {ratio:7.2f}"
        print(f"{kind + command + ': ' + name:32}{row}{goal}")
    print()


def median_of(work, times=2000):
    def once():
        begin = time.perf_counter_ns()
        work()
        return (time.perf_counter_ns() - begin) / 1e6

    return statistics.median(once() for _ in range(times))


def make_store(agekeep, path):
    subprocess.run([agekeep, "--store", path, "init"], check=True, capture_output=True)
    return path


async def compare(agekeep, folder):
    """Two tools at a time: what one leaves unsynced, a third one's sync would pay for."""
    command = [agekeep, "tool"]
    stores = [make_store(agekeep, f"{folder}/store-{number}") for number in range(3)]
    plain = [sdk.BetaLocalFilesystemMemoryTool(f"{folder}/sdk-{number}") for number in range(3)]
    with AgekeepMemory(store=stores[0], command=command, actor="bench") as memory:
        show(await measure({"SDK": plain[0].call, "agekeep": memory.call}))
        pipes = median_of(lambda: memory._exchange(memory._running(), "null"))
    call = next(inputs("create"))
    answer = json.dumps({"id": 1, "content": call["file_text"], "is_error": False, "meta": {}})
    turn = median_of(lambda: json.loads(answer) and json.dumps({"id": 1, "input": call}))
    print(f"{'pipes there and back':32}{pipes:8.3f}\n{'JSON there and back':32}{turn:8.3f}\n")
    async with AsyncAgekeepMemory(store=stores[1], command=command, actor="bench") as memory:
        own = sdk.BetaAsyncLocalFilesystemMemoryTool(f"{folder}/async")
        show(await measure({"SDK": own.call, "agekeep": memory.call}), "async ")
    bare = Bare(command, stores[2])
    show(await measure({"SDK": plain[1].call, "agekeep, no adapter": bare.call}))
    bare.child.communicate()
    durable = Durable(f"{folder}/durable")
    show(await measure({"SDK": plain[2].call, "SDK, folder synced": durable.call}))


def main():
    agekeep = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target/release/agekeep")
    beside = sys.argv[2] if len(sys.argv) > 2 else ROOT / "target"
    machine = f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"{machine}\nanthropic {anthropic.__version__}, {MEMORIES} memories, milliseconds\n")
    with tempfile.TemporaryDirectory(dir=beside) as folder:
        home = {"HOME": folder, "XDG_CONFIG_HOME": f"{folder}/config"}
        os.environ.update(home, XDG_STATE_HOME=f"{folder}/state")
        asyncio.run(compare(agekeep, folder))


main()
