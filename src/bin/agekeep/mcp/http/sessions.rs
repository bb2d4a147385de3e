//! The sessions of clients of the older protocol version: how many there may be, and which ends to
//! make room.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use hyper::HeaderMap;
use rmcp::transport::streamable_http_server::SessionId;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

/// Most sessions at once. The protocol's library ends one that is not used for five minutes.
const SESSIONS_MAX: usize = 1_000;
/// The header that names a session.
const NAME: &str = "mcp-session-id";

/// All sessions of the server.
#[derive(Default)]
pub(super) struct Sessions {
    /// The sessions, as the protocol's library keeps them.
    pub(super) local: Arc<LocalSessionManager>,
    used: Mutex<HashMap<SessionId, Used>>,
}

#[derive(Clone, Copy)]
struct Used {
    /// The number of requests in it whose answers are not at their end.
    by: usize,
    last: Instant,
}

impl Sessions {
    fn used(&self) -> MutexGuard<'_, HashMap<SessionId, Used>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the sessions.
    pub(super) async fn count(&self) -> usize {
        self.local.sessions.read().await.len()
    }

    /// Marks the session that a request names as used until the returned guard is dropped; `None`
    /// if the request names no session that exists.
    pub(super) fn use_named(self: &Arc<Self>, headers: &HeaderMap) -> Option<InUse> {
        let id = headers.get(NAME)?.to_str().ok()?;
        let mut all = self.used();
        let (id, _) = all.get_key_value(id)?;
        let id = id.clone();
        all.get_mut(&id)?.by += 1;
        drop(all);
        Some(InUse {
            sessions: self.clone(),
            id,
        })
    }

    /// Registers the session that an answer says has begun. If there are too many, the one that was
    /// unused for longest ends.
    pub(super) async fn begin(self: &Arc<Self>, headers: &HeaderMap) {
        let Some(id) = headers.get(NAME).and_then(|id| id.to_str().ok()) else {
            return;
        };
        let mut all = self.local.sessions.write().await;
        let mut used = self.used();
        used.retain(|id, _| all.contains_key(id));
        let now = Used {
            by: 0,
            last: Instant::now(),
        };
        used.insert(id.into(), now);
        while all.len() > SESSIONS_MAX {
            // A session missing from `used` is one that no client was told of: it goes first.
            let longest = |id: &&SessionId| used.get(*id).map(|used| (used.by > 0, used.last));
            let Some(id) = all.keys().min_by_key(longest).cloned() else {
                return;
            };
            // Its worker ends when nobody can send to it any more.
            all.remove(&id);
            used.remove(&id);
        }
    }
}

/// A session that is in use.
pub(super) struct InUse {
    sessions: Arc<Sessions>,
    id: SessionId,
}

impl Drop for InUse {
    fn drop(&mut self) {
        if let Some(used) = self.sessions.used().get_mut(&self.id) {
            used.by -= 1;
            used.last = Instant::now();
        }
    }
}
