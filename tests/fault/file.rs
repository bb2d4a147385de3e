//! The bytes of one file: those that are sure to be on the disk, and those that may be.

use std::collections::BTreeMap;

use crate::fault::dice::Dice;
use crate::fault::disk::Fate;

const PAGE_BYTES: usize = 4096;
/// What a disk writes whole.
pub(crate) const SECTOR_BYTES: usize = 512;

/// A page that is not sure: how it was on the disk, and after every change since.
#[derive(Clone)]
struct Page {
    versions: Vec<Vec<u8>>,
    /// How many versions before the first of these were given up.
    gone: usize,
    dirty: bool,
}

#[derive(Clone)]
pub(crate) struct File {
    now: Vec<u8>,
    /// What is on the disk, but for the pages below.
    sure: Vec<u8>,
    pages: BTreeMap<usize, Page>,
    /// The length that is sure, and those since.
    lengths: Vec<usize>,
    lengths_gone: usize,
}

/// How far a file had come when a sync of it began.
#[derive(Clone)]
pub(crate) struct Snapshot {
    /// For each dirty page, the number of its newest version.
    pages: BTreeMap<usize, usize>,
    length: usize,
}

impl File {
    pub(crate) fn new() -> Self {
        Self {
            now: Vec::new(),
            sure: Vec::new(),
            pages: BTreeMap::new(),
            lengths: vec![0],
            lengths_gone: 0,
        }
    }

    pub(crate) fn now(&self) -> &[u8] {
        &self.now
    }

    pub(crate) fn is_sure(&self) -> bool {
        self.pages.is_empty() && self.lengths.len() == 1
    }

    pub(crate) fn write(&mut self, at: u64, bytes: &[u8]) {
        let at = usize::try_from(at).expect("a small file");
        let end = at + bytes.len();
        if end > self.now.len() {
            self.set_length(end);
        }
        self.change(at..end, |now| now[at..end].copy_from_slice(bytes));
    }

    pub(crate) fn resize(&mut self, length: u64) {
        let length = usize::try_from(length).expect("a small file");
        let old = self.now.len();
        if length < old {
            self.change(length..old, |now| now[length..].fill(0));
        }
        self.set_length(length);
    }

    fn set_length(&mut self, length: usize) {
        self.lengths.push(length);
        self.now.resize(length, 0);
    }

    fn change(&mut self, range: std::ops::Range<usize>, change: impl FnOnce(&mut [u8])) {
        if range.is_empty() {
            return;
        }
        let numbers = range.start / PAGE_BYTES..=(range.end - 1) / PAGE_BYTES;
        for number in numbers.clone() {
            let sure = page(&self.sure, number);
            self.pages.entry(number).or_insert(Page {
                versions: vec![sure],
                gone: 0,
                dirty: true,
            });
        }
        change(&mut self.now);
        for number in numbers {
            let version = page(&self.now, number);
            let changed = self.pages.get_mut(&number).expect("made above");
            changed.versions.push(version);
            changed.dirty = true;
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let dirty = self.pages.iter().filter(|(_, page)| page.dirty);
        Snapshot {
            pages: dirty
                .map(|(number, page)| (*number, page.newest()))
                .collect(),
            length: self.lengths_gone + self.lengths.len() - 1,
        }
    }

    /// A sync that saw this much of the file is over.
    pub(crate) fn synced(&mut self, seen: &Snapshot, worked: bool) {
        for (number, newest) in &seen.pages {
            let Some(page) = self.pages.get_mut(number) else {
                continue;
            };
            if page.newest() == *newest {
                page.dirty = false;
            }
            if worked && *newest > page.gone {
                page.versions.drain(..*newest - page.gone);
                page.gone = *newest;
            }
            if page.versions.len() == 1 {
                let sure = self.pages.remove(number).expect("there").versions.remove(0);
                self.keep(*number, &sure);
            }
        }
        if worked && seen.length > self.lengths_gone {
            self.lengths.drain(..seen.length - self.lengths_gone);
            self.lengths_gone = seen.length;
        }
    }

    fn keep(&mut self, number: usize, bytes: &[u8]) {
        let at = number * PAGE_BYTES;
        let end = (at + PAGE_BYTES).max(self.sure.len());
        self.sure.resize(end, 0);
        self.sure[at..at + PAGE_BYTES].copy_from_slice(bytes);
    }

    /// What a loss of power leaves of it.
    pub(crate) fn after(&self, fate: Fate, dice: &mut Dice) -> Vec<u8> {
        let length = self.lengths[pick(self.lengths.len() - 1, fate, dice)];
        let mut left = self.sure.clone();
        left.resize(length, 0);
        for (number, page) in &self.pages {
            for sector in 0..PAGE_BYTES / SECTOR_BYTES {
                let version = &page.versions[pick(page.versions.len() - 1, fate, dice)];
                let at = number * PAGE_BYTES + sector * SECTOR_BYTES;
                let end = (at + SECTOR_BYTES).min(length);
                if at < end {
                    let within = sector * SECTOR_BYTES;
                    left[at..end].copy_from_slice(&version[within..within + end - at]);
                }
            }
        }
        left
    }
}

impl Page {
    fn newest(&self) -> usize {
        self.gone + self.versions.len() - 1
    }
}

/// Which of the versions 0 to `last` is left.
fn pick(last: usize, fate: Fate, dice: &mut Dice) -> usize {
    match fate {
        Fate::Lost => 0,
        Fate::Kept => last,
        Fate::Dice(_) if last > 1 && dice.chance(30) => dice.roll(last + 1),
        Fate::Dice(_) => {
            if fate.keeps(dice) {
                last
            } else {
                0
            }
        }
    }
}

fn page(bytes: &[u8], number: usize) -> Vec<u8> {
    let at = (number * PAGE_BYTES).min(bytes.len());
    let end = (at + PAGE_BYTES).min(bytes.len());
    let mut page = bytes[at..end].to_vec();
    page.resize(PAGE_BYTES, 0);
    page
}
