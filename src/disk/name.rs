//! The names of files and folders in a store: a grammar, so that no byte of a file becomes a path.
//!
//! docs/format.md lists the names in section 1, and the size limits in section 9.

use std::borrow::Cow;
use std::path::Path;

use crate::id::{ObjectId, hex, hex_bytes};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Most entries of `ring`, and of `names`.
pub(crate) const KEY_ENTRIES_MAX: u32 = 1 << 24;
/// Most objects in the index of a pack.
pub(crate) const PACK_OBJECTS_MAX: u32 = 1 << 25;
/// Largest journal, in bytes.
pub(crate) const JOURNAL_BYTES_MAX: u64 = GIB;

/// Prefix of a temporary file. Stock git deletes stale files with such names in its object folders.
const ASIDE: &str = "tmp_agekeep_";
/// Prefix of a folder in which a store or an auditor's kit is being made.
const BUILDING: &str = ".agekeep-init-";
/// Prefix of a folder in which a keyring is being prepared.
const NEXT: &str = "next-";

/// The name of a file or folder below a folder of the store, with its size limit.
///
/// It cannot be made from arbitrary text, only from the names in the format. Only a few constants
/// contain a slash, never a name that was read.
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
    /// The file that the branch is exchanged with: the branch one record before. Nothing reads it.
    pub(crate) const BRANCH_BEFORE: Self = file("main.before", 4 * KIB);
    pub(crate) const PACKED_REFS: Self = file("packed-refs", 16 * MIB);
    pub(crate) const JOURNAL: Self = file("journal", JOURNAL_BYTES_MAX);
    pub(crate) const JOURNAL_NEW: Self = file("journal.new", JOURNAL_BYTES_MAX);
    pub(crate) const CATALOG: Self = file("catalog", 16 * GIB);
    pub(crate) const TIMELINE: Self = file("timeline", 4 * GIB);
    pub(crate) const AUDITORS_CATALOG: Self = file("catalog.audit", 16 * GIB);
    pub(crate) const AUDITORS_TIMELINE: Self = file("timeline.audit", 4 * GIB);
    pub(crate) const LOCK: Self = file("lock", 4 * KIB);
    /// Settings of this machine, which no copy of the store gets.
    pub(crate) const LOCAL: Self = file("local.toml", 16 * MIB);
    pub(crate) const GRAFTS: Self = file("info/grafts", 0);
    pub(crate) const SHALLOW: Self = file("shallow", 0);
    pub(crate) const HOOKS: Self = folder("hooks");
    pub(crate) const KEYRING: Self = folder("keyring");
    /// In its place: the path of a folder elsewhere.
    pub(crate) const KEYRING_PLACE: Self = file("keyring", 8 * KIB);
    /// What a move of the keyring makes, and then exchanges with one of these.
    pub(crate) const KEYRING_MOVING: Self = file("keyring.moving", 8 * KIB);
    pub(crate) const OBJECTS: Self = folder("objects");
    pub(crate) const REFS: Self = folder("refs");
    pub(crate) const HEADS: Self = folder("refs/heads");
    pub(crate) const TAGS: Self = folder("refs/tags");
    pub(crate) const OBJECTS_INFO: Self = folder("objects/info");
    pub(crate) const OBJECTS_PACK: Self = folder("objects/pack");

    // In an auditor's kit.
    pub(crate) const KIT_STORE: Self = folder("store");
    pub(crate) const KIT_README: Self = file("README.md", 64 * KIB);
    pub(crate) const KIT_CHECKPOINT: Self = file("checkpoint", 128 * KIB);

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
    pub(crate) const MAILBOX: Self = file("mailbox.age", 64 * KIB);

    // In a keyring that is being prepared.
    pub(crate) const FOR: Self = file("for", 4 * KIB);
    pub(crate) const RESEALED: Self = file("resealed", KEY_ENTRIES_MAX as u64 * 202);

    /// Returns the loose file of an object, in `objects`: two digits, a slash, and thirty-eight.
    pub(crate) fn object(id: ObjectId) -> Self {
        let digits = hex(&id.0);
        let text = format!("{}/{}", &digits[..2], &digits[2..]);
        named(text, 256 * MIB + MIB)
    }

    /// Returns the fan-out folder of the objects whose names begin with this byte, in `objects`.
    pub(crate) fn fan(first: u8) -> Self {
        named(hex(&[first]), 0)
    }

    /// Returns the folder of a keyring that is being prepared, in the keyring.
    pub(crate) fn next(id: StagedKeyringId) -> Self {
        named(format!("{NEXT}{id}"), 0)
    }

    /// Returns the file name of a chosen path outside the store, which may be any name. `None` if
    /// the path has none.
    pub(super) fn chosen(path: &Path) -> Option<Self> {
        let text = path.file_name()?.to_str()?;
        Some(named(text.to_owned(), u64::MAX))
    }

    /// Returns a new name for a temporary file.
    pub(crate) fn new_temporary() -> Self {
        named(format!("{ASIDE}{}", new_digits()), u64::MAX)
    }

    /// Parses the name of a temporary file, which a killed process may have left.
    pub(crate) fn temporary(found: &str) -> Option<Self> {
        prefixed(found, ASIDE)
    }

    /// Returns a new name for a folder in which a store or an auditor's kit is made.
    pub(crate) fn new_building() -> Self {
        named(format!("{BUILDING}{}", new_digits()), 0)
    }

    /// Parses the name of a folder in which a store or an auditor's kit is or was made.
    pub(crate) fn building(found: &str) -> Option<Self> {
        prefixed(found, BUILDING)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the largest allowed length of the file, in bytes.
    pub(crate) fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// Splits the name into the folder, if it has one, and the last part.
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

/// Returns sixteen random digits.
fn new_digits() -> String {
    hex(&crate::id::random::<8>())
}

fn prefixed(found: &str, prefix: &str) -> Option<Name> {
    let digits: [u8; 8] = hex_bytes(found.strip_prefix(prefix)?)?;
    Some(named(format!("{prefix}{}", hex(&digits)), u64::MAX))
}

/// The id of a keyring that is being prepared: exactly 32 lowercase hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StagedKeyringId([u8; 16]);

impl StagedKeyringId {
    pub(crate) fn random() -> Self {
        Self(crate::id::random())
    }

    /// Parses the id in a key entry of the journal.
    pub(crate) fn parse(digits: &[u8]) -> Option<Self> {
        hex_bytes(std::str::from_utf8(digits).ok()?).map(Self)
    }

    /// Parses the id in a folder name of such a keyring.
    pub(crate) fn of_folder(found: &str) -> Option<Self> {
        Self::parse(found.strip_prefix(NEXT)?.as_bytes())
    }
}

impl std::fmt::Display for StagedKeyringId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// The id of a pack: 40 lowercase hexadecimal digits. Stock git names a pack after its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PackId(pub(crate) [u8; 20]);

impl PackId {
    /// The extensions of stock git's files beside a pack. The index comes first: without it a pack
    /// is ignored.
    pub(crate) const BESIDE: [&str; 5] = ["idx", "rev", "bitmap", "mtimes", "promisor"];

    /// Makes a new name. Stock git repacks without taking a lock, and removes the packs that
    /// existed when it began, by name: a pack made again under an old name would be removed too.
    pub(crate) fn random() -> Self {
        Self(crate::id::random())
    }

    pub(crate) fn pack(self) -> Name {
        self.file("pack", 1 << 40)
    }

    /// Returns the index. Its size limit counts header and fan-out, three or four numbers for each
    /// object, and two checksums.
    pub(crate) fn index(self) -> Name {
        self.file("idx", 1032 + u64::from(PACK_OBJECTS_MAX) * 36 + 40)
    }

    /// Returns the file whose existence protects the pack.
    pub(crate) fn keep(self) -> Name {
        self.file("keep", 64 * KIB)
    }

    /// Returns all possible files beside it, the index first.
    pub(crate) fn beside(self) -> impl Iterator<Item = Name> {
        Self::BESIDE
            .into_iter()
            .map(move |ending| self.file(ending, u64::MAX))
    }

    /// Parses the pack id in a file name with this extension.
    pub(crate) fn of_file(found: &str, ending: &str) -> Option<Self> {
        let digits = found.strip_suffix(ending)?.strip_suffix('.')?;
        hex_bytes(digits.strip_prefix("pack-")?).map(Self)
    }

    fn file(self, ending: &str, bytes_max: u64) -> Name {
        named(format!("pack-{}.{ending}", hex(&self.0)), bytes_max)
    }
}
