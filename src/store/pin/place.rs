//! The place of a store: files that agekeep keeps about a store by its location, and by the name
//! under which it is opened.
//!
//! ```text
//! <state>/key                   32 random bytes of this user's
//! <state>/places/<id>/pin       the store that was seen there, and its newest moment
//! <state>/places/<id>/place     description of the place for people; link target, if it is a link
//! <state>/places/<id>/verified  the point up to which `verify` has read
//! ```
//! The id is derived from a path without links. A name that goes through a link has its own id and
//! no pin: it records where it leads. So all names of a folder share a pin. If somebody replaces a
//! folder by a link, or changes the target of a link, agekeep still requires the store that was
//! seen at the old target.

use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::crypto::aead::Key;
use crate::crypto::digest::Digest;
use crate::crypto::sign::VerifyingKey;
use crate::disk;
use crate::error::{Error, Result};
use crate::id::{StoreId, hex_form};
use crate::store::pin::{Origin, Pin, SeenMoment, bad, not_read, read_before};

/// Larger than the longest path in JSON.
const RECORD_BYTES_MAX: u64 = 64 * 1024;
const KEY_BYTES: u64 = 32;

/// The id of a place: the first half of the SHA-256 of its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlaceId(pub(crate) [u8; 16]);

/// The place of an open store.
pub(crate) struct Place {
    state: PathBuf,
    /// The name given by the caller, as an absolute path with its links.
    name: PathBuf,
    named: PlaceId,
    /// The folder to which the name leads today.
    folder: PathBuf,
    id: PlaceId,
    /// True if the link target of the name is known to be recorded.
    is_name_kept: bool,
}

/// The file `place`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceFile {
    agekeep: u32,
    path: String,
    /// The place to which this name leads, if the name contains a link.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    leads_to: Option<PlaceId>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    store: Option<StoreId>,
    /// The public key that signed the store's first commit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    owner: Option<String>,
    /// The place where the same store was known when it was first seen here.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    copy_of: Option<PlaceId>,
}

/// The known facts about a store at another place.
pub(crate) struct KnownCopy {
    pub(crate) id: PlaceId,
    /// Its path, if recorded.
    pub(crate) path: Option<PathBuf>,
    /// True if the store had been seen elsewhere before.
    pub(crate) is_copy: bool,
    pub(crate) origin: Origin,
    pub(crate) seen: SeenMoment,
}

/// The facts to record about a store when it is first seen at a place.
pub(crate) struct FirstUseRecord {
    /// The key that signed the store's first commit.
    pub(crate) owner: VerifyingKey,
    /// The place where the same store is already known.
    pub(crate) copy_of: Option<PlaceId>,
}

impl Place {
    /// Returns the place of the store that is or will be at `root`, within a user's state folder.
    pub(crate) fn of(state: &Path, root: &Path) -> Result<Self> {
        let found = match (root.canonicalize(), root.parent(), root.file_name()) {
            (Err(e), Some(above), Some(name)) if e.kind() == std::io::ErrorKind::NotFound => {
                above.canonicalize().map(|above| above.join(name))
            }
            (found, ..) => found,
        };
        let folder = found.map_err(Error::io("find", root))?;
        // The state folder itself may be a link that the user made; nothing below it may be.
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

    /// Returns the path as people write it.
    pub(crate) fn path(&self) -> &Path {
        &self.name
    }

    /// Reads the pin of this place; `None` if no store was seen here.
    pub(crate) fn read(&self) -> Result<Option<Pin>> {
        Pin::read(&self.file(self.id, "pin"))
    }

    /// Reads the pin of the place to which the name led before, if that was another place.
    pub(crate) fn read_former(&mut self) -> Result<Option<Pin>> {
        let record = self.record(self.named)?;
        let led_to = record.and_then(|record| record.leads_to);
        self.is_name_kept = led_to == self.leads_to();
        match led_to.unwrap_or(self.named) {
            here if here == self.id => Ok(None),
            former => Pin::read(&self.file(former, "pin")),
        }
    }

    /// Reads the moment seen of a store in the previous layout, which had no places; `None` if a
    /// place has taken over that file.
    pub(crate) fn read_before(&self, store: StoreId) -> Result<Option<SeenMoment>> {
        read_before(&self.state.join(store.to_string()).join("pin"), store)
    }

    /// Returns the other places at which a store with this id is known. Skips places that cannot be
    /// read.
    pub(crate) fn others(&self, store: StoreId) -> Vec<KnownCopy> {
        let places = fs::read_dir(self.state.join("places"));
        let names = places.into_iter().flatten().flatten();
        let ids = names.filter_map(|entry| PlaceId::from_hex(entry.file_name().to_str()?));
        let others = ids.filter_map(|id| self.other(id));
        others.filter(|other| other.origin.store == store).collect()
    }

    /// Returns the known facts about another place.
    pub(crate) fn other(&self, id: PlaceId) -> Option<KnownCopy> {
        let pin = Pin::read(&self.file(id, "pin")).ok().flatten();
        let pin = pin.filter(|_| id != self.id)?;
        let record = self.record(id).ok().flatten();
        Some(KnownCopy {
            id,
            is_copy: record
                .as_ref()
                .is_some_and(|record| record.copy_of.is_some()),
            path: record.map(|record| record.path.into()),
            origin: pin.origin(),
            seen: pin.seen(),
        })
    }

    /// Returns the place where the same store was known when it was first seen here.
    pub(crate) fn copy_of(&self) -> Result<Option<PlaceId>> {
        let record = self.record(self.id)?;
        Ok(record.and_then(|record| record.copy_of))
    }

    /// Tells whether a path leads to the same folder.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|found| found == self.folder)
    }

    /// Durably records which store is here. Only the pin makes the store known.
    pub(crate) fn describe(&self, store: StoreId, arrival: &FirstUseRecord) -> Result<()> {
        let record = PlaceFile {
            store: Some(store),
            owner: Some(arrival.owner.public_line()),
            copy_of: arrival.copy_of,
            ..PlaceFile::of(&self.folder)
        };
        self.write_record(self.id, &record)
    }

    /// Durably pins the first moment seen here.
    pub(crate) fn create(&self, origin: Origin, seen: SeenMoment) -> Result<Pin> {
        disk::make_private_folder_durably(&self.folder_of(self.id))?;
        Pin::create(&self.file(self.id, "pin"), origin, seen)
    }

    /// Durably records where the name leads now, if that has changed.
    pub(crate) fn keep_name(&mut self) -> Result<()> {
        if !self.is_name_kept {
            let record = self.record(self.named)?;
            let mut record = record.unwrap_or_else(|| PlaceFile::of(&self.name));
            record.leads_to = self.leads_to();
            self.write_record(self.named, &record)?;
            self.is_name_kept = true;
        }
        Ok(())
    }

    /// Returns the link target to record for the name.
    fn leads_to(&self) -> Option<PlaceId> {
        (self.named != self.id).then_some(self.id)
    }

    /// Removes the files of a store in the previous layout, after a place has taken them over.
    pub(crate) fn remove_before(&self, store: StoreId) {
        let folder = self.state.join(store.to_string());
        for name in ["pin", "verified"] {
            drop(disk::remove_plain(&folder.join(name)));
        }
        drop(fs::remove_dir(folder));
    }

    /// Forgets the store seen here, before a new store is created here.
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

    /// Returns the path of the file that records how far the store here was verified.
    pub(crate) fn verified(&self) -> PathBuf {
        self.file(self.id, "verified")
    }

    /// Returns this user's private key; `None` if it does not exist yet.
    pub(crate) fn key(&self) -> Option<Key> {
        let bytes = disk::read_plain(&self.state.join("key"), KEY_BYTES).ok()?;
        Key::from_slice(&zeroize::Zeroizing::new(bytes))
    }

    /// Returns this user's private key, created if necessary.
    pub(crate) fn key_or_new(&self) -> Result<Key> {
        if let Some(key) = self.key() {
            return Ok(key);
        }
        let (path, new) = (self.state.join("key"), Key::random());
        let is_ours = |found: fs::Metadata| found.is_file() && found.len() <= KEY_BYTES;
        if path.symlink_metadata().is_ok_and(|found| !is_ours(found)) {
            return Err(bad(&path, "agekeep did not write this key"));
        }
        disk::make_private_folder(&self.state)?;
        disk::replace(&path, new.expose(), 0o600)?;
        // Another process may have written its own key in the meantime.
        Ok(self.key().unwrap_or(new))
    }

    fn record(&self, id: PlaceId) -> Result<Option<PlaceFile>> {
        let path = self.file(id, "place");
        let bytes = match disk::read_plain(&path, RECORD_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(error) => return not_read(&path, error),
        };
        let record: Option<PlaceFile> = serde_json::from_slice(&bytes).ok();
        let record = record.ok_or_else(|| bad(&path, "it does not parse"))?;
        if record.agekeep != 1 {
            return Err(Error::UnknownFormat {
                what: path.display().to_string(),
                found: record.agekeep.to_string(),
            });
        }
        Ok(Some(record))
    }

    fn write_record(&self, id: PlaceId, record: &PlaceFile) -> Result<()> {
        let text = serde_json::to_string(record).expect("texts have a JSON form");
        disk::make_private_folder_durably(&self.folder_of(id))?;
        disk::replace_durably(&self.file(id, "place"), (text + "\n").as_bytes(), 0o600)
    }

    fn folder_of(&self, id: PlaceId) -> PathBuf {
        self.state.join("places").join(id.to_string())
    }

    fn file(&self, id: PlaceId, name: &str) -> PathBuf {
        self.folder_of(id).join(name)
    }
}

impl KnownCopy {
    /// Tells whether a store still seems to be there.
    pub(crate) fn is_there(&self) -> bool {
        let path = self.path.as_ref();
        path.is_some_and(|path| path.join("HEAD").exists())
    }
}

impl PlaceFile {
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
        let digest = Digest::of(disk::bytes_of(path));
        Self(digest.0[..16].try_into().expect("it has 32"))
    }
}

hex_form!(PlaceId, 32 digits);

/// Returns the absolute path, with its links: people use links to say where things are today. A
/// path with `..` is resolved instead, because after a link `..` does not lead back.
fn full_name(path: &Path) -> Result<PathBuf> {
    let name = std::path::absolute(path).map_err(Error::io("find", path))?;
    if name.components().any(|part| part == Component::ParentDir) {
        return path.canonicalize().map_err(Error::io("find", path));
    }
    Ok(name.components().collect())
}
