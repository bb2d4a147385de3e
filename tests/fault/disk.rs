//! A disk that can lose its power: what it holds for sure, and what it may hold.
//!
//! It promises no more than POSIX does. Bytes that were not synced are on the disk or not, each
//! sector of 512 bytes as it was at any moment since the last sync; a file is as long as it was at
//! any such moment. The sync of a file makes its bytes and its length sure, and not its name. The
//! sync of a folder makes its names sure; a rename is whole or did not happen, and is sure once the
//! folder it goes to is synced; so is an exchange. After a sync that failed, pages count as clean, as in Linux: a later
//! sync of the same file does not make them sure unless they were written again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::fault::dice::Dice;
use crate::fault::file::File;

/// A file or folder, by a number that is never used again.
pub(crate) type Inode = usize;

/// A place for a name.
pub(crate) type Slot = (Inode, String);

/// The folder that all recorded paths are below.
pub(crate) const ROOT: Inode = 0;

/// What is made sure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Of(Inode),
    All,
}

/// Something that happened to a disk, or that a program said.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    NewFile(Inode, u32),
    NewFolder(Inode, u32),
    Link(Slot, Inode),
    Unlink(Slot),
    Rename(Slot, Slot, Inode),
    /// Two names trade places; which file each has then.
    Exchange((Slot, Inode), (Slot, Inode)),
    Write(Inode, u64, Arc<[u8]>),
    Resize(Inode, u64),
    Mode(Inode, u32),
    SyncBegins(usize, Target),
    SyncEnds(usize, bool),
    /// Whoever asked for it was killed before it was answered: nothing is known of it.
    SyncForgotten(usize),
    /// Bytes to standard output or error: how many lines of output they end.
    Said(usize),
}

/// A change of names that is not sure yet.
#[derive(Clone)]
struct Change {
    number: usize,
    /// The folder whose sync makes it sure.
    folder: Inode,
    step: Step,
}

type Names = BTreeMap<Inode, BTreeMap<String, Inode>>;

/// What a sync that is going on will have made sure.
#[derive(Clone)]
struct Sync {
    target: Target,
    /// For each file with dirty pages, how much of it.
    files: BTreeMap<Inode, crate::fault::file::Snapshot>,
    /// Changes of names before this one.
    names: usize,
}

#[derive(Clone, Default)]
pub(crate) struct Disk {
    files: BTreeMap<Inode, File>,
    /// Files with something that is not sure.
    unsure: BTreeSet<Inode>,
    modes: BTreeMap<Inode, u32>,
    /// Names as a program sees them.
    now: Names,
    /// Names that outlive a loss of power.
    sure: Names,
    changes: Vec<Change>,
    count: usize,
    syncs: BTreeMap<usize, Sync>,
    next: Inode,
}

/// What comes through a loss of power of all that was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Lost,
    Kept,
    /// Each by a dice, with this many chances in a hundred to be kept.
    Dice(usize),
}

/// What a disk holds at a moment: files and folders by path, with their modes.
#[derive(Default, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) folders: BTreeMap<String, u32>,
    pub(crate) files: BTreeMap<String, (u32, Vec<u8>)>,
}

impl Disk {
    /// An empty disk: one folder.
    pub(crate) fn new() -> Self {
        let mut disk = Self::default();
        disk.apply(&Step::NewFolder(ROOT, 0o700));
        disk
    }

    /// A number for what is about to be made.
    pub(crate) fn unused(&self) -> Inode {
        self.next
    }

    pub(crate) fn find(&self, folder: Inode, name: &str) -> Option<Inode> {
        self.now.get(&folder)?.get(name).copied()
    }

    pub(crate) fn is_folder(&self, inode: Inode) -> bool {
        self.now.contains_key(&inode)
    }

    pub(crate) fn length(&self, inode: Inode) -> u64 {
        self.files[&inode].now().len() as u64
    }

    pub(crate) fn apply(&mut self, step: &Step) {
        match step {
            Step::NewFile(inode, mode) => {
                self.files.insert(*inode, File::new());
                self.made(*inode, *mode);
            }
            Step::NewFolder(inode, mode) => {
                self.now.insert(*inode, BTreeMap::new());
                self.sure.insert(*inode, BTreeMap::new());
                self.made(*inode, *mode);
            }
            Step::Link((folder, _), _)
            | Step::Unlink((folder, _))
            | Step::Rename(_, (folder, _), _)
            | Step::Exchange(_, ((folder, _), _)) => {
                rename(&mut self.now, step);
                self.count += 1;
                let (number, folder, step) = (self.count, *folder, step.clone());
                self.changes.push(Change {
                    number,
                    folder,
                    step,
                });
            }
            Step::Write(inode, at, bytes) => self.file(*inode).write(*at, bytes),
            Step::Resize(inode, length) => self.file(*inode).resize(*length),
            Step::Mode(inode, mode) => drop(self.modes.insert(*inode, *mode)),
            Step::SyncBegins(number, target) => self.begin(*number, *target),
            Step::SyncEnds(number, worked) => self.end(*number, *worked),
            Step::SyncForgotten(number) => drop(self.syncs.remove(number)),
            Step::Said(_) => {}
        }
    }

    fn made(&mut self, inode: Inode, mode: u32) {
        self.modes.insert(inode, mode);
        self.next = self.next.max(inode + 1);
    }

    fn file(&mut self, inode: Inode) -> &mut File {
        self.unsure.insert(inode);
        self.files.get_mut(&inode).expect("a file")
    }

    fn begin(&mut self, number: usize, target: Target) {
        let inodes = self.unsure.iter().copied();
        let meant = inodes.filter(|inode| target == Target::All || target == Target::Of(*inode));
        let files = meant
            .map(|inode| (inode, self.files[&inode].snapshot()))
            .collect();
        let names = self.count + 1;
        self.syncs.insert(
            number,
            Sync {
                target,
                files,
                names,
            },
        );
    }

    fn end(&mut self, number: usize, worked: bool) {
        let sync = self.syncs.remove(&number).expect("it began");
        for (inode, snapshot) in &sync.files {
            let file = self.files.get_mut(inode).expect("a file");
            file.synced(snapshot, worked);
            if file.is_sure() {
                self.unsure.remove(inode);
            }
        }
        if !worked {
            return;
        }
        let meant = |change: &Change| {
            let folder = Target::Of(change.folder);
            (sync.target == Target::All || sync.target == folder) && change.number < sync.names
        };
        let (done, rest): (Vec<_>, _) = std::mem::take(&mut self.changes)
            .into_iter()
            .partition(meant);
        self.changes = rest;
        for change in done {
            rename(&mut self.sure, &change.step);
            if let Step::Rename(from, ..) | Step::Exchange((from, _), _) = &change.step {
                // What made the name that it had before has no effect any more.
                self.changes.retain(|other| {
                    other.number > change.number
                        || !matches!(&other.step, Step::Link(slot, _) if slot == from)
                });
            }
        }
    }

    /// The numbers of the syncs that are going on.
    pub(crate) fn syncing(&self) -> Vec<usize> {
        self.syncs.keys().copied().collect()
    }

    /// Everything, as a program sees it.
    pub(crate) fn image(&self) -> Image {
        self.walk(&self.now, &mut |inode| self.files[&inode].now().to_vec())
    }

    /// As [`Self::image`], with a write that was cut off after some of its bytes.
    pub(crate) fn image_amid(&self, (file, at, bytes): (Inode, u64, &[u8])) -> Image {
        let mut cut = self.files[&file].clone();
        cut.write(at, bytes);
        self.walk(&self.now, &mut |inode| {
            let found = if inode == file {
                &cut
            } else {
                &self.files[&inode]
            };
            found.now().to_vec()
        })
    }

    /// What is there after a loss of power.
    pub(crate) fn image_after(&self, bytes: Fate, names: Fate, dice: &mut Dice) -> Image {
        let mut left = self.sure.clone();
        for change in &self.changes {
            if names.keeps(dice) {
                rename(&mut left, &change.step);
            }
        }
        self.walk(&left, &mut |inode| self.files[&inode].after(bytes, dice))
    }

    fn walk(&self, names: &Names, bytes: &mut dyn FnMut(Inode) -> Vec<u8>) -> Image {
        let mut image = Image::default();
        let mut open = vec![(String::new(), ROOT)];
        while let Some((path, folder)) = open.pop() {
            for (name, inode) in &names[&folder] {
                let below = format!("{path}/{name}");
                let mode = self.modes[inode];
                if self.is_folder(*inode) {
                    image.folders.insert(below.clone(), mode);
                    open.push((below, *inode));
                } else {
                    image.files.insert(below, (mode, bytes(*inode)));
                }
            }
        }
        image
    }

    /// Whether anything could be lost with the power.
    pub(crate) fn is_sure(&self) -> bool {
        self.unsure.is_empty() && self.changes.is_empty()
    }

    /// What was done so far is on the disk.
    pub(crate) fn settle(&mut self) {
        self.begin(0, Target::All);
        self.end(0, true);
        assert!(self.is_sure(), "all of it is synced");
    }
}

impl Fate {
    pub(crate) fn keeps(self, dice: &mut Dice) -> bool {
        match self {
            Self::Lost => false,
            Self::Kept => true,
            Self::Dice(percent) => dice.chance(percent),
        }
    }
}

fn rename(names: &mut Names, step: &Step) {
    match step {
        Step::Link((folder, name), inode) => set(names, *folder, name, *inode),
        Step::Unlink((folder, name)) => {
            names.get_mut(folder).expect("a folder").remove(name);
        }
        Step::Rename((from, old), (to, new), inode) => {
            let from = names.get_mut(from).expect("a folder");
            if from.get(old) == Some(inode) {
                from.remove(old);
            }
            set(names, *to, new, *inode);
        }
        Step::Exchange(one, other) => {
            for ((folder, name), inode) in [one, other] {
                set(names, *folder, name, *inode);
            }
        }
        other => unreachable!("{other:?} changes no names"),
    }
}

fn set(names: &mut Names, folder: Inode, name: &str, inode: Inode) {
    names
        .get_mut(&folder)
        .expect("a folder")
        .insert(name.to_owned(), inode);
}
