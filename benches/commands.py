#!/usr/bin/env python3
"""What commands cost beside a plain durable write, and beside peers, in one run on one disk.

    cargo build --release && tests/peers/install
    target/peers/python/bin/python benches/commands.py [--size 100] [--rounds 60] [--turn 10] [--folder target]

The shell's pipeline needs `age`, `git` and `ssh-keygen`, and restic itself; what is missing is said, and the rest
runs. Every kind has memories of 4 KB, as many to begin with. Each round every kind has one turn, in random order, of
some calls in a row. Before it all that the others left unwritten is synced and not timed: each pays for what it
leaves behind itself, and for nobody else. With `--turn 1` every call comes to caches that others have filled.

Measure on a quiet file system: ext4 looks for each new file at every inode that was freed nearby in the last minutes.
"""

import argparse
import os
import platform
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True

import peers  # noqa: E402

def measure(acts, ahead, rounds, turn):
    """Milliseconds of each call, by name."""
    for number in range(ahead):
        for act in acts.makes.values():
            act(number)
    all_acts = {**acts.uses, **{name: lambda n, act=act: act(n + ahead) for name, act in acts.makes.items()}}
    times = {name: [] for name in (*acts.makes, *acts.uses)}
    order, chance = list(times), random.Random(1)
    for first in range(0, rounds * turn, turn):
        chance.shuffle(order)
        for name in order:
            os.sync()
            for number in range(first, first + turn):
                begin = time.perf_counter()
                all_acts[name](number)
                times[name].append((time.perf_counter() - begin) * 1e3)
    for close in acts.closes:
        close()
    return times


def report(times, base):
    print(f"{'milliseconds':38} {'median':>8} {'quartiles':>17} {'95 %':>8} {'most':>8}   to {base}")
    for name, all_times in times.items():
        low, middle, high = statistics.quantiles(all_times, n=4, method="inclusive")
        late, most = statistics.quantiles(all_times, n=20, method="inclusive")[-1], max(all_times)
        ratio = middle / statistics.median(times[base])
        print(f"{name:38} {middle:8.3f} {low:8.3f} {high:8.3f} {late:8.3f} {most:8.3f} {ratio:8.2f}x")
    print(flush=True)


def enter(home):
    """Leaves nothing of this machine's settings to the programs that are measured."""
    ours = {"HOME": home, "AGEKEEP_STORE": f"{home}/tool", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    path = os.environ["PATH"]
    os.environ.clear()
    os.environ.update(ours, PATH=path)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, most in {"size": 100, "rounds": 60, "turn": 10}.items():
        arguments.add_argument(f"--{name}", type=int, default=most)
    arguments.add_argument("--folder", default=peers.ROOT / "target")
    arguments.add_argument("--agekeep", default=peers.ROOT / "target/release/agekeep")
    given = arguments.parse_args()
    agekeep = os.path.abspath(given.agekeep)
    # What a turn views and edits was made before it.
    size, one_shots = max(given.size, given.turn), max(given.rounds // 2, 3)
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        enter(os.path.abspath(name))
        home = Path(os.environ["HOME"])
        print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
        print(*peers.versions(agekeep), sep=", ")
        print(f"{size} memories of {peers.TEXT_BYTES} bytes, {given.rounds} rounds, {given.turn} calls a turn\n")
        times = measure(peers.long_lived(agekeep, home), size, given.rounds, given.turn)
        print("one caller of what goes on: agekeep through a pipe, the peers in this process with none")
        report(times, peers.PLAIN)
        times = measure(peers.one_shot(agekeep, home), 1, one_shots, 1)
        print("one process for each act, or the shell's several")
        report(times, "agekeep create")


main()
