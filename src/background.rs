//! Work on other threads: slow values made ahead of time, and many items on every core.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

/// Most values that are kept ready.
const READY_MAX: usize = 8;

/// A source of interchangeable values, some of them made ahead of time. The first is made by the
/// caller, for processes that need only one; from the second on a thread keeps some ready. Dropping
/// this ends the thread.
pub(crate) struct Precomputed<T>(Mutex<Stage<T>>);

enum Stage<T> {
    /// No value was requested yet.
    Unasked,
    /// A single value was requested.
    Asked,
    Running(Running<T>),
    /// No thread could be started.
    Alone,
}

struct Running<T> {
    /// The queue; dropping it ends the thread.
    ready: Option<Receiver<T>>,
    thread: Option<JoinHandle<()>>,
}

impl<T> Default for Precomputed<T> {
    fn default() -> Self {
        Self(Mutex::new(Stage::Unasked))
    }
}

impl<T: Send + 'static> Precomputed<T> {
    /// Returns a value that is ready, or makes one now. All callers must pass an equivalent `make`,
    /// because the thread keeps using one of them.
    pub(crate) fn next(&self, make: impl Fn() -> T + Send + 'static) -> T {
        let mut stage = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*stage {
            Stage::Unasked => *stage = Stage::Asked,
            Stage::Asked => {
                let value = make();
                *stage = Running::start(make).map_or(Stage::Alone, Stage::Running);
                return value;
            }
            Stage::Running(running) => {
                let ready = running.ready.as_ref();
                if let Some(value) = ready.and_then(|ready| ready.try_recv().ok()) {
                    return value;
                }
            }
            Stage::Alone => {}
        }
        drop(stage);
        make()
    }
}

impl<T: Send + 'static> Running<T> {
    fn start(make: impl Fn() -> T + Send + 'static) -> Option<Self> {
        let (give, ready) = sync_channel(READY_MAX);
        let thread = thread::Builder::new().spawn(move || while give.send(make()).is_ok() {});
        Some(Self {
            ready: Some(ready),
            thread: Some(thread.ok()?),
        })
    }
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        drop(self.ready.take());
        if let Some(thread) = self.thread.take() {
            // The thread ends after the value it is making; after a panic it is gone already.
            let _ = thread.join();
        }
    }
}

/// Returns the number of processors that this process may use. Asking the system costs several calls,
/// so it is asked once.
pub(crate) fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

/// Runs `act` on each item, on every core: a thread for so many items, at the most. Each thread gets
/// its own value from `own`. Returns the results in the order of the items.
pub(crate) fn on_every_core<T: Sync, R: Send, O, E: Send>(
    items: &[T],
    items_each: usize,
    own: impl Fn() -> Result<O, E> + Sync,
    act: impl Fn(&O, &T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let threads = cores().min(items.len() / items_each).max(1);
    let next = AtomicUsize::new(0);
    let work = || {
        let own = own()?;
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else {
                return Ok(done);
            };
            done.push((at, act(&own, item)?));
        }
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut done = work()?;
        for other in others {
            done.extend(other.join().expect("the work does not panic")?);
        }
        Ok(done)
    })?;
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, done)| done).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn each_value_is_given_once_and_the_thread_ends() {
        let made = Arc::new(AtomicUsize::new(0));
        let ahead = Precomputed::default();
        let mut given = std::collections::HashSet::new();
        for _ in 0..100 {
            let made = Arc::clone(&made);
            let value = ahead.next(move || made.fetch_add(1, Ordering::SeqCst));
            assert!(given.insert(value), "{value} twice");
            thread::yield_now();
        }
        drop(ahead);
        let after = made.load(Ordering::SeqCst);
        assert!((100..=100 + READY_MAX + 1).contains(&after), "{after}");
        assert_eq!(Arc::strong_count(&made), 1, "the thread is gone");
    }

    #[test]
    fn who_wants_one_starts_no_thread() {
        let made = Arc::new(AtomicUsize::new(0));
        let ahead = Precomputed::default();
        let counted = Arc::clone(&made);
        ahead.next(move || counted.fetch_add(1, Ordering::SeqCst));
        thread::sleep(std::time::Duration::from_millis(20));
        assert_eq!(made.load(Ordering::SeqCst), 1);
    }
}
