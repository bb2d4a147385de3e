//! Telling clients that memories have changed, also by another process.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agekeep::error::Result;
use agekeep::store::Store;
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::{Notify, broadcast};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::mcp::keeper::{Keeper, Kept};
use crate::mcp::resource;

/// How long a change that another process made stays unseen.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long is waited after a call of a client here, so that many calls in a row are one look.
const SETTLE: Duration = Duration::from_millis(50);
/// How long a session that has ended keeps its listener, where nothing changes.
const LOOK_FOR_END_EVERY: Duration = Duration::from_secs(10);
/// Events that one look goes through.
const EVENTS_MAX: u64 = 1_000;
/// Changes that may wait for a client that does not read.
const CHANGES_WAITING_MAX: usize = 64;

/// What is different.
#[derive(Clone, Default)]
pub(super) struct Difference {
    /// Whether a memory came, went or moved.
    list: bool,
    /// The URIs whose text is another, or is there no more.
    uris: Arc<HashSet<String>>,
    /// Whether any other may be too.
    more: bool,
}

impl Difference {
    fn concerns(&self, uri: &str) -> bool {
        self.more || self.uris.contains(uri)
    }
}

/// The URIs a client wants to hear of, as it spells them, each with our spelling.
pub(super) type Subscribed = HashMap<String, String>;

/// Looks for what has changed, as long as somebody wants to know.
#[derive(Clone)]
pub(super) struct Watch {
    keeper: Keeper,
    differences: broadcast::Sender<Difference>,
    /// How many events there were when it was last looked.
    seen: Arc<Mutex<Option<u64>>>,
    poke: Arc<Notify>,
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
            let poked = timeout(LOOK_EVERY, self.poke.notified()).await.is_ok();
            if poked {
                sleep(SETTLE).await;
            }
            // Where nobody listens only what was done here is taken note of: one who begins to is
            // told what has changed since, also while that was on its way.
            if poked || self.differences.receiver_count() > 0 {
                self.look_and_tell(false).await;
            }
        }
    }

    /// Begins to want to know.
    async fn begin(&self) -> broadcast::Receiver<Difference> {
        let receiver = self.differences.subscribe();
        self.look_and_tell(true).await;
        // Where there is no store to be looked into, all that is in it once it comes is news.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get_or_insert(0);
        receiver
    }

    /// `opens` says whether a store that is not open is opened for it: never again and again, for a
    /// key may be asked for.
    async fn look_and_tell(&self, opens: bool) {
        let seen = self.seen.clone();
        let is_wanted = self.differences.receiver_count() > 0;
        let looked = self.keeper.ask(move |kept| {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            if !opens && !kept.is_near() {
                return Ok(None);
            }
            if !is_wanted {
                *seen = Some(kept.glance(Store::count_events)?);
                return Ok(None);
            }
            compare(kept, &mut seen)
        });
        // Why a store cannot be opened is told to the first who calls.
        if let Some(difference) = looked.await.and_then(Result::ok).flatten() {
            // Nobody may be left to tell.
            let _ = self.differences.send(difference);
        }
    }

    /// Tells a client of the older era, which says one by one which resources it wants to hear of.
    pub(super) async fn tell_session(
        self,
        peer: Peer<RoleServer>,
        subscribed: Arc<Mutex<Subscribed>>,
    ) {
        let mut differences = self.begin().await;
        // A session may end while nothing changes: its listener must not stay behind.
        while !peer.is_transport_closed() {
            let Ok(difference) = timeout(LOOK_FOR_END_EVERY, next(&mut differences)).await else {
                continue;
            };
            let Some(difference) = difference else {
                return;
            };
            if difference.list && peer.notify_resource_list_changed().await.is_err() {
                return;
            }
            let wanted: Vec<String> = {
                let subscribed = subscribed.lock().unwrap_or_else(PoisonError::into_inner);
                let wanted = subscribed.iter().filter(|(_, of)| difference.concerns(of));
                wanted.map(|(uri, _)| uri.clone()).collect()
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
                if difference.concerns(&resource::canonical(uri))
                    && sink.notify_resource_updated(uri.as_str()).await.is_err()
                {
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
            more: true,
            ..Difference::default()
        }),
        Err(broadcast::error::RecvError::Closed) => None,
    }
}

/// What has changed since it was last looked, which is now; `None` for nothing, or where it was
/// never looked before.
fn compare(kept: &mut Kept, seen: &mut Option<u64>) -> Result<Option<Difference>> {
    let Some(since) = *seen else {
        *seen = Some(kept.glance(Store::count_events)?);
        return Ok(None);
    };
    let news = kept.glance(|store| store.news(since, EVENTS_MAX))?;
    *seen = Some(news.events);
    let uris = news.paths.iter().map(|path| resource::uri(path.relative()));
    let difference = Difference {
        list: news.list || news.more,
        uris: Arc::new(uris.collect()),
        more: news.more,
    };
    let is_any = difference.list || !difference.uris.is_empty();
    Ok(is_any.then_some(difference))
}
