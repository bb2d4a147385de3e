//! Packing what the journal holds, and what of it is in its place as a file too.

use std::collections::HashSet;
use std::io;

use super::object::Object;
use super::pack::{self, Packed, Writer};
use super::{Loose, Repository, loose, name};
use crate::disk::{Folder, Lock, Name};
use crate::error::{Error, Result};
use crate::id::ObjectId;

impl Repository {
    /// Makes a pack of objects, durable and in its place, in this order. Answers what is in it.
    pub(crate) fn pack<'a>(
        &self,
        objects: impl Iterator<Item = &'a Object> + Clone,
    ) -> Result<HashSet<ObjectId>> {
        let ids: HashSet<ObjectId> = objects.clone().map(|object| object.id).collect();
        if ids.is_empty() {
            return Ok(ids);
        }
        let fault = || self.writing_fault();
        let folder = self.made_pack_folder().map_err(fault())?;
        let mut writer = Writer::begin(&folder, ids.len()).map_err(fault())?;
        let mut missing = ids.clone();
        for object in objects.filter(|object| missing.remove(&object.id)) {
            if name(object.kind, &object.bytes) != object.id {
                let why = format!("what it holds as {} does not hash to that", object.id);
                return Err(Error::damaged("the journal", why));
            }
            let added = writer.add(object.kind.into(), object.id, &object.bytes);
            added.map_err(fault())?;
        }
        writer.finish().map_err(fault())?;
        Ok(ids)
    }

    /// Removes the files of objects that are in a pack.
    pub(crate) fn remove_loose(&self, ids: &HashSet<ObjectId>) {
        let Ok(objects) = self.objects() else { return };
        for id in ids {
            loose::remove(objects, *id);
        }
    }

    /// The folder of packs. Somebody may have swept away an empty one.
    pub(super) fn made_pack_folder(&self) -> io::Result<Folder> {
        self.objects()?.make_folder(&Name::PACKS, 0o777)?;
        self.pack_folder()
    }

    /// What an error in writing a pack is.
    pub(super) fn writing_fault(&self) -> impl FnOnce(io::Error) -> Error + use<> {
        Error::io("write a pack in", &self.pack_path())
    }

    /// Removes what the machine went down over: files of objects that a pack has whole, which are
    /// torn, or were removed before and are there again; and torn files that history up to `head`
    /// does not lead to, of a command that was to write many objects and did not get to its record.
    pub(crate) fn remove_left_over(&self, head: ObjectId) -> Result<()> {
        let objects = self.objects().map_err(self.objects_fault())?;
        let (has_packs, mut torn) = (self.has_packs(), HashSet::new());
        for id in loose::all(objects).map_err(self.objects_fault())? {
            if has_packs && matches!(self.read_packed(id, false, true)?, Packed::Whole(..)) {
                loose::remove(objects, id);
            } else if !matches!(self.read_loose(id)?, Loose::Whole(..)) {
                torn.insert(id);
            }
        }
        // Where history is damaged itself, everything stays as it was found.
        if !torn.is_empty() && self.spare(head, &mut torn).is_ok() {
            self.remove_loose(&torn);
        }
        Ok(())
    }

    /// Takes out of some objects those that history up to `head` leads to.
    fn spare(&self, head: ObjectId, ids: &mut HashSet<ObjectId>) -> Result<()> {
        let (mut next, mut seen) = (Some(head), HashSet::new());
        while let Some(id) = next {
            ids.remove(&id);
            let (commit, _) = self.commit(id)?;
            self.spare_tree(commit.tree, ids, &mut seen)?;
            next = commit.parent;
        }
        Ok(())
    }

    fn spare_tree(
        &self,
        id: ObjectId,
        ids: &mut HashSet<ObjectId>,
        seen: &mut HashSet<ObjectId>,
    ) -> Result<()> {
        if !seen.insert(id) {
            return Ok(());
        }
        ids.remove(&id);
        for entry in self.tree(id)?.values() {
            if entry.folder {
                self.spare_tree(entry.id, ids, seen)?;
            } else {
                ids.remove(&entry.id);
            }
        }
        Ok(())
    }

    /// Makes the branch durable.
    pub(crate) fn sync_head(&self) -> Result<()> {
        match self.root.sync_file(&Name::BRANCH) {
            // Packed by stock git, which made that durable.
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            synced => synced.map_err(self.root.fault("sync", &Name::BRANCH))?,
        }
        let heads = self.root.sub(&Name::HEADS);
        heads.map_err(self.root.fault("sync", &Name::HEADS))?.sync()
    }

    /// Who writes packs takes turns, without keeping anybody from commands; `None` if it is
    /// somebody else's turn.
    pub(crate) fn turn_to_pack(&self) -> Option<Lock> {
        Lock::try_acquire(&self.pack_folder().ok()?)
    }

    /// Waits for the turn.
    pub(crate) fn wait_to_pack(&self) -> Result<Lock> {
        let folder = self.made_pack_folder().map_err(self.writing_fault())?;
        Lock::of_folder(&folder)
    }

    /// Removes packs that a process was killed over, unless another is writing one now. Called with
    /// the store's lock held.
    pub(crate) fn remove_pack_asides(&self) {
        if let Some(turn) = self.turn_to_pack() {
            if let Ok(folder) = self.pack_folder() {
                folder.remove_asides();
            }
            drop(turn);
        }
    }

    /// Makes one pack of many small ones, where none becomes larger than it may now.
    pub(crate) fn merge_packs(&self, bytes_max: impl Fn() -> u64) -> Result<()> {
        let merged = self.pack_folder();
        merged
            .and_then(|folder| pack::merge_small(&folder, bytes_max))
            .map_err(Error::io("merge packs in", &self.pack_path()))
    }
}
