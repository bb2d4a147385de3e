"""The SDK's memory tool over agekeep: what an agent remembers, encrypted, signed and versioned.

Give a memory to the SDK's tool runner:

    with AgekeepMemory(actor="planner") as memory:        # or: async with AsyncAgekeepMemory(...)
        client.beta.messages.tool_runner(..., tools=[memory])

It needs `pip install "agekeep[anthropic]"` and a store (`agekeep init`).
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from contextlib import suppress
from functools import partial
from typing import IO, Any, Dict, List, Optional, Sequence

from anthropic import BaseModel
from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from agekeep import bundled

UNAVAILABLE = "Error: the memory cannot be opened. Go on without it, and tell a person."
UNSURE = (
    "Error: the memory stopped before it answered, so this may or may not have been done. "
    "View what it is about before you try again."
)
NO_TEXT = "0" * 64  # the SHA-256 of no text: with it as its base, `create` is refused unless done


class AgekeepError(RuntimeError):
    """agekeep cannot be started, or cannot open the store; its error and its hint."""


class _Lost(Exception):
    """The child process ended before it answered."""


class _Memory:
    """One child process, `agekeep tool`: each call is a line of JSON, and so is its answer."""

    def __init__(
        self,
        *,
        store: Optional[os.PathLike[str] | str] = None,
        actor: Optional[str] = None,
        session: Optional[str] = None,
        reason: Optional[str] = None,
        command: Optional[Sequence[str]] = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        # On the path where this is used from a checkout.
        self._command = [*(command or (bundled() or "agekeep", "tool"))]
        self._command += [] if store is None else ["--store", os.fspath(store)]
        # These go with each call and not into the arguments, which every user of the machine sees.
        self._context = {"actor": actor, "session": session, "reason": reason}
        self._child: Optional[subprocess.Popen[bytes]] = None
        self._lock, self._asked, self._closed = threading.Lock(), 0, False
        self._turn = CapacityLimiter(1)  # of tasks, which unlike threads wait in order

    def open(self) -> None:
        """Starts the child. Without it the first call does, and the model is told if it fails."""
        with self._lock:
            self._running()

    def _close(self) -> None:
        """Ends the child, after the call that it is in."""
        with self._lock:
            self._closed = True
            self._end()

    def _carry_out(self, input: object, tool_use_id: Optional[str]) -> str:
        context = {**self._context, "tool_use_id": tool_use_id}
        with self._lock:
            try:
                answer = self._ask_surely(input, context)
            except AgekeepError as error:
                # The model gets no path of this machine to read; whoever looks after it does.
                logging.getLogger("agekeep").error("%s", error)
                raise ToolError(UNAVAILABLE) from error
            except _Lost as error:
                raise ToolError(UNSURE) from error
        if answer["is_error"]:
            raise ToolError(answer["content"])
        return str(answer["content"])

    def _ask_surely(self, input: object, context: Dict[str, Optional[str]]) -> Dict[str, Any]:
        """Asks, and where the answer was lost, once more if that cannot do it twice.

        Looking twice is harmless. A `create` is first asked whether its text is there already, so
        that what it did itself does not come back as "already exists". What an edit, a rename or
        a deletion found before it is not known here, so those are for the model to look into.
        """
        try:
            return self._ask(input, context)
        except _Lost:
            command = input.get("command") if isinstance(input, dict) else None
            if command == "create":
                done = self._ask(input, {**context, "base_sha256": NO_TEXT})
                if not done["is_error"]:
                    return done
            elif command != "view":
                raise
            return self._ask(input, context)

    def _ask(self, input: object, context: Dict[str, Optional[str]]) -> Dict[str, Any]:
        self._asked += 1
        call = {"id": self._asked, "input": input, "context": context}
        # In ASCII, so that half a surrogate pair arrives too, and is answered.
        answer = self._exchange(self._running(), json.dumps(call))
        # A line too long to be read is answered without an id.
        if answer["id"] not in (self._asked, None):
            self._end(kill=True)
            raise _Lost
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._closed:
            raise AgekeepError("this memory was closed")
        if self._child is not None and self._child.poll() is None:
            return self._child
        self._end()
        try:
            pipe = subprocess.PIPE
            child = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=pipe)
        except OSError as error:
            why = f"cannot run {self._command[0]}: {error.strerror}. Is it installed?"
            raise AgekeepError(why) from error
        self._child, said = child, list[str]()
        self._relay = threading.Thread(target=_relay, args=(child.stderr, said), daemon=True)
        self._relay.start()
        try:
            self._exchange(child, "null")  # is no call, so not recorded; an answer means it is open
        except _Lost:
            raise AgekeepError("".join(said).strip() or f"{self._command[0]} ended") from None
        return child

    def _exchange(self, child: subprocess.Popen[bytes], line: str) -> Dict[str, Any]:
        assert child.stdin is not None and child.stdout is not None, "both are pipes"
        try:
            child.stdin.write(line.encode() + b"\n")
            child.stdin.flush()
            answer = json.loads(child.stdout.readline())
            if isinstance(answer, dict):
                return answer
            raise ValueError("an answer is a JSON object")
        except (OSError, ValueError) as error:
            self._end(kill=True)
            raise _Lost from error
        except BaseException:
            # Interrupted: what comes next on the pipes would be taken for another call's.
            self._end(kill=True)
            raise

    def _end(self, kill: bool = False) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        if kill:
            child.kill()
        for pipe in (child.stdin, child.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        child.wait()
        self._relay.join(timeout=1)


def _relay(stderr: IO[bytes], said: List[str]) -> None:
    """Passes on what the child says to people, and keeps it for the error if it cannot start."""
    with stderr:
        for line in stderr:
            said.append(line.decode(errors="replace"))
            sys.stderr.write(said[-1])
            del said[:-20]


class AgekeepMemory(_Memory, BetaAbstractMemoryTool):
    """The memory tool for `Anthropic`. Many threads may use it; calls are carried out one by one.

    store: the store's folder, where it is not the user's own; actor, session, reason: what every
    call is recorded with; command: how to start another agekeep than the package's, with more
    arguments if it needs them.
    """

    def call(self, input: object, tool_use_id: Optional[str] = None) -> str:
        # Overridden, and not `view` and the others, because here the input still has all fields as
        # the model sent them. The SDK's runner says no id; a loop of your own can.
        return self._carry_out(input, tool_use_id)

    def view(self, command: BaseModel) -> str:
        return self.call(command.to_dict())

    create = str_replace = insert = delete = rename = view

    def close(self) -> None:
        """Ends the child process. It may be called more than once."""
        self._close()

    def __enter__(self) -> AgekeepMemory:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncAgekeepMemory(_Memory, BetaAsyncAbstractMemoryTool):
    """The memory tool for `AsyncAnthropic`; parameters as for `AgekeepMemory`.

    Calls wait for each other in the order in which they came. A call that is cancelled while it
    waits is not made; one that is being carried out is finished, and its answer dropped.
    """

    async def call(self, input: object, tool_use_id: Optional[str] = None) -> str:
        work = partial(self._carry_out, input, tool_use_id)
        return await run_sync(work, limiter=self._turn, abandon_on_cancel=True)

    async def view(self, command: BaseModel) -> str:
        return await self.call(command.to_dict())

    create = str_replace = insert = delete = rename = view

    async def close(self) -> None:
        """Ends the child process. It may be called more than once."""
        await run_sync(self._close)

    async def __aenter__(self) -> AsyncAgekeepMemory:
        await run_sync(self.open)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
