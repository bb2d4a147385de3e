//! Views of a file or directory at a moment.

use crate::Text;
use crate::error::{Error, Result};
use crate::event::{Context, Moment};
use crate::memory_tool::path::MemoryPath;
use crate::memory_tool::{edit, listing};
use crate::state::timeline::Timeline;
use crate::store::config::require_reader;
use crate::store::history::read::{
    HistoryRead, is_hidden, look_change, nameless, not_there, path_ref_ever, record_history_read,
    resolve, side, text_then,
};
use crate::store::history::{Recorded, View};
use crate::store::log::parse_path;
use crate::store::revision::Revision;
use crate::store::timeline::{
    load_piece, load_timeline, moment_of, timeline, with_contents, with_lock,
};
use crate::store::{State, Store};

/// See [`Store::view_at`].
pub(super) fn view_at(
    store: &mut Store,
    path: &str,
    range: Option<(i64, i64)>,
    revision: &Revision,
    context: &Context,
) -> Result<Recorded<View>> {
    let parsed = parse_path(&store.state, path)?;
    with_timeline_around(store, &parsed.clone(), revision, |store| {
        let at = resolve(store, revision)?;
        let heading = format!("Here's the content of {path} with line numbers:");
        let limit = store.state.config.policy.limits.view_characters;
        view_then(store, path, &parsed, at, context, "view_at", |text| {
            let (from, to) = edit::resolve_range(text.as_str(), range).map_err(|fault| {
                Error::invalid(
                    "the range of lines",
                    format!("the file had lines 1 to {} then", fault.lines),
                )
            })?;
            Ok(edit::number_lines(heading, text.as_str(), from, to, limit))
        })
    })
}

/// See [`Store::show_at`].
pub(super) fn show_at(
    store: &mut Store,
    path: &str,
    revision: &Revision,
    context: &Context,
) -> Result<Recorded<View>> {
    let parsed = parse_path(&store.state, path)?;
    with_timeline_around(store, &parsed.clone(), revision, |store| {
        let at = resolve(store, revision)?;
        view_then(store, path, &parsed, at, context, "show", Ok)
    })
}

/// See [`Store::show_version`].
pub(super) fn show_version(
    store: &mut Store,
    path: &str,
    version: u64,
    context: &Context,
) -> Result<Recorded<View>> {
    let parsed = parse_path(&store.state, path)?;
    with_contents(store, |store| {
        let timeline = timeline(&store.state);
        let newest = timeline.len() - 1;
        let was_there = |id| {
            let mut versions = timeline.versions(id, newest);
            versions.rfind(|version| version.path.as_ref() == Some(&parsed))
        };
        let last_there = || {
            let all = timeline.memories().filter_map(was_there);
            all.max_by_key(|version| version.event)
        };
        let memory = timeline.at(&parsed, newest).or_else(last_there);
        let memory = memory.filter(|memory| !is_hidden(&store.state, memory.id, context));
        let found = memory.and_then(|memory| {
            let mut versions = timeline.versions(memory.id, newest);
            versions.find(|found| found.version == version)
        });
        let found = found.ok_or_else(|| Error::NotThere {
            path: parsed.as_str().to_owned(),
            when: format!("as version {version}"),
            hint: "`agekeep log` with this path shows which versions there are".into(),
        })?;
        let at = moment_of(&store.state, found.event);
        let then = found.path.ok_or_else(|| nameless(&store.state, found.id))?;
        view_then(store, path, &then, at, context, "show", Ok)
    })
}

/// Runs `act` with enough of the timeline loaded to know what was at a path.
fn with_timeline_around<T>(
    store: &mut Store,
    path: &MemoryPath,
    revision: &Revision,
    act: impl Fn(&mut Store) -> Result<T>,
) -> Result<T> {
    require_reader(&store.ledger)?;
    with_lock(store, |store| {
        let is_piece = load_piece(store, path, revision);
        if !is_piece {
            load_timeline(store)?;
        }
        let mut done = act(store);
        if is_piece && done.as_ref().is_err_and(Error::is_of_one_memory) {
            // A later event may explain why it does not open.
            store.state.timeline = None;
            load_timeline(store)?;
            done = act(store);
        }
        // Drops a partial timeline: it cannot answer other questions.
        store.state.timeline = store.state.timeline.take().filter(Timeline::is_whole);
        done
    })
}

fn view_then(
    store: &mut Store,
    shown: &str,
    path: &MemoryPath,
    at: Moment,
    context: &Context,
    command: &'static str,
    render: impl FnOnce(Text) -> Result<Text>,
) -> Result<Recorded<View>> {
    let timeline = timeline(&store.state);
    let time = timeline.time(at.event).expect("a resolved moment");
    let version = timeline.at(path, at.event);
    let (text, touches) = if let Some(file) = &version {
        (render(text_then(store, file)?)?, vec![look_change(file)])
    } else {
        (list_then(&store.state, shown, path, at)?, Vec::new())
    };
    let look = HistoryRead {
        command,
        path: Some(path_ref_ever(store, path, at.event)?),
        at: vec![at],
        touches,
    };
    let recorded = record_history_read(store, look, context)?;
    Ok(Recorded {
        found: View {
            content: text,
            at,
            time,
            version: version.as_ref().map(side),
        },
        recorded,
    })
}

fn list_then(state: &State, shown: &str, path: &MemoryPath, at: Moment) -> Result<Text> {
    let timeline = timeline(state);
    let state = timeline.state(at.event);
    let below: Vec<(&MemoryPath, u64)> = state
        .values()
        .filter_map(|version| Some((version.path.as_ref()?, version.bytes)))
        .filter(|(found, _)| found.is_below(path))
        .collect();
    if below.is_empty() && !path.is_root() {
        return Err(not_there(path, at, timeline));
    }
    Ok(listing::render(shown, path, below.into_iter()).into())
}
