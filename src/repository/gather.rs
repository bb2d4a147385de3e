//! Gathering: everything loose and every pack become one pack, in order from the newest commit.

use std::collections::{HashMap, HashSet};
use std::io;

use super::object::{self};
use super::pack::{self, Pack, PackFile, Packed, Tools, Type, Writer};
use super::{Loose, Repository, loose, name_of};
use crate::disk::{Folder, PackId};
use crate::error::{Error, Result};
use crate::id::ObjectId;

/// What a store's objects are kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) packs: u64,
    pub(crate) loose: u64,
}

/// What there is to gather.
struct Parts {
    packs: Vec<PackFile>,
    loose: Vec<ObjectId>,
    /// The names of all objects, in order, and whether each was seen to.
    names: Vec<ObjectId>,
    done: Vec<bool>,
}

impl Parts {
    fn of(repository: &Repository, loose: Vec<ObjectId>) -> io::Result<Self> {
        let (mut packs, mut names) = (Vec::new(), loose.clone());
        let folder = repository.made_pack_folder()?;
        let files = pack::files(&folder)?;
        for file in files.into_iter().filter(|file| !file.kept) {
            match Pack::at(&folder, file.id).names() {
                Ok(more) => names.extend(more),
                // Stock git has just put what it held into another, which stays as it is.
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

    /// Whether an object is among them and comes for the first time.
    fn begin(&mut self, id: ObjectId) -> bool {
        let at = self.names.binary_search(&id);
        at.is_ok_and(|at| !std::mem::replace(&mut self.done[at], true))
    }

    /// Whether there is nothing left to do for an object: it was seen to, or is not among them.
    fn is_done(&self, id: ObjectId) -> bool {
        let at = self.names.binary_search(&id);
        at.map_or(true, |at| self.done[at])
    }

    /// Whether they are one pack already.
    fn are_one(&self) -> bool {
        self.loose.is_empty() && self.packs.len() <= 1
    }
}

/// One pack in the making.
struct Gathering<'a> {
    repository: &'a Repository,
    parts: Parts,
    writer: Writer,
    torn: Vec<ObjectId>,
    /// The version of each folder that was written last, by its name.
    folders: HashMap<String, Vec<u8>>,
    progress: &'a mut dyn FnMut(u64, u64),
}

impl Repository {
    /// How many packs there are, and how many loose objects.
    pub(crate) fn tally(&self) -> Result<Tally> {
        let counted = || {
            Ok(match self.pack_folder() {
                Err(e) if e.kind() == io::ErrorKind::NotFound => 0,
                folder => pack::files(&folder?)?.len() as u64,
            })
        };
        Ok(Tally {
            packs: counted().map_err(self.objects_fault())?,
            loose: self.loose()?.len() as u64,
        })
    }

    /// The loose objects.
    pub(crate) fn loose(&self) -> Result<Vec<ObjectId>> {
        let found = self.objects().and_then(loose::all);
        found.map_err(self.objects_fault())
    }

    /// Makes one pack of all packs and of these loose objects, from `head` back, and then removes
    /// what is in it. What is not whole stays where it is, and is answered. Called in turn with
    /// others who write packs. The branch leads to the loose objects already, or they are in nobody's
    /// use: stock git takes what is in a pack and what no branch leads to for garbage.
    pub(crate) fn gather(
        &self,
        head: ObjectId,
        loose: Vec<ObjectId>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<ObjectId>> {
        let fault = || self.writing_fault();
        let folder = self.made_pack_folder().map_err(fault())?;
        let parts = Parts::of(self, loose).map_err(|e| self.pack_fault(e))?;
        if parts.are_one() {
            return Ok(Vec::new());
        }
        let mut gathering = Gathering {
            repository: self,
            writer: Writer::begin(&folder, parts.names.len()).map_err(fault())?,
            parts,
            torn: Vec::new(),
            folders: HashMap::new(),
            progress,
        };
        gathering.follow(head)?;
        gathering.take_the_rest()?;
        let Gathering {
            parts,
            writer,
            torn,
            progress,
            ..
        } = gathering;
        if writer.count() > 0 {
            let total = 2 * parts.names.len() as u64;
            let placed = writer.finish().map_err(fault())?;
            check(&folder, placed, total, progress)?;
            self.remove_gathered(&folder, placed, &parts, &torn);
        }
        self.packs.replace(None);
        Ok(torn)
    }

    /// Reads an object from wherever it is whole, and mends nothing; `None` if that is nowhere.
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

    /// Removes what the new pack has. A pack with something in it that is not whole stays.
    fn remove_gathered(&self, folder: &Folder, placed: PackId, parts: &Parts, torn: &[ObjectId]) {
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
        // What is left over does no harm.
        drop(pack::remove_orphans(folder, placed));
    }
}

impl Gathering<'_> {
    /// Adds an object if it is there and is not in yet; answers its bytes, if it is of this kind.
    fn add(&mut self, id: ObjectId, wanted: Type) -> Result<Option<Vec<u8>>> {
        let first = self.parts.begin(id);
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

    /// Adds commits from the newest back, each with what it brought. What cannot be read ends that.
    fn follow(&mut self, head: ObjectId) -> Result<()> {
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

    /// Adds what a root tree has and the one after it has not.
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
        if self.parts.is_done(id) {
            return Ok(());
        }
        self.add(id, Type::Blob).map(drop)
    }

    /// Adds what history does not lead to.
    fn take_the_rest(&mut self) -> Result<()> {
        for at in 0..self.parts.names.len() {
            self.add_unseen(self.parts.names[at])?;
        }
        Ok(())
    }
}

/// Reads everything in a new pack back, before what it was made of goes.
fn check(
    folder: &Folder,
    placed: PackId,
    total: u64,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    let pack = Pack::at(folder, placed);
    let fault = || folder.fault("read", &placed.pack());
    let mut tools = Tools::new();
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
