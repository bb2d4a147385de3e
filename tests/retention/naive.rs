//! What must go and what must stay, told from nothing but the list of events and the policy: slow,
//! plain, and with no part of the program's own state.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use agekeep::event::{Change, Event, HoldChange, HoldOn, Outcome};
use agekeep::id::MemoryId;
use chrono::{DateTime, TimeDelta, Utc};

/// A glob, and the same said in Rust.
pub(crate) type Shape = (&'static str, fn(&str) -> bool);

pub(crate) const SHAPES: [Shape; 7] = [
    ("/memories/keep/**", |p| p.starts_with("/memories/keep/")),
    ("/memories/d/**", |p| p.starts_with("/memories/d/")),
    ("/memories/?", |p| {
        p.len() == "/memories/a".len() && p.rfind('/') == Some(9)
    }),
    ("**/a", |p| p.ends_with("/a")),
    ("/memories/{b,d/b}", |p| {
        p == "/memories/b" || p == "/memories/d/b"
    }),
    ("/memories/*/b", |p| {
        p.ends_with("/b") && p.matches('/').count() == 3
    }),
    ("/memories/**", |p| p.starts_with("/memories/")),
];

fn fits(glob: &str, path: &str) -> bool {
    if let Some((_, fits)) = SHAPES.iter().find(|(known, _)| *known == glob) {
        return fits(path);
    }
    // A hold on a directory is one on all that is below it.
    let below = glob.strip_suffix("**");
    path.starts_with(below.unwrap_or_else(|| panic!("an unknown glob {glob}")))
}

/// Which memories a rule is for.
#[derive(Debug, Clone)]
pub(crate) enum For {
    Shape(usize),
    Memory(MemoryId),
}

/// When they expire.
#[derive(Debug, Clone, Copy)]
pub(crate) enum When {
    Never,
    Unaccessed(i64),
    At(DateTime<Utc>),
}

#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) of: For,
    pub(crate) when: When,
    pub(crate) grace: Option<i64>,
    pub(crate) erase: Option<bool>,
}

/// A policy of expiration; times in minutes.
#[derive(Debug, Clone)]
pub(crate) struct Book {
    pub(crate) window: When,
    pub(crate) grace: i64,
    pub(crate) erase: bool,
    pub(crate) keep: Vec<usize>,
    pub(crate) rules: Vec<Rule>,
    /// The most that one sweep may take; `None` is a quarter, and 10 in any case.
    pub(crate) max: Option<usize>,
}

impl When {
    fn to_toml(self) -> String {
        match self {
            Self::Never => "unaccessed_for = \"never\"\n".into(),
            Self::Unaccessed(minutes) => format!("unaccessed_for = \"{minutes}min\"\n"),
            Self::At(time) => format!("expires_at = {}\n", time.to_rfc3339()),
        }
    }
}

fn then(erase: bool) -> String {
    let word = if erase { "erase" } else { "delete" };
    format!("then = \"{word}\"\n")
}

impl Book {
    pub(crate) fn to_toml(&self) -> String {
        let keep: Vec<&str> = self.keep.iter().map(|at| SHAPES[*at].0).collect();
        let max = self.max.map_or("\"25%\"".into(), |max| max.to_string());
        let mut toml = format!(
            "[expiration]\n{}grace = \"{}min\"\n{}keep = {keep:?}\nsweep_max = {max}\n",
            self.window.to_toml(),
            self.grace,
            then(self.erase),
        );
        for rule in &self.rules {
            toml.push_str("[[expiration.rules]]\n");
            let _ = match &rule.of {
                For::Shape(at) => writeln!(toml, "path = {:?}", SHAPES[*at].0),
                For::Memory(id) => writeln!(toml, "memory = \"{id}\""),
            };
            toml.push_str(&rule.when.to_toml());
            if let Some(grace) = rule.grace {
                let _ = writeln!(toml, "grace = \"{grace}min\"");
            }
            toml.push_str(&rule.erase.map_or(String::new(), then));
        }
        toml
    }

    fn is_kept(&self, path: &str) -> bool {
        self.keep.iter().any(|at| SHAPES[*at].1(path))
    }

    fn rule(&self, id: MemoryId, path: &str) -> Option<&Rule> {
        let mut rules = self.rules.iter();
        rules.find(|rule| match &rule.of {
            For::Shape(at) => SHAPES[*at].1(path),
            For::Memory(own) => *own == id,
        })
    }

    fn expires(&self, id: MemoryId, path: &str, accessed: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let when = self.rule(id, path).map_or(self.window, |rule| rule.when);
        match when {
            _ if self.is_kept(path) => None,
            When::Never => None,
            When::Unaccessed(minutes) => Some(accessed + TimeDelta::minutes(minutes)),
            When::At(time) => Some(time),
        }
    }

    /// When what a sweep removed is to be erased.
    fn erased_at(&self, id: MemoryId, path: &str, gone: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let rule = self.rule(id, path);
        let erase = rule.and_then(|rule| rule.erase).unwrap_or(self.erase);
        let grace = rule.and_then(|rule| rule.grace).unwrap_or(self.grace);
        (erase && !self.is_kept(path)).then(|| gone + TimeDelta::minutes(grace))
    }

    fn ever_erases(&self) -> bool {
        self.erase || self.rules.iter().any(|rule| rule.erase == Some(true))
    }
}

/// What became of one memory.
struct Life {
    accessed: DateTime<Utc>,
    /// Each path it had, with the events by which it came there and left.
    paths: Vec<(u64, u64, String)>,
    /// When it went, and whether because it had expired.
    gone: Option<(DateTime<Utc>, bool)>,
    /// Erased, or marked for it.
    is_closed: bool,
}

impl Life {
    fn path(&self) -> &str {
        &self.paths.last().expect("it was somewhere").2
    }
}

/// The story so far.
#[derive(Default)]
pub(crate) struct Naive {
    lives: BTreeMap<MemoryId, Life>,
    holds: BTreeMap<u64, HoldOn>,
    times: Vec<(DateTime<Utc>, bool)>,
}

impl Naive {
    pub(crate) fn follow(&mut self, event: &Event) {
        let swept = event.command == "expire" && event.outcome == Outcome::Ok;
        self.times.push((event.time, swept));
        match event.hold.clone() {
            Some(HoldChange::Add(on)) => drop(self.holds.insert(event.number, on)),
            Some(HoldChange::Lift(hold)) => drop(self.holds.remove(&hold)),
            _ => {}
        }
        for touch in &event.memories {
            match touch.change {
                Change::Read => {
                    let life = self.lives.get_mut(&touch.id).expect("only what is there");
                    assert!(
                        life.gone.is_none(),
                        "event {} reads what is gone",
                        event.number
                    );
                    life.accessed = life.accessed.max(event.time);
                }
                Change::Remove | Change::Expire => {
                    let life = self.lives.get_mut(&touch.id).expect("only what is there");
                    assert!(life.gone.is_none(), "event {} removes twice", event.number);
                    life.gone = Some((event.time, touch.change == Change::Expire));
                    life.paths.last_mut().expect("it was somewhere").1 = event.number;
                }
                Change::Mark | Change::Erase => {
                    let life = self.lives.get_mut(&touch.id).expect("only what was there");
                    assert!(
                        life.gone.is_some(),
                        "event {} erases the living",
                        event.number
                    );
                    life.is_closed = true;
                }
                Change::Add | Change::Edit | Change::Move | Change::Restore => {
                    let path = touch.path.as_ref().expect("told before it was erased");
                    self.write(touch.id, path.as_str(), event);
                }
                _ => {}
            }
        }
    }

    fn write(&mut self, id: MemoryId, path: &str, event: &Event) {
        let here = (event.number, u64::MAX, path.to_owned());
        let Some(life) = self.lives.get_mut(&id) else {
            let life = Life {
                accessed: event.time,
                paths: vec![here],
                gone: None,
                is_closed: false,
            };
            self.lives.insert(id, life);
            return;
        };
        assert!(
            !life.is_closed,
            "event {} writes what is erased",
            event.number
        );
        life.accessed = match life.gone.take() {
            Some(_) => event.time,
            None => life.accessed.max(event.time),
        };
        let last = life.paths.last_mut().expect("it was somewhere");
        last.1 = last.1.min(event.number);
        life.paths.push(here);
    }

    /// Whether a hold is on what is there: by its id, or because it was at a path that fits at any
    /// time since the hold began.
    fn is_held(&self, id: MemoryId, life: &Life) -> bool {
        self.holds.iter().any(|(number, on)| match on {
            HoldOn::Memory(own) => *own == id,
            HoldOn::Glob(glob) => {
                let mut since = life.paths.iter().filter(|(_, left, _)| left > number);
                since.any(|(_, _, path)| fits(glob, path))
            }
            _ => unreachable!("there are two kinds"),
        })
    }

    /// Whether a hold is on a memory by any path it ever had: nothing of it may be erased then.
    fn is_ever_held(&self, id: MemoryId, life: &Life) -> bool {
        self.holds.values().any(|on| match on {
            HoldOn::Memory(own) => *own == id,
            HoldOn::Glob(glob) => life.paths.iter().any(|(_, _, path)| fits(glob, path)),
            _ => unreachable!("there are two kinds"),
        })
    }

    fn there(&self) -> impl Iterator<Item = (MemoryId, &Life)> {
        let there = self.lives.iter().filter(|(_, life)| life.gone.is_none());
        there.map(|(id, life)| (*id, life))
    }

    /// What has expired: neither is it found, nor may it stay.
    pub(crate) fn expired(&self, book: &Book, now: DateTime<Utc>) -> BTreeSet<MemoryId> {
        let due = |(id, life): &(MemoryId, &Life)| {
            let at = book.expires(*id, life.path(), life.accessed);
            at.is_some_and(|at| at <= now) && !self.is_held(*id, life)
        };
        self.there().filter(due).map(|(id, _)| id).collect()
    }

    /// What a sweep removed long enough ago.
    pub(crate) fn past_grace(&self, book: &Book, now: DateTime<Utc>) -> BTreeSet<MemoryId> {
        let swept = self.lives.iter().filter(|(_, life)| !life.is_closed);
        let due = |(id, life): &(&MemoryId, &Life)| {
            let Some((gone, true)) = life.gone else {
                return false;
            };
            let at = book.erased_at(**id, life.path(), gone);
            at.is_some_and(|at| at <= now) && !self.is_ever_held(**id, life)
        };
        swept.filter(due).map(|(id, _)| *id).collect()
    }

    /// The paths an agent finds, in order.
    pub(crate) fn paths(&self, book: &Book, now: DateTime<Utc>) -> BTreeSet<String> {
        let expired = self.expired(book, now);
        let there = self.there().filter(|(id, _)| !expired.contains(id));
        there.map(|(_, life)| life.path().to_owned()).collect()
    }

    /// The most that one sweep may remove, and erase.
    pub(crate) fn most(&self, book: &Book) -> usize {
        let swept = self.lives.values();
        let swept = swept.filter(|life| !life.is_closed && matches!(life.gone, Some((_, true))));
        let pending = if book.ever_erases() { swept.count() } else { 0 };
        let all = self.there().count() + pending;
        book.max.unwrap_or_else(|| (all / 4).max(10))
    }

    /// Whether a sweep must not go by a clock that says it is now: since the last sweep it, or that of
    /// an event, was more than a minute behind an earlier one, or more than a year ahead of all.
    pub(crate) fn is_clock_wrong(&self, now: DateTime<Utc>) -> bool {
        let last = self.times.iter().rposition(|(_, swept)| *swept);
        let since = &self.times[last.unwrap_or(0)..];
        let mut latest = since[0].0;
        let mut leapt = false;
        for time in since.iter().map(|(time, _)| *time).chain([now]) {
            leapt |= time - latest > TimeDelta::days(366);
            leapt |= latest - time > TimeDelta::minutes(1);
            latest = latest.max(time);
        }
        leapt
    }

    /// When a memory was last accessed, and whether it is there.
    pub(crate) fn accessed(&self, id: MemoryId) -> (DateTime<Utc>, bool) {
        let life = &self.lives[&id];
        (life.accessed, life.gone.is_none())
    }

    pub(crate) fn has_hold(&self, hold: u64) -> bool {
        self.holds.contains_key(&hold)
    }

    /// Every memory there ever was.
    pub(crate) fn memories(&self) -> Vec<MemoryId> {
        self.lives.keys().copied().collect()
    }

    /// Every hold that is in force.
    pub(crate) fn holds_in_force(&self) -> Vec<u64> {
        self.holds.keys().copied().collect()
    }
}
