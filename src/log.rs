//! Reading the audit log: events newest first, one at a time, so that history of any length fits.

use chrono::{DateTime, Utc};

use crate::error::{Error, Result};
use crate::event::{Change, Event, Outcome, Place, Touch};
use crate::path::MemoryPath;
use crate::repository::object::ObjectId;
use crate::store::Store;

/// One event as history keeps it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Entry {
    /// Its commit.
    pub commit: ObjectId,
    /// Who signed the commit; `None` if no signer of the store did.
    pub signer: Option<String>,
    /// Its record.
    pub event: Event,
}

/// Which events to show: those that meet every condition that is set.
#[derive(Debug, Default, Clone)]
#[non_exhaustive]
pub struct Filter {
    /// Names this path, or one below it.
    pub path: Option<MemoryPath>,
    /// Was done by this actor.
    pub actor: Option<String>,
    /// Belongs to this session.
    pub session: Option<String>,
    /// Is this command.
    pub command: Option<String>,
    /// Ended like this.
    pub outcome: Option<Outcome>,
    /// Happened then or later.
    pub since: Option<DateTime<Utc>>,
    /// Happened before then.
    pub until: Option<DateTime<Utc>>,
}

impl Filter {
    /// Whether the event meets every condition.
    #[must_use]
    pub fn admits(&self, event: &Event) -> bool {
        fn is(want: Option<&String>, found: Option<&String>) -> bool {
            want.is_none_or(|want| found == Some(want))
        }
        is(self.actor.as_ref(), event.actor.as_ref())
            && is(self.session.as_ref(), event.session.as_ref())
            && is(self.command.as_ref(), Some(&event.command))
            && self.outcome.is_none_or(|outcome| outcome == event.outcome)
            && self.since.is_none_or(|since| event.time >= since)
            && self.until.is_none_or(|until| event.time < until)
            && self.path.as_ref().is_none_or(|path| names(event, path))
    }
}

/// Whether an event names `path` or something below it.
fn names(event: &Event, path: &MemoryPath) -> bool {
    let within = |found: &MemoryPath| found == path || found.is_below(path);
    let place_within = |place: &Place| match place {
        Place::Root => path.is_root(),
        Place::Of(_, found) => found.as_ref().is_some_and(within),
        Place::Asked(text) => {
            text == path.as_str()
                || text
                    .strip_prefix(path.as_str())
                    .is_some_and(|rest| rest.starts_with('/'))
        }
    };
    event.path.iter().chain(&event.new_path).any(place_within)
        || event.memories.iter().any(|touch| {
            touch.path.as_ref().is_some_and(|now| {
                within(now) || path_before(event, touch, now).is_some_and(|before| within(&before))
            })
        })
}

/// Where a memory was before the move of a directory took it along.
fn path_before(event: &Event, touch: &Touch, now: &MemoryPath) -> Option<MemoryPath> {
    match (&event.path, &event.new_path) {
        (Some(Place::Of(_, Some(from))), Some(Place::Of(_, Some(to))))
            if touch.change == Change::Move && now.is_below(to) =>
        {
            now.moved(to, from, usize::MAX).ok()
        }
        _ => None,
    }
}

impl Store {
    /// Every event, newest first. Reading it is no access to any memory.
    pub fn log(&self) -> impl Iterator<Item = Result<Entry>> + '_ {
        let mut next = Some(self.head());
        std::iter::from_fn(move || {
            let id = next.take()?;
            Some(self.entry(id).map(|(entry, parent)| {
                next = parent;
                entry
            }))
        })
    }

    fn entry(&self, id: ObjectId) -> Result<(Entry, Option<ObjectId>)> {
        let (commit, _) = self.repository().commit(id)?;
        let event =
            Event::from_message(&commit.message, self.keyring()).map_err(|fault| fault.of(id))?;
        let entry = Entry {
            commit: id,
            signer: self
                .signers()
                .verify(&commit.signed_bytes, &commit.signature)
                .map(str::to_owned),
            event,
        };
        Ok((entry, commit.parent))
    }

    /// Reads a path for [`Filter::path`] by the rules of the memory tool.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the memory tool would refuse the path.
    pub fn parse_path(&self, text: &str) -> Result<MemoryPath> {
        MemoryPath::parse(text, self.limits().path_bytes).map_err(|_| Error::Invalid {
            what: "the path",
            why: "it is not /memories or below it".into(),
        })
    }
}
