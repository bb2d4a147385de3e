//! Checks that a commit changed the tree exactly as it says.

use std::collections::BTreeMap;

use crate::crypto::digest::Digest;
use crate::crypto::seal::{SealKey, Sealed};
use crate::crypto::sign::Signers;
use crate::error::Result;
use crate::event::{self, Change, Event, MemoryChange, PublicFile};
use crate::id::{MemoryId, ObjectId};
use crate::policy::Policy;
use crate::repository::object::ObjectKind;
use crate::verify::commit::{
    Before, BlobChange, CheckedCommitFacts, CommitChecker, KEYS_MAX, MessageHeader,
};
use crate::verify::findings::Fault;
use crate::verify::tree::{EntryChange, EntryMode, RawTree, RawTreeEntry, is_fan, memory_of};
use crate::version;

impl CommitChecker<'_> {
    /// Finds the differences between the tree and the previous one, and compares them with the
    /// record.
    pub(super) fn check_tree(
        &mut self,
        tree: ObjectId,
        before: &Before,
        said: Option<&MessageHeader<'_>>,
        seen: &mut CheckedCommitFacts,
    ) -> Result<()> {
        let known = before.root || (before.certain && before.tree.is_some());
        let mut told = known;
        if before.tree != Some(tree) && (before.root || before.tree.is_some()) {
            told &= self.compare(tree, before, said, seen)?;
        }
        seen.sound = told && seen.linked && seen.event.is_some();
        if told && seen.linked {
            let fault = match (&seen.event, said) {
                (Some(event), _) => differs(event, &seen.changed),
                (None, Some(said)) => exceeds(said, &seen.changed),
                (None, None) => None,
            };
            if let Some((memory, what)) = fault {
                seen.sound = false;
                seen.faults.push(Fault {
                    memory,
                    ..Fault::new("tree-change", what)
                });
            }
        }
        self.check_blobs(seen)
    }

    /// Collects the differences; `false` if some could not be read.
    fn compare(
        &mut self,
        tree: ObjectId,
        before: &Before,
        said: Option<&MessageHeader<'_>>,
        seen: &mut CheckedCommitFacts,
    ) -> Result<bool> {
        let old = match before.tree.filter(|_| !before.root) {
            Some(old) => self.root(old, &mut seen.faults)?,
            None => Some(std::rc::Rc::default()),
        };
        let new = self.root(tree, &mut seen.faults)?;
        let (Some(old), Some(new)) = (old, new) else {
            return Ok(false);
        };
        let mut whole = true;
        for (old, new) in old.differences(&new) {
            let entry = old.or(new).expect("one of them differs");
            if let Some(file) = public_file(entry) {
                self.check_public(file, (old, new), before, said, seen)?;
                continue;
            }
            if let Some(odd) = new.filter(|entry| !is_fan(entry)) {
                seen.faults.push(tree_form("at the root", odd));
            }
            whole &= self.compare_folder(&entry.name, (old, new), seen)?;
        }
        if before.root {
            for file in PublicFile::ALL {
                if new.file(file.name()).is_none() {
                    let what = format!("the first tree has no {}", file.name());
                    seen.faults.push(Fault::new("tree-form", what));
                }
            }
        }
        Ok(whole)
    }

    fn compare_folder(
        &mut self,
        name: &[u8],
        (old, new): EntryChange<'_>,
        seen: &mut CheckedCommitFacts,
    ) -> Result<bool> {
        let mut read = |entry: Option<&RawTreeEntry>, faults: &mut Vec<Fault>| match entry {
            Some(entry) if is_fan(entry) => self.folder(entry.id, faults),
            _ => Ok(Some(std::rc::Rc::<RawTree>::default())),
        };
        let before = read(old, &mut seen.faults)?;
        let after = read(new, &mut seen.faults)?;
        let (Some(before), Some(after)) = (before, after) else {
            return Ok(false);
        };
        if after.is_empty() && new.is_some_and(is_fan) {
            let what = "a folder in its tree is empty";
            seen.faults.push(Fault::new("tree-form", what));
        }
        for (old, new) in before.differences(&after) {
            if let Some(odd) = new.filter(|entry| memory_of(name, entry).is_none()) {
                seen.faults.push(tree_form("in a folder", odd));
            }
            let entry = old.or(new).expect("one of them differs");
            let id = std::str::from_utf8(&entry.name).ok();
            if let Some(id) = id.and_then(MemoryId::from_hex) {
                let blob = |entry: Option<&RawTreeEntry>| {
                    entry
                        .filter(|entry| entry.mode == EntryMode::File)
                        .map(|entry| entry.id)
                };
                let (old, new) = (blob(old), blob(new));
                seen.changed.push(BlobChange { id, old, new });
            }
        }
        Ok(true)
    }

    /// Checks a public file that differs: only a command that names the file may change it, and the
    /// new file must parse.
    fn check_public(
        &mut self,
        file: PublicFile,
        (old, new): EntryChange<'_>,
        before: &Before,
        said: Option<&MessageHeader<'_>>,
        seen: &mut CheckedCommitFacts,
    ) -> Result<()> {
        let name = file.name();
        let says_so = said.is_some_and(|said| said.decides() == Some(file));
        // After an unreadable commit it is not known who changed the file.
        if old.is_some() && before.certain && seen.linked && !(says_so && new.is_some()) {
            let id = match file {
                PublicFile::Policy => "policy-changed",
                PublicFile::Recipients => "recipients-changed",
                PublicFile::Signers => "signers-changed",
            };
            let what = format!("it changes {name}, and its command does not say so");
            seen.faults.push(Fault::new(id, what));
        }
        let Some(new) = new else { return Ok(()) };
        if new.mode != EntryMode::File {
            seen.faults.push(tree_form("at the root", new));
            return Ok(());
        }
        if file == PublicFile::Signers {
            seen.signers = Some(new.id);
        }
        let Some(bytes) = self.object(new.id, ObjectKind::Blob, &mut seen.faults)? else {
            return Ok(());
        };
        let text = String::from_utf8(bytes).unwrap_or_default();
        let parses = match file {
            PublicFile::Policy => Policy::parse_file(&text).is_ok(),
            PublicFile::Recipients => {
                crate::crypto::recipients::parse(&text).is_ok_and(|m| !m.is_empty())
            }
            PublicFile::Signers => Signers::parse(&text).is_ok(),
        };
        if !parses {
            let what = format!("its {name} does not parse");
            seen.faults
                .push(Fault::of_object("tree-form", new.id, what));
        }
        Ok(())
    }

    /// Reads every version that is new in the tree.
    fn check_blobs(&mut self, seen: &mut CheckedCommitFacts) -> Result<()> {
        for index in 0..seen.changed.len() {
            let BlobChange { id, new, .. } = seen.changed[index];
            let Some(blob) = new else { continue };
            seen.versions += 1;
            let Some(bytes) = self.object(blob, ObjectKind::Blob, &mut seen.faults)? else {
                let last = seen.faults.last_mut().expect("it was just said");
                last.memory = Some(id);
                continue;
            };
            let digest = Digest::of(&bytes);
            let touches = seen.event.iter().flat_map(|event| &event.memories);
            let recorded = touches
                .filter(|touch| touch.id == id)
                .find_map(|touch| touch.blob.filter(|(named, _)| *named == blob));
            if recorded.is_some_and(|(_, sha256)| sha256 != digest) {
                let what = format!("the blob {blob} does not have the SHA-256 its event recorded");
                seen.faults.push(Fault {
                    object: Some(blob),
                    ..Fault::of_memory("blob-digest", id, what)
                });
                continue;
            }
            let Ok(sealed) = Sealed::parse(bytes) else {
                let what = format!("the blob {blob} is not an age file");
                seen.faults.push(Fault {
                    object: Some(blob),
                    ..Fault::of_memory("blob-form", id, what)
                });
                continue;
            };
            let mut touches = seen.event.iter().flat_map(|event| &event.memories);
            let touch = touches.find(|touch| touch.blob.is_some_and(|(named, _)| named == blob));
            let Some(touch) = touch else { continue };
            match self.opened_by(touch, &sealed) {
                OpenedBy::Nothing => seen.shut.push((id, blob)),
                OpenedBy::OneOfSeveral(at) => seen.used.push((id, at)),
                OpenedBy::ItsOne | OpenedBy::Unknown => {}
            }
        }
        Ok(())
    }

    /// Finds the key of its memory that opens a version at its place, newest first.
    fn opened_by(&mut self, touch: &MemoryChange, sealed: &Sealed) -> OpenedBy {
        let Some(keyring) = self.keyring.filter(|keyring| keyring.is_reader()) else {
            return OpenedBy::Unknown;
        };
        if self.keys.len() >= KEYS_MAX {
            self.keys.clear();
        }
        let keys = self.keys.entry(touch.id);
        let Some(keys) = keys.or_insert_with(|| keyring.memory_keys(touch.id).ok()) else {
            return OpenedBy::Nothing;
        };
        let opens = |key: &SealKey| {
            let key = std::slice::from_ref(key);
            match &touch.path {
                Some(path) => {
                    let (id, version) = (touch.id, touch.version);
                    let place = version::VersionAddress { id, path, version };
                    version::open(key, &place, sealed).is_ok()
                }
                // The path in its header is erased too.
                None => SealKey::open_with_any(key, sealed).is_ok(),
            }
        };
        match keys.iter().position(opens) {
            None => OpenedBy::Nothing,
            Some(_) if keys.len() == 1 => OpenedBy::ItsOne,
            Some(at) => OpenedBy::OneOfSeveral(at),
        }
    }
}

/// The key that opens a version.
enum OpenedBy {
    /// This identity opens no version.
    Unknown,
    Nothing,
    ItsOne,
    /// By its place among the keys of the memory, newest first.
    OneOfSeveral(usize),
}

fn public_file(entry: &RawTreeEntry) -> Option<PublicFile> {
    let mut all = PublicFile::ALL.into_iter();
    all.find(|file| *entry.name == *file.name().as_bytes())
}

fn tree_form(place: &str, entry: &RawTreeEntry) -> Fault {
    // A name comes from whoever wrote the tree: its length says enough.
    let what = format!(
        "an entry {place} of its tree, with a name of {} bytes, is nothing a store has there",
        entry.name.len()
    );
    Fault::new("tree-form", what)
}

type TreeViolation = (Option<MemoryId>, String);

/// Returns the first difference between the change of the tree and the record.
fn differs(event: &Event, changed: &[BlobChange]) -> Option<TreeViolation> {
    let touched = |touch: &&MemoryChange| touch.change.alters();
    let mut told: BTreeMap<MemoryId, &MemoryChange> = BTreeMap::new();
    for touch in event.memories.iter().filter(touched) {
        told.insert(touch.id, touch);
    }
    for change in changed {
        let Some(touch) = told.remove(&change.id) else {
            let what = "it changes a memory that its record does not say it changes";
            return Some((Some(change.id), what.into()));
        };
        let there = change.old.is_some();
        let fits = match touch.change {
            Change::Add | Change::Restore => !there,
            _ => there,
        };
        if !fits || change.new != touch.blob.map(|(blob, _)| blob) {
            let what = "it does something else to a memory than its record says";
            return Some((Some(change.id), what.into()));
        }
    }
    let (id, _) = told.first_key_value()?;
    let what = "its record says that it changes a memory, and its tree does not";
    Some((Some(*id), what.into()))
}

/// Returns the first change of the tree that subject and trailers do not allow.
fn exceeds(said: &MessageHeader<'_>, changed: &[BlobChange]) -> Option<TreeViolation> {
    let first = changed.first()?;
    if !said.may_write() {
        let what = "its subject says that it changes no memory, and its tree does";
        return Some((Some(first.id), what.into()));
    }
    let leaves = |c: &BlobChange| event::may_leave(said.command, c.old.is_some(), c.new.is_some());
    if let Some(other) = changed.iter().find(|c| !leaves(c)) {
        let what = "it changes a memory as its command never does";
        return Some((Some(other.id), what.into()));
    }
    let unnamed = changed.iter().find(|c| !said.memories.contains(&c.id))?;
    let what = "it changes a memory that its trailers do not name";
    Some((Some(unnamed.id), what.into()))
}
