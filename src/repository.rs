//! The bare git repository: objects by name, and one ref. The only module that uses `git2`.
//!
//! It reads no git configuration of the user, the system or the store itself, no hook, no template
//! and no replace ref. Objects, packs and the ref are files in documented formats, and libgit2 only
//! computes object names.

mod deferred;
#[cfg(any(fuzzing, test))]
pub(crate) mod fuzzing;
mod loose;
pub(crate) mod object;
mod pack;
mod repack;

use std::cell::{OnceCell, RefCell};
use std::io;
use std::path::PathBuf;

use self::deferred::Deferred;
use self::loose::{Loose, Reader};
use self::object::{Commit, Object, ObjectKind, Tree};
use self::pack::{Packed, Packs, Type};
use crate::crypto::seal::Sealed;
use crate::disk::{self, Folder, Name, PackId};
use crate::error::{Error, Result};
use crate::id::ObjectId;

pub(crate) use self::deferred::DeferredCommit;
pub(crate) use self::repack::{IncomingPacks, JournalPack};

/// The only branch of a store.
pub(crate) const BRANCH: &str = "refs/heads/main";
/// The same in a clone by stock git that has no branch of its own.
const CLONED_BRANCH: &str = "refs/remotes/origin/main";

/// The folders of an empty repository, each before the folders inside it.
const MADE: [Name; 6] = [
    Name::OBJECTS,
    Name::OBJECTS_INFO,
    Name::OBJECTS_PACK,
    Name::REFS,
    Name::HEADS,
    Name::TAGS,
];

/// The configuration for stock git. Repacking by `git gc` is safe; packing the ref is not, because
/// that deletes a file which agekeep replaces. Nobody pushes to a store that is in use: its branch would go on
/// without its journal and its keys.
pub(crate) const CONFIG: &str = "\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\tfsync = all
\tlogAllRefUpdates = false
[gc]
\tauto = 0
\tpackRefs = false
[maintenance]
\tauto = false
[receive]
\tdenyNonFastForwards = true
\tdenyDeletes = true
\thideRefs = refs/
";

/// The git side of a store.
pub(crate) struct Repository {
    root: Folder,
    /// Looks up recent objects in the journal when they are whole nowhere else.
    recent: JournalLookup,
    /// The `objects` folder, opened on first use.
    objects: OnceCell<Folder>,
    /// The packs as last listed.
    packs: RefCell<Option<Packs>>,
    /// The loose objects as last listed, in order. Without a list each is looked for.
    listed_loose: RefCell<Option<Vec<ObjectId>>>,
    /// The last commit and the last tree that were read: a command looks at the newest ones several
    /// times.
    last: RefCell<[Option<KnownObject>; 2]>,
    /// The loose object reader, created on first use.
    reader: RefCell<Option<Reader>>,
    /// Objects waiting to be written, in order of arrival.
    held: RefCell<Vec<Object>>,
    /// Durable commits whose objects are put in place later.
    deferred: Deferred,
}

/// An object that was read: its name and its bytes.
type KnownObject = (ObjectId, Vec<u8>);

/// Looks up an object by its name among the recent ones in the journal of the store in a folder.
pub(crate) type JournalLookup = fn(&Folder, ObjectId) -> Result<Option<Object>>;

/// The result of a strict read, which repairs nothing and takes nothing from elsewhere.
pub(crate) enum StrictRead {
    Whole(ObjectKind, Vec<u8>),
    Missing,
    /// The reason, and the bytes that a torn or changed file still inflates to.
    Damaged(String, Vec<u8>),
}

/// Computes the name of an object: SHA-1 over its kind, length and bytes.
pub(crate) fn name(kind: ObjectKind, bytes: &[u8]) -> ObjectId {
    name_of(kind.into(), bytes)
}

fn name_of(kind: Type, bytes: &[u8]) -> ObjectId {
    let kind = match kind {
        Type::Blob => git2::ObjectType::Blob,
        Type::Tree => git2::ObjectType::Tree,
        Type::Commit => git2::ObjectType::Commit,
        Type::Tag => git2::ObjectType::Tag,
    };
    let id = git2::Oid::hash_object(kind, bytes).expect("hashing bytes in memory");
    ObjectId(id.as_bytes().try_into().expect("SHA-1 has 20 bytes"))
}

impl Object {
    /// Makes the blob of a sealed version.
    pub(crate) fn sealed(sealed: Sealed) -> Self {
        Self::named(ObjectKind::Blob, sealed.into_bytes())
    }

    /// Makes a blob that is public by design: `agekeep.toml`, `recipients`, `signers`.
    pub(crate) fn public(text: &str) -> Self {
        Self::named(ObjectKind::Blob, text.into())
    }

    pub(crate) fn tree(tree: &Tree) -> Self {
        Self::named(ObjectKind::Tree, object::encode_tree(tree))
    }

    pub(crate) fn commit(bytes: Vec<u8>) -> Self {
        Self::named(ObjectKind::Commit, bytes)
    }

    fn named(kind: ObjectKind, bytes: Vec<u8>) -> Self {
        Self {
            id: name(kind, &bytes),
            kind,
            bytes,
        }
    }
}

impl Repository {
    /// Creates an empty repository: SHA-1 object format, refs as files.
    pub(crate) fn create(root: &Folder, recent: JournalLookup) -> Result<Self> {
        for folder in &MADE {
            let made = root.make_folder(folder, 0o700);
            made.map_err(root.fault("make", folder))?;
        }
        root.replace(&Name::HEAD, format!("ref: {BRANCH}\n").as_bytes(), 0o644)?;
        root.replace(&Name::CONFIG, CONFIG.as_bytes(), 0o644)?;
        Self::open(root, recent)
    }

    /// Opens the repository in a folder.
    pub(crate) fn open(root: &Folder, recent: JournalLookup) -> Result<Self> {
        for (name, kind) in [
            (Name::HEAD, disk::FileKind::File),
            (Name::OBJECTS, disk::FileKind::Folder),
            (Name::REFS, disk::FileKind::Folder),
        ] {
            let there = root.has_that_is(&name, kind);
            if !there.map_err(root.fault("read", &name))? {
                let path = root.path().into();
                return Err(Error::NoStore { path });
            }
        }
        Ok(Self::open_lenient(root, recent))
    }

    /// Opens the repository in a folder even if parts of it are missing, to examine damage.
    pub(crate) fn open_lenient(root: &Folder, recent: JournalLookup) -> Self {
        Self {
            root: root.clone(),
            recent,
            objects: OnceCell::new(),
            packs: RefCell::new(None),
            listed_loose: RefCell::new(None),
            last: RefCell::default(),
            reader: RefCell::new(None),
            held: RefCell::default(),
            deferred: Deferred::default(),
        }
    }

    /// Returns the `objects` folder.
    fn objects(&self) -> io::Result<&Folder> {
        if let Some(open) = self.objects.get() {
            return Ok(open);
        }
        let opened = self.root.sub(&Name::OBJECTS)?;
        Ok(self.objects.get_or_init(|| opened))
    }

    /// Reads the commit the branch points at; `None` if the ref is missing or its file is torn.
    pub(crate) fn head(&self) -> Result<Option<ObjectId>> {
        match self.root.read(&Name::BRANCH) {
            Ok(text) => {
                let text = String::from_utf8(text).ok();
                Ok(text.and_then(|text| ObjectId::from_hex(text.strip_suffix('\n')?)))
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => self.packed_head(),
            Err(e) => Err(self.root.fault("read", &Name::BRANCH)(e)),
        }
    }

    /// Reads the branch from `packed-refs`, where `git pack-refs` puts it. Stock git clones it as the remote's
    /// alone if the host calls another one its first.
    fn packed_head(&self) -> Result<Option<ObjectId>> {
        let text = match self.root.read(&Name::PACKED_REFS) {
            Ok(text) => String::from_utf8_lossy(&text).into_owned(),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(self.root.fault("read", &Name::PACKED_REFS)(e)),
        };
        let named = |wanted: &str| {
            let mut refs = text.lines().filter_map(|line| line.split_once(' '));
            refs.find(|(_, name)| *name == wanted)
        };
        let found = named(BRANCH).or_else(|| named(CLONED_BRANCH));
        Ok(found.and_then(|(id, _)| ObjectId::from_hex(id)))
    }

    /// Points the branch at a commit. Not yet durable.
    pub(crate) fn set_head(&self, id: ObjectId) -> Result<()> {
        // The spare file lies outside `refs/`: inside, stock git would take it for a branch.
        let text = format!("{id}\n");
        self.root
            .exchange(&Name::BRANCH_BEFORE, &Name::BRANCH, text.as_bytes())
    }

    /// Writes an object, replacing any file in its place. Not yet durable.
    pub(crate) fn write(&self, object: &Object) -> Result<()> {
        self.objects()
            .and_then(|objects| loose::write(objects, object))
            .map_err(self.object_fault("write", object.id))
    }

    /// Maps an I/O error on an object's file to an [`Error`].
    fn object_fault(
        &self,
        doing: &'static str,
        id: ObjectId,
    ) -> impl FnOnce(io::Error) -> Error + use<> {
        let objects = self.root.path_of(&Name::OBJECTS);
        Error::io(doing, &objects.join(Name::object(id).as_str()))
    }

    /// Maps an I/O error on the `objects` folder to an [`Error`].
    fn objects_fault(&self) -> impl FnOnce(io::Error) -> Error + use<> {
        self.root.fault("read", &Name::OBJECTS)
    }

    /// Removes `main.before`, the file that the branch is exchanged with. A crash may leave it
    /// under the branch's name with its old bytes, so those must not be older than the journal,
    /// which tells where the branch may point.
    pub(crate) fn forget_branch_before(&self) -> Result<()> {
        match self.root.remove(&Name::BRANCH_BEFORE) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            // Only a regular file can become the branch.
            Err(_)
                if !self
                    .root
                    .has_kind(&Name::BRANCH_BEFORE, disk::FileKind::File) =>
            {
                Ok(())
            }
            done => done.map_err(self.root.fault("remove", &Name::BRANCH_BEFORE)),
        }
    }

    /// Removes a half-made repository: the objects, packs and folders it has by then.
    pub(crate) fn remove_made(&self) {
        if let Ok(objects) = self.objects() {
            for id in loose::all(objects).unwrap_or_default() {
                loose::remove(objects, id);
            }
            loose::remove_empty_folders(objects);
            objects.remove_temporary_files();
        }
        if let Ok(folder) = self.pack_folder() {
            for file in pack::files(&folder).unwrap_or_default() {
                drop(folder.remove(&file.id.index()));
                drop(folder.remove(&file.id.pack()));
            }
            folder.remove_temporary_files();
        }
        for file in [Name::BRANCH, Name::BRANCH_BEFORE] {
            drop(self.root.remove(&file));
        }
        for folder in MADE.iter().rev() {
            drop(self.root.remove_folder(folder));
        }
    }

    /// Stages objects in memory until the command that made them is durable. Reads find them.
    pub(crate) fn stage(&self, objects: Vec<Object>) {
        self.held.borrow_mut().extend(objects);
    }

    /// Takes the held objects out.
    pub(crate) fn unstage(&self) -> Vec<Object> {
        self.held.take()
    }

    /// Puts the objects of durable commits in their places later, or now if no thread can be had.
    ///
    /// # Errors
    /// [`Error::Io`] if one cannot be written now.
    pub(crate) fn defer(&mut self, commits: Vec<DeferredCommit>) -> Result<()> {
        let Err(commits) = self.deferred.add(&self.root, commits) else {
            return Ok(());
        };
        self.place_deferred()?;
        commits.iter().try_for_each(|commit| self.place(commit))
    }

    /// Tells whether everything between the branch and the end of history at `head` waits here to be
    /// put in place. Requires the store's lock.
    pub(crate) fn has_deferred(&self, head: ObjectId) -> Result<bool> {
        Ok(self.deferred.len() > 0 && self.deferred.reach(self.head()?, head))
    }

    /// Returns the number of commits whose objects wait to be put in place.
    pub(crate) fn deferred_count(&self) -> usize {
        self.deferred.len()
    }

    /// Puts all objects in their places that wait for it. Requires the store's lock.
    pub(crate) fn place_deferred(&self) -> Result<()> {
        let commits = self.deferred.take();
        commits.iter().try_for_each(|commit| self.place(commit))
    }

    /// Forgets the objects that wait, because they are in place or in a pack.
    pub(crate) fn forget_deferred(&self) {
        drop(self.deferred.take());
    }

    /// Writes a commit's objects, then points the branch at it: stock git may take objects that no
    /// branch reaches for garbage.
    pub(crate) fn place(&self, commit: &DeferredCommit) -> Result<()> {
        commit.objects.iter().try_for_each(|o| self.write(o))?;
        self.set_head(commit.id)
    }

    /// Finds an object that is not in its place yet.
    fn read_staged(&self, id: ObjectId) -> Option<(ObjectKind, Vec<u8>)> {
        let held = self.held.borrow();
        let held = held.iter().find(|object| object.id == id);
        let object = held.cloned().or_else(|| self.deferred.find(id))?;
        Some((object.kind, object.bytes))
    }

    /// Removes the temporary files of killed writers.
    pub(crate) fn remove_temporary_objects(&self) {
        if let Ok(objects) = self.objects() {
            objects.remove_temporary_files();
        }
        self.remove_temporary_packs();
    }

    /// Makes everything written so far durable.
    pub(crate) fn sync(&self) -> Result<()> {
        self.root.sync_file_system()
    }

    /// Reads a sealed blob.
    pub(crate) fn sealed(&self, id: ObjectId) -> Result<Sealed> {
        Sealed::parse(self.read(id, ObjectKind::Blob)?)
            .map_err(|_| Error::damaged(format!("blob {id}"), "it is not an age file"))
    }

    /// Reads a blob that is public by design, as text.
    pub(crate) fn public(&self, id: ObjectId) -> Result<String> {
        String::from_utf8(self.read(id, ObjectKind::Blob)?)
            .map_err(|_| Error::damaged(format!("blob {id}"), "it is not UTF-8"))
    }

    /// Reads a tree.
    pub(crate) fn tree(&self, id: ObjectId) -> Result<Tree> {
        object::parse_tree(&self.read(id, ObjectKind::Tree)?).ok_or_else(|| foreign_entries(id))
    }

    /// Finds the blobs of the named files in a tree; `None` for a file that is absent.
    pub(crate) fn files_in<const N: usize>(
        &self,
        tree: ObjectId,
        names: [&str; N],
    ) -> Result<[Option<ObjectId>; N]> {
        object::find_files(&self.read(tree, ObjectKind::Tree)?, names)
            .ok_or_else(|| foreign_entries(tree))
    }

    /// Reads a commit, parsed and as raw bytes.
    pub(crate) fn commit(&self, id: ObjectId) -> Result<(Commit, Vec<u8>)> {
        let bytes = self.read(id, ObjectKind::Commit)?;
        match object::parse_commit(&bytes) {
            Some(commit) if commit.merged.is_some() => Err(Error::damaged_with_hint(
                format!("commit {id}"),
                "it is a merge of two histories, which this version of agekeep does not read yet",
                "use the version of agekeep that made it, or a newer one",
            )),
            Some(commit) => Ok((commit, bytes)),
            None => Err(Error::damaged(
                format!("commit {id}"),
                "it is not a signed commit with one parent at most",
            )),
        }
    }

    /// Verifies that an object is present and whole.
    pub(crate) fn check(&self, id: ObjectId) -> Result<()> {
        self.read_any(id).map(drop)
    }

    fn read(&self, id: ObjectId, kind: ObjectKind) -> Result<Vec<u8>> {
        let slot = match kind {
            ObjectKind::Commit => Some(0),
            ObjectKind::Tree => Some(1),
            ObjectKind::Blob => None,
        };
        if let Some(slot) = slot
            && let Some((known, bytes)) = &self.last.borrow()[slot]
            && *known == id
        {
            return Ok(bytes.clone());
        }
        let (found, bytes) = self.read_any(id)?;
        if found != kind {
            let why = format!("it is a {}, not a {}", found.name(), kind.name());
            return Err(Error::damaged(format!("object {id}"), why));
        }
        if let Some(slot) = slot {
            self.last.borrow_mut()[slot] = Some((id, bytes.clone()));
        }
        Ok(bytes)
    }

    /// Reads an object from any place where it is whole: its loose file, a pack, or the journal.
    fn read_any(&self, id: ObjectId) -> Result<(ObjectKind, Vec<u8>)> {
        if let Some(held) = self.read_staged(id) {
            return Ok(held);
        }
        let mut why = String::from("it is missing");
        for look_again in [false, true] {
            match self.read_loose(id)? {
                Loose::Whole(kind, bytes) => return Ok((kind, bytes)),
                Loose::Damaged(fault) => why = fault.into(),
                Loose::Absent => {}
            }
            match self.read_packed(id, look_again, true)? {
                Packed::Whole(kind, bytes) => {
                    if let Some(kind) = kind.kind() {
                        return Ok((kind, bytes));
                    }
                    why = "it is a tag, which no store has".into();
                }
                Packed::Damaged(fault) => why = fault,
                Packed::Absent => {}
            }
        }
        self.read_journaled(id, &why)
    }

    /// Lists the loose objects for strict reads, which then look for the file of another object only
    /// if no pack has it. Without a list they look for each.
    pub(crate) fn list_loose(&self) {
        let listed = self.loose().ok().map(|mut loose| {
            loose.sort_unstable();
            loose
        });
        *self.listed_loose.borrow_mut() = listed;
    }

    /// Tells whether a list says that an object is not loose.
    fn is_unlisted(&self, id: ObjectId) -> bool {
        let listed = self.listed_loose.borrow();
        listed
            .as_ref()
            .is_some_and(|all| all.binary_search(&id).is_err())
    }

    fn read_loose(&self, id: ObjectId) -> Result<Loose> {
        let objects = match self.objects() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Loose::Absent),
            objects => objects.map_err(self.objects_fault())?,
        };
        self.reading(|reader| reader.read(objects, id))
            .map_err(self.object_fault("read", id))
    }

    fn reading<T>(&self, read: impl FnOnce(&mut Reader) -> T) -> T {
        read(self.reader.borrow_mut().get_or_insert_with(Reader::new))
    }

    /// Reads an object from its loose file or pack and verifies its hash, without repairing
    /// anything.
    pub(crate) fn read_strictly(&self, id: ObjectId) -> Result<StrictRead> {
        for look_again in [false, true] {
            let loose = if !look_again && self.is_unlisted(id) {
                Loose::Absent
            } else {
                self.read_loose(id)?
            };
            match loose {
                Loose::Whole(kind, bytes) => return Ok(StrictRead::Whole(kind, bytes)),
                Loose::Damaged(why) => {
                    let rest = self
                        .objects()
                        .map(|objects| loose::recover_bytes(objects, id));
                    let rest = rest.unwrap_or_default();
                    return Ok(StrictRead::Damaged(why.into(), rest));
                }
                Loose::Absent => {}
            }
            let lists_packs = look_again || self.packs.borrow().is_none();
            if lists_packs && self.has_alternates() && !self.has_packs() {
                continue;
            }
            match self.read_packed(id, look_again, true)? {
                Packed::Whole(kind, bytes) => {
                    if let Some(kind) = kind.kind() {
                        return Ok(StrictRead::Whole(kind, bytes));
                    }
                }
                Packed::Damaged(why) if look_again => return self.recover_packed_bytes(id, why),
                Packed::Damaged(_) | Packed::Absent => {}
            }
        }
        Ok(StrictRead::Missing)
    }

    /// Reads an object as [`Self::read_strictly`] does; `None` if it is not whole, or of another kind.
    pub(crate) fn read_whole(&self, id: ObjectId, wanted: ObjectKind) -> Result<Option<Vec<u8>>> {
        Ok(match self.read_strictly(id)? {
            StrictRead::Whole(kind, bytes) if kind == wanted => Some(bytes),
            _ => None,
        })
    }

    /// Reads the bytes that a damaged pack entry still yields.
    fn recover_packed_bytes(&self, id: ObjectId, why: String) -> Result<StrictRead> {
        let rest = match self.read_packed(id, false, false)? {
            Packed::Whole(_, bytes) => bytes,
            Packed::Damaged(_) | Packed::Absent => Vec::new(),
        };
        Ok(StrictRead::Damaged(why, rest))
    }

    /// Reads the beginning of a loose object, or all of a packed one, unchecked. Falls back to
    /// [`Self::read_strictly`].
    pub(crate) fn peek(&self, id: ObjectId) -> Result<StrictRead> {
        if let Some((kind, bytes)) = self.read_staged(id) {
            return Ok(StrictRead::Whole(kind, bytes));
        }
        if !self.is_unlisted(id)
            && let Ok(objects) = self.objects()
            && let Some((kind, bytes)) = self.reading(|reader| reader.peek(objects, id))
        {
            return Ok(StrictRead::Whole(kind, bytes));
        }
        let has_listed = self.packs.borrow().is_some();
        if (has_listed || !self.has_alternates())
            && let Packed::Whole(kind, bytes) = self.read_packed(id, false, false)?
            && let Some(kind) = kind.kind()
        {
            return Ok(StrictRead::Whole(kind, bytes));
        }
        self.read_strictly(id)
    }

    /// Reads the parent that a commit names, unchecked.
    pub(crate) fn peek_parent(&self, id: ObjectId) -> Result<Option<ObjectId>> {
        match self.peek(id)? {
            StrictRead::Whole(ObjectKind::Commit, bytes) => object::outline(&bytes),
            _ => None,
        }
        .map(|outline| outline.parent)
        .ok_or_else(|| Error::damaged(format!("commit {id}"), "it cannot be read"))
    }

    /// Tells whether the repository borrows objects from another folder
    /// (`objects/info/alternates`).
    fn has_alternates(&self) -> bool {
        let objects = self.objects();
        objects.is_ok_and(|objects| objects.has(&Name::ALTERNATES))
    }

    fn has_packs(&self) -> bool {
        let packs = self.pack_folder().and_then(|folder| pack::indexed(&folder));
        packs.is_ok_and(|packs| !packs.is_empty())
    }

    /// Restores an object from the journal, if it is recent enough to be there. It may have been
    /// torn since, or pruned by stock git before a ref reached it.
    fn read_journaled(&self, id: ObjectId, why: &str) -> Result<(ObjectKind, Vec<u8>)> {
        let found = (self.recent)(&self.root, id)?;
        let object = found.ok_or_else(|| self.lost(id, why))?;
        self.write(&object)?;
        Ok((object.kind, object.bytes))
    }

    /// Builds the error for an object that is whole nowhere; its pack may only lack an index.
    fn lost(&self, id: ObjectId, why: &str) -> Error {
        let object = format!("object {id}");
        match self.without_index() {
            Some((folder, pack)) => unindexed(&folder, pack, &format!("{object}: {why}")),
            None => Error::damaged(object, why),
        }
    }

    fn without_index(&self) -> Option<(Folder, PackId)> {
        let folder = self.pack_folder().ok()?;
        let pack = pack::without_index(&folder).ok().flatten()?;
        Some((folder, pack))
    }

    /// Maps an error in reading packs: to the pack without an index, if that is the cause.
    fn pack_fault(&self, error: io::Error) -> Error {
        let pack = pack::is_content_fault(&error).then(|| self.without_index());
        match pack.flatten() {
            Some((folder, pack)) => unindexed(&folder, pack, &error.to_string()),
            None => self.objects_fault()(error),
        }
    }

    /// Finds the only object whose name begins with these digits. `None` if there is none, if there
    /// are several, or if too little can be read to tell.
    pub(crate) fn only_one_named(&self, digits: &str) -> Option<ObjectId> {
        let mut found = loose::named(self.objects().ok()?, digits).ok()?;
        if self.has_packs() {
            // Lists the packs anew, because some may have been added.
            let packs = self.list_packs().ok()?;
            found.extend(packs.named(digits).ok()?);
        }
        let first = *found.first()?;
        found.iter().all(|other| *other == first).then_some(first)
    }

    /// Tells whether an object is present, without checking that it is whole.
    pub(crate) fn has(&self, id: ObjectId) -> Result<bool> {
        // Packs come first: in a large store they have nearly everything, and an index that is open
        // is cheaper than a look at a folder.
        Ok(self.in_packs(false, |packs| packs.has(id))?
            || self.read_staged(id).is_some()
            || self
                .objects()
                .is_ok_and(|objects| objects.has(&Name::object(id)))
            || self.in_packs(true, |packs| packs.has(id))?)
    }

    /// Reads a packed object; if `checked`, it must hash to its name. A repack may move objects
    /// between packs meanwhile: `look_again` lists the packs anew first.
    fn read_packed(&self, id: ObjectId, look_again: bool, checked: bool) -> Result<Packed> {
        let fits = |kind, bytes: &[u8]| !checked || name_of(kind, bytes) == id;
        self.in_packs(look_again, |packs| packs.read(id, fits))
    }

    fn in_packs<T>(
        &self,
        look_again: bool,
        look: impl FnOnce(&mut Packs) -> io::Result<T>,
    ) -> Result<T> {
        let mut packs = self.packs.borrow_mut();
        if look_again {
            *packs = None;
        }
        let packs = match &mut *packs {
            Some(packs) => packs,
            none => none.insert(self.list_packs()?),
        };
        look(packs).map_err(Error::io("read", &self.pack_path()))
    }

    fn list_packs(&self) -> Result<Packs> {
        if self.has_alternates() {
            return Err(Error::damaged(
                "objects/info/alternates",
                "objects of another folder are no part of a store; remove the file",
            ));
        }
        match self.pack_folder() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Packs::none()),
            folder => folder
                .and_then(|folder| Packs::list(&folder))
                .map_err(Error::io("read", &self.pack_path())),
        }
    }

    /// Opens the folder of packs, which stock git deletes when it is empty.
    fn pack_folder(&self) -> io::Result<Folder> {
        self.objects()?.sub(&Name::PACKS)
    }

    /// Returns the path of the folder of packs, for messages.
    fn pack_path(&self) -> PathBuf {
        self.root.path_of(&Name::OBJECTS_PACK)
    }
}

/// Builds the error for an object that is not found because a pack's index is missing or torn.
fn unindexed(folder: &Folder, pack: PackId, what: &str) -> Error {
    let index = folder.path_of(&pack.index());
    let pack = folder.path_of(&pack.pack());
    let pack = pack.display();
    Error::damaged_with_hint(
        index.display().to_string(),
        format!("it is missing or torn, and what its pack holds is not found without it ({what})"),
        format!(
            "if the pack itself is whole, `git index-pack {pack}` makes its index again; then check \
             the store with `agekeep verify --full`"
        ),
    )
}

fn foreign_entries(tree: ObjectId) -> Error {
    Error::damaged(format!("tree {tree}"), "its entries are not a store's")
}
