//! What has changed since a moment, for a door that tells its client so. It is not recorded: nothing is
//! shown that the client did not name itself.

use std::collections::HashSet;

use super::Store;
use crate::error::Result;
use crate::event::{Change, Event, Moment, Place};
use crate::id::StoreId;
use crate::memory_tool::path::MemoryPath;
use crate::store::log::log;
use crate::store::past::locked;

/// What has changed since a moment.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct News {
    /// How many events there are by now.
    pub events: u64,
    /// Whether a memory came, went or moved.
    pub list: bool,
    /// Where a text is another than it was, also where there is none any more.
    pub paths: HashSet<MemoryPath>,
    /// Whether more happened than was looked at, so that anything may have changed.
    pub more: bool,
}

/// See [`Store::last_seen`].
pub(super) fn last_seen(store: &Store) -> (StoreId, Moment) {
    let moment = Moment {
        event: store.state.catalog.events.saturating_sub(1),
        commit: store.ledger.journal.head(),
    };
    (store.state.id, moment)
}

/// See [`Store::count_events`].
pub(super) fn count_events(store: &mut Store) -> Result<u64> {
    locked(store, |store| Ok(store.state.catalog.events))
}

/// See [`Store::news`].
pub(super) fn news(store: &mut Store, since: u64, events_max: u64) -> Result<News> {
    locked(store, |store| {
        let mut news = News {
            events: store.state.catalog.events,
            ..News::default()
        };
        let first = news.events.saturating_sub(events_max).max(since);
        news.more = first > since;
        if first == news.events {
            return Ok(news);
        }
        for entry in log(store) {
            let event = entry?.event;
            if event.number < first {
                break;
            }
            news.add(&event);
            if event.number == 0 {
                break;
            }
        }
        Ok(news)
    })
}

impl News {
    fn add(&mut self, event: &Event) {
        let altered = event.memories.iter().filter(|touch| touch.change.alters());
        for touch in altered {
            let same_list = [Change::Edit, Change::Reseal, Change::Redact];
            self.list |= !same_list.contains(&touch.change);
            let Some(path) = &touch.path else {
                // Of what is erased by now nobody can say where it was.
                self.more = true;
                continue;
            };
            // Where it was before is only known of a rename.
            self.more |= touch.change == Change::Move && moved_from(event, path).is_none();
            self.paths.extend(moved_from(event, path));
            // The same text, sealed anew.
            if touch.change != Change::Reseal {
                self.paths.insert(path.clone());
            }
        }
    }
}

/// Where a memory was that a rename moved to a path.
fn moved_from(event: &Event, path: &MemoryPath) -> Option<MemoryPath> {
    let (Some(Place::Of(_, Some(from))), Some(Place::Of(_, Some(to)))) =
        (&event.path, &event.new_path)
    else {
        return None;
    };
    let rest = path.as_str().strip_prefix(to.as_str())?;
    Some(MemoryPath::from_canonical(format!(
        "{}{rest}",
        from.as_str()
    )))
}
