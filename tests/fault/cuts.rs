//! Every moment at which a recording can be cut off, and every way.

use std::collections::{BTreeSet, HashMap};
use std::mem;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use sha2::Digest as _;

use crate::fault::check::check;
use crate::fault::dice::Dice;
use crate::fault::disk::{Disk, Fate, Image, Step};
use crate::fault::file::SECTOR_BYTES;
use crate::fault::story::{State, Story};
use crate::support::{Home, tests_wanted};

pub(crate) const SEED: u64 = 8;
/// Failures after which no more are looked for.
const FAILURES_MAX: usize = 5;
/// Steps before and after a sync or an answer that are cut off before any others.
const AROUND: usize = 1;
/// Moments of each kind that a sample has: between two steps of the same kinds.
const OF_EACH_KIND: usize = 2;
/// Of each other boot's identifier as `/proc/sys/kernel/random/boot_id` has it.
const OTHER_BOOT: &[u8; 36] = b"00000000-dead-4bee-8000-000000000000";

/// A way in which everything stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The process is killed, and the machine goes on.
    Killed,
    /// The power goes, and everything until then was on the disk.
    Off,
    /// As [`Self::Off`], in the middle of a write: so many bytes of it are on the disk.
    Amid(usize),
    /// The power goes: what becomes of bytes and of names that were not synced.
    Lost(Fate, Fate, u64),
}

/// How much is tried: a sample in which the moments around each commit point are, or all of it.
pub(crate) fn is_long_run() -> bool {
    tests_wanted() == "all"
}

/// A cut off home folder, and what may be there.
struct Job {
    image: Image,
    states: Vec<State>,
    when: String,
}

impl Story {
    /// Cuts it off at a sample of about so many moments, or at all in a long run, and checks what is
    /// left.
    pub(crate) fn cut(&self, sample: usize) {
        self.cut_some(if is_long_run() { usize::MAX } else { sample });
    }

    /// As [`Self::cut`], also in a long run a sample.
    pub(crate) fn cut_some(&self, sample: usize) {
        let chosen = self.choose(sample);
        let failures = Mutex::new(Vec::new());
        let (sender, receiver) = sync_channel(4);
        let receiver = Mutex::new(receiver);
        let tried = thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
                scope.spawn(|| work(&receiver, &failures));
            }
            let tried = self.send(&chosen, &sender, &failures);
            // Nothing more comes: whoever waits for it is done.
            drop(sender);
            tried
        });
        let failures = failures
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        eprintln!("fault: {}: {tried} cuts, of the seed {SEED}", self.name);
        assert!(
            failures.is_empty(),
            "{}: {} of {tried} cuts failed:\n{}",
            self.name,
            failures.len(),
            failures.join("\n")
        );
        assert!(
            tried >= sample.min(chosen.len() / 3),
            "{}: only {tried} cuts differ",
            self.name
        );
    }

    /// A sample of every moment and way, in the order of moments.
    fn choose(&self, sample: usize) -> Vec<(usize, Way)> {
        let steps = &self.recording().steps;
        let mut dice = Dice::new(SEED);
        let mut all: Vec<(usize, Way)> = (0..=steps.len())
            .flat_map(|at| ways(steps.get(at)).map(move |way| (at, way)))
            .collect();
        let near = |at: usize| {
            let around = at.saturating_sub(AROUND + 1)..(at + AROUND).min(steps.len());
            steps[around].iter().any(|step| {
                matches!(
                    step,
                    Step::SyncBegins(..) | Step::SyncEnds(..) | Step::Said(_)
                )
            })
        };
        dice.shuffle(&mut all);
        // One way at least for moments near a commit point, some of them between each two kinds of
        // step, then whatever comes.
        let kind = |at: usize| steps.get(at).map(mem::discriminant);
        let (mut seen, mut of_kind) = (BTreeSet::new(), HashMap::new());
        let (mut chosen, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|(at, way)| {
            if !near(*at) || !matches!(way, Way::Lost(..)) || !seen.insert(*at) {
                return false;
            }
            let between = (at.checked_sub(1).and_then(kind), kind(*at));
            let count: &mut usize = of_kind.entry(between).or_default();
            *count += 1;
            *count <= OF_EACH_KIND || is_long_run()
        });
        let more = sample.saturating_sub(chosen.len());
        chosen.extend(rest.into_iter().take(more));
        chosen.sort_by_key(|(at, _)| *at);
        chosen
    }

    /// What is left of everything once it is done, if all that was not synced is lost.
    pub(crate) fn left_without_power(&self) -> Home {
        let mut disk = self.recording().start.clone();
        self.recording()
            .steps
            .iter()
            .for_each(|step| disk.apply(step));
        let mut image = disk.image_after(Fate::Lost, Fate::Lost, &mut Dice::new(SEED));
        assert!(
            image.of_another_boot() > 0,
            "{}: no journal tells of its boot",
            self.name
        );
        let home = Home::empty();
        image.write_to(home.path());
        home
    }

    /// Makes what is left at each cut, and hands it on where it differs from all before.
    fn send(
        &self,
        chosen: &[(usize, Way)],
        sender: &SyncSender<Job>,
        failures: &Mutex<Vec<String>>,
    ) -> usize {
        let (mut disk, steps) = (self.recording().start.clone(), &self.recording().steps);
        let (mut done, mut seen, mut tried, mut dated) = (0, BTreeSet::new(), 0, 0);
        for (at, way) in chosen {
            while done < *at {
                disk.apply(&steps[done]);
                done += 1;
            }
            let mut image = way.leaves(&disk, steps.get(done), *at);
            let states = self.states(*at);
            if *way != Way::Killed {
                dated += image.of_another_boot();
            }
            if !seen.insert((image.digest(), states[0].events, states.len())) {
                continue;
            }
            if failures
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .len()
                >= FAILURES_MAX
            {
                break;
            }
            let when = format!("cut after step {at} ({}), {way:?}", self.told(*at));
            tried += 1;
            sender
                .send(Job {
                    image,
                    states,
                    when,
                })
                .expect("somebody works");
        }
        assert!(dated > 0, "{}: no journal tells of its boot", self.name);
        tried
    }

    /// The steps around a moment.
    fn told(&self, at: usize) -> String {
        let steps = &self.recording().steps;
        let around = at.saturating_sub(2)..(at + 1).min(steps.len());
        let said: Vec<String> = steps[around]
            .iter()
            .map(|step| match step {
                Step::Write(inode, at, bytes) => {
                    format!("Write({inode}, {at}, {} bytes)", bytes.len())
                }
                step => format!("{step:?}"),
            })
            .collect();
        said.join("; ")
    }
}

/// The ways to cut off before a step.
fn ways(step: Option<&Step>) -> impl Iterator<Item = Way> + use<> {
    let mut ways = vec![
        Way::Killed,
        Way::Off,
        Way::Lost(Fate::Lost, Fate::Lost, 0),
        Way::Lost(Fate::Lost, Fate::Kept, 0),
        Way::Lost(Fate::Kept, Fate::Lost, 0),
    ];
    let dice = [(50, 50), (15, 85), (85, 15), (90, 90), (10, 30)];
    ways.extend(
        dice.iter()
            .zip(1..)
            .map(|((bytes, names), seed)| Way::Lost(Fate::Dice(*bytes), Fate::Dice(*names), seed)),
    );
    if let Some(Step::Write(_, at, bytes)) = step {
        let to_sector = SECTOR_BYTES - usize::try_from(*at).expect("small") % SECTOR_BYTES;
        let length = bytes.len();
        let offsets = BTreeSet::from([1, 4, to_sector, to_sector + 1, length / 2, length - 1]);
        ways.extend(
            offsets
                .into_iter()
                .filter(|n| (1..length).contains(n))
                .map(Way::Amid),
        );
    }
    ways.into_iter()
}

impl Way {
    fn leaves(self, disk: &Disk, next: Option<&Step>, at: usize) -> Image {
        match (self, next) {
            (Self::Lost(bytes, names, seed), _) => {
                let mut dice = Dice::new(SEED ^ (seed << 32) ^ at as u64);
                disk.image_after(bytes, names, &mut dice)
            }
            (Self::Amid(length), Some(Step::Write(inode, at, bytes))) => {
                disk.image_amid((*inode, *at, &bytes[..length]))
            }
            _ => disk.image(),
        }
    }
}

fn work(receiver: &Mutex<Receiver<Job>>, failures: &Mutex<Vec<String>>) {
    loop {
        let job = receiver
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        let Ok(job) = job else { return };
        let home = Home::empty();
        job.image.write_to(home.path());
        if let Err(why) = check(&home, &job.states) {
            // As it was before anything was opened.
            let kept = Home::empty().keep();
            job.image.write_to(&kept);
            let failure = format!("- {}: {why}\n  kept in {}", job.when, kept.display());
            failures
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(failure);
        }
    }
}

impl Image {
    /// Makes every journal one that an earlier boot of the machine began; answers how many.
    fn of_another_boot(&mut self) -> usize {
        let mut count = 0;
        for (name, (_, bytes)) in &mut self.files {
            let is_journal = name.ends_with("/journal") || name.ends_with("/journal.new");
            if !is_journal
                || bytes.len() < 128
                || sha2::Sha256::digest(&bytes[..96])[..] != bytes[96..128]
            {
                continue;
            }
            bytes[52..88].copy_from_slice(OTHER_BOOT);
            let sum = sha2::Sha256::digest(&bytes[..96]);
            bytes[96..128].copy_from_slice(&sum);
            count += 1;
        }
        count
    }

    fn digest(&self) -> [u8; 32] {
        let mut sum = sha2::Sha256::new();
        for (name, (_, bytes)) in &self.files {
            sum.update((name.len() as u64).to_le_bytes());
            sum.update(name);
            sum.update((bytes.len() as u64).to_le_bytes());
            sum.update(bytes);
        }
        for name in self.folders.keys() {
            sum.update(name);
        }
        sum.finalize().into()
    }
}
