//! Telling clients that memories have changed, also by another process.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agekeep::error::Result;
use agekeep::store::{Present, Store};
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::{Notify, broadcast};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::keeper::{Keeper, Kept};
use super::resource;

/// How long a change that another process made stays unseen.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Changes that may wait for a client that does not read.
const CHANGES_WAITING_MAX: usize = 64;

/// What is different.
#[derive(Clone)]
pub(super) struct Difference {
    /// Whether a memory came or went.
    list: bool,
    /// The URIs whose text is another, came or went.
    uris: Arc<HashSet<String>>,
}

/// Compares the store with what it was, as long as somebody wants to know.
#[derive(Clone)]
pub(super) struct Watch {
    keeper: Keeper,
    differences: broadcast::Sender<Difference>,
    seen: Arc<Mutex<Option<Seen>>>,
    poke: Arc<Notify>,
}

/// The store as it was last seen.
struct Seen {
    events: u64,
    versions: BTreeMap<String, u64>,
}

impl Watch {
    pub(super) fn new(keeper: Keeper) -> Self {
        Self {
            keeper,
            differences: broadcast::Sender::new(CHANGES_WAITING_MAX),
            seen: Arc::default(),
            poke: Arc::default(),
        }
    }

    /// Looks at once: something was done here.
    pub(super) fn poke(&self) {
        self.poke.notify_one();
    }

    /// Looks again and again, and tells those who want to know.
    pub(super) async fn run(self) {
        loop {
            // Either way it is time to look.
            let _ = timeout(LOOK_EVERY, self.poke.notified()).await;
            if self.differences.receiver_count() == 0 {
                self.seen().take();
                continue;
            }
            if let Some(difference) = self.look().await {
                let _ = self.differences.send(difference);
            }
        }
    }

    /// Begins to want to know; what is there now is what later looks are compared with.
    async fn begin(&self) -> broadcast::Receiver<Difference> {
        let receiver = self.differences.subscribe();
        if self.seen().is_none() {
            self.look().await;
        }
        receiver
    }

    async fn look(&self) -> Option<Difference> {
        let seen = self.seen.clone();
        let looked = self.keeper.ask(move |kept| {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            compare(kept, &mut seen)
        });
        // A store that cannot be opened is told to the first who calls.
        looked.await.and_then(Result::ok).flatten()
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Option<Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells a client of the older era, which says one by one which resources it wants to hear of.
    pub(super) async fn tell_session(
        self,
        peer: Peer<RoleServer>,
        subscribed: Arc<Mutex<HashSet<String>>>,
    ) {
        let mut differences = self.begin().await;
        while let Some(difference) = next(&mut differences).await {
            if peer.is_transport_closed() {
                return;
            }
            if difference.list && peer.notify_resource_list_changed().await.is_err() {
                return;
            }
            let wanted: Vec<String> = {
                let subscribed = subscribed.lock().unwrap_or_else(PoisonError::into_inner);
                difference.uris.intersection(&subscribed).cloned().collect()
            };
            for uri in wanted {
                let changed = ResourceUpdatedNotificationParam::new(uri);
                if peer.notify_resource_updated(changed).await.is_err() {
                    return;
                }
            }
        }
    }

    /// Tells a client of the newer era, which says what it wants in one request.
    pub(super) async fn tell_listener(
        self,
        listener: &SubscriptionContext,
        closing: &CancellationToken,
    ) {
        let mut differences = self.begin().await;
        loop {
            let difference = tokio::select! {
                () = listener.cancelled() => return,
                () = closing.cancelled() => return,
                difference = next(&mut differences) => difference,
            };
            let Some(difference) = difference else {
                return;
            };
            let (sink, accepted) = (listener.sink(), listener.accepted());
            if difference.list
                && accepted.resources_list_changed == Some(true)
                && sink.notify_resource_list_changed().await.is_err()
            {
                return;
            }
            for uri in accepted.resource_subscriptions.iter().flatten() {
                let is_changed = difference.uris.contains(uri);
                if is_changed && sink.notify_resource_updated(uri.as_str()).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// The next difference. One who missed some is told that anything may have changed.
async fn next(differences: &mut broadcast::Receiver<Difference>) -> Option<Difference> {
    match differences.recv().await {
        Ok(difference) => Some(difference),
        Err(broadcast::error::RecvError::Lagged(_)) => Some(Difference {
            list: true,
            uris: Arc::default(),
        }),
        Err(broadcast::error::RecvError::Closed) => None,
    }
}

/// Compares what is there with what was, and takes note of it; `None` where nothing differs, or
/// nothing had been seen before.
fn compare(kept: &mut Kept, seen: &mut Option<Seen>) -> Result<Option<Difference>> {
    let events = kept.with(Store::count_events)?;
    if seen.as_ref().is_some_and(|seen| seen.events == events) {
        return Ok(None);
    }
    let present = kept.with(Store::present)?;
    let uri = |one: Present| (resource::uri(one.path.relative()), one.version);
    let versions: BTreeMap<String, u64> = present.into_iter().map(uri).collect();
    let before = seen.replace(Seen { events, versions });
    let after = &seen.as_ref().expect("it was just put there").versions;
    Ok(before.and_then(|before| difference(&before.versions, after)))
}

fn difference(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) -> Option<Difference> {
    let came = after.keys().filter(|uri| !before.contains_key(*uri));
    let went = before.keys().filter(|uri| !after.contains_key(*uri));
    let moved: Vec<&String> = came.chain(went).collect();
    let is_other = |(uri, version): &(&String, &u64)| {
        before.get(*uri).is_some_and(|before| before != *version)
    };
    let edited = after.iter().filter(is_other).map(|(uri, _)| uri);
    let uris: HashSet<String> = moved.iter().copied().chain(edited).cloned().collect();
    (!uris.is_empty()).then(|| Difference {
        list: !moved.is_empty(),
        uris: Arc::new(uris),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(memories: &[(&str, u64)]) -> BTreeMap<String, u64> {
        let owned = |(uri, version): &(&str, u64)| ((*uri).to_owned(), *version);
        memories.iter().map(owned).collect()
    }

    #[test]
    fn what_came_went_and_changed() {
        let before = state(&[("a", 1), ("b", 1), ("c", 1)]);
        let found = difference(&before, &state(&[("a", 1), ("b", 2), ("d", 1)]));
        let found = found.expect("a difference");
        assert!(found.list);
        let mut uris: Vec<&String> = found.uris.iter().collect();
        uris.sort();
        assert_eq!(uris, ["b", "c", "d"]);
        let edited = difference(&before, &state(&[("a", 2), ("b", 1), ("c", 1)]));
        assert!(!edited.expect("a difference").list);
        assert!(difference(&before, &before.clone()).is_none());
    }
}
