//! Packing what the journal holds, and what of it is in its place as a file too.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;

use super::object::{Object, ObjectId};
use super::pack::{self, Packed, Writer};
use super::{BRANCH, Repository, loose, name};
use crate::disk::{self, Lock};
use crate::error::{Error, Result};

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
        let folder = self.pack_folder();
        let fault = || Error::io("write a pack in", &folder);
        // Somebody may have swept an empty folder away.
        fs::create_dir_all(&folder).map_err(fault())?;
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
        for id in ids {
            loose::remove(&self.objects, *id);
        }
    }

    /// Removes every file of an object that a pack has whole. What the machine went down over is
    /// torn, or was removed before and is there again.
    pub(crate) fn remove_packed_loose(&self) -> Result<()> {
        if !self.has_packs() {
            return Ok(());
        }
        let fault = || Error::io("read", &self.objects);
        for id in loose::all(&self.objects).map_err(fault())? {
            if matches!(self.read_packed(id, false, true)?, Packed::Whole(..)) {
                loose::remove(&self.objects, id);
            }
        }
        Ok(())
    }

    /// Makes the branch durable.
    pub(crate) fn sync_head(&self) -> Result<()> {
        let path = self.root.join(BRANCH);
        let fault = || Error::io("sync", &path);
        match File::open(&path).and_then(|file| disk::sync_file(&file)) {
            // Packed by stock git, which made that durable.
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            synced => synced.map_err(fault())?,
        }
        disk::sync_folder(path.parent().expect("a branch is in a folder"))
    }

    /// Who writes packs takes turns, without keeping anybody from commands; `None` if it is
    /// somebody else's turn.
    pub(crate) fn turn_to_pack(&self) -> Option<Lock> {
        Lock::try_acquire(&self.pack_folder())
    }

    /// Waits for the turn.
    pub(crate) fn wait_to_pack(&self) -> Result<Lock> {
        Lock::of_folder(&self.pack_folder())
    }

    /// Removes packs that a process was killed over, unless another is writing one now. Called with
    /// the store's lock held.
    pub(crate) fn remove_pack_asides(&self) {
        if let Some(turn) = self.turn_to_pack() {
            disk::remove_asides(&self.pack_folder());
            drop(turn);
        }
    }

    /// Makes one pack of many small ones, where none becomes larger than it may now.
    pub(crate) fn merge_packs(&self, bytes_max: impl Fn() -> u64) -> Result<()> {
        let folder = self.pack_folder();
        pack::merge_small(&folder, bytes_max).map_err(Error::io("merge packs in", &folder))
    }
}
