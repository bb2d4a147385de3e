//! What `revert` wants: what some events changed undone, and what others changed since kept.

use std::collections::{HashMap, HashSet};

use crate::Text;
use crate::diff::merge;
use crate::error::{Error, Result};
use crate::event::Change;
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::state::timeline::Part;
use crate::store::log::Filter;
use crate::store::past::access::numbers;
use crate::store::past::{nameless, resolve, text_then, timeline};
use crate::store::undo::Selection;
use crate::store::undo::{Conflict, on_top};

use super::super::Store;
use super::{Aim, Wanted};

/// One memory, on the way back: what it would be once the newer events are undone.
struct Way<'a> {
    store: &'a Store,
    /// Everything that changed it, oldest first.
    life: Vec<Part>,
    /// `None` while it would not be there.
    state: Option<State>,
    texts: HashMap<u64, Text>,
    /// The events in the way, newest first, and why.
    conflict: Option<&'static str>,
}

#[derive(Clone)]
struct State {
    path: MemoryPath,
    text: Text,
    from: Option<u64>,
    merged: bool,
}

pub(super) fn aim_revert(store: &Store, selection: &Selection) -> Result<Aim> {
    let events = selected(store, selection)?;
    let timeline = timeline(&store.state);
    let mut memories: Vec<MemoryId> = Vec::new();
    let mut known = HashSet::new();
    let mut undone = Vec::new();
    for event in &events {
        let parts = timeline.parts_of(*event);
        // What was only sealed anew is as it was.
        let changed = parts
            .iter()
            .filter(|part| part.change.alters() && part.change != Change::Reseal);
        let ids: Vec<MemoryId> = changed.map(|part| part.of.id).collect();
        if !ids.is_empty() {
            undone.push(*event);
        }
        memories.extend(ids.into_iter().filter(|id| known.insert(*id)));
    }
    if undone.is_empty() {
        return Err(Error::NothingToUndo {
            selection: described(selection),
        });
    }
    let chosen: HashSet<u64> = undone.iter().copied().collect();
    let mut aim = Aim {
        undone: runs(&undone),
        ..Aim::default()
    };
    for id in memories {
        match way_back(store, id, &chosen) {
            Ok(Ok(wanted)) => drop(aim.wanted.insert(id, wanted)),
            Ok(Err(conflict)) => aim.conflicts.push(conflict),
            Err(error) if error.is_of_one_memory() => {
                let path = timeline
                    .life(id)
                    .iter()
                    .rev()
                    .find_map(|part| part.of.path.clone());
                aim.conflicts
                    .push(Conflict::alone(id, path, error.to_string()));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(aim)
}

/// The events a selection means, oldest first.
fn selected(store: &Store, selection: &Selection) -> Result<Vec<u64>> {
    let filter = Filter {
        session: selection.session.clone(),
        actor: selection.actor.clone(),
        since: selection.since,
        ..Filter::default()
    };
    let mut events = numbers(&store.state, &filter);
    if let Some((first, last)) = &selection.range {
        let (first, last) = (resolve(store, first)?.event, resolve(store, last)?.event);
        if first > last {
            return Err(Error::Invalid {
                what: "the range of events",
                why: format!("event {first} is after event {last}"),
            });
        }
        events.retain(|event| (first..=last).contains(event));
    }
    Ok(events)
}

/// What one memory should be once the chosen events are undone.
fn way_back(
    store: &Store,
    id: MemoryId,
    chosen: &HashSet<u64>,
) -> Result<Result<Wanted, Conflict>> {
    let timeline = timeline(&store.state);
    let mut way = Way {
        store,
        life: timeline.life(id),
        state: None,
        texts: HashMap::new(),
        conflict: None,
    };
    way.state = way.state_after(way.life.len())?;
    for at in (0..way.life.len()).rev() {
        if chosen.contains(&way.life[at].of.event) {
            way.undo(at, chosen)?;
        }
        if let Some(why) = way.conflict {
            let later = way.life[at + 1..].iter().rev().map(|part| part.of.event);
            let kept = later.filter(|event| !chosen.contains(event));
            return Ok(Err(Conflict {
                id,
                path: way.life.iter().rev().find_map(|part| part.of.path.clone()),
                why: why.to_owned(),
                on_top: on_top(&store.state, kept),
            }));
        }
    }
    Ok(Ok(match way.state {
        None => Wanted::Gone,
        Some(state) => Wanted::There {
            path: state.path,
            text: state.text,
            from: state.from,
            merged: state.merged,
        },
    }))
}

impl Way<'_> {
    /// Undoes one part of the memory's life.
    fn undo(&mut self, at: usize, chosen: &HashSet<u64>) -> Result<()> {
        let later = &self.life[at + 1..];
        let touched_since = later.iter().any(|part| !chosen.contains(&part.of.event));
        match self.life[at].change {
            Change::Add | Change::Restore => {
                if touched_since && self.differs_from_after(at)? {
                    self.conflict =
                        Some("it was changed since by others, and undoing would remove it");
                } else {
                    self.state = None;
                }
            }
            Change::Remove | Change::Expire => {
                // Whoever brought it back, or removed it again, has the last word.
                if !touched_since {
                    self.state = self.state_after(at)?;
                }
            }
            _ => self.undo_write(at)?,
        }
        Ok(())
    }

    /// Whether something of what others did since is left, which would go with the memory.
    fn differs_from_after(&mut self, at: usize) -> Result<bool> {
        let Some(now) = self.state.clone() else {
            return Ok(false);
        };
        let after = self.state_after(at + 1)?;
        Ok(after.is_none_or(|after| now.text != after.text || now.path != after.path))
    }

    fn undo_write(&mut self, at: usize) -> Result<()> {
        // Removed since by others: what would be undone is gone already.
        let Some(now) = self.state.clone() else {
            return Ok(());
        };
        let (Some(before), Some(after)) = (self.state_after(at)?, self.state_after(at + 1)?) else {
            return Ok(());
        };
        let text = if now.text == after.text || before.text == after.text {
            let back = now.text == after.text;
            Ok((if back { &before.text } else { &now.text }).clone())
        } else {
            merge::merge(after.text.as_str(), now.text.as_str(), before.text.as_str())
                .map(Text::from)
        };
        let Ok(text) = text else {
            self.conflict = Some("the same lines were changed since by others");
            return Ok(());
        };
        let path = if before.path == after.path || now.path == before.path {
            now.path
        } else if now.path == after.path {
            before.path.clone()
        } else {
            self.conflict = Some("it was moved again since by others");
            return Ok(());
        };
        let merged = now.merged || (text != before.text && text != now.text);
        self.state = Some(State {
            path,
            text,
            from: before.from,
            merged,
        });
        Ok(())
    }

    /// What the memory was after so many parts of its life.
    fn state_after(&mut self, parts: usize) -> Result<Option<State>> {
        let Some(Part { change, of }) = parts.checked_sub(1).map(|at| self.life[at].clone()) else {
            return Ok(None);
        };
        if change.removes() {
            return Ok(None);
        }
        let text = if let Some(text) = self.texts.get(&of.version) {
            text.clone()
        } else {
            let text = text_then(self.store, &of)?;
            self.texts.insert(of.version, text.clone());
            text
        };
        let path = of.path.ok_or_else(|| nameless(&self.store.state, of.id))?;
        Ok(Some(State {
            path,
            text,
            from: Some(of.version),
            merged: false,
        }))
    }
}

/// Sorted numbers as runs with both ends.
pub(super) fn runs(numbers: &[u64]) -> Vec<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, end)) if *end + 1 == *number => *end = *number,
            _ => runs.push((*number, *number)),
        }
    }
    runs
}

/// A selection in words, for an error.
fn described(selection: &Selection) -> String {
    let mut words = Vec::new();
    if let Some((first, last)) = &selection.range {
        words.push(if first == last {
            first.as_str().to_owned()
        } else {
            format!("{}..{}", first.as_str(), last.as_str())
        });
    }
    let named = [("session", &selection.session), ("actor", &selection.actor)];
    for (name, value) in named {
        words.extend(value.as_ref().map(|value| format!("{name} {value}")));
    }
    if let Some(since) = selection.since {
        words.push(format!("since {}", super::super::past::seconds(since)));
    }
    words.join(", ")
}
