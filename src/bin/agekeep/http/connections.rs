//! The connections of an HTTP server: how many there may be, and which is closed to make room.
//!
//! A connection is new until a request on it is let in, which takes the token where one is set. New
//! connections have places of their own: however many somebody opens without the token, only new
//! ones are closed for them, first the oldest of the address that has the most.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Most files and connections that the process may have open, if the machine allows as many. Half
/// are for new connections: the more there may be, the longer an honest client has to send its head
/// while somebody opens others. Some are for the store's files, and for connections that lost their
/// place and are about to be closed.
pub(crate) const FILES: usize = 8_192;
/// Most connections that are not new: as many as there may be sessions, and some more.
const KNOWN_MAX: usize = 1_024;
/// Most requests at once: each may hold a body of the greatest length.
const REQUESTS_MAX: usize = 256;

/// The longest time a connection may stay new. An honest client sends its head at once.
const HEAD_WITHIN: Duration = Duration::from_secs(5);
/// The longest time that a request's body may take, from its head to its end.
const BODY_WITHIN: Duration = Duration::from_secs(10);

/// The phase of a connection. An earlier variant makes room first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// It waits for its next request.
    Idle,
    /// The body of a request is on its way in.
    Receiving,
    /// An answer is on its way out. In a stream of events that takes as long as the client listens.
    Sending,
    /// A request is carried out. The connection is not closed to make room.
    Working,
}

/// All connections of the server.
pub(crate) struct Connections {
    table: Mutex<ConnectionTable>,
    new_max: usize,
    known_max: usize,
}

#[derive(Default)]
struct ConnectionTable {
    /// The number of connections there have been.
    count: u64,
    /// The new connections, for each address by their number, so that the oldest stands first.
    new: HashMap<IpAddr, BTreeMap<u64, CancellationToken>>,
    known: HashMap<u64, Known>,
}

/// A connection on which a request was let in.
struct Known {
    phase: Phase,
    since: Instant,
    lost: CancellationToken,
}

impl Connections {
    /// Sets the limits for a process that may have `files` files open.
    pub(crate) fn new(files: usize) -> Self {
        Self {
            table: Mutex::default(),
            new_max: files / 2,
            known_max: KNOWN_MAX.min(files / 4),
        }
    }

    fn table(&self) -> MutexGuard<'_, ConnectionTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a connection from this address a place, for which another new one may lose its own.
    pub(super) fn admit(self: &Arc<Self>, from: IpAddr) -> Arc<ConnectionSlot> {
        let mut table = self.table();
        if table.count_new() >= self.new_max {
            table.close_a_new_one();
        }
        table.count += 1;
        let (number, peer) = (table.count, network(from));
        let lost = CancellationToken::new();
        let of_peer = table.new.entry(peer).or_default();
        of_peer.insert(number, lost.clone());
        Arc::new(ConnectionSlot {
            connections: self.clone(),
            number,
            peer,
            lost,
        })
    }

    /// Counts the new connections, and the known ones.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let table = self.table();
        (table.count_new(), table.known.len())
    }

    /// Closes a new connection when the machine has nothing left for another.
    pub(super) fn make_room(&self) {
        self.table().close_a_new_one();
    }
}

impl ConnectionTable {
    fn count_new(&self) -> usize {
        self.new.values().map(BTreeMap::len).sum()
    }

    /// Closes the oldest new connection of the address that has the most of them.
    fn close_a_new_one(&mut self) {
        let oldest = |of_peer: &BTreeMap<u64, _>| of_peer.keys().next().copied();
        let most =
            |(_, of_peer): &(_, &BTreeMap<u64, _>)| (of_peer.len(), Reverse(oldest(of_peer)));
        let Some((peer, of_peer)) = self.new.iter().max_by_key(most) else {
            return;
        };
        if let (peer, Some(number)) = (*peer, oldest(of_peer))
            && let Some(lost) = self.take_new(peer, number)
        {
            lost.cancel();
        }
    }

    fn take_new(&mut self, peer: IpAddr, number: u64) -> Option<CancellationToken> {
        let of_peer = self.new.get_mut(&peer)?;
        let lost = of_peer.remove(&number);
        if of_peer.is_empty() {
            self.new.remove(&peer);
        }
        lost
    }

    /// Closes a known connection other than number `but`: the one that is longest in the first of
    /// these phases that any is in. Tells whether there was one.
    fn close_a_known_one(&mut self, phases: &[Phase], but: u64) -> bool {
        let may_go =
            |(number, known): &(&u64, &Known)| **number != but && phases.contains(&known.phase);
        let known = self.known.iter().filter(may_go);
        let first = known.min_by_key(|(_, known)| (known.phase, known.since));
        let Some(number) = first.map(|(number, _)| *number) else {
            return false;
        };
        let closed = self.known.remove(&number);
        closed.inspect(|known| known.lost.cancel()).is_some()
    }

    /// Counts the requests that have begun and whose answers have not.
    fn requests(&self) -> usize {
        let begun = |known: &&Known| matches!(known.phase, Phase::Receiving | Phase::Working);
        self.known.values().filter(begun).count()
    }
}

/// A connection's place, which is free again when its last holder drops it.
pub(crate) struct ConnectionSlot {
    connections: Arc<Connections>,
    number: u64,
    peer: IpAddr,
    lost: CancellationToken,
}

impl ConnectionSlot {
    /// Waits until the connection has lost its place, or was new for too long.
    pub(super) async fn lost(&self) {
        let lost = timeout(HEAD_WITHIN, self.lost.cancelled()).await;
        if lost.is_err() && self.connections.table().known.contains_key(&self.number) {
            self.lost.cancelled().await;
        }
    }

    /// Lets a request in; `None` if there is no room for it. Its body is on its way in until the
    /// returned turn is dropped.
    pub(crate) fn let_in(self: &Arc<Self>) -> Option<PhaseGuard> {
        let mut table = self.connections.table();
        if self.lost.is_cancelled() {
            return None;
        }
        if table.requests() >= REQUESTS_MAX
            && !table.close_a_known_one(&[Phase::Receiving], self.number)
        {
            return None;
        }
        let is_new = !table.known.contains_key(&self.number);
        let makes_room = [Phase::Idle, Phase::Receiving, Phase::Sending];
        if is_new
            && table.known.len() >= self.connections.known_max
            && !table.close_a_known_one(&makes_room, self.number)
        {
            return None;
        }
        table.take_new(self.peer, self.number);
        let known = Known {
            phase: Phase::Receiving,
            since: Instant::now(),
            lost: self.lost.clone(),
        };
        table.known.insert(self.number, known);
        Some(PhaseGuard::new(self, Phase::Working))
    }

    /// Begins an answer, which is on its way out until the returned turn is dropped.
    pub(crate) fn send(self: &Arc<Self>) -> PhaseGuard {
        self.turn(Phase::Sending);
        PhaseGuard::new(self, Phase::Idle)
    }

    /// Waits until the body of the request that was just let in is late; for ever if it is complete
    /// in time.
    pub(crate) async fn late(&self) {
        sleep(BODY_WITHIN).await;
        let phase = self
            .connections
            .table()
            .known
            .get(&self.number)
            .map(|known| known.phase);
        if phase != Some(Phase::Receiving) {
            std::future::pending::<()>().await;
        }
    }

    fn turn(&self, phase: Phase) {
        if let Some(known) = self.connections.table().known.get_mut(&self.number) {
            known.phase = phase;
            known.since = Instant::now();
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut table = self.connections.table();
        table.take_new(self.peer, self.number);
        table.known.remove(&self.number);
    }
}

/// A guard that moves a connection to its next phase when it is dropped.
pub(crate) struct PhaseGuard {
    place: Arc<ConnectionSlot>,
    to: Phase,
}

impl PhaseGuard {
    fn new(place: &Arc<ConnectionSlot>, to: Phase) -> Self {
        Self {
            place: place.clone(),
            to,
        }
    }
}

impl Drop for PhaseGuard {
    fn drop(&mut self) {
        self.place.turn(self.to);
    }
}

/// Returns the part of an address that counts as one client: of IPv6 the network of 64 bits, the
/// least that a provider gives a customer.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address @ IpAddr::V4(_) => address,
    }
}
