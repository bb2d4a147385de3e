#!/usr/bin/env python3
"""Refuses calls of Claude Code that would write a memory past agekeep, or into its store or keys.

It reads a PreToolUse event on standard input. Exit code 2 refuses the call, and Claude reads why on
standard error. An event that it does not understand is refused too.
"""

import json
import os
import sys
from pathlib import PurePath

MEMORY = "This is a memory: use the tools of the MCP server agekeep (memory_create, memory_str_replace, …) for it."
OWN = "These files are agekeep's own: whoever writes them destroys memories. Use its tools, or ask the user."


def places():
    """Folders nobody may write to, in the parts of their paths, and why; `*` is any one part."""
    home = os.path.expanduser("~")
    below = lambda variable, default: os.environ.get(variable) or os.path.join(home, default)
    yield "/memories", MEMORY
    yield os.path.join(below("CLAUDE_CONFIG_DIR", ".claude"), "projects/*/memory"), MEMORY
    yield os.path.join(below("CLAUDE_CONFIG_DIR", ".claude"), "agent-memory"), MEMORY
    for variable, default in [
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_STATE_HOME", ".local/state"),
    ]:
        yield os.path.join(below(variable, default), "agekeep"), OWN
    for variable in ["AGEKEEP_STORE", "AGEKEEP_IDENTITY", "AGEKEEP_SIGNING_KEY"]:
        if os.environ.get(variable):
            yield os.environ[variable], OWN


def spellings(path):
    """The path as it is written, and where its links lead, in parts. Some systems ignore case."""
    path = os.path.abspath(path)
    return [PurePath(each.casefold()).parts for each in (path, os.path.realpath(path))]


def is_inside(parts, place):
    return len(parts) >= len(place) and all(b in ("*", a) for a, b in zip(parts, place))


def refusal(event):
    """Why the call is refused, or None."""
    call = event["tool_input"]
    named = [call[key] for key in ("file_path", "notebook_path") if key in call]
    if not named:
        raise ValueError("it names no file")
    for path in named:
        path = os.path.join(event["cwd"], os.path.expanduser(path))
        for place, why in places():
            if any(is_inside(a, b) for a in spellings(path) for b in spellings(place)):
                return why
    return None


try:
    why = refusal(json.load(sys.stdin))
except Exception as error:  # whatever it is, nobody checked the call
    why = f"agekeep cannot tell what this would write ({type(error).__name__}), so it is refused."
if why:
    sys.exit(print(why, file=sys.stderr) or 2)
