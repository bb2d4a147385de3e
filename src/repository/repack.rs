//! Repacking: all loose objects and packs become one pack, ordered from the newest commit; in place,
//! or in another repository.

use std::collections::{HashMap, HashSet};
use std::io;

use crate::disk::{Folder, Lock, Name, PackId};
use crate::error::{Error, Result};
use crate::id::ObjectId;
use crate::repository::object::{self, Object};
use crate::repository::pack::{self, Pack, PackFile, PackReadContext, PackWriter, Packed, Type};
use crate::repository::{Loose, Repository, loose, name, name_of};

/// The number of packs and loose objects in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ObjectCounts {
    pub(crate) packs: u64,
    pub(crate) loose: u64,
}

/// The packs and loose objects to repack.
struct RepackInput {
    packs: Vec<PackFile>,
    loose: Vec<ObjectId>,
    /// The names of all objects, in order; `done` marks those that were handled.
    names: Vec<ObjectId>,
    done: Vec<bool>,
}

impl RepackInput {
    /// Lists the parts: the loose objects, and the packs, without or with those that git is told to
    /// keep.
    fn of(repository: &Repository, loose: Vec<ObjectId>, with_kept: bool) -> io::Result<Self> {
        let (mut packs, mut names) = (Vec::new(), loose.clone());
        let folder = repository.made_pack_folder()?;
        let files = pack::files(&folder)?;
        for file in files.into_iter().filter(|file| with_kept || !file.kept) {
            match Pack::at(&folder, file.id).names() {
                Ok(more) => names.extend(more),
                // Stock git has just merged it into another pack, which stays as it is.
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(e) => return Err(e),
            }
            packs.push(file);
        }
        names.sort_unstable();
        names.dedup();
        Ok(Self {
            packs,
            loose,
            done: vec![false; names.len()],
            names,
        })
    }

    /// Marks an object as handled; tells whether it is among the parts and was not handled before.
    fn begin(&mut self, id: ObjectId) -> bool {
        let at = self.names.binary_search(&id);
        at.is_ok_and(|at| !std::mem::replace(&mut self.done[at], true))
    }

    /// Tells whether an object was handled; `None` if it is not among the parts.
    fn is_done(&self, id: ObjectId) -> Option<bool> {
        let at = self.names.binary_search(&id);
        at.ok().map(|at| self.done[at])
    }

    /// Tells whether the parts are at most one pack.
    fn are_one(&self) -> bool {
        self.loose.is_empty() && self.packs.len() <= 1
    }
}

/// A repack in progress.
struct Repack<'a> {
    repository: &'a Repository,
    parts: RepackInput,
    writer: PackWriter,
    torn: Vec<ObjectId>,
    /// An object that history reaches and that is not among the parts.
    elsewhere: Option<ObjectId>,
    /// The last written version of each folder, by its name.
    folders: HashMap<String, Vec<u8>>,
    progress: &'a mut dyn FnMut(u64, u64),
}

impl Repository {
    /// Counts the packs and the loose objects.
    pub(crate) fn count_objects(&self) -> Result<ObjectCounts> {
        let counted = || {
            Ok(match self.pack_folder() {
                Err(e) if e.kind() == io::ErrorKind::NotFound => 0,
                folder => pack::files(&folder?)?.len() as u64,
            })
        };
        Ok(ObjectCounts {
            packs: counted().map_err(self.objects_fault())?,
            loose: self.loose()?.len() as u64,
        })
    }

    /// Lists the loose objects.
    pub(crate) fn loose(&self) -> Result<Vec<ObjectId>> {
        let found = self.objects().and_then(loose::all);
        found.map_err(self.objects_fault())
    }

    /// Merges all packs and these loose objects into one pack, from `head` back, and removes the
    /// originals. Returns the objects that are not whole; they stay in place. The caller holds the
    /// lock on the folder of packs. The loose objects have to be reachable from the branch, or
    /// unused: stock git takes a packed object that no branch reaches for garbage.
    pub(crate) fn repack_all(
        &self,
        head: ObjectId,
        loose: Vec<ObjectId>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<ObjectId>> {
        let fault = || self.writing_fault();
        let folder = self.made_pack_folder().map_err(fault())?;
        self.release_left();
        let parts = RepackInput::of(self, loose, false).map_err(|e| self.pack_fault(e))?;
        if parts.are_one() {
            return Ok(Vec::new());
        }
        let writer = PackWriter::begin(&folder, parts.names.len()).map_err(fault())?;
        let mut gathering = Repack::new(self, parts, writer, progress);
        gathering.add_history(head)?;
        gathering.add_unreachable()?;
        let Repack {
            parts,
            writer,
            torn,
            progress,
            ..
        } = gathering;
        if writer.count() > 0 {
            let total = 2 * parts.names.len() as u64;
            let placed = writer.finish(false).map_err(fault())?;
            check(&folder, placed, total, progress)?;
            self.remove_repacked(&folder, placed, &parts, &torn);
        }
        self.packs.replace(None);
        Ok(torn)
    }

    /// Writes everything that history up to `head` reaches into a pack of another repository, from
    /// the newest commit back. The caller holds the lock on this one's folder of packs.
    ///
    /// # Errors
    /// [`Error::Damaged`] if an object is missing or not whole.
    pub(crate) fn copy_history(
        &self,
        head: ObjectId,
        to: &Self,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<()> {
        let fault = || to.writing_fault();
        let folder = to.made_pack_folder().map_err(fault())?;
        let parts = RepackInput::of(self, self.loose()?, true).map_err(|e| self.pack_fault(e))?;
        let writer = PackWriter::begin(&folder, parts.names.len()).map_err(fault())?;
        let mut gathering = Repack::new(self, parts, writer, progress);
        gathering.add_history(head)?;
        if let Some(id) = gathering.torn.first().copied().or(gathering.elsewhere) {
            return Err(self.lost(id, "it is missing, or no copy of it is whole"));
        }
        let total = 2 * gathering.parts.names.len() as u64;
        let placed = gathering.writer.finish(false).map_err(fault())?;
        check(&folder, placed, total, gathering.progress)
    }

    /// Reads an object from any place where it is whole, without repairing; `None` if there is
    /// none.
    fn whole(&self, id: ObjectId) -> Result<Option<(Type, Vec<u8>)>> {
        for look_again in [false, true] {
            if let Loose::Whole(kind, bytes) = self.read_loose(id)? {
                return Ok(Some((kind.into(), bytes)));
            }
            if let Packed::Whole(kind, bytes) = self.read_packed(id, look_again, true)? {
                return Ok(Some((kind, bytes)));
            }
        }
        Ok(None)
    }

    /// Removes the originals of the new pack. A pack with a damaged object stays.
    fn remove_repacked(
        &self,
        folder: &Folder,
        placed: PackId,
        parts: &RepackInput,
        torn: &[ObjectId],
    ) {
        let torn: HashSet<&ObjectId> = torn.iter().collect();
        for file in &parts.packs {
            let pack = Pack::at(folder, file.id);
            let mut has = torn.iter().map(|id| pack.find(**id));
            if has.all(|found| matches!(found, Ok(None))) {
                pack::remove(folder, file.id, placed);
            }
        }
        if let Ok(objects) = self.objects() {
            for id in parts.loose.iter().filter(|id| !torn.contains(id)) {
                loose::remove(objects, *id);
            }
            loose::remove_empty_folders(objects);
        }
        // Leftovers are harmless.
        drop(pack::remove_orphans(folder, placed));
    }
}

impl<'a> Repack<'a> {
    fn new(
        repository: &'a Repository,
        parts: RepackInput,
        writer: PackWriter,
        progress: &'a mut dyn FnMut(u64, u64),
    ) -> Self {
        Self {
            repository,
            parts,
            writer,
            torn: Vec::new(),
            elsewhere: None,
            folders: HashMap::new(),
            progress,
        }
    }

    /// Adds an object if it is whole and not in the pack yet. Returns its bytes, if it is of the
    /// wanted type.
    fn add(&mut self, id: ObjectId, wanted: Type) -> Result<Option<Vec<u8>>> {
        let first = self.parts.begin(id);
        if self.parts.is_done(id).is_none() {
            self.elsewhere = Some(id);
        }
        let Some((kind, bytes)) = self.repository.whole(id)? else {
            if first {
                self.torn.push(id);
            }
            return Ok(None);
        };
        if first {
            let added = self.writer.add(kind, id, &bytes);
            added.map_err(self.repository.writing_fault())?;
            let total = 2 * self.parts.names.len() as u64;
            (self.progress)(self.writer.count() as u64, total);
        }
        Ok((kind == wanted).then_some(bytes))
    }

    /// Adds commits from the newest back, each with the objects it brought. An unreadable commit
    /// ends the walk.
    fn add_history(&mut self, head: ObjectId) -> Result<()> {
        let mut next = Some(head);
        let mut newer: Option<(ObjectId, Vec<u8>)> = None;
        while let Some(id) = next {
            let outline = self.add(id, Type::Commit)?;
            let Some(outline) = outline.as_deref().and_then(object::outline) else {
                return Ok(());
            };
            if newer.as_ref().is_none_or(|(root, _)| *root != outline.tree)
                && let Some(root) = self.add(outline.tree, Type::Tree)?
            {
                let before = newer.as_ref().map_or(&[][..], |(_, root)| root);
                self.add_entries(&root, before)?;
                newer = Some((outline.tree, root));
            }
            next = outline.parent;
        }
        Ok(())
    }

    /// Adds the entries of a root tree that the next newer one lacks.
    fn add_entries(&mut self, root: &[u8], newer: &[u8]) -> Result<()> {
        for (name, entry) in object::entries_not_in(root, newer) {
            if !entry.folder {
                self.add(entry.id, Type::Blob)?;
                continue;
            }
            let Some(folder) = self.add(entry.id, Type::Tree)? else {
                continue;
            };
            let newer = self.folders.remove(name).unwrap_or_default();
            for (_, entry) in object::entries_not_in(&folder, &newer) {
                self.add_unseen(entry.id)?;
            }
            self.folders.insert(name.to_owned(), folder);
        }
        Ok(())
    }

    fn add_unseen(&mut self, id: ObjectId) -> Result<()> {
        match self.parts.is_done(id) {
            Some(false) => self.add(id, Type::Blob).map(drop),
            Some(true) => Ok(()),
            None => {
                self.elsewhere = Some(id);
                Ok(())
            }
        }
    }

    /// Adds the objects that history does not reach.
    fn add_unreachable(&mut self) -> Result<()> {
        // A host can send what becomes large beside a history.
        self.writer.deflates_blobs = true;
        for at in 0..self.parts.names.len() {
            self.add_unseen(self.parts.names[at])?;
        }
        Ok(())
    }
}

/// Reads every object of a new pack back, before its originals are removed.
fn check(
    folder: &Folder,
    placed: PackId,
    total: u64,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    let pack = Pack::at(folder, placed);
    let fault = || folder.fault("read", &placed.pack());
    let mut tools = PackReadContext::new();
    let entries = pack.entries().map_err(fault())?;
    let first = total - entries.len() as u64;
    for (done, entry) in (first..).zip(&entries) {
        let (kind, bytes) = pack.read(entry.offset, &mut tools).map_err(fault())?;
        if name_of(kind, &bytes) != entry.id {
            drop(folder.remove(&placed.index()));
            drop(folder.remove(&placed.pack()));
            let path = folder.path_of(&placed.pack()).display().to_string();
            return Err(Error::damaged(
                path,
                "what was written to it is not what it holds",
            ));
        }
        progress(done, total);
    }
    Ok(())
}

// Packing the objects of the journal, and removing their loose files.

/// A pack of the objects of the journal.
pub(crate) struct JournalPack {
    /// The names of the objects in it.
    pub(crate) ids: HashSet<ObjectId>,
    /// Its name; `None` if there was nothing to pack.
    id: Option<PackId>,
}

impl Repository {
    /// Writes objects to a durable pack, in this order. Until it is [released](Self::release),
    /// stock git keeps it: a repack that saw the pack, and the branch before it, would remove it.
    pub(crate) fn pack<'a>(
        &self,
        objects: impl Iterator<Item = &'a Object> + Clone,
    ) -> Result<JournalPack> {
        let ids: HashSet<ObjectId> = objects.clone().map(|object| object.id).collect();
        if ids.is_empty() {
            return Ok(JournalPack { ids, id: None });
        }
        let fault = || self.writing_fault();
        let folder = self.made_pack_folder().map_err(fault())?;
        let mut writer = PackWriter::begin(&folder, ids.len()).map_err(fault())?;
        let mut missing = ids.clone();
        for object in objects.filter(|object| missing.remove(&object.id)) {
            if name(object.kind, &object.bytes) != object.id {
                let why = format!("what it holds as {} does not hash to that", object.id);
                return Err(Error::damaged("the journal", why));
            }
            let added = writer.add(object.kind.into(), object.id, &object.bytes);
            added.map_err(fault())?;
        }
        let id = Some(writer.finish(true).map_err(fault())?);
        Ok(JournalPack { ids, id })
    }

    /// Leaves a pack to stock git: the branch reaches it, or nothing needs it.
    pub(crate) fn release(&self, packed: &JournalPack) {
        if let (Some(id), Ok(folder)) = (packed.id, self.pack_folder()) {
            pack::release(&folder, id);
        }
    }

    /// Leaves to stock git what a killed process did not. Requires the lock for writing packs.
    fn release_left(&self) {
        let Ok(folder) = self.pack_folder() else {
            return;
        };
        for file in pack::files(&folder).unwrap_or_default() {
            if file.kept {
                pack::release(&folder, file.id);
            }
        }
    }

    /// Removes the loose files of packed objects.
    pub(crate) fn remove_loose(&self, ids: &HashSet<ObjectId>) {
        let Ok(objects) = self.objects() else { return };
        for id in ids {
            loose::remove(objects, *id);
        }
    }

    /// Opens the folder of packs, making it again if it was deleted as empty.
    pub(super) fn made_pack_folder(&self) -> io::Result<Folder> {
        self.objects()?.make_folder(&Name::PACKS, 0o777)?;
        self.pack_folder()
    }

    /// Maps an I/O error in writing a pack to an [`Error`].
    pub(super) fn writing_fault(&self) -> impl FnOnce(io::Error) -> Error + use<> {
        Error::io("write a pack in", &self.pack_path())
    }

    /// Removes leftovers of a crash: loose files of objects that are whole in a pack (torn files,
    /// or removed ones that came back), and torn files that history up to `head` does not reach,
    /// from a command that crashed before its record.
    pub(crate) fn clean_up_loose(&self, head: ObjectId) -> Result<()> {
        let objects = self.objects().map_err(self.objects_fault())?;
        let (has_packs, mut torn) = (self.has_packs(), HashSet::new());
        for id in loose::all(objects).map_err(self.objects_fault())? {
            if has_packs && matches!(self.read_packed(id, false, true)?, Packed::Whole(..)) {
                loose::remove(objects, id);
            } else if !matches!(self.read_loose(id)?, Loose::Whole(..)) {
                torn.insert(id);
            }
        }
        // If history itself is damaged, everything stays as it is.
        if !torn.is_empty() && self.retain_unreachable(head, &mut torn).is_ok() {
            self.remove_loose(&torn);
        }
        Ok(())
    }

    /// Removes from `ids` the objects that history up to `head` reaches.
    fn retain_unreachable(&self, head: ObjectId, ids: &mut HashSet<ObjectId>) -> Result<()> {
        let (mut next, mut seen) = (Some(head), HashSet::new());
        while let Some(id) = next {
            ids.remove(&id);
            let (commit, _) = self.commit(id)?;
            self.remove_reachable_tree(commit.tree, ids, &mut seen)?;
            next = commit.parent;
        }
        Ok(())
    }

    fn remove_reachable_tree(
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
                self.remove_reachable_tree(entry.id, ids, seen)?;
            } else {
                ids.remove(&entry.id);
            }
        }
        Ok(())
    }

    /// Makes the branch durable.
    pub(crate) fn sync_head(&self) -> Result<()> {
        match self.root.sync_file(&Name::BRANCH) {
            // Stock git packed the ref, and made that durable.
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            synced => synced.map_err(self.root.fault("sync", &Name::BRANCH))?,
        }
        let heads = self.root.sub(&Name::HEADS);
        heads.map_err(self.root.fault("sync", &Name::HEADS))?.sync()
    }

    /// Takes the lock for writing packs, which does not block commands; `None` if another process
    /// has it.
    pub(crate) fn try_pack_lock(&self) -> Option<Lock> {
        Lock::try_acquire(&self.pack_folder().ok()?)
    }

    /// Waits for the lock for writing packs.
    pub(crate) fn pack_lock(&self) -> Result<Lock> {
        let folder = self.made_pack_folder().map_err(self.writing_fault())?;
        Lock::of_folder(&folder)
    }

    /// Removes temporary pack files of killed processes, unless a pack is being written now. The
    /// caller holds the store's lock.
    pub(crate) fn remove_temporary_packs(&self) {
        if let Some(turn) = self.try_pack_lock() {
            if let Ok(folder) = self.pack_folder() {
                folder.remove_temporary_files();
            }
            drop(turn);
        }
    }

    /// Merges small packs, none into one larger than `bytes_max`. Requires the lock for writing
    /// packs.
    pub(crate) fn merge_packs(&self, bytes_max: impl Fn() -> u64) -> Result<()> {
        self.release_left();
        let merged = self.pack_folder();
        merged
            .and_then(|folder| pack::merge_small(&folder, bytes_max))
            .map_err(Error::io("merge packs in", &self.pack_path()))
    }
}

// Packs that another repository brought, before history leads to them.

/// Packs that came from elsewhere, in the folder of packs. No history leads to them yet, and stock
/// git keeps them. Dropped before they are [accepted](Self::accept), they are removed.
pub(crate) struct IncomingPacks<'a> {
    repository: &'a Repository,
    folder: Folder,
    ids: Vec<PackId>,
}

impl Repository {
    /// Moves the packs of another repository on the same file system here, durably, each under a
    /// new name. The caller holds the lock for writing packs.
    pub(crate) fn take_packs(&self, from: &Self) -> Result<IncomingPacks<'_>> {
        let fault = || self.writing_fault();
        let folder = self.made_pack_folder().map_err(fault())?;
        // A copy without keys is never opened, which would remove them.
        folder.remove_temporary_files();
        let theirs = from.made_pack_folder().map_err(from.writing_fault())?;
        let mut taken = IncomingPacks {
            repository: self,
            folder: folder.clone(),
            ids: Vec::new(),
        };
        for file in pack::files(&theirs).map_err(from.writing_fault())? {
            let id = PackId::random();
            taken.ids.push(id);
            pack::keep(&folder, id).map_err(fault())?;
            // The index last: without it a pack is ignored.
            for (name, placed) in [(file.id.pack(), id.pack()), (file.id.index(), id.index())] {
                let moved = theirs
                    .sync_file(&name)
                    .and_then(|()| theirs.rename_into(&name, &folder, &placed));
                moved.map_err(fault())?;
            }
        }
        folder.sync()?;
        self.packs.replace(None);
        Ok(taken)
    }
}

impl IncomingPacks<'_> {
    /// Keeps the packs: history leads to them now.
    pub(crate) fn accept(mut self) {
        for id in std::mem::take(&mut self.ids) {
            pack::release(&self.folder, id);
        }
    }
}

impl Drop for IncomingPacks<'_> {
    fn drop(&mut self) {
        // What was in them is not here any more.
        self.repository.packs.replace(None);
        for id in &self.ids {
            for name in [id.index(), id.pack(), id.keep()] {
                drop(self.folder.remove(&name));
            }
        }
    }
}
