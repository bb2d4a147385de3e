//! Who wrote each line of a memory.

use std::collections::{BTreeSet, HashMap};

use crate::Text;
use crate::diff::bare_lines;
use crate::diff::blame;
use crate::error::Result;
use crate::event::{Context, Event};
use crate::memory_tool::path::MemoryPath;
use crate::state::timeline::Version;
use crate::store::State;
use crate::store::past::BlamedLine;
use crate::store::past::Looked;
use crate::store::past::Origin;
use crate::store::past::{
    Blame, event_at, in_contents, place_ever, record_look, resolve, text_then, timeline,
};
use crate::store::revision::Revision;

use super::super::Store;
use super::{Look, looked_at, no_file_at, side};

/// See [`Store::blame`].
pub(super) fn blame(
    store: &mut Store,
    path: &MemoryPath,
    revision: &Revision,
    context: &Context,
) -> Result<Looked<Blame>> {
    in_contents(store, |store| {
        let at = resolve(store, revision)?;
        let timeline = timeline(&store.state);
        let of = timeline
            .at(path, at.event)
            .ok_or_else(|| no_file_at(path, at, timeline))?;
        let found = blame_of(store, &of)?;
        let look = Look {
            command: "blame",
            path: Some(place_ever(store, path, at.event)?),
            at: vec![at],
            touches: vec![looked_at(&of)],
        };
        let recorded = record_look(store, look, context)?;
        Ok(Looked { found, recorded })
    })
}

fn blame_of(store: &Store, of: &Version) -> Result<Blame> {
    let timeline = timeline(&store.state);
    let all = timeline.versions(of.id, of.event);
    // Nothing tells of erased versions which lines they had.
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
    // Each use of a version is named: as the one gone back to, and as one that was gone over.
    let gone_back_to = versions.iter().zip(0..).flat_map(|(version, index)| {
        let back = earlier(version).map(|(back, _)| back);
        back.into_iter().flat_map(move |back| back..index)
    });
    let (first, later) = versions
        .split_first()
        .expect("a version that was found is among its memory's");
    let mut walk = blame::Blame::new(text_then(store, first)?, gone_back_to);
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
                        walk.claim(blame::Earlier { version, text });
                    }
                    walk.forget(over);
                }
            }
        }
    }
    blamed(store, of, &versions, walk.text(), walk.origins())
}

/// Puts names to the versions that still have a line.
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

fn origin(state: &State, version: &Version, event: &Event, or_before: bool) -> Origin {
    let moment = timeline(state).moment(version.event);
    Origin {
        version: side(version),
        commit: moment.expect("an event of the timeline").commit,
        time: event.time,
        command: event.command.clone(),
        actor: event.actor.clone(),
        session: event.session.clone(),
        or_before,
    }
}
