"""What `commands.py` has side by side: agekeep and its peers, each as a function that is given the number of a memory.

A peer that is not there is named loudly, and left out.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import which

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "packaging/python"))
TEXT_BYTES = 4096
LINES = "".join(f"{n:>4}: customer prefers short answers in the morning, always\n" for n in range(80))
PLAIN = "plain durable write"
EDIT = {"old_str": "   7: customer", "new_str": "   7: regular customer"}


def text(number):
    """As long as every other memory, and like no other: what is there already costs git nothing."""
    return (f"customer {number}\n" + LINES)[:TEXT_BYTES]


def path(number):
    return f"{number % 40}/{number}.md"


def missing(what, remedy):
    print(f"NOT MEASURED: {what}: {remedy}", flush=True)


def versions(agekeep):
    """Of the programs that are there; the Python packages are pinned in tests/peers/requirements.txt."""
    for program in filter(which, (agekeep, "git", "age", "restic")):
        asked = "version" if program == "restic" else "--version"
        said = subprocess.run([program, asked], capture_output=True, text=True).stdout
        yield f"{Path(program).name} {re.search(r'[0-9][^ ]*', said)[0].strip()}"


def run(*arguments, input="", **options):
    done = subprocess.run(arguments, input=input.encode(), capture_output=True, **options)
    assert done.returncode == 0, (arguments, done.stderr)


class Tool:
    """An `agekeep tool` process, asked one thing after the other."""

    def __init__(self, agekeep, store):
        run(agekeep, "--store", store, "init")
        self.child = subprocess.Popen([agekeep, "--store", store, "tool"], stdin=-1, stdout=-1)

    def call(self, input):
        self.child.stdin.write(json.dumps(input).encode() + b"\n")
        self.child.stdin.flush()
        assert b'"is_error":false' in self.child.stdout.readline()

    def close(self):
        self.child.communicate()


class Appended:
    """The least that is durable: bytes written over others, and one fdatasync."""

    def __init__(self, file):
        self.file = os.open(file, os.O_RDWR | os.O_CREAT)
        os.write(self.file, bytes(1 << 20))
        os.fsync(self.file)

    def create(self, number):
        os.pwrite(self.file, b"x" * 1500, 1500 * number % (1 << 19))
        os.fdatasync(self.file)


class Plain:
    """What any program has to do to keep a file: write, fsync, rename, fsync of the folder."""

    def __init__(self, folder):
        self.folder = folder
        for number in range(40):
            (folder / str(number)).mkdir(parents=True)

    def create(self, number):
        aside, place = self.folder / "aside", self.folder / path(number)
        file = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.write(file, text(number).encode())
        os.fsync(file)
        os.close(file)
        os.rename(aside, place)
        names = os.open(place.parent, os.O_RDONLY)
        os.fsync(names)
        os.close(names)


class Libgit2:
    """Commits with no encryption and no signature, in this process: blob, trees, commit, branch."""

    def __init__(self, folder, synced):
        import pygit2

        # Of objects and of the branch, whatever its name says.
        pygit2.init_repository(folder, bare=True).config["core.fsyncObjectFiles"] = synced
        self.git, self.repository, self.parents = pygit2, pygit2.Repository(folder), []
        self.root, self.folders = None, {}

    def write(self, base, name, id, mode):
        builder = self.repository.TreeBuilder(*base)
        builder.insert(name, id, mode)
        return builder.write()

    def create(self, number):
        git, (folder, name) = self.git, path(number).split("/")
        blob = self.repository.create_blob(text(number).encode())
        below = self.write(self.folders.get(folder, ()), name, blob, git.enums.FileMode.BLOB)
        self.folders[folder] = [self.repository[below]]
        root = self.write(self.root or (), folder, below, git.enums.FileMode.TREE)
        self.root = [self.repository[root]]
        author = git.Signature("o", "o@example.com")
        commit = self.repository.create_commit("refs/heads/main", author, author, "x", root, self.parents)
        self.parents = [commit]


class Acts:
    """What is measured, by name. Each is given a number: some make a memory, the others use one that was made."""

    def __init__(self):
        self.makes, self.uses, self.closes = {}, {}, []

    def memory_tool(self, name, call):
        """Three commands of a function that is given the model's input."""

        def act(command, fields=lambda number: {}):
            return lambda number: call({"command": command, "path": f"/memories/{path(number)}", **fields(number)})

        self.makes[f"{name}: create"] = act("create", lambda number: {"file_text": text(number)})
        self.uses[f"{name}: str_replace"] = act("str_replace", lambda number: EDIT)
        self.uses[f"{name}: view"] = act("view")


def long_lived(agekeep, home):
    """What goes on from one call to the next: processes with a pipe, or Python of this process."""
    acts, remedy = Acts(), "run tests/peers/install, then this by target/peers/python/bin/python"
    acts.makes["append and fdatasync"] = Appended(home / "appended").create
    acts.makes[PLAIN] = Plain(home / "plain").create
    tool = Tool(agekeep, home / "tool")
    acts.memory_tool("agekeep tool", tool.call)
    acts.closes.append(tool.close)
    try:
        from agekeep import AgekeepMemory
        from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

        run(agekeep, "--store", home / "adapter", "init")
        adapter = AgekeepMemory(store=home / "adapter", command=[agekeep, "tool"])
        acts.memory_tool("agekeep's Python adapter", adapter.call)
        acts.closes.append(adapter.close)
        acts.memory_tool("the SDK's files", BetaLocalFilesystemMemoryTool(str(home / "sdk")).call)
    except ImportError as error:
        missing("the Python SDK's local-filesystem tool", f"{error}; {remedy}")
    try:
        for name, synced in {"libgit2 commit, fsync on": True, "libgit2 commit, fsync off": False}.items():
            acts.makes[name] = Libgit2(str(home / name), synced).create
    except ImportError as error:
        missing("libgit2", f"{error}; {remedy}")
    return acts


def one_shot(agekeep, home):
    """One process, or the shell's few, for each act."""
    acts = Acts()
    acts.makes["agekeep create"] = lambda n: run(agekeep, "create", f"/memories/shot/{n}.md", input=text(n))
    acts.uses["agekeep view"] = lambda n: run(agekeep, "view", f"/memories/shot/{n}.md")
    acts.uses["agekeep --version"] = lambda n: run(agekeep, "--version")
    acts.uses["true: what starting a process costs"] = lambda n: run("true")
    if all(map(which, ("age", "git", "ssh-keygen"))):
        signs = "-c gpg.format=ssh -c user.signingkey=signer -c commit.gpgsign=true"
        synced = "-c core.fsync=committed"
        shell(acts, home / "shell", "age | git add | git commit", "")
        shell(acts, home / "shell-synced", "the same, fsync", synced)
        shell(acts, home / "shell-signed", "the same, fsync, signed", f"{synced} {signs}")
        view = "git show HEAD:{}.age | age -d -i key"
        acts.uses["git show | age -d"] = lambda n: run("sh", "-c", view.format(n), cwd=home / "shell")
    else:
        missing("the shell's pipeline", "install age, git and ssh-keygen")
    if which("restic"):
        os.environ |= {"RESTIC_REPOSITORY": str(home / "restic"), "RESTIC_PASSWORD": "of no worth"}
        run("restic", "init")
        # From a pipe, as the others have it.
        backup = ["restic", "backup", "--quiet", "--stdin", "--stdin-filename"]
        acts.makes["restic backup"] = lambda n: run(*backup, f"{n}.md", input=text(n))
    else:
        missing("restic backup", "restic is not installed")
    return acts


def shell(acts, folder, name, settings):
    """The shell's way of keeping an encrypted history."""
    folder.mkdir()
    keys = "age-keygen -o key && age-keygen -y key > recipients && ssh-keygen -qt ed25519 -N '' -f signer"
    run("sh", "-c", f"git init -q . && {keys}", cwd=folder)
    git = f"git -c user.name=o -c user.email=o {settings}"
    script = "age -R recipients > {0}.age && {1} add {0}.age && {1} commit -qm x"
    acts.makes[name] = lambda n: run("sh", "-c", script.format(n, git), input=text(n), cwd=folder)
