#!/usr/bin/env python3
"""What commands cost beside a plain durable write, in one run on one disk: `benches/commands.py [SIZE] [ROUNDS]`.

Needs `target/release/agekeep`; `age` and `git` for the shell pipeline. Each round does every kind once, so that what
else the machine does falls on all of them alike. Prints medians, the 95th percentile and ratios to the plain write.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from shutil import which

ROOT = Path(__file__).resolve().parent.parent
BINARY = ROOT / "target/release/agekeep"
TEXT = "".join(f"   {n}: customer prefers short answers in the morning, always\n" for n in range(64))


def plain(folder, number):
    """What any program has to do to keep a file: write, fsync, rename, fsync the folder."""
    aside = folder / "aside"
    file = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(file, TEXT.encode())
    os.fsync(file)
    os.close(file)
    os.rename(aside, folder / f"{number}.md")
    names = os.open(folder, os.O_RDONLY)
    os.fsync(names)
    os.close(names)


def append(file, number):
    """The least that is durable: bytes written over others, and one fdatasync."""
    os.pwrite(file, b"x" * 1500, 1500 * number)
    os.fdatasync(file)


class Tool:
    """A `tool` process, asked one thing after the other."""

    def __init__(self, environment):
        command = [BINARY, "tool"]
        self.child = subprocess.Popen(command, stdin=-1, stdout=-1, env=environment)

    def ask(self, **call):
        self.child.stdin.write(json.dumps(call).encode() + b"\n")
        self.child.stdin.flush()
        assert b'"is_error":false' in self.child.stdout.readline()


def timed(act, *args, **kwargs):
    begin = time.perf_counter()
    act(*args, **kwargs)
    return (time.perf_counter() - begin) * 1e3


def run(arguments, environment, text="", **kwargs):
    done = subprocess.run(arguments, input=text.encode(), stdout=-1, stderr=-1, env=environment, **kwargs)
    assert done.returncode == 0, done.stderr


def report(times, base):
    for name, values in times.items():
        values.sort()
        middle, late = values[len(values) // 2], values[len(values) * 95 // 100]
        ratio = middle / sorted(base)[len(base) // 2]
        print(f"{name:34} {middle:9.3f} ms  p95 {late:9.3f}  max {values[-1]:9.3f}  {ratio:6.2f}x")


def long_lived(home, environment, rounds):
    tool, folder = Tool(environment), home / "plain"
    folder.mkdir()
    room = os.open(home / "appended", os.O_RDWR | os.O_CREAT)
    os.write(room, bytes(1500 * rounds + 4096))
    os.fsync(room)
    kinds = ["append and fdatasync", "plain durable write", "create", "str_replace", "view"]
    times = {kind: [] for kind in kinds}
    for number in range(rounds):
        path = f"/memories/measured/{number}.md"
        edit = {"old_str": "   7: customer", "new_str": "   7: regular customer"}
        times[kinds[0]].append(timed(append, room, number))
        times[kinds[1]].append(timed(plain, folder, number))
        times[kinds[2]].append(timed(tool.ask, command="create", path=path, file_text=TEXT))
        times[kinds[3]].append(timed(tool.ask, command="str_replace", path=path, **edit))
        times[kinds[4]].append(timed(tool.ask, command="view", path=path))
    print("one process, one caller, 4 KB (times with the pipe and Python's JSON)")
    report(times, times["plain durable write"])
    alone = sorted(times["create"])[rounds // 2]
    calls = [{"command": "create", "path": f"/memories/together/{n}.md", "file_text": TEXT} for n in range(rounds)]
    lines = "".join(json.dumps(call) + "\n" for call in calls)
    both = timed(run, [BINARY, "tool"], environment, lines) / rounds
    print(f"{'create, many waiting':34} {both:9.3f} ms each, {alone / both:.1f} times the throughput of one caller\n")


def one_shot(home, environment, rounds):
    shell = home / "shell"
    shell.mkdir()
    names = ["--version", "create", "view", "age | git add | git commit", "git show | age -d"]
    times = {name: [] for name in names}
    peers = which("age") and which("git")
    if peers:
        key = "git init -q . && age-keygen -o key 2>/dev/null && age-keygen -y key > recipients"
        run(["sh", "-c", key], environment, cwd=shell)
    commit = "git -c user.name=o -c user.email=o -c core.fsync=all commit -qm x"
    for n in range(rounds):
        path = f"/memories/shot/{n}.md"
        times["--version"].append(timed(run, [BINARY, "--version"], environment))
        times["create"].append(timed(run, [BINARY, "create", path], environment, TEXT))
        times["view"].append(timed(run, [BINARY, "view", path], environment))
        if peers:
            script = f"age -R recipients > {n}.age && git add {n}.age && {commit}"
            times[names[3]].append(timed(run, ["sh", "-c", script], environment, TEXT, cwd=shell))
            script = f"git show HEAD:{n}.age | age -d -i key"
            times[names[4]].append(timed(run, ["sh", "-c", script], environment, cwd=shell))
    print("one process for each command (ratios to create)")
    report({name: values for name, values in times.items() if values}, times["create"])


def main():
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    with tempfile.TemporaryDirectory(dir=ROOT / "target") as name:
        home = Path(name)
        environment = {"HOME": name, "PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null"}
        run([BINARY, "init"], environment)
        calls = [{"command": "create", "path": f"/memories/{n % 40}/{n}.md", "file_text": "x\n"} for n in range(size)]
        run([BINARY, "tool"], environment, "".join(json.dumps(call) + "\n" for call in calls))
        print(f"{size} memories, {rounds} rounds")
        long_lived(home, environment, rounds)
        one_shot(home, environment, max(rounds // 10, 10))


main()
