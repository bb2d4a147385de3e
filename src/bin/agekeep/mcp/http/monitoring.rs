//! What a monitoring system asks for: `/health`, and `/metrics` in Prometheus' text format (0.0.4).
//! Neither is recorded, and neither tells contents, paths, actors or sessions.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agekeep::store::{Store, Totals};
use chrono::{DateTime, Utc};
use tokio::time::timeout;

use crate::mcp::call::ToolReply;
use crate::verbs::replicas;
use crate::worker::StoreWorker;

/// The content type of the text format.
pub(super) const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The longest wait for a look at the store: half the time that Prometheus waits by default.
const LOOK_WITHIN: Duration = Duration::from_secs(5);

/// The totals of the store as the last look found them; `None` if it could not be used.
type StoreLook = Option<Totals>;

/// Looks at the store for a monitoring system.
pub(super) struct StoreProbe {
    worker: StoreWorker,
    last: Mutex<Option<StoreLook>>,
    is_looking: AtomicBool,
}

impl StoreProbe {
    pub(super) fn new(worker: StoreWorker) -> Arc<Self> {
        Arc::new(Self {
            worker,
            last: Mutex::default(),
            is_looking: AtomicBool::default(),
        })
    }

    /// Returns what a look at the store finds, or what the last one found where the server is busy;
    /// `None` before the first. However many ask, one look at most waits for its turn.
    pub(super) async fn totals(self: &Arc<Self>) -> Option<StoreLook> {
        if !self.is_looking.swap(true, Ordering::Relaxed) {
            let probe = self.clone();
            let look = tokio::spawn(async move {
                let looked = probe.worker.ask(|state| state.probe(Store::totals)).await;
                *probe.last() = Some(looked.and_then(Result::ok));
                probe.is_looking.store(false, Ordering::Relaxed);
            });
            let _ = timeout(LOOK_WITHIN, look).await;
        }
        *self.last()
    }

    /// Returns the number of calls that wait for their turn or their answer.
    pub(super) fn waiting(&self) -> usize {
        *self.worker.waiting().borrow()
    }

    fn last(&self) -> MutexGuard<'_, Option<StoreLook>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The upper bounds of the histogram's buckets, in seconds.
const BOUNDS: [f64; 12] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0,
];

/// The outcomes of a call.
const OUTCOMES: [&str; 3] = ["ok", "error", "denied"];

/// The calls of tools, counted since the server started.
pub(in crate::mcp) struct CallCounts(Mutex<CallNumbers>);

struct CallNumbers {
    /// For each tool that is offered: the calls that were answered, by outcome.
    tools: BTreeMap<&'static str, [u64; OUTCOMES.len()]>,
    /// The refused commands, by the code of the error. agekeep has a fixed list of codes.
    refusals: BTreeMap<String, u64>,
    /// The calls that took at most as long as each bound, and longer than the one before.
    took: [u64; BOUNDS.len()],
    seconds: f64,
    redactions: u64,
}

impl CallCounts {
    pub(in crate::mcp) fn new(tools: impl Iterator<Item = &'static str>) -> Self {
        Self(Mutex::new(CallNumbers {
            tools: tools.map(|tool| (tool, [0; OUTCOMES.len()])).collect(),
            refusals: BTreeMap::new(),
            took: [0; BOUNDS.len()],
            seconds: 0.0,
            redactions: 0,
        }))
    }

    fn counts(&self) -> MutexGuard<'_, CallNumbers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call that is answered.
    pub(in crate::mcp) fn add(&self, tool: &'static str, reply: &ToolReply, lasted: Duration) {
        let seconds = lasted.as_secs_f64();
        let facts = reply.structured.as_ref();
        let redactions = facts.and_then(|facts| facts.get("redactions")?.as_array());
        let said = |name| facts.and_then(|facts| facts.get(name)?.as_str());
        let outcome = said("outcome").and_then(|said| OUTCOMES.iter().position(|o| *o == said));
        let outcome = outcome.unwrap_or(usize::from(reply.is_error));
        let mut counts = self.counts();
        counts.tools.entry(tool).or_default()[outcome] += 1;
        if let Some(code) = said("error").filter(|_| reply.is_error) {
            *counts.refusals.entry(code.to_owned()).or_default() += 1;
        }
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
pub(super) fn metrics(calls: &CallCounts, load: &Load, store: Option<StoreLook>) -> String {
    let mut page = MetricsPage::default();
    page.family("build_info");
    page.sample("build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    write_calls(&mut page, &calls.counts());
    page.gauge("calls_waiting", load.waiting);
    page.gauge("sessions", load.sessions);
    page.family("connections");
    page.sample("connections", &[("state", "new")], load.connections.0);
    page.sample("connections", &[("state", "known")], load.connections.1);
    if let Some(last) = replicas::last_sync() {
        page.gauge("last_sync_timestamp_seconds", last);
    }
    if let Some(found) = store {
        page.gauge("store_up", u8::from(found.is_some()));
    }
    if let Some(Some(store)) = store {
        write_store(&mut page, &store);
    }
    page.0
}

fn write_calls(page: &mut MetricsPage, counts: &CallNumbers) {
    page.family("calls_total");
    for (tool, by_outcome) in &counts.tools {
        for (outcome, count) in OUTCOMES.iter().zip(by_outcome) {
            let labels = [("tool", *tool), ("outcome", *outcome)];
            page.sample("calls_total", &labels, count);
        }
    }
    page.family("refusals_total");
    for (code, count) in &counts.refusals {
        page.sample("refusals_total", &[("code", code)], count);
    }
    page.family("call_duration_seconds");
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
    page.family("redactions_total");
    page.sample("redactions_total", &[], counts.redactions);
}

fn write_store(page: &mut MetricsPage, store: &Totals) {
    let seconds = |time: Option<DateTime<Utc>>| time.map_or(0, |time| time.timestamp());
    page.gauge("events", store.events);
    page.gauge("memories", store.memories);
    page.gauge("memories_expired", store.expired);
    page.gauge("text_bytes", store.text_bytes);
    page.gauge("holds", store.holds);
    page.gauge("erasures_pending", store.marked);
    page.gauge("history_bytes", store.history_bytes);
    page.gauge("history_bytes_limit", store.history_bytes_max);
    let oldest = seconds(store.oldest_expired);
    page.gauge("oldest_expired_timestamp_seconds", oldest);
    page.gauge("last_event_timestamp_seconds", seconds(store.last_event));
    page.gauge("last_sweep_timestamp_seconds", seconds(store.last_sweep));
}

/// The families of samples, one a line: name, kind and help.
const FAMILIES: &str = include_str!("metrics.txt");

/// A page in the text format. Each name begins with `agekeep_`.
#[derive(Default)]
struct MetricsPage(String);

impl MetricsPage {
    /// Begins a family of samples that [`FAMILIES`] has.
    fn family(&mut self, name: &str) {
        let of_it = |line: &'static str| line.strip_prefix(name)?.strip_prefix(' ');
        let about = FAMILIES.lines().find_map(of_it);
        let (kind, help) = about
            .and_then(|about| about.split_once(' '))
            .expect("each family has a line");
        self.begin(name, kind, help);
    }

    fn begin(&mut self, name: &str, kind: &str, help: &str) {
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

    fn gauge(&mut self, name: &str, value: impl Display) {
        self.family(name);
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
        let mut page = MetricsPage::default();
        page.begin("a", "gauge", "one\\two\nthree \"four\"");
        page.sample("a", &[("b", "\\\"\n"), ("c", "{},")], 0.5);
        assert_eq!(
            page.0,
            "# HELP agekeep_a one\\\\two\\nthree \"four\"\n# TYPE agekeep_a gauge\n\
             agekeep_a{b=\"\\\\\\\"\\n\",c=\"{},\"} 0.5\n"
        );
    }
}
