//! What files and folders of a store are called: a grammar, so that no byte of a file becomes a path.
//!
//! docs/format.md, section 1, gives the same names, and section 9 how long each file can be.

use std::borrow::Cow;
use std::path::Path;

use crate::id::ObjectId;
use crate::id::{hex, hex_bytes};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Most entries of `ring` and of `names`.
pub(crate) const KEY_ENTRIES_MAX: u32 = 1 << 24;
/// Most objects that the index of a pack names.
pub(crate) const PACK_OBJECTS_MAX: u32 = 1 << 25;
/// Most bytes of the journal.
pub(crate) const JOURNAL_BYTES_MAX: u64 = GIB;

/// Begins the name of a file that is not yet in its place. Stock git sweeps up such names in its
/// object folders.
const ASIDE: &str = "tmp_agekeep_";
/// Begins the name of a folder in which a store is made.
const BUILDING: &str = ".agekeep-init-";
/// Begins the name of a folder in which a keyring is made ready.
const NEXT: &str = "next-";

/// What a file or folder is called below a folder of the store, and how long the file can be.
///
/// There is no way to make one of any text: only of the names that the format has. A slash is in
/// the few that say so here, never in what was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    text: Cow<'static, str>,
    bytes_max: u64,
}

const fn file(text: &'static str, bytes_max: u64) -> Name {
    let text = Cow::Borrowed(text);
    Name { text, bytes_max }
}

const fn folder(text: &'static str) -> Name {
    file(text, 0)
}

impl Name {
    // In the store's folder.
    pub(crate) const HEAD: Self = file("HEAD", 4 * KIB);
    pub(crate) const CONFIG: Self = file("config", 64 * KIB);
    pub(crate) const BRANCH: Self = file("refs/heads/main", 4 * KIB);
    /// What the branch is exchanged with: where it pointed one record before. It means nothing.
    pub(crate) const BRANCH_BEFORE: Self = file("main.before", 4 * KIB);
    pub(crate) const PACKED_REFS: Self = file("packed-refs", 16 * MIB);
    pub(crate) const JOURNAL: Self = file("journal", JOURNAL_BYTES_MAX);
    pub(crate) const JOURNAL_NEW: Self = file("journal.new", JOURNAL_BYTES_MAX);
    pub(crate) const CATALOG: Self = file("catalog", 16 * GIB);
    pub(crate) const TIMELINE: Self = file("timeline", 4 * GIB);
    pub(crate) const AUDITORS_CATALOG: Self = file("catalog.audit", 16 * GIB);
    pub(crate) const AUDITORS_TIMELINE: Self = file("timeline.audit", 4 * GIB);
    pub(crate) const LOCK: Self = file("lock", 4 * KIB);
    pub(crate) const GRAFTS: Self = file("info/grafts", 0);
    pub(crate) const SHALLOW: Self = file("shallow", 0);
    pub(crate) const HOOKS: Self = folder("hooks");
    pub(crate) const KEYRING: Self = folder("keyring");
    pub(crate) const OBJECTS: Self = folder("objects");
    pub(crate) const REFS: Self = folder("refs");
    pub(crate) const HEADS: Self = folder("refs/heads");
    pub(crate) const TAGS: Self = folder("refs/tags");
    pub(crate) const OBJECTS_INFO: Self = folder("objects/info");
    pub(crate) const OBJECTS_PACK: Self = folder("objects/pack");

    // In `objects`.
    pub(crate) const PACKS: Self = folder("pack");
    pub(crate) const ALTERNATES: Self = file("info/alternates", 0);
    pub(crate) const HTTP_ALTERNATES: Self = file("info/http-alternates", 0);

    // In `objects/pack`.
    pub(crate) const INDEX_OF_ALL: Self = file("multi-pack-index", u64::MAX);

    // In the keyring.
    pub(crate) const EPOCH: Self = file("epoch.age", 4 * MIB);
    pub(crate) const AUDIT: Self = file("audit.age", 4 * MIB);
    pub(crate) const RING: Self = file("ring", 128 + KEY_ENTRIES_MAX as u64 * 130);
    pub(crate) const NAMES: Self = file("names", 128 + KEY_ENTRIES_MAX as u64 * 88);

    // In a keyring that is made ready.
    pub(crate) const FOR: Self = file("for", 4 * KIB);
    pub(crate) const RESEALED: Self = file("resealed", KEY_ENTRIES_MAX as u64 * 202);

    /// The loose file of an object, in `objects`: two digits, a slash, and thirty-eight.
    pub(crate) fn object(id: ObjectId) -> Self {
        let digits = hex(&id.0);
        let text = format!("{}/{}", &digits[..2], &digits[2..]);
        named(text, 256 * MIB + MIB)
    }

    /// The folder of the objects whose names begin with this byte, in `objects`.
    pub(crate) fn fan(first: u8) -> Self {
        named(hex(&[first]), 0)
    }

    /// The folder of a keyring that is made ready, in the keyring.
    pub(crate) fn next(id: NextId) -> Self {
        named(format!("{NEXT}{id}"), 0)
    }

    /// The file at a path outside the store that a person or the program chose: it may be called
    /// anything. `None` if the path names none.
    pub(super) fn chosen(path: &Path) -> Option<Self> {
        let text = path.file_name()?.to_str()?;
        Some(named(text.to_owned(), u64::MAX))
    }

    /// A new name for what is not yet in its place.
    pub(crate) fn new_aside() -> Self {
        named(format!("{ASIDE}{}", new_digits()), u64::MAX)
    }

    /// The name of what a process that was killed left aside, if it is one.
    pub(crate) fn aside(found: &str) -> Option<Self> {
        prefixed(found, ASIDE)
    }

    /// A new name for a folder in which a store is made.
    pub(crate) fn new_building() -> Self {
        named(format!("{BUILDING}{}", new_digits()), 0)
    }

    /// The name of a folder in which a store is or was made, if it is one.
    pub(crate) fn building(found: &str) -> Option<Self> {
        prefixed(found, BUILDING)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Most bytes that the file can have.
    pub(crate) fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// The folder that it is in, where it says one, and what it is called there.
    pub(super) fn split(&self) -> (Option<&str>, &str) {
        match self.text.rsplit_once('/') {
            Some((above, last)) => (Some(above), last),
            None => (None, &self.text),
        }
    }
}

fn named(text: String, bytes_max: u64) -> Name {
    let text = Cow::Owned(text);
    Name { text, bytes_max }
}

/// Sixteen digits that nobody has used.
fn new_digits() -> String {
    hex(&crate::id::random::<8>())
}

fn prefixed(found: &str, prefix: &str) -> Option<Name> {
    let digits: [u8; 8] = hex_bytes(found.strip_prefix(prefix)?)?;
    Some(named(format!("{prefix}{}", hex(&digits)), u64::MAX))
}

/// The id of a keyring that is made ready: 32 lowercase hexadecimal digits, and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NextId([u8; 16]);

impl NextId {
    pub(crate) fn random() -> Self {
        Self(crate::id::random())
    }

    /// The id that a key entry of the journal names; `None` if it is none.
    pub(crate) fn parse(digits: &[u8]) -> Option<Self> {
        hex_bytes(std::str::from_utf8(digits).ok()?).map(Self)
    }

    /// The id in the name of a folder, if it is the name of such a keyring.
    pub(crate) fn of_folder(found: &str) -> Option<Self> {
        Self::parse(found.strip_prefix(NEXT)?.as_bytes())
    }
}

impl std::fmt::Display for NextId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// A pack: 40 lowercase hexadecimal digits. Stock git names a pack after its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PackId(pub(crate) [u8; 20]);

impl PackId {
    /// What stock git keeps beside a pack. The index comes first: without it a pack is not looked at.
    pub(crate) const BESIDE: [&str; 5] = ["idx", "rev", "bitmap", "mtimes", "promisor"];

    /// A name that no pack had before. Stock git, which repacks without asking for a lock, removes
    /// the packs that were there when it began, by their names: one that was made again under its
    /// old name would go with them.
    pub(crate) fn random() -> Self {
        Self(crate::id::random())
    }

    pub(crate) fn pack(self) -> Name {
        self.file("pack", 1 << 40)
    }

    /// The index: header and fan-out, three or four numbers for each object, two checksums.
    pub(crate) fn index(self) -> Name {
        self.file("idx", 1032 + u64::from(PACK_OBJECTS_MAX) * 36 + 40)
    }

    /// Whose being there says that the pack is to stay.
    pub(crate) fn keep(self) -> Name {
        self.file("keep", 64 * KIB)
    }

    /// Everything that can be beside it, the index first.
    pub(crate) fn beside(self) -> impl Iterator<Item = Name> {
        Self::BESIDE
            .into_iter()
            .map(move |ending| self.file(ending, u64::MAX))
    }

    /// The pack of which a file has this ending, if it is one.
    pub(crate) fn of_file(found: &str, ending: &str) -> Option<Self> {
        let digits = found.strip_suffix(ending)?.strip_suffix('.')?;
        hex_bytes(digits.strip_prefix("pack-")?).map(Self)
    }

    fn file(self, ending: &str, bytes_max: u64) -> Name {
        named(format!("pack-{}.{ending}", hex(&self.0)), bytes_max)
    }
}
