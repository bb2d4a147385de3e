//! Blame: the author of each line of a memory. Grep: a search in the texts of memories.

use std::collections::{BTreeSet, HashMap};

use regex::{Regex, RegexBuilder};

use crate::Text;
use crate::diff::{bare_lines, blame};
use crate::error::{Error, Result, RetentionFault};
use crate::event::{Context, Event, MemoryChange};
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::state::timeline::Version;
use crate::store::history::read::{
    HistoryRead, event_at, is_hidden, look_change, no_file_at, path_ref_ever, record_history_read,
    resolve, side, text_then,
};
use crate::store::history::{
    Blame, BlamedLine, Match, Matches, RecordStatus, Recorded, Search, VersionOrigin,
};
use crate::store::revision::Revision;
use crate::store::sweep::unexpired;
use crate::store::timeline::{moment_of, timeline, with_contents};
use crate::store::{State, Store};

/// See [`Store::blame`].
pub(super) fn blame(
    store: &mut Store,
    path: &MemoryPath,
    revision: &Revision,
    context: &Context,
) -> Result<Recorded<Blame>> {
    with_contents(store, |store| {
        let at = resolve(store, revision)?;
        let timeline = timeline(&store.state);
        let of = timeline
            .at(path, at.event)
            .ok_or_else(|| no_file_at(path, at, timeline))?;
        let found = blame_of(store, &of)?;
        let look = HistoryRead {
            command: "blame",
            path: Some(path_ref_ever(store, path, at.event)?),
            at: vec![at],
            touches: vec![look_change(&of)],
        };
        let recorded = record_history_read(store, look, context)?;
        Ok(Recorded { found, recorded })
    })
}

fn blame_of(store: &Store, of: &Version) -> Result<Blame> {
    let timeline = timeline(&store.state);
    let all = timeline.versions(of.id, of.event);
    // The lines of erased versions are unknown.
    let versions: Vec<Version> = all
        .skip_while(|version| version.event < of.event && timeline.erased_at(version).is_some())
        .collect();
    let indices: HashMap<u64, u32> = versions
        .iter()
        .zip(0..)
        .map(|(version, index)| (version.version, index))
        .collect();
    let earlier = |version: &Version| {
        let index = *indices.get(&version.from?)?;
        Some((index, &versions[index as usize]))
    };
    // Lists each use of a version: once as the version restored, and once as a version skipped by a
    // restore.
    let gone_back_to = versions.iter().zip(0..).flat_map(|(version, index)| {
        let back = earlier(version).map(|(back, _)| back);
        back.into_iter().flat_map(move |back| back..index)
    });
    let (first, later) = versions
        .split_first()
        .expect("a version that was found is among its memory's");
    let mut walk = blame::BlameTracker::new(text_then(store, first)?, gone_back_to);
    for (version, index) in later.iter().zip(1..) {
        let text = text_then(store, version)?;
        match earlier(version) {
            None => walk.step(text, None),
            Some((back, from)) => {
                let from = text_then(store, from)?;
                let earlier = blame::Earlier {
                    version: back,
                    text: &from,
                };
                walk.step(text, Some(earlier));
                for over in (back + 1..index).rev() {
                    if walk.has_new() {
                        let text = &text_then(store, &versions[over as usize])?;
                        let version = over;
                        walk.attribute(blame::Earlier { version, text });
                    }
                    walk.forget(over);
                }
            }
        }
    }
    blamed(store, of, &versions, walk.text(), walk.origins())
}

/// Resolves line origins to versions and their authors.
fn blamed(
    store: &Store,
    of: &Version,
    versions: &[Version],
    text: &Text,
    origins: &[u32],
) -> Result<Blame> {
    let used: BTreeSet<u32> = origins.iter().copied().collect();
    let places: HashMap<u32, usize> = used.iter().copied().zip(0..).collect();
    let all = timeline(&store.state).versions(of.id, of.event).count();
    let named = used.iter().map(|index| {
        let version = &versions[*index as usize];
        let event = event_at(store, version.event)?;
        let or_before = *index == 0 && versions.len() < all;
        Ok(origin(&store.state, version, &event, or_before))
    });
    let lines = bare_lines(text.as_str()).into_iter();
    let lines = lines.zip(origins).zip(1..);
    Ok(Blame {
        of: side(of),
        origins: named.collect::<Result<_>>()?,
        lines: lines
            .map(|((line, origin), number)| BlamedLine {
                number,
                text: line.into(),
                origin: places[origin],
            })
            .collect(),
    })
}

fn origin(state: &State, version: &Version, event: &Event, or_before: bool) -> VersionOrigin {
    VersionOrigin {
        version: side(version),
        commit: moment_of(state, version.event).commit,
        time: event.time,
        command: event.command.clone(),
        actor: event.actor.clone(),
        session: event.session.clone(),
        or_before,
    }
}

// Search for a pattern in texts, present or in all of history. The only user of `regex` besides
// redaction.

/// Largest compiled pattern, in bytes; bounds the cost of a search.
const PATTERN_BYTES_MAX: usize = 10 * 1024 * 1024;

/// See [`Store::grep`].
pub(super) fn grep(
    store: &mut Store,
    search: &Search,
    context: &Context,
) -> Result<Recorded<Matches>> {
    let pattern = compile(search)?;
    with_contents(store, |store| {
        let mut found = Matches {
            lines: Vec::new(),
            problems: Vec::new(),
        };
        let mut touches = Vec::new();
        for versions in searched(&store.state, search) {
            if is_hidden(&store.state, versions[0].id, context) {
                continue;
            }
            let seen = found.lines.len();
            search_one(store, &pattern, &versions, &mut found);
            touches.extend(touched(&versions, &found.lines[seen..]));
        }
        let within = search.within.as_ref();
        let look = HistoryRead {
            command: "grep",
            path: match within {
                Some(path) => Some(path_ref_ever(store, path, u64::MAX)?),
                None => None,
            },
            at: Vec::new(),
            touches,
        };
        // A search without matches shows no content of any memory.
        let recorded = if found.lines.is_empty() {
            RecordStatus::NotNeeded
        } else {
            record_history_read(store, look, context)?
        };
        Ok(Recorded { found, recorded })
    })
}

/// Returns the versions to search, memory by memory in the order of paths, oldest first within
/// each.
fn searched(state: &State, search: &Search) -> Vec<Vec<Version>> {
    let timeline = timeline(state);
    let newest = timeline.len() - 1;
    let mut memories: Vec<Vec<Version>> = if search.history {
        timeline
            .memories()
            .map(|id| timeline.versions(id, newest).collect())
            .collect()
    } else {
        let unexpired = unexpired(state);
        let now = timeline.state(newest).into_values();
        now.filter(|version| {
            let memory = state.catalog.memory(version.id);
            memory.is_none_or(|memory| unexpired.has(memory))
        })
        .map(|version| vec![version])
        .collect()
    };
    if let Some(within) = &search.within {
        memories.retain(|versions| versions.iter().any(|version| version.is_within(within)));
    }
    memories.retain(|versions| !versions.is_empty());
    memories.sort_by_cached_key(|versions| {
        let path = versions.last().and_then(|version| version.path.clone());
        path.map(|path| path.as_str().to_owned())
    });
    memories
}

/// Finds each matching line of a memory once, with its first version and the event that removed it.
fn search_one(store: &Store, pattern: &Regex, versions: &[Version], found: &mut Matches) {
    let mut present: HashMap<Text, usize> = HashMap::new();
    let begin = found.lines.len();
    for version in versions {
        let text = match text_then(store, version) {
            Ok(text) => text,
            // An erased version has no lines to find, and that is not a problem.
            Err(Error::Retention(RetentionFault::Erased { .. })) => continue,
            Err(error) => {
                found.problems.push(error.to_string());
                continue;
            }
        };
        let mut still: HashMap<Text, usize> = HashMap::new();
        for (index, line) in text.as_str().lines().enumerate() {
            if !pattern.is_match(line) {
                continue;
            }
            let line = Text::from(line);
            let at = present.get(&line).or_else(|| still.get(&line)).copied();
            let at = at.unwrap_or_else(|| {
                found.lines.push(Match {
                    version: side(version),
                    number: index + 1,
                    text: line.clone(),
                    gone: None,
                });
                found.lines.len() - 1
            });
            still.insert(line, at);
        }
        for (line, at) in present {
            if !still.contains_key(&line) {
                found.lines[at].gone = Some(version.event);
            }
        }
        present = still;
    }
    let removed = versions
        .last()
        .and_then(|last| timeline(&store.state).removed(last.id));
    if let Some(event) = removed {
        let lines = &mut found.lines[begin..];
        lines
            .iter_mut()
            .filter(|line| line.gone.is_none())
            .for_each(|line| line.gone = Some(event));
    }
}

fn compile(search: &Search) -> Result<Regex> {
    let pattern = if search.fixed {
        regex::escape(&search.pattern)
    } else {
        search.pattern.clone()
    };
    RegexBuilder::new(&pattern)
        .case_insensitive(search.ignore_case)
        .size_limit(PATTERN_BYTES_MAX)
        .build()
        .map_err(|_| {
            Error::invalid(
                "the pattern",
                "it is not a regular expression; with --fixed-strings it is taken as it is",
            )
        })
}

/// Returns touches for the versions with a line that is shown.
fn touched(versions: &[Version], lines: &[Match]) -> Vec<MemoryChange> {
    let shown: Vec<(MemoryId, u64)> = lines
        .iter()
        .map(|line| (line.version.id, line.version.version))
        .collect();
    let is_shown = |version: &&Version| shown.contains(&(version.id, version.version));
    versions.iter().filter(is_shown).map(look_change).collect()
}
