//! The pin: a file outside the store that remembers which store this user has seen at a place, and
//! its newest moment.
//!
//! Anyone with write access to a store's folder can replace the store by another one or by an older
//! copy of itself, and all signatures in that copy are valid. So agekeep keeps the pin elsewhere.
//! The file has two slots, so that a torn write leaves the other slot intact. A slot is written once
//! the commit it names is durable in the store, and written again until it is durable itself; then
//! comes the other slot. The file is written in full when created, so that no later write changes its
//! metadata.

mod place;

use std::io;
use std::path::{Path, PathBuf};

use crate::crypto::digest::Digest;
use crate::disk::{self, File, FileExt, Unsynced};
use crate::error::{Error, Result};
use crate::event::Moment;
use crate::id::{ObjectId, StoreId};

pub(crate) use self::place::{FirstUseRecord, KnownCopy, Place};

const MAGIC: &[u8; 16] = b"agekeep-pin-0002";
/// The magic of the previous format, which identified a store by its id alone.
const MAGIC_BEFORE: &[u8; 16] = b"agekeep-pin-0001";
/// Offset of the format version within the magic.
const VERSION_AT: usize = 13;
/// Offsets of the slots, far enough apart that no disk tears both in a single write.
const SLOTS_AT: [u64; 2] = [0, 4096];
const SLOT_BYTES: usize = 188;
const SLOT_BYTES_BEFORE: usize = 136;
const SUM_BYTES: usize = 32;
const FILE_BYTES: usize = 8192;
/// The mark of a slot in use; other values are free for later formats.
const SEEN: u32 = 2;

/// The identity of a store: its id and its first commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) store: StoreId,
    /// The first commit.
    pub(crate) commit: ObjectId,
    /// SHA-256 of the first commit object.
    pub(crate) digest: Digest,
}

/// A moment of history, with the digest that makes it unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SeenMoment {
    pub(crate) moment: Moment,
    /// SHA-256 of the commit object.
    pub(crate) digest: Digest,
}

/// The contents of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slot {
    /// Counter of writes; the slot with the larger value is the newer.
    turn: u64,
    origin: Origin,
    seen: SeenMoment,
}

/// A pin that was read from its file and can be written. Used only with the store's lock held.
pub(crate) struct Pin {
    path: PathBuf,
    file: File,
    /// The error number of the operating system if the file could be opened only for reading.
    read_only: Option<i32>,
    slots: [Option<Slot>; 2],
}

impl Pin {
    /// Reads a pin; `None` if the file does not exist.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>> {
        let writable = disk::open_plain(path, true);
        let read_only = writable.as_ref().err().and_then(io::Error::raw_os_error);
        let file = match writable.or_else(|_| disk::open_plain(path, false)) {
            Ok(file) => file,
            Err(error) => return not_read(path, error),
        };
        let slots = [read_slot(path, &file, 0)?, read_slot(path, &file, 1)?];
        if slots == [None, None] {
            return Err(bad(path, "neither half of it is whole"));
        }
        Ok(Some(Self {
            path: path.to_owned(),
            file,
            read_only,
            slots,
        }))
    }

    /// Durably writes the first moment seen to both slots, so that either may be torn later. The
    /// folder must exist.
    pub(crate) fn create(path: &Path, origin: Origin, seen: SeenMoment) -> Result<Self> {
        let mut bytes = vec![0; FILE_BYTES];
        for (at, turn) in [(0, 1), (4096, 2)] {
            let slot = Slot { turn, origin, seen };
            bytes[at..at + SLOT_BYTES].copy_from_slice(&encode(&slot));
        }
        disk::replace_durably(path, &bytes, 0o600)?;
        Self::read(path)?.ok_or_else(|| Error::io("read", path)(io::ErrorKind::NotFound.into()))
    }

    /// Returns the identity of the store that was seen.
    pub(crate) fn origin(&self) -> Origin {
        self.newest().1.origin
    }

    /// Returns the newest moment that was seen.
    pub(crate) fn seen(&self) -> SeenMoment {
        self.newest().1.seen
    }

    /// Returns the newer intact slot with its index.
    fn newest(&self) -> (usize, Slot) {
        let slots = self.slots.iter().enumerate();
        let whole = slots.filter_map(|(at, slot)| Some((at, (*slot)?)));
        let newest = whole.max_by_key(|(_, slot)| slot.turn);
        newest.expect("one was whole when it was read")
    }

    /// Checks that the file can be written, as far as that is known before writing.
    pub(crate) fn check_writable(&self) -> Result<()> {
        match self.read_only {
            None => Ok(()),
            Some(refused) => {
                let source = io::Error::from_raw_os_error(refused);
                Err(Error::io("write", &self.path)(source))
            }
        }
    }

    /// Overwrites the older slot, or the newer one if that is not `durable` yet: then the older one
    /// is. Not yet durable.
    pub(crate) fn write(&mut self, origin: Origin, seen: SeenMoment, durable: bool) -> Result<()> {
        self.check_writable()?;
        let (newest, before) = self.newest();
        let index = if durable { 1 - newest } else { newest };
        let turn = before.turn.saturating_add(1);
        let slot = Slot { turn, origin, seen };
        self.file
            .write_all_at(&encode(&slot), SLOTS_AT[index])
            .map_err(Error::io("write", &self.path))?;
        self.slots[index] = Some(slot);
        Ok(())
    }

    /// Makes the last write durable.
    pub(crate) fn sync(&self) -> Result<()> {
        self.unsynced()?.sync()
    }

    /// Returns a handle with which another thread makes the last write durable.
    pub(crate) fn unsynced(&self) -> Result<Unsynced> {
        let file = self.file.try_clone();
        Ok(Unsynced {
            file: file.map_err(Error::io("write", &self.path))?,
            path: self.path.clone(),
        })
    }
}

/// Reads the newest moment from a file of the previous format; `None` if it does not exist.
fn read_before(path: &Path, store: StoreId) -> Result<Option<SeenMoment>> {
    let file = match disk::open_plain(path, false) {
        Ok(file) => file,
        Err(error) => return not_read(path, error),
    };
    let mut newest: Option<(u64, SeenMoment)> = None;
    for at in SLOTS_AT {
        let Some(bytes) = read_bytes::<SLOT_BYTES_BEFORE>(path, &file, at)? else {
            continue;
        };
        if !is_whole(&bytes) {
            continue;
        }
        let (magic, found, turn, seen) = common(&bytes);
        if magic != *MAGIC_BEFORE || found != store {
            return Err(bad(path, "it is not a pin of this store"));
        }
        if newest.is_none_or(|(before, _)| before < turn) {
            newest = Some((turn, seen.ok_or_else(|| bad(path, "it is not a pin"))?));
        }
    }
    let newest = newest.ok_or_else(|| bad(path, "neither half of it is whole"))?;
    Ok(Some(newest.1))
}

/// Reads a slot. A torn slot is `None`; an intact slot that does not parse is an error, because
/// only somebody else can have written it.
fn read_slot(path: &Path, file: &File, index: usize) -> Result<Option<Slot>> {
    let bytes = read_bytes::<SLOT_BYTES>(path, file, SLOTS_AT[index])?;
    let Some(bytes) = bytes.filter(|bytes| is_whole(bytes)) else {
        return Ok(None);
    };
    let magic: [u8; 16] = bytes[..16].try_into().expect("16 bytes");
    if magic[..VERSION_AT] == MAGIC[..VERSION_AT] && magic != *MAGIC {
        return Err(Error::UnknownFormat {
            what: path.display().to_string(),
            found: String::from_utf8_lossy(&magic[VERSION_AT..]).into_owned(),
        });
    }
    decode(&bytes)
        .map(Some)
        .ok_or_else(|| bad(path, "it is not a pin"))
}

/// Reads `N` bytes of the file; `None` if it ends before.
fn read_bytes<const N: usize>(path: &Path, file: &File, at: u64) -> Result<Option<[u8; N]>> {
    let mut bytes = [0; N];
    match file.read_exact_at(&mut bytes, at) {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        read => read.map(|()| Some(bytes)).map_err(Error::io("read", path)),
    }
}

/// Maps a read error: a missing file is `None`; anything other than a plain file is an error,
/// because somebody else put it there.
fn not_read<T>(path: &Path, error: io::Error) -> Result<Option<T>> {
    match error.kind() {
        io::ErrorKind::NotFound => Ok(None),
        io::ErrorKind::InvalidData => Err(bad(path, &error.to_string())),
        _ => Err(Error::io("read", path)(error)),
    }
}

fn bad(path: &Path, why: &str) -> Error {
    Error::BadPin {
        path: path.to_owned(),
        why: why.to_owned(),
    }
}

fn encode(slot: &Slot) -> [u8; SLOT_BYTES] {
    let mut bytes = [0; SLOT_BYTES];
    bytes[..16].copy_from_slice(MAGIC);
    bytes[16..32].copy_from_slice(&slot.origin.store.0);
    bytes[32..40].copy_from_slice(&slot.turn.to_le_bytes());
    bytes[40..48].copy_from_slice(&slot.seen.moment.event.to_le_bytes());
    bytes[48..68].copy_from_slice(&slot.seen.moment.commit.0);
    bytes[68..100].copy_from_slice(&slot.seen.digest.0);
    bytes[100..104].copy_from_slice(&SEEN.to_le_bytes());
    bytes[104..124].copy_from_slice(&slot.origin.commit.0);
    bytes[124..156].copy_from_slice(&slot.origin.digest.0);
    let sum = Digest::of(&bytes[..156]).0;
    bytes[156..].copy_from_slice(&sum);
    bytes
}

/// Tells whether the checksum at the end matches.
fn is_whole(bytes: &[u8]) -> bool {
    let (said, sum) = bytes.split_at(bytes.len() - SUM_BYTES);
    *sum == Digest::of(said).0
}

/// Decodes an intact slot; `None` if the format or the mark is unknown.
fn decode(bytes: &[u8; SLOT_BYTES]) -> Option<Slot> {
    let (magic, store, turn, seen) = common(bytes);
    let origin = Origin {
        store,
        commit: ObjectId(bytes[104..124].try_into().expect("20 bytes")),
        digest: Digest(bytes[124..156].try_into().expect("32 bytes")),
    };
    let seen = seen.filter(|_| magic == *MAGIC)?;
    Some(Slot { turn, origin, seen })
}

/// Decodes the fields at the same offsets in both formats: magic, store, turn and the moment seen.
/// The moment is `None` if the mark is unknown.
fn common(bytes: &[u8]) -> ([u8; 16], StoreId, u64, Option<SeenMoment>) {
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    let moment = Moment {
        event: number(40),
        commit: ObjectId(bytes[48..68].try_into().expect("20 bytes")),
    };
    let digest = Digest(bytes[68..100].try_into().expect("32 bytes"));
    let mark = u32::from_le_bytes(bytes[100..104].try_into().expect("4 bytes"));
    let magic = bytes[..16].try_into().expect("16 bytes");
    let store = StoreId(bytes[16..32].try_into().expect("16 bytes"));
    let seen = (mark == SEEN).then_some(SeenMoment { moment, digest });
    (magic, store, number(32), seen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seen(event: u64) -> SeenMoment {
        let byte = u8::try_from(event).expect("small");
        SeenMoment {
            moment: Moment {
                event,
                commit: ObjectId([byte; 20]),
            },
            digest: Digest([byte; 32]),
        }
    }

    fn origin() -> Origin {
        Origin {
            store: StoreId([7; 16]),
            commit: ObjectId([8; 20]),
            digest: Digest([9; 32]),
        }
    }

    /// Returns a pin that saw event 1 and then event 2.
    fn pinned() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("pin");
        let mut pin = Pin::create(&path, origin(), seen(1)).expect("makes");
        pin.write(origin(), seen(2), true).expect("writes");
        (folder, path)
    }

    fn events(path: &Path) -> Result<Vec<u64>> {
        let pin = Pin::read(path)?.expect("there");
        let mut slots: Vec<Slot> = pin.slots.into_iter().flatten().collect();
        slots.sort_by_key(|slot| std::cmp::Reverse(slot.turn));
        let events = slots.iter().map(|slot| slot.seen.moment.event);
        Ok(events.collect())
    }

    #[test]
    fn a_half_that_is_torn_leaves_the_other() {
        let (_folder, path) = pinned();
        assert_eq!(events(&path).expect("reads"), [2, 1]);
        let bytes = std::fs::read(&path).expect("reads");
        assert_eq!(bytes.len(), FILE_BYTES);
        for byte in 0..SLOT_BYTES {
            for (at, left) in [(0, 1), (4096, 2)] {
                let mut torn = bytes.clone();
                torn[at + byte] ^= 0x40;
                std::fs::write(&path, &torn).expect("writes");
                assert_eq!(events(&path).expect("reads"), [left], "byte {}", at + byte);
            }
            let mut torn = bytes.clone();
            torn[byte] ^= 1;
            torn[4096 + byte] ^= 1;
            std::fs::write(&path, &torn).expect("writes");
            assert!(matches!(events(&path), Err(Error::BadPin { .. })), "{byte}");
        }
    }

    #[test]
    fn what_is_cut_is_torn_and_nothing_at_all_is_bad() {
        let (_folder, path) = pinned();
        let bytes = std::fs::read(&path).expect("reads");
        for (length, left) in [
            (4096 + SLOT_BYTES, 2),
            (4096 + SLOT_BYTES - 1, 1),
            (SLOT_BYTES, 1),
        ] {
            std::fs::write(&path, &bytes[..length]).expect("writes");
            assert_eq!(events(&path).expect("reads").len(), left, "{length}");
        }
        for length in [0, 1, SLOT_BYTES - 1] {
            std::fs::write(&path, &bytes[..length]).expect("writes");
            assert!(
                matches!(events(&path), Err(Error::BadPin { .. })),
                "{length}"
            );
        }
        std::fs::remove_file(&path).expect("there");
        assert!(Pin::read(&path).expect("reads").is_none());
    }

    #[test]
    fn another_format_s_or_program_s_file_is_refused() {
        let (_folder, path) = pinned();
        let whole = std::fs::read(&path).expect("reads");
        let with = |at: usize, byte: u8| {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            let sum = Digest::of(&bytes[..156]).0;
            bytes[156..SLOT_BYTES].copy_from_slice(&sum);
            std::fs::write(&path, bytes).expect("writes");
            events(&path)
        };
        assert!(
            matches!(with(15, b'3'), Err(Error::UnknownFormat { found, .. }) if found == "003")
        );
        // Another magic, and unknown marks.
        for (at, byte) in [(0, b'b'), (100, 1), (100, 3), (103, 1)] {
            assert!(matches!(with(at, byte), Err(Error::BadPin { .. })), "{at}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..9000)) {
            let (_folder, path) = pinned();
            std::fs::write(&path, bytes).expect("writes");
            let refused = matches!(Pin::read(&path), Err(Error::BadPin { .. }));
            prop_assert!(refused);
        }

        #[test]
        fn a_slot_reads_back(
            turn: u64, event: u64, commit: [u8; 20], digest: [u8; 32], store: [u8; 16],
        ) {
            let moment = Moment { event, commit: ObjectId(commit) };
            let slot = Slot {
                turn,
                origin: Origin { store: StoreId(store), commit: ObjectId(commit), digest: Digest(digest) },
                seen: SeenMoment { moment, digest: Digest(digest) },
            };
            let bytes = encode(&slot);
            prop_assert!(is_whole(&bytes));
            prop_assert_eq!(decode(&bytes), Some(slot));
        }
    }
}
