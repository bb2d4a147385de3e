"""What goes wrong with processes, threads, tasks and texts, and what the adapters make of it."""

import asyncio
import contextlib
import fcntl
import io
import json
import os
import signal
import subprocess
import sys
import time
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor

from agekeep import AgekeepError, AgekeepMemory, AsyncAgekeepMemory
from agekeep.memory import UNAVAILABLE, UNSURE
from anthropic.lib.tools import ToolError
from anthropic.types.beta import BetaMemoryTool20250818CreateCommand

STORE = os.environ["AGEKEEP_STORE"]
HERE = os.path.dirname(os.path.abspath(__file__))
ECHO = [sys.executable, os.path.join(HERE, "echo.py")]


def create(path, text="x"):
    return {"command": "create", "path": f"/memories/{path}", "file_text": text}


def view(path):
    return {"command": "view", "path": f"/memories/{path}"}


def created(path):
    return f"File created successfully at: /memories/{path}"


def shown(path, *lines):
    numbered = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, 1))
    return f"Here's the content of /memories/{path} with line numbers:\n{numbered}"


def log():
    """Events as (command, outcome, path), oldest first."""
    out = subprocess.run(["agekeep", "log", "--json"], capture_output=True, check=True).stdout
    events = [json.loads(line) for line in out.split(b"\n") if line]
    return [(e["command"], e["outcome"], e["path"]) for e in reversed(events)]


def log_of(path):
    return [event[:2] for event in log() if event[2] == f"/memories/{path}"]


def children():
    """The processes that this one has started and not waited for."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                if file.read().rpartition(")")[2].split()[1] == str(os.getpid()):
                    found.append(int(name))
    return found


def the_child():
    (child,) = children()
    return child


def is_gone(process):
    deadline = time.monotonic() + 10
    while os.path.exists(f"/proc/{process}"):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@contextlib.contextmanager
def locked_store():
    """While this is open a command waits, and so its call is in the middle."""
    with open(os.path.join(STORE, "lock"), "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def lossy():
    """A command that loses the answer to the next call once `lose` was called."""
    mark = os.path.join(HERE, f"mark-{os.getpid()}")
    command = [sys.executable, os.path.join(HERE, "lossy.py"), mark, "agekeep", "tool"]
    yield command, lambda: open(mark, "w", encoding="utf-8").close()
    assert not os.path.exists(mark), "an answer was lost"


class Case(unittest.TestCase):
    def tearDown(self):
        self.assertEqual(children(), [], "no child is left")

    def assert_refused(self, memory, call, text):
        with self.assertRaises(ToolError) as caught:
            memory.call(call)
        self.assertEqual(caught.exception.content, text)


class Starting(Case):
    def test_no_store(self):
        missing = os.path.join(HERE, "no-store")
        stderr = io.StringIO()
        with contextlib.redirect_stderr(stderr), self.assertRaises(AgekeepError) as caught:
            with AgekeepMemory(store=missing):
                self.fail("there is no store")
        for said in (str(caught.exception), stderr.getvalue()):
            self.assertIn(f"error: no store at {missing}\n", said)
            self.assertIn(f"hint: create one with `agekeep init --store {missing}`", said)

    def test_no_store_seen_by_a_model(self):
        memory = AgekeepMemory(store=os.path.join(HERE, "no-store"))
        with contextlib.redirect_stderr(io.StringIO()), self.assertLogs("agekeep") as logged:
            self.assert_refused(memory, view(""), UNAVAILABLE)
        self.assertIn("hint: create one with", logged.output[0])
        self.assertNotIn("/", UNAVAILABLE)

    def test_no_agekeep(self):
        with self.assertRaisesRegex(AgekeepError, "cannot run nonesuch: .* Is it installed?"):
            AgekeepMemory(command=["nonesuch"]).open()

    def test_a_child_that_speaks_no_json(self):
        for command in (["echo", "hello"], ["echo", "null"], ["true"]):
            with self.assertRaisesRegex(AgekeepError, f"^{command[0]} ended$"):
                AgekeepMemory(command=command).open()

    def test_no_store_async(self):
        async def main():
            async with AsyncAgekeepMemory(store=os.path.join(HERE, "no-store")):
                self.fail("there is no store")

        with contextlib.redirect_stderr(io.StringIO()):
            with self.assertRaisesRegex(AgekeepError, "hint: create one with"):
                asyncio.run(main())


class Ending(Case):
    def test_closed_twice(self):
        memory = AgekeepMemory()
        memory.close()
        with AgekeepMemory() as memory:
            child = the_child()
            memory.close()
            self.assertTrue(is_gone(child))
            memory.close()
            with self.assertLogs("agekeep"):
                self.assert_refused(memory, view(""), UNAVAILABLE)

    def test_closed_twice_async(self):
        async def main():
            async with AsyncAgekeepMemory() as memory:
                self.assertIn("0B", await memory.call(view("")) + "0B")
                await memory.close()
                self.assertEqual(children(), [])

        asyncio.run(main())

    def test_forgotten(self):
        """The child of a program that never closes ends with it, however it ends."""
        program = (
            "import os, signal, sys; from agekeep import *; m = AgekeepMemory(); m.open();"
            "print(m._child.pid, flush=True); sys.argv[1] == 'kill' and os.kill(os.getpid(), 9)"
        )
        for how in ("end", "kill"):
            run = subprocess.run(
                [sys.executable, "-c", program, how], stdout=subprocess.PIPE, check=False, cwd=HERE
            )
            self.assertEqual(run.returncode, 0 if how == "end" else -signal.SIGKILL)
            self.assertTrue(is_gone(int(run.stdout)), how)

    def test_forked(self):
        """A forked process starts a child of its own, and the answers of the two do not mix."""
        with AgekeepMemory() as memory:
            with warnings.catch_warnings(action="ignore"):  # of forking beside threads, on purpose
                process = os.fork()
            if process == 0:
                try:
                    ok = memory.call(create("fork.md")) == created("fork.md")
                    memory.close()
                    os._exit(0 if ok else 1)
                finally:
                    os._exit(2)
            self.assertIn("/memories", memory.call(view("")))
            self.assertEqual(os.waitpid(process, 0)[1], 0)
            self.assertEqual(memory.call(view("fork.md")), shown("fork.md", "x"))


class Dying(Case):
    def test_between_calls(self):
        with AgekeepMemory() as memory:
            for name in ("k1.md", "k2.md"):
                first = the_child()
                os.kill(first, signal.SIGKILL)
                os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
                self.assertEqual(memory.call(create(name)), created(name))
                self.assertNotEqual(the_child(), first)
        self.assertEqual(log_of("k1.md"), [("create", "ok")])

    def in_the_middle(self, memory, call):
        """What a call brings whose child is killed while the store is locked."""
        child = the_child()
        with ThreadPoolExecutor(1) as pool:
            with locked_store():
                answer = pool.submit(memory.call, call)
                time.sleep(0.3)
                self.assertFalse(answer.done())
                os.kill(child, signal.SIGKILL)
                time.sleep(0.1)
            return answer.result()

    def test_in_the_middle(self):
        with AgekeepMemory() as memory:
            self.assertEqual(self.in_the_middle(memory, create("m.md")), created("m.md"))
            self.assertEqual(self.in_the_middle(memory, view("m.md")), shown("m.md", "x"))
            for call in (
                {
                    "command": "str_replace",
                    "path": "/memories/m.md",
                    "old_str": "x",
                    "new_str": "xx",
                },
                {
                    "command": "insert",
                    "path": "/memories/m.md",
                    "insert_line": 0,
                    "insert_text": "y",
                },
                {"command": "rename", "old_path": "/memories/m.md", "new_path": "/memories/n.md"},
                {"command": "delete", "path": "/memories/m.md"},
                {"command": "nonesuch"},
            ):
                with self.assertRaises(ToolError) as caught:
                    self.in_the_middle(memory, call)
                self.assertEqual(caught.exception.content, UNSURE)
                self.assertEqual(memory.call(view("m.md")), shown("m.md", "x"))

    def test_a_lost_create_is_not_told_as_existing(self):
        with lossy() as (command, lose), AgekeepMemory(command=command) as memory:
            lose()
            self.assertEqual(memory.call(create("lost.md")), created("lost.md"))
            self.assertEqual(memory.call(view("lost.md")), shown("lost.md", "x"))
            secret = create("lost-secret.md", "The staging password is W1nt3rF0x_995.")
            lose()
            self.assertIn("1 secret value was removed", memory.call(secret))
        done = [event for event in log_of("lost.md") if event[0] == "create"]
        self.assertEqual(done, [("create", "ok"), ("create", "ok")])

    def test_a_lost_refusal_stays_one(self):
        taken = "Error: File /memories/taken.md already exists"
        with lossy() as (command, lose), AgekeepMemory(command=command) as memory:
            memory.call(create("taken.md", "mine"))
            lose()
            self.assert_refused(memory, create("taken.md", "another"), taken)
            self.assertEqual(memory.call(view("taken.md")), shown("taken.md", "mine"))

    def test_a_lost_edit_is_not_made_twice(self):
        edits = [
            {"command": "str_replace", "path": "/memories/e.md", "old_str": "a", "new_str": "aa"},
            {"command": "insert", "path": "/memories/e.md", "insert_line": 0, "insert_text": "b"},
        ]
        with lossy() as (command, lose), AgekeepMemory(command=command) as memory:
            memory.call(create("e.md", "a\n"))
            for edit in edits:
                memory.call(view("e.md"))  # starts the child, so that it loses no greeting
                lose()
                self.assert_refused(memory, edit, UNSURE)
            self.assertEqual(memory.call(view("e.md")), shown("e.md", "b", "aa", ""))

    def test_a_child_that_always_dies(self):
        program = "read -r greeting; echo '{}'; read -r call"
        with AgekeepMemory(command=["sh", "-c", program]) as memory:
            for call in (view(""), create("a"), {"command": "delete", "path": "/memories/a"}):
                self.assert_refused(memory, call, UNSURE)

    def test_a_child_out_of_step(self):
        with AgekeepMemory(command=[*ECHO, "77"]) as memory:
            self.assert_refused(memory, view(""), UNSURE)


class Together(Case):
    def test_fifty_threads(self):
        def work(number):
            name = f"thread-{number}.md"
            self.assertEqual(memory.call(create(name, f"text {number}")), created(name))
            self.assertEqual(memory.call(view(name)), shown(name, f"text {number}"))
            return name

        before = len(log())
        with AgekeepMemory() as memory, ThreadPoolExecutor(50) as pool:
            names = list(pool.map(work, range(50)))
        self.assertEqual(len(log()), before + 100)
        self.assertEqual(len(set(names)), 50)

    def test_threads_that_open_at_once(self):
        memory = AgekeepMemory()
        with ThreadPoolExecutor(10) as pool:
            for answer in [pool.submit(memory.call, view("")) for _ in range(10)]:
                self.assertIn("/memories", answer.result())
            the_child()
        memory.close()

    def test_fifty_tasks_in_order(self):
        names = [f"task-{number:02}.md" for number in range(50)]

        async def main():
            async with AsyncAgekeepMemory() as memory:
                calls = [memory.call(create(name, name)) for name in names]
                self.assertEqual(await asyncio.gather(*calls), [created(name) for name in names])
                calls = [memory.call(view(name)) for name in names]
                views = [shown(name, name) for name in names]
                self.assertEqual(await asyncio.gather(*calls), views)

        before = len(log())
        asyncio.run(main())
        events = log()[before:]
        paths = [f"/memories/{name}" for name in names]
        self.assertEqual([path for _, _, path in events], paths * 2)

    def test_cancelled_tasks(self):
        """One is cancelled in the middle, one before its turn; the third gets its own answer."""

        async def main():
            async with AsyncAgekeepMemory() as memory:
                with locked_store():
                    tasks = [
                        asyncio.create_task(memory.call(create(f"cancel-{number}.md")))
                        for number in range(3)
                    ]
                    await asyncio.sleep(0.3)
                    tasks[0].cancel()
                    tasks[1].cancel()
                    for task in tasks[:2]:
                        with self.assertRaises(asyncio.CancelledError):
                            await task
                self.assertEqual(await tasks[2], created("cancel-2.md"))
                self.assertEqual(await memory.call(view("cancel-0.md")), shown("cancel-0.md", "x"))

        asyncio.run(main())
        self.assertEqual(log_of("cancel-1.md"), [])

    def test_one_memory_in_two_event_loops(self):
        memory = AsyncAgekeepMemory()
        for _ in range(2):
            self.assertIn("/memories", asyncio.run(memory.call(view(""))))
        asyncio.run(memory.close())

    def test_an_interrupt_in_the_middle(self):
        class Interrupt(BaseException):
            pass

        def interrupt(*_):
            raise Interrupt

        previous = signal.signal(signal.SIGALRM, interrupt)
        try:
            with AgekeepMemory() as memory:
                memory.call(create("interrupt.md"))
                with locked_store():
                    signal.setitimer(signal.ITIMER_REAL, 0.3)
                    with self.assertRaises(Interrupt):
                        memory.call(view(""))
                insert = {"command": "insert", "insert_line": 0, "insert_text": "y"}
                answer = memory.call({**insert, "path": "/memories/interrupt.md"})
                self.assertEqual(answer, "The file /memories/interrupt.md has been edited.")
        finally:
            signal.signal(signal.SIGALRM, previous)


class Texts(Case):
    def kept(self, memory, name, text):
        self.assertEqual(memory.call(create(name, text)), created(name))
        self.assertEqual(memory.call(view(name)), shown(name, *text.split("\n")))

    def test_characters(self):
        with AgekeepMemory() as memory:
            self.kept(
                memory, "emoji.md", "\U0001f375 \U0001f468\u200d\U0001f469\u200d\U0001f467 tea"
            )
            self.kept(memory, "separators.md", "a\u2028b\u2029c\x85d\x0be\x1cf\r\ng\r")
            self.kept(memory, "quotes.md", '"\\u0041\\" \ud7ff\ue000\uffff')
            self.kept(memory, "empty.md", "")

    def test_half_a_surrogate_pair(self):
        with AgekeepMemory() as memory:
            for text in ("\ud83d", "a\udc00b", "\udc00\ud83d"):
                with self.assertRaises(ToolError) as caught:
                    memory.call(create("half.md", text))
                self.assertRegex(caught.exception.content, "^Error: .*not JSON")
            self.kept(memory, "half.md", "whole")

    def test_large_texts(self):
        with AgekeepMemory() as memory:
            for name, text in (
                ("large.md", "0123456789abcde\n" * 65536),
                ("large-tea.md", "\U0001f375" * 262144),
                ("large-quotes.md", '"\\\n' * 349525),
            ):
                self.assertEqual(memory.call(create(name, text)), created(name))
                self.assertIn(f"\n1.0M\t/memories/{name}", memory.call(view("")))
            answer = memory.call(view("large.md"))
            text, _, note = answer.rpartition("\n")
            self.assertLessEqual(len(text), 16000)
            self.assertGreater(len(text), 15900)
            self.assertRegex(
                note, r"^\[Truncated: lines 1-\d+ of 65537 shown\. Use view_range .*\]$"
            )

    def test_a_view_as_long_as_views_can_be(self):
        with AgekeepMemory() as memory:
            text = "y" * (16000 - len(shown("full.md", "")))
            self.kept(memory, "full.md", text)
            self.assertEqual(len(memory.call(view("full.md"))), 16000)

    def test_a_line_too_long_to_be_read(self):
        with AgekeepMemory() as memory:
            with self.assertRaises(ToolError) as caught:
                memory.call(create("huge.md", "z" * (17 * 1024 * 1024)))
            self.assertRegex(caught.exception.content, "^Error: the line is longer than")
            self.kept(memory, "huge.md", "small")


class Passing(Case):
    """What is sent is what the model said, and who it was."""

    def test_raw_input(self):
        who = {"actor": "planner", "session": "s-17", "reason": "asked"}
        call = {"command": "view", "path": "/memories", "new": {"field": [1, 2.5, None, "\u2028"]}}
        with AgekeepMemory(command=ECHO, **who) as memory:
            said = json.loads(memory.call(call, tool_use_id="toolu_1"))
            self.assertEqual(said["input"], call)
            self.assertEqual(said["context"], {**who, "tool_use_id": "toolu_1"})
            for odd in ({}, [], None, "view", {"command": 7}):
                self.assertEqual(json.loads(memory.call(odd))["input"], odd)

    def test_typed_commands(self):
        command = BetaMemoryTool20250818CreateCommand(
            command="create", path="/memories/typed.md", file_text="x"
        )
        with AgekeepMemory() as memory:
            self.assertEqual(memory.create(command), created("typed.md"))
            self.assertEqual(
                memory.execute(command.model_copy(update={"path": "/memories/t2.md"})),
                created("t2.md"),
            )

        async def main():
            async with AsyncAgekeepMemory() as memory:
                path = "/memories/t3.md"
                self.assertEqual(
                    await memory.create(command.model_copy(update={"path": path})), created("t3.md")
                )

        asyncio.run(main())

    def test_declared_as_the_sdk_does(self):
        tool = {"type": "memory_20250818", "name": "memory"}
        self.assertEqual(AgekeepMemory().to_dict(), tool)
        cached = AgekeepMemory(cache_control={"type": "ephemeral"}).to_dict()
        self.assertEqual(cached, {**tool, "cache_control": {"type": "ephemeral"}})
        with self.assertRaises(TypeError):
            AgekeepMemory(acter="typo")


if __name__ == "__main__":
    unittest.main(verbosity=2)
