//! What a monitoring system asks for: `/health`, and `/metrics` in Prometheus' text format (0.0.4).
//! Neither is recorded, and neither tells contents, paths, actors or sessions.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agekeep::store::{Store, Totals};
use chrono::{DateTime, Utc};
use tokio::time::timeout;

use crate::mcp::call::ToolReply;
use crate::worker::StoreWorker;

/// The content type of the text format.
pub(super) const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// For so long a look at the store answers everybody who asks for its health: anybody may ask.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The same after a look that failed. Opening a store can ask for a key.
const TRY_EVERY: Duration = Duration::from_secs(5);
/// The longest wait for a look when somebody asks for the health: probes give up after a second.
const HEALTH_WITHIN: Duration = Duration::from_millis(500);
/// The same for metrics, of half the time that Prometheus waits by default.
const METRICS_WITHIN: Duration = Duration::from_secs(5);

/// The store as a look found it: its totals, or the code of the error.
type Found = Result<Totals, &'static str>;

/// Looks at the store for a monitoring system.
pub(super) struct StoreProbe {
    keeper: StoreWorker,
    last: Mutex<Option<(Instant, Found)>>,
    is_looking: AtomicBool,
}

impl StoreProbe {
    pub(super) fn new(keeper: StoreWorker) -> Arc<Self> {
        Arc::new(Self {
            keeper,
            last: Mutex::default(),
            is_looking: AtomicBool::default(),
        })
    }

    /// Returns the code of the error that keeps the store from being used, if one does. A server
    /// that is busy is well.
    pub(super) async fn failure(self: &Arc<Self>) -> Option<&'static str> {
        if self.is_due() && !self.is_looking.swap(true, Ordering::Relaxed) {
            let probe = self.clone();
            let look = tokio::spawn(async move {
                probe.look().await;
                probe.is_looking.store(false, Ordering::Relaxed);
            });
            let _ = timeout(HEALTH_WITHIN, look).await;
        }
        self.found().and_then(Result::err)
    }

    /// Returns the totals of the store, or as they were last known where the server is busy; `None`
    /// while the store cannot be used.
    pub(super) async fn totals(&self) -> Option<Totals> {
        let _ = timeout(METRICS_WITHIN, self.look()).await;
        self.found().and_then(Result::ok)
    }

    /// Returns the number of calls that wait for their turn or their answer.
    pub(super) fn waiting(&self) -> usize {
        *self.keeper.waiting().borrow()
    }

    fn last(&self) -> MutexGuard<'_, Option<(Instant, Found)>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn found(&self) -> Option<Found> {
        self.last().map(|(_, found)| found)
    }

    fn is_due(&self) -> bool {
        self.last().is_none_or(|(looked, found)| {
            let again = if found.is_ok() { LOOK_EVERY } else { TRY_EVERY };
            looked.elapsed() >= again
        })
    }

    async fn look(&self) {
        let looked = self.keeper.ask(|kept| kept.probe(Store::totals)).await;
        let found = match looked {
            Some(Ok(totals)) => Ok(totals),
            Some(Err(error)) => Err(error.code()),
            None => Err("internal"),
        };
        *self.last() = Some((Instant::now(), found));
    }
}

/// The upper bounds of the histogram's buckets, in seconds.
const BOUNDS: [f64; 12] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0,
];

/// The calls of tools, counted since the server started.
pub(in crate::mcp) struct CallCounts(Mutex<Counts>);

struct Counts {
    /// For each tool that is offered: the calls that were answered, and those answered by an error.
    tools: BTreeMap<&'static str, [u64; 2]>,
    /// The calls that took at most as long as each bound, and longer than the one before.
    took: [u64; BOUNDS.len()],
    seconds: f64,
    redactions: u64,
}

impl CallCounts {
    pub(in crate::mcp) fn new(tools: impl Iterator<Item = &'static str>) -> Self {
        Self(Mutex::new(Counts {
            tools: tools.map(|tool| (tool, [0; 2])).collect(),
            took: [0; BOUNDS.len()],
            seconds: 0.0,
            redactions: 0,
        }))
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call that is answered.
    pub(in crate::mcp) fn add(&self, tool: &'static str, reply: &ToolReply, took: Duration) {
        let seconds = took.as_secs_f64();
        let facts = reply.structured.as_ref();
        let redactions = facts.and_then(|facts| facts.get("redactions")?.as_array());
        let mut counts = self.counts();
        counts.tools.entry(tool).or_default()[usize::from(reply.is_error)] += 1;
        if let Some(bucket) = BOUNDS.iter().position(|bound| seconds <= *bound) {
            counts.took[bucket] += 1;
        }
        counts.seconds += seconds;
        counts.redactions += redactions.map_or(0, Vec::len) as u64;
    }
}

/// What the server knows of itself.
pub(super) struct Load {
    pub(super) waiting: usize,
    pub(super) sessions: usize,
    /// The connections on which no request was let in yet, and the others.
    pub(super) connections: (usize, usize),
}

/// Writes all metrics.
pub(super) fn metrics(calls: &CallCounts, load: &Load, store: Option<&Totals>) -> String {
    let mut page = Page::default();
    page.family("build_info", "gauge", "The version of agekeep that serves.");
    page.sample("build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    write_calls(&mut page, &calls.counts());
    page.gauge(
        "calls_waiting",
        "Calls that wait for their turn or their answer.",
        load.waiting,
    );
    page.gauge(
        "sessions",
        "Open sessions of clients that use sessions.",
        load.sessions,
    );
    page.family(
        "connections",
        "gauge",
        "Open connections. Those of state new have not sent a request that was let in.",
    );
    page.sample("connections", &[("state", "new")], load.connections.0);
    page.sample("connections", &[("state", "known")], load.connections.1);
    page.gauge(
        "store_up",
        "1 if the store can be used, 0 if not; then there are no metrics of it.",
        u8::from(store.is_some()),
    );
    if let Some(store) = store {
        write_store(&mut page, store);
    }
    page.0
}

fn write_calls(page: &mut Page, counts: &Counts) {
    page.family(
        "calls_total",
        "counter",
        "Calls of tools that were answered, by outcome: ok, or error.",
    );
    for (tool, [ok, errors]) in &counts.tools {
        page.sample("calls_total", &[("tool", tool), ("outcome", "ok")], ok);
        page.sample(
            "calls_total",
            &[("tool", tool), ("outcome", "error")],
            errors,
        );
    }
    page.family(
        "call_duration_seconds",
        "histogram",
        "Time from the arrival of a call to its answer.",
    );
    let mut below = 0;
    for (bound, count) in BOUNDS.iter().zip(counts.took) {
        below += count;
        let bound = bound.to_string();
        page.sample("call_duration_seconds_bucket", &[("le", &bound)], below);
    }
    let all: u64 = counts.tools.values().flatten().sum();
    page.sample("call_duration_seconds_bucket", &[("le", "+Inf")], all);
    page.sample("call_duration_seconds_sum", &[], counts.seconds);
    page.sample("call_duration_seconds_count", &[], all);
    page.family(
        "redactions_total",
        "counter",
        "Secrets that were redacted from what callers wrote.",
    );
    page.sample("redactions_total", &[], counts.redactions);
}

fn write_store(page: &mut Page, store: &Totals) {
    let seconds = |time: Option<DateTime<Utc>>| time.map_or(0, |time| time.timestamp());
    let gauges = [
        ("events", "Events in history.", store.events),
        (
            "memories",
            "Memories that exist, also those that expired and are not swept yet.",
            store.memories,
        ),
        ("text_bytes", "Bytes of text in memories.", store.text_bytes),
        ("holds", "Holds in force.", store.holds),
        (
            "erasures_pending",
            "Memories that are marked for erasure and still have keys.",
            store.marked,
        ),
        (
            "history_bytes",
            "Bytes of ciphertext in history, as the limit counts them.",
            store.history_bytes,
        ),
        (
            "history_bytes_limit",
            "The limit of history_bytes; 0 if there is none.",
            store.history_bytes_max,
        ),
    ];
    for (name, help, value) in gauges {
        page.gauge(name, help, value);
    }
    page.gauge(
        "last_event_timestamp_seconds",
        "Time of the last event, in Unix time.",
        seconds(store.last_event),
    );
    page.gauge(
        "last_sweep_timestamp_seconds",
        "Time of the last completed sweep, in Unix time; 0 if none ran.",
        seconds(store.last_sweep),
    );
}

/// A page in the text format. Each name begins with `agekeep_`.
#[derive(Default)]
struct Page(String);

impl Page {
    /// Begins a family of samples.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.add(&["# HELP agekeep_", name, " ", &escaped(help), "\n"]);
        self.add(&["# TYPE agekeep_", name, " ", kind, "\n"]);
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.add(&["agekeep_", name]);
        for (number, (label, text)) in labels.iter().enumerate() {
            let before = if number == 0 { "{" } else { "," };
            let text = escaped(text).replace('"', "\\\"");
            self.add(&[before, label, "=\"", &text, "\""]);
        }
        let end = if labels.is_empty() { " " } else { "} " };
        self.add(&[end, &value.to_string(), "\n"]);
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, "gauge", help);
        self.sample(name, &[], value);
    }

    fn add(&mut self, pieces: &[&str]) {
        self.0.extend(pieces.iter().copied());
    }
}

/// Escapes what ends a line, as the format wants it in help texts and labels.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_label_or_a_line_is_escaped() {
        let mut page = Page::default();
        page.family("a", "gauge", "one\\two\nthree \"four\"");
        page.sample("a", &[("b", "\\\"\n"), ("c", "{},")], 0.5);
        assert_eq!(
            page.0,
            "# HELP agekeep_a one\\\\two\\nthree \"four\"\n# TYPE agekeep_a gauge\n\
             agekeep_a{b=\"\\\\\\\"\\n\",c=\"{},\"} 0.5\n"
        );
    }
}
