//! The pin: the newest moment that was seen of a store, in a file outside it.
//!
//! Whoever can write to a store's folder can put an older copy of it in its place, and every
//! signature in that is right. So what was seen is kept elsewhere. The file has two slots, written
//! in turn: a write that is torn leaves the other one. A slot is written once what it names is
//! durable in the store, and is durable itself before the next command is recorded. The file is
//! written whole when it is made, so that no later write changes its metadata.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::digest::Digest;
use crate::disk::{self, Unsynced};
use crate::error::{Error, Result};
use crate::event::Moment;
use crate::id::StoreId;
use crate::repository::object::ObjectId;

const MAGIC: &[u8; 16] = b"agekeep-pin-0001";
/// Where the format version begins in the magic.
const VERSION_AT: usize = 13;
/// Where each slot begins: far enough apart for no disk to tear both in one write.
const SLOTS_AT: [u64; 2] = [0, 4096];
const SLOT_BYTES: usize = 136;
const FILE_BYTES: usize = 8192;
/// The mark of a slot, which leaves room for others.
const SEEN: u32 = 2;

/// A moment of history, with what makes it unmistakable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) moment: Moment,
    /// SHA-256 of the commit object.
    pub(crate) digest: Digest,
}

/// What one half of the file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    /// One more with each write: the larger one is the newer.
    turn: u64,
    pub(crate) seen: Seen,
}

/// Where the pin of a store is kept.
pub(crate) struct PinPlace {
    path: PathBuf,
    store: StoreId,
}

/// A pin as it was read, open to be written. Used only with the store's lock held.
pub(crate) struct Pin {
    path: PathBuf,
    file: File,
    /// Why the file could be opened for reading only, as the operating system's error number.
    read_only: Option<i32>,
    store: StoreId,
    slots: [Option<Slot>; 2],
}

impl PinPlace {
    /// The place below a folder that may hold the pins of many stores.
    pub(crate) fn new(state: &Path, store: StoreId) -> Self {
        Self {
            path: state.join(store.to_string()).join("pin"),
            store,
        }
    }

    /// Reads the pin; `None` if nothing was ever seen of the store.
    pub(crate) fn read(&self) -> Result<Option<Pin>> {
        let writable = OpenOptions::new().read(true).write(true).open(&self.path);
        let read_only = writable.as_ref().err().and_then(io::Error::raw_os_error);
        let file = match writable.or_else(|_| File::open(&self.path)) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::io("read", &self.path)(e)),
        };
        let slots = [self.read_slot(&file, 0)?, self.read_slot(&file, 1)?];
        if slots == [None, None] {
            return Err(self.bad("neither half of it is whole"));
        }
        Ok(Some(Pin {
            path: self.path.clone(),
            file,
            read_only,
            store: self.store,
            slots,
        }))
    }

    /// A slot that is torn is none; one of another store or format was put there by somebody.
    fn read_slot(&self, file: &File, index: usize) -> Result<Option<Slot>> {
        let mut bytes = [0; SLOT_BYTES];
        match file.read_exact_at(&mut bytes, SLOTS_AT[index]) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read.map_err(Error::io("read", &self.path))?,
        }
        let Some((magic, store, slot)) = decode(&bytes) else {
            return Ok(None);
        };
        if magic[..VERSION_AT] == MAGIC[..VERSION_AT] && magic != *MAGIC {
            return Err(Error::UnknownFormat {
                what: self.path.display().to_string(),
                found: String::from_utf8_lossy(&magic[VERSION_AT..]).into_owned(),
            });
        }
        if store != self.store {
            return Err(self.bad(&format!("it belongs to the store {store}")));
        }
        match slot {
            Some(slot) if magic == *MAGIC => Ok(Some(slot)),
            _ => Err(self.bad("it is not a pin")),
        }
    }

    /// Keeps the first moment that is seen, durably: in both halves, so that either may be torn.
    pub(crate) fn create(&self, seen: Seen) -> Result<Pin> {
        let slots = [Slot { turn: 1, seen }, Slot { turn: 2, seen }];
        let mut bytes = vec![0; FILE_BYTES];
        for (at, slot) in [0, 4096].into_iter().zip(&slots) {
            bytes[at..at + SLOT_BYTES].copy_from_slice(&encode(self.store, slot));
        }
        let folder = self.path.parent().expect("a file inside a folder");
        disk::make_private_folder_durably(folder)?;
        disk::replace_durably(&self.path, &bytes, 0o600)?;
        self.read()?.ok_or_else(|| {
            let source = io::ErrorKind::NotFound.into();
            Error::io("read", &self.path)(source)
        })
    }

    fn bad(&self, why: &str) -> Error {
        Error::BadPin {
            path: self.path.clone(),
            why: why.to_owned(),
        }
    }
}

impl Pin {
    /// What the newer slot holds.
    pub(crate) fn seen(&self) -> Seen {
        self.newest().1.seen
    }

    /// The newer slot that is whole, with its index.
    fn newest(&self) -> (usize, Slot) {
        let slots = self.slots.iter().enumerate();
        let whole = slots.filter_map(|(at, slot)| Some((at, (*slot)?)));
        let newest = whole.max_by_key(|(_, slot)| slot.turn);
        newest.expect("one was whole when it was read")
    }

    /// Whether it can be written, as far as that shows before it is.
    pub(crate) fn check_writable(&self) -> Result<()> {
        match self.read_only {
            None => Ok(()),
            Some(refused) => {
                let source = io::Error::from_raw_os_error(refused);
                Err(Error::io("write", &self.path)(source))
            }
        }
    }

    /// Writes what was seen over the older slot. Not yet durable.
    pub(crate) fn write(&mut self, seen: Seen) -> Result<()> {
        self.check_writable()?;
        let (newest, before) = self.newest();
        let (index, turn) = (1 - newest, before.turn.saturating_add(1));
        let slot = Slot { turn, seen };
        self.file
            .write_all_at(&encode(self.store, &slot), SLOTS_AT[index])
            .map_err(Error::io("write", &self.path))?;
        self.slots[index] = Some(slot);
        Ok(())
    }

    /// Makes what was written durable.
    pub(crate) fn sync(&self) -> Result<()> {
        self.unsynced()?.sync()
    }

    /// What was written, for another thread to make durable.
    pub(crate) fn unsynced(&self) -> Result<Unsynced> {
        let file = self.file.try_clone();
        Ok(Unsynced {
            file: file.map_err(Error::io("write", &self.path))?,
            path: self.path.clone(),
        })
    }
}

fn encode(store: StoreId, slot: &Slot) -> [u8; SLOT_BYTES] {
    let mut bytes = [0; SLOT_BYTES];
    bytes[..16].copy_from_slice(MAGIC);
    bytes[16..32].copy_from_slice(&store.0);
    bytes[32..40].copy_from_slice(&slot.turn.to_le_bytes());
    bytes[40..48].copy_from_slice(&slot.seen.moment.event.to_le_bytes());
    bytes[48..68].copy_from_slice(&slot.seen.moment.commit.0);
    bytes[68..100].copy_from_slice(&slot.seen.digest.0);
    bytes[100..104].copy_from_slice(&SEEN.to_le_bytes());
    let sum = Digest::of(&bytes[..104]).0;
    bytes[104..].copy_from_slice(&sum);
    bytes
}

/// Magic, store and slot; `None` if the checksum does not fit, and no slot if there is none in it.
fn decode(bytes: &[u8; SLOT_BYTES]) -> Option<([u8; 16], StoreId, Option<Slot>)> {
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    if bytes[104..] != Digest::of(&bytes[..104]).0 {
        return None;
    }
    let flag = u32::from_le_bytes(bytes[100..104].try_into().expect("4 bytes"));
    let moment = Moment {
        event: number(40),
        commit: ObjectId(bytes[48..68].try_into().expect("20 bytes")),
    };
    let digest = Digest(bytes[68..100].try_into().expect("32 bytes"));
    let slot = Slot {
        turn: number(32),
        seen: Seen { moment, digest },
    };
    let magic = bytes[..16].try_into().expect("16 bytes");
    let store = StoreId(bytes[16..32].try_into().expect("16 bytes"));
    Some((magic, store, (flag == SEEN).then_some(slot)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seen(event: u64) -> Seen {
        let byte = u8::try_from(event).expect("small");
        Seen {
            moment: Moment {
                event,
                commit: ObjectId([byte; 20]),
            },
            digest: Digest([byte; 32]),
        }
    }

    /// A pin that saw event 1 and then event 2.
    fn pinned() -> (tempfile::TempDir, PinPlace) {
        let folder = tempfile::tempdir().expect("temporary folder");
        let place = PinPlace::new(folder.path(), StoreId([7; 16]));
        let mut pin = place.create(seen(1)).expect("makes");
        pin.write(seen(2)).expect("writes");
        (folder, place)
    }

    fn events(place: &PinPlace) -> Result<Vec<u64>> {
        let pin = place.read()?.expect("there");
        let mut slots: Vec<Slot> = pin.slots.into_iter().flatten().collect();
        slots.sort_by_key(|slot| std::cmp::Reverse(slot.turn));
        let events = slots.iter().map(|slot| slot.seen.moment.event);
        Ok(events.collect())
    }

    #[test]
    fn a_half_that_is_torn_leaves_the_other() {
        let (_folder, place) = pinned();
        assert_eq!(events(&place).expect("reads"), [2, 1]);
        let bytes = std::fs::read(&place.path).expect("reads");
        assert_eq!(bytes.len(), FILE_BYTES);
        for byte in 0..SLOT_BYTES {
            for (at, left) in [(0, 1), (4096, 2)] {
                let mut torn = bytes.clone();
                torn[at + byte] ^= 0x40;
                std::fs::write(&place.path, &torn).expect("writes");
                assert_eq!(events(&place).expect("reads"), [left], "byte {}", at + byte);
            }
            let mut torn = bytes.clone();
            torn[byte] ^= 1;
            torn[4096 + byte] ^= 1;
            std::fs::write(&place.path, &torn).expect("writes");
            assert!(
                matches!(events(&place), Err(Error::BadPin { .. })),
                "{byte}"
            );
        }
    }

    #[test]
    fn what_is_cut_is_torn_and_nothing_at_all_is_bad() {
        let (_folder, place) = pinned();
        let bytes = std::fs::read(&place.path).expect("reads");
        for (length, left) in [(4096 + SLOT_BYTES, 2), (4096 + SLOT_BYTES - 1, 1), (136, 1)] {
            std::fs::write(&place.path, &bytes[..length]).expect("writes");
            assert_eq!(events(&place).expect("reads").len(), left, "{length}");
        }
        for length in [0, 1, SLOT_BYTES - 1] {
            std::fs::write(&place.path, &bytes[..length]).expect("writes");
            assert!(
                matches!(events(&place), Err(Error::BadPin { .. })),
                "{length}"
            );
        }
        std::fs::remove_file(&place.path).expect("there");
        assert!(place.read().expect("reads").is_none());
    }

    #[test]
    fn another_store_s_format_s_or_program_s_file_is_refused() {
        let (_folder, place) = pinned();
        let whole = std::fs::read(&place.path).expect("reads");
        let with = |at: usize, byte: u8| {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            let sum = Digest::of(&bytes[..104]).0;
            bytes[104..SLOT_BYTES].copy_from_slice(&sum);
            std::fs::write(&place.path, bytes).expect("writes");
            events(&place)
        };
        assert!(
            matches!(with(15, b'2'), Err(Error::UnknownFormat { found, .. }) if found == "002")
        );
        // Another magic, another store, no flag that is known.
        for (at, byte) in [(0, b'b'), (16, 8), (100, 1), (100, 3), (103, 1)] {
            assert!(matches!(with(at, byte), Err(Error::BadPin { .. })), "{at}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..9000)) {
            let (_folder, place) = pinned();
            std::fs::write(&place.path, bytes).expect("writes");
            let refused = matches!(place.read(), Err(Error::BadPin { .. }));
            prop_assert!(refused);
        }

        #[test]
        fn a_slot_reads_back(turn: u64, event: u64, commit: [u8; 20], digest: [u8; 32]) {
            let moment = Moment { event, commit: ObjectId(commit) };
            let slot = Slot { turn, seen: Seen { moment, digest: Digest(digest) } };
            let store = StoreId([9; 16]);
            prop_assert_eq!(decode(&encode(store, &slot)), Some((*MAGIC, store, Some(slot))));
        }
    }
}
