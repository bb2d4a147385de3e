//! Notifications to clients that memories have changed, also when another process changed them.

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

use crate::mcp::resource;
use crate::worker::{StoreWorker, WorkerState};

/// The longest time that a change by another process stays unseen.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The wait after a client's call here, so that many calls in a row cause one look.
const SETTLE: Duration = Duration::from_millis(50);
/// The longest time that a session keeps its listener after its end, while nothing changes.
const LOOK_FOR_END_EVERY: Duration = Duration::from_secs(10);
/// Most events that one look goes through.
const EVENTS_MAX: u64 = 1_000;
/// Most changes that may wait for a client that does not read.
const CHANGES_WAITING_MAX: usize = 64;

/// The changes that a look found.
#[derive(Clone, Default)]
pub(super) struct ChangeNotice {
    /// Set if a memory came, went or moved.
    list: bool,
    /// The URIs whose text has changed, or is gone.
    uris: Arc<HashSet<String>>,
    /// Set if any other URI may have changed too.
    more: bool,
}

impl ChangeNotice {
    fn concerns(&self, uri: &str) -> bool {
        self.more || self.uris.contains(uri)
    }
}

/// The URIs a client subscribed to, as it spells them, each with agekeep's spelling.
pub(super) type Subscribed = HashMap<String, String>;

/// A watcher that looks for changes as long as a client wants to know of them.
#[derive(Clone)]
pub(super) struct ChangeNotifier {
    worker: StoreWorker,
    /// Set if the first call makes the store, where there is none.
    init: bool,
    differences: broadcast::Sender<ChangeNotice>,
    /// The number of events at the last look.
    seen: Arc<Mutex<Option<u64>>>,
    poke: Arc<Notify>,
}

impl ChangeNotifier {
    pub(super) fn new(worker: StoreWorker, init: bool) -> Self {
        Self {
            worker,
            init,
            differences: broadcast::Sender::new(CHANGES_WAITING_MAX),
            seen: Arc::default(),
            poke: Arc::default(),
        }
    }

    /// Makes the watcher look at once, because something was done here.
    pub(super) fn poll_soon(&self) {
        self.poke.notify_one();
    }

    /// Looks for changes again and again, and tells the listeners.
    pub(super) async fn run(self) {
        loop {
            let poked = timeout(LOOK_EVERY, self.poke.notified()).await.is_ok();
            if poked {
                sleep(SETTLE).await;
            }
            // While no client listens, only what was done here is noted: a client that begins to
            // listen is told what has changed since, also while its request was on its way.
            if poked || self.differences.receiver_count() > 0 {
                self.poll_and_notify(false).await;
            }
        }
    }

    /// Begins to listen, and notes the present state.
    async fn begin(&self) -> broadcast::Receiver<ChangeNotice> {
        let receiver = self.differences.subscribe();
        self.poll_and_notify(true).await;
        // While there is no store, everything in it counts as changed once there is one.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get_or_insert(0);
        receiver
    }

    /// Looks for changes and tells the listeners. With `opens`, a store that is not open is opened
    /// for it: never again and again, because a key may be asked for.
    async fn poll_and_notify(&self, opens: bool) {
        let seen = self.seen.clone();
        let (is_wanted, init) = (self.differences.receiver_count() > 0, self.init);
        let looked = self.worker.ask(move |state| {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            if !opens && !state.is_cheap_to_poll() {
                return Ok(None);
            }
            // A look is no reason to make one.
            if init && !state.has_store() {
                return Ok(None);
            }
            if !is_wanted {
                *seen = Some(state.poll(Store::count_events)?);
                return Ok(None);
            }
            compare(state, &mut seen)
        });
        // The first caller is told why a store cannot be opened.
        if let Some(difference) = looked.await.and_then(Result::ok).flatten() {
            // There may be no listener left.
            let _ = self.differences.send(difference);
        }
    }

    /// Notifies a client of the older protocol version, which subscribes to resources one by one.
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

    /// Notifies a client of the newer protocol version, which says what it wants in one request.
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

/// Waits for the next difference. A listener that missed some is told that anything may have
/// changed.
async fn next(differences: &mut broadcast::Receiver<ChangeNotice>) -> Option<ChangeNotice> {
    match differences.recv().await {
        Ok(difference) => Some(difference),
        Err(broadcast::error::RecvError::Lagged(_)) => Some(ChangeNotice {
            list: true,
            more: true,
            ..ChangeNotice::default()
        }),
        Err(broadcast::error::RecvError::Closed) => None,
    }
}

/// Finds the changes since the last look, and notes this one; `None` if there are none, or if this
/// is the first look.
fn compare(state: &mut WorkerState, seen: &mut Option<u64>) -> Result<Option<ChangeNotice>> {
    let Some(since) = *seen else {
        *seen = Some(state.poll(Store::count_events)?);
        return Ok(None);
    };
    let news = state.poll(|store| store.changes_since(since, EVENTS_MAX))?;
    *seen = Some(news.events);
    let uris = news.paths.iter().map(|path| resource::uri(path.relative()));
    let difference = ChangeNotice {
        list: news.list || news.more,
        uris: Arc::new(uris.collect()),
        more: news.more,
    };
    let is_any = difference.list || !difference.uris.is_empty();
    Ok(is_any.then_some(difference))
}
