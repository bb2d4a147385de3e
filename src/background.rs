//! Work on other threads: slow values made ahead of time, and many items on every core.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

/// Most values that are kept ready.
const READY_MAX: usize = 8;
/// The number of runs that a thread may be ahead, which bounds memory.
const RUNS_AHEAD: usize = 4;

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

/// Works on so many items in runs of `run`, on every core, and passes the results to `each` in order
/// while the next are made. Each thread gets its own value from `own`.
pub(crate) fn in_runs<R: Send, O, E: Send>(
    items: usize,
    run: usize,
    own: impl Fn() -> O + Sync,
    act: impl Fn(&mut O, Range<usize>) -> Result<R, E> + Sync,
    mut each: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let runs = items.div_ceil(run);
    let threads = cores().min(runs);
    let (own, act) = (&own, &act);
    thread::scope(|scope| {
        let start = |first| {
            let (sender, receiver) = sync_channel(RUNS_AHEAD);
            scope.spawn(move || {
                let mut own = own();
                for begin in (first * run..items).step_by(threads * run) {
                    let done = act(&mut own, begin..items.min(begin + run));
                    // After an error the receiver is gone.
                    if sender.send(done).is_err() {
                        return;
                    }
                }
            });
            receiver
        };
        // The threads take runs in turn, so that it is known which thread has the next one.
        let threads: Vec<_> = (0..threads).map(start).collect();
        for thread in threads.iter().cycle().take(runs) {
            each(thread.recv().expect("the work does not panic")?)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn runs_are_handed_on_in_order_up_to_the_first_error() {
        for items in [0, 1, 9, 10, 11, 1_000] {
            let (mut all, mut handed_on) = (Vec::new(), Vec::new());
            let own = || 0;
            let count = |_: &mut i32, run: Range<usize>| Ok::<_, usize>(run.collect::<Vec<_>>());
            let done = in_runs(items, 10, own, count, |run| {
                all.extend(run);
                Ok(())
            });
            assert_eq!(done, Ok(()));
            assert!(all.into_iter().eq(0..items), "{items}");
            let fail = |_: &mut i32, run: Range<usize>| {
                let begin = run.start;
                (!run.contains(&500)).then_some(begin).ok_or(begin)
            };
            let done = in_runs(items, 10, own, fail, |begin| {
                handed_on.push(begin);
                Ok(())
            });
            assert_eq!(done.err(), (items > 500).then_some(500));
            assert!(handed_on.into_iter().eq((0..items.min(500)).step_by(10)));
        }
    }

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
