"""Puts a journal in the place of a store's, with one record that names a folder of keys.

Written from docs/format.md, 7: python3 journal.py STORE NAME
"""
import hashlib
import os
import struct
import subprocess
import sys

store, name = sys.argv[1], sys.argv[2].encode()
git = ["git", "--git-dir", store, "rev-parse", "refs/heads/main"]
head = bytes.fromhex(subprocess.check_output(git, text=True).strip())
salt = os.urandom(16)

header = b"agekeep-journal1" + salt + head + bytes(36) + bytes(8)
header += hashlib.sha256(header).digest()

payload = head + head + struct.pack("<I", 0)
payload += struct.pack("<IBII", 1, 2, 0, len(name)) + name
place = struct.pack("<Q", len(header))
record = struct.pack("<I", len(payload)) + hashlib.sha256(salt + place + payload).digest() + payload

with open(os.path.join(store, "journal"), "wb") as journal:
    journal.write(header + record + bytes(262144 - len(header) - len(record)))
