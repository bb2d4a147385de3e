//! What an agent finds: what there is, without what has expired. A memory is absent from the moment
//! it expires, before any sweep, and no read brings it back.

use chrono::{DateTime, Utc};

use crate::error::Result;
use crate::event::{Because, Change};
use crate::memory_tool::path::MemoryPath;
use crate::policy::expiration::{DecidedBy, Lifetime, RuleWhen, Rules, Ruling};
use crate::state::catalog::{Catalog, Memory};
use crate::store::past::locked;
use crate::store::retention::{Due, Fate};
use crate::store::{State, now};

use super::Store;
use super::plan::{Planned, touch};

/// The memories that have not expired.
pub(super) struct Living<'a> {
    catalog: &'a Catalog,
    rules: &'a Rules,
    now: DateTime<Utc>,
}

impl Living<'_> {
    /// The memory at a path.
    pub(super) fn at(&self, path: &MemoryPath) -> Option<&Memory> {
        self.catalog.at(path).filter(|memory| self.has(memory))
    }

    /// Every memory below a directory, in the order of a listing.
    pub(super) fn below(&self, directory: &MemoryPath) -> impl Iterator<Item = &Memory> {
        let all = self.catalog.below(directory);
        all.filter(|memory| self.has(memory))
    }

    /// Whether something is below this path; `/memories` always exists.
    pub(super) fn is_directory(&self, path: &MemoryPath) -> bool {
        path.is_root() || self.below(path).next().is_some()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        if self.rules.is_empty() {
            return self.catalog.len();
        }
        let all = self.catalog.memories();
        all.filter(|memory| self.has(memory)).count()
    }

    /// Whether a memory has not expired.
    pub(super) fn has(&self, memory: &Memory) -> bool {
        self.expired(memory).is_none()
    }

    /// Since when and why a memory is not there for an agent any more.
    pub(super) fn expired(&self, memory: &Memory) -> Option<(DateTime<Utc>, Because)> {
        if self.rules.is_empty() {
            return None;
        }
        let (at, because) = expires(self.rules, memory)?;
        let held = || self.catalog.hold_on(memory.id, Some(&memory.path));
        (at <= self.now && held().is_none()).then_some((at, because))
    }
}

/// When and why a memory expires, held or not.
pub(super) fn expires(rules: &Rules, memory: &Memory) -> Option<(DateTime<Utc>, Because)> {
    let ruling = rules.ruling(memory.id, &memory.path, memory.accessed);
    let (when, at) = ruling.expires?;
    Some((at, because(&ruling, when, memory.accessed)))
}

fn because(ruling: &Ruling, when: RuleWhen, accessed: DateTime<Utc>) -> Because {
    let rule = match ruling.by {
        DecidedBy::Rule(rule) => Some(rule),
        DecidedBy::Keep(_) | DecidedBy::Table => None,
    };
    match when {
        RuleWhen::UnaccessedFor(lifetime) => Because::Unaccessed {
            since: accessed,
            seconds: match lifetime {
                Lifetime::For(window) => window.seconds(),
                Lifetime::Never => i64::MAX,
            },
            rule,
        },
        RuleWhen::At(at) => Because::ExpiresAt {
            at,
            rule: rule.unwrap_or_default(),
        },
    }
}

/// An expired memory, for a plan.
pub(super) fn due(memory: &Memory, (at, because): (DateTime<Utc>, Because)) -> Due {
    Due {
        id: memory.id,
        path: memory.path.clone(),
        version: memory.version,
        bytes: memory.bytes,
        at,
        because,
    }
}

pub(super) fn living(state: &State) -> Living<'_> {
    Living {
        catalog: &state.catalog,
        rules: &state.decisions.rules,
        now: now(state),
    }
}

/// Whether the clock is one that no sweep would go by: then nothing expired is removed either
/// because something new is to be where it was.
pub(super) fn has_wrong_clock(state: &State) -> bool {
    state.catalog.times.clock_fault(now(state)).is_some()
}

/// Removes what has expired and stands in the way of something new at a path: at it, above it
/// or below.
pub(super) fn make_way(state: &State, path: &MemoryPath) -> Vec<Planned> {
    if state.decisions.rules.is_empty() {
        return Vec::new();
    }
    let living = living(state);
    let above = path.ancestors();
    let above: Vec<&Memory> = above.filter_map(|path| state.catalog.at(&path)).collect();
    let below = state.catalog.below(path);
    let in_the_way = above.into_iter().chain(state.catalog.at(path)).chain(below);
    in_the_way
        .filter_map(|memory| {
            let (_, because) = living.expired(memory)?;
            let mut touch = touch(memory, Change::Expire);
            touch.because = Some(because);
            Some(Planned::Touch(touch))
        })
        .collect()
}

/// See [`Store::fate`].
pub(super) fn fate(store: &mut Store, path: &MemoryPath) -> Result<Option<Fate>> {
    locked(store, |store| {
        let Some(memory) = store.state.catalog.at(path) else {
            return Ok(None);
        };
        let rules = &store.state.decisions.rules;
        Ok(Some(Fate {
            id: memory.id,
            accessed: memory.accessed,
            ruling: rules.ruling(memory.id, &memory.path, memory.accessed),
            expired: !living(&store.state).has(memory),
            hold: store.state.catalog.hold_on(memory.id, Some(&memory.path)),
        }))
    })
}
