//! The place of a store: what is kept of a store by where it is, and by the name it is opened by.
//!
//! ```text
//! <state>/key                   32 random bytes of this user's
//! <state>/places/<id>/pin       the store that was seen there, and its newest moment
//! <state>/places/<id>/place     what the place is, for people; and where it leads, if it is a link
//! <state>/places/<id>/verified  up to where `verify` has read
//! ```
//! The id is of a path without links. A name that leads there by a link has an id of its own, and no
//! pin: it says where it leads. So every name of a folder has one pin; and where a link is put in the
//! place of a folder, or turned to another, what was seen at the old end is still required.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Origin, Pin, Seen, bad, not_read, read_before};
use crate::crypto::aead::Key;
use crate::crypto::digest::Digest;
use crate::crypto::sign::VerifyingKey;
use crate::disk;
use crate::error::{Error, Result};
use crate::id::{StoreId, hex, hex_bytes};

/// More than the longest path takes in JSON.
const RECORD_BYTES_MAX: u64 = 64 * 1024;
const KEY_BYTES: u64 = 32;

/// Names a place: the first half of the SHA-256 of its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlaceId(pub(crate) [u8; 16]);

/// The place of a store that is opened.
pub(crate) struct Place {
    state: PathBuf,
    /// As it was named, from the root on, with the links on the way.
    name: PathBuf,
    named: PlaceId,
    /// Where that leads today.
    folder: PathBuf,
    id: PlaceId,
    /// Whether it is written down where the name leads, as far as that is known.
    is_name_kept: bool,
}

/// The file `place`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    agekeep: u32,
    path: String,
    /// The place that this name leads to, if it is a link or goes by one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    leads_to: Option<PlaceId>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    store: Option<StoreId>,
    /// The public key that signed the store's first commit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    owner: Option<String>,
    /// Where the same store was known, when it was first seen here.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    copy_of: Option<PlaceId>,
}

/// What is known of a store at another place.
pub(crate) struct Other {
    pub(crate) id: PlaceId,
    /// Where it is, as far as that is written down.
    pub(crate) path: Option<PathBuf>,
    /// Whether it was seen elsewhere before.
    pub(crate) is_copy: bool,
    pub(crate) origin: Origin,
    pub(crate) seen: Seen,
}

/// What is written down where a store is first seen at a place.
pub(crate) struct Arrival {
    /// The key that signed the store's first commit.
    pub(crate) owner: VerifyingKey,
    /// Where the same store is known already.
    pub(crate) copy_of: Option<PlaceId>,
}

impl Place {
    /// The place of the store at `root`, by a user's state folder.
    pub(crate) fn of(state: &Path, root: &Path) -> Result<Self> {
        let folder = root.canonicalize().map_err(Error::io("find", root))?;
        // Where the folder of all is a link, that is the user's own; below it nothing is one.
        let state = &state.canonicalize().unwrap_or_else(|_| state.to_owned());
        let places = state.join("places");
        if places.is_symlink() {
            return Err(bad(&places, "it is a link, not a folder"));
        }
        let name = full_name(root)?;
        Ok(Self {
            state: state.to_owned(),
            named: PlaceId::of(&name),
            id: PlaceId::of(&folder),
            name,
            folder,
            is_name_kept: false,
        })
    }

    /// How people name it.
    pub(crate) fn path(&self) -> &Path {
        &self.name
    }

    /// What was seen here; `None` if nothing was.
    pub(crate) fn read(&self) -> Result<Option<Pin>> {
        Pin::read(&self.file(self.id, "pin"))
    }

    /// What was seen where the name led before, if that was elsewhere.
    pub(crate) fn read_former(&mut self) -> Result<Option<Pin>> {
        let record = self.record(self.named)?;
        let led_to = record.and_then(|record| record.leads_to);
        self.is_name_kept = led_to == self.leads_to();
        match led_to.unwrap_or(self.named) {
            here if here == self.id => Ok(None),
            former => Pin::read(&self.file(former, "pin")),
        }
    }

    /// What was seen of a store before places were told apart, if no place has taken it over.
    pub(crate) fn read_before(&self, store: StoreId) -> Result<Option<Seen>> {
        read_before(&self.state.join(store.to_string()).join("pin"), store)
    }

    /// The other places at which a store of this id is known. What cannot be read there is of no
    /// use here.
    pub(crate) fn others(&self, store: StoreId) -> Vec<Other> {
        let places = fs::read_dir(self.state.join("places"));
        let names = places.into_iter().flatten().flatten();
        let ids = names.filter_map(|entry| PlaceId::from_hex(entry.file_name().to_str()?));
        let others = ids.filter_map(|id| self.other(id));
        others.filter(|other| other.origin.store == store).collect()
    }

    /// What is known at another place.
    pub(crate) fn other(&self, id: PlaceId) -> Option<Other> {
        let pin = Pin::read(&self.file(id, "pin")).ok().flatten();
        let pin = pin.filter(|_| id != self.id)?;
        let record = self.record(id).ok().flatten();
        Some(Other {
            id,
            is_copy: record
                .as_ref()
                .is_some_and(|record| record.copy_of.is_some()),
            path: record.map(|record| record.path.into()),
            origin: pin.origin(),
            seen: pin.seen(),
        })
    }

    /// Where the same store was known when it was first seen here.
    pub(crate) fn copy_of(&self) -> Result<Option<PlaceId>> {
        let record = self.record(self.id)?;
        Ok(record.and_then(|record| record.copy_of))
    }

    /// Whether a path leads to the same folder.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|found| found == self.folder)
    }

    /// Writes down which store is here, durably. That alone makes nothing known: the pin does.
    pub(crate) fn describe(&self, store: StoreId, arrival: &Arrival) -> Result<()> {
        let record = Record {
            store: Some(store),
            owner: Some(arrival.owner.public_line()),
            copy_of: arrival.copy_of,
            ..Record::of(&self.folder)
        };
        self.write_record(self.id, &record)
    }

    /// Keeps the first moment that is seen here, durably.
    pub(crate) fn create(&self, origin: Origin, seen: Seen) -> Result<Pin> {
        disk::make_private_folder_durably(&self.folder_of(self.id))?;
        Pin::create(&self.file(self.id, "pin"), origin, seen)
    }

    /// Keeps where the name leads now, durably, if that is another place than before.
    pub(crate) fn keep_name(&mut self) -> Result<()> {
        if !self.is_name_kept {
            let record = self.record(self.named)?;
            let mut record = record.unwrap_or_else(|| Record::of(&self.name));
            record.leads_to = self.leads_to();
            self.write_record(self.named, &record)?;
            self.is_name_kept = true;
        }
        Ok(())
    }

    /// What is to be written down of the name.
    fn leads_to(&self) -> Option<PlaceId> {
        (self.named != self.id).then_some(self.id)
    }

    /// Removes what was kept of a store before places were told apart: a place has taken it over.
    pub(crate) fn remove_before(&self, store: StoreId) {
        let folder = self.state.join(store.to_string());
        for name in ["pin", "verified"] {
            drop(disk::remove_plain(&folder.join(name)));
        }
        drop(fs::remove_dir(folder));
    }

    /// Forgets what was seen here, for whoever makes a store here.
    pub(crate) fn forget(&self) -> Result<()> {
        let known = ["pin", "place", "verified"].map(|name| self.file(self.id, name));
        let name = self.file(self.named, "place");
        known
            .iter()
            .chain([&name])
            .try_for_each(|file| disk::remove_plain(file))
    }

    pub(crate) fn id(&self) -> PlaceId {
        self.id
    }

    /// The file that says up to where the store here was verified.
    pub(crate) fn verified(&self) -> PathBuf {
        self.file(self.id, "verified")
    }

    /// The key that this user alone has; `None` if there is none yet.
    pub(crate) fn key(&self) -> Option<Key> {
        let bytes = disk::read_plain(&self.state.join("key"), KEY_BYTES).ok()?;
        Key::from_slice(&zeroize::Zeroizing::new(bytes))
    }

    /// The same, made where there is none.
    pub(crate) fn key_or_new(&self) -> Result<Key> {
        if let Some(key) = self.key() {
            return Ok(key);
        }
        let (path, new) = (self.state.join("key"), Key::random());
        let is_ours = |found: fs::Metadata| found.is_file() && found.len() <= KEY_BYTES;
        if path.symlink_metadata().is_ok_and(|found| !is_ours(found)) {
            return Err(bad(&path, "it is no key of agekeep's"));
        }
        disk::make_private_folder(&self.state)?;
        disk::replace(&path, new.expose(), 0o600)?;
        // Another process may have put its own there a moment later.
        Ok(self.key().unwrap_or(new))
    }

    fn record(&self, id: PlaceId) -> Result<Option<Record>> {
        let path = self.file(id, "place");
        let bytes = match disk::read_plain(&path, RECORD_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(error) => return not_read(&path, error),
        };
        let record: Option<Record> = serde_json::from_slice(&bytes).ok();
        let record = record.ok_or_else(|| bad(&path, "it does not parse"))?;
        if record.agekeep != 1 {
            return Err(Error::UnknownFormat {
                what: path.display().to_string(),
                found: record.agekeep.to_string(),
            });
        }
        Ok(Some(record))
    }

    fn write_record(&self, id: PlaceId, record: &Record) -> Result<()> {
        let text = serde_json::to_string(record).expect("texts have a JSON form");
        disk::make_private_folder_durably(&self.folder_of(id))?;
        disk::replace_durably(&self.file(id, "place"), (text + "\n").as_bytes(), 0o600)
    }

    fn folder_of(&self, id: PlaceId) -> PathBuf {
        self.state.join("places").join(hex(&id.0))
    }

    fn file(&self, id: PlaceId, name: &str) -> PathBuf {
        self.folder_of(id).join(name)
    }
}

impl Other {
    /// Whether there still is a store, as it seems.
    pub(crate) fn is_there(&self) -> bool {
        let path = self.path.as_ref();
        path.is_some_and(|path| path.join("HEAD").exists())
    }
}

impl Record {
    fn of(path: &Path) -> Self {
        Self {
            agekeep: 1,
            path: path.to_string_lossy().into_owned(),
            leads_to: None,
            store: None,
            owner: None,
            copy_of: None,
        }
    }
}

impl PlaceId {
    fn of(path: &Path) -> Self {
        let digest = Digest::of(path.as_os_str().as_bytes());
        Self(digest.0[..16].try_into().expect("it has 32"))
    }

    fn from_hex(text: &str) -> Option<Self> {
        hex_bytes(text).map(Self)
    }
}

impl Serialize for PlaceId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for PlaceId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let id = Self::from_hex(&text);
        id.ok_or_else(|| serde::de::Error::custom("not 32 lowercase hexadecimal digits"))
    }
}

/// A path from the root on, with the links on the way: they are somebody's way to say where things
/// are today. A step back is only what it seems where there is no link before it.
fn full_name(path: &Path) -> Result<PathBuf> {
    let name = std::path::absolute(path).map_err(Error::io("find", path))?;
    if name.components().any(|part| part == Component::ParentDir) {
        return path.canonicalize().map_err(Error::io("find", path));
    }
    Ok(name.components().collect())
}
