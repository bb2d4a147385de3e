# What the proofs in scenario.toml are written with: stock git, age and python3 on the store $S,
# with the identity $ID, the public keys in $KEYS, and $T for what is needed on the way.
# $E0 … $E30 are the commits of the base; $PLAN, $HANDOVER, $SCRATCH, $ANA ids of its memories,
# $PLAN_BLOB, $HANDOVER_BLOB, $PLAN_FIRST blobs.

g() { git --git-dir "$S" "$@"; }
not() { if "$@"; then return 1; fi; }
on_top() { test "$(g rev-parse main~1)" = "$E30"; }

# The record of a commit.
record() {
    age -d -i "$ID" "$S/keyring/audit.age" > "$T/audit.json"
    python3 -c 'import json, sys; print("\n".join(json.load(sys.stdin)["identities"]))' \
        < "$T/audit.json" > "$T/audit.key"
    g log -1 --format=%B "$1" | sed -n '/^-----BEGIN AGE/,/^-----END AGE/p' |
        age -d -i "$T/audit.key" 2> "$T/why"
}

# Whether the record `r` of a commit is as the expression says; `t` is what it touches.
says() {
    record "$1" > "$T/record" || return 1
    python3 -c 'import json, sys
r = json.load(open(sys.argv[1])); t = r.get("memories", [])
sys.exit(not eval(sys.argv[2]))' "$T/record" "$2"
}

# The signature of a commit, and whether it is right and by the holder of a key.
gpgsig() { g cat-file commit "$1" | sed -n '/^gpgsig /,/END SSH/p'; }
signed_by() {
    echo "x namespaces=\"git\" $(cat "$KEYS/$1.pub")" > "$T/allowed"
    g -c gpg.ssh.allowedSignersFile="$T/allowed" verify-commit "$2" 2> "$T/why"
}

# SHA-256 of a commit object, and what the Chain trailer of a commit says.
digest() { g cat-file commit "$1" | sha256sum | cut -d' ' -f1; }
chain() { g log -1 --format=%B "$1" | sed -n 's/^Chain: \(sha256:\)\{0,1\}//p'; }
named() { g log -1 --format=%B "$1" | sed -n 's/^Memory: //p'; }

# The blob at the place of a memory, or nothing; the plaintext of a blob under a memory's key.
blob_at() { g rev-parse -q --verify "$1:$(echo "$2" | cut -c1-2)/$2" || true; }
key_of() {
    age -d -i "$ID" "$S/keyring/epoch.age" > "$T/epoch.json"
    python3 "$T/ring.py" "$T/epoch.json" "$S/keyring/ring" "$1"
}
opens() {
    key_of "$1" > "$T/memory.key"
    g cat-file blob "$2" > "$T/blob"
    age -d -i "$T/memory.key" "$T/blob" 2> "$T/why" > "$T/plain"
}
header() { opens "$1" "$2" && head -1 "$T/plain"; }

# The entry of a memory in a table, in hexadecimal digits.
entry() {
    python3 -c 'import sys
table, size, want = open(sys.argv[1], "rb").read(), int(sys.argv[2]), sys.argv[3]
for at in range(64, len(table), size):
    if table[at:at + 16].hex() == want: print(table[at:at + size].hex())' \
        "$S/keyring/$1" "$(test "$1" = ring && echo 130 || echo 88)" "$2"
}

# The file of an object, and what git says of the object (hash and form).
file_of() { echo "$S/objects/$(echo "$1" | cut -c1-2)/$(echo "$1" | cut -c3-)"; }
whole() { test "$(g cat-file "$1" "$2" 2> "$T/why" | g hash-object -t "$1" --stdin --literally)" = "$2"; }
kept() { g cat-file -e "$1" 2> "$T/why"; }

# The head that the journal says, and for each record whether its checksum is right.
journal() {
    python3 -c 'import hashlib, struct, sys
j = open(sys.argv[1], "rb").read(); at = 128
if hashlib.sha256(j[:96]).digest() != j[96:128]: sys.exit("header")
said, head = [], j[32:52]
while at + 36 < len(j) and (n := struct.unpack_from("<I", j, at)[0]):
    body = j[at + 36:at + 36 + n]
    good = hashlib.sha256(j[16:32] + struct.pack("<Q", at) + body).digest() == j[at + 4:at + 36]
    said.append("right" if good else "wrong"); head = body[20:40]; at += 36 + n
print(head.hex() if sys.argv[2] == "head" else " ".join(said))' "$S/journal" "$1"
}
