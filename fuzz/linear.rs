//! The time of redaction is linear in the text, whatever the text: `fuzz/linear [all]`.
//!
//! Counts steps (the edges of the control flow that are taken, which the compiler reports), so that
//! no clock is asked. Texts are repetitions of one unit of at most 24 bytes: a literal or a keyword
//! of a rule, a word of the dictionary, and what may follow it. Without `all`, one in forty of them.
#![allow(unsafe_code)] // the compiler calls a function by its name

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use agekeep::redact::{Redactor, built_in};
use agekeep::Text;

/// Longest unit, in bytes.
const UNIT_MAX: usize = 24;
/// Bytes of the shorter text: more than any window that a rule looks into.
const SHORT: usize = 32 * 1024;
/// How many times as long the longer text is.
const TIMES: u64 = 4;
/// Steps for each byte of a text, at most.
const STEPS_A_BYTE: u64 = 60_000;
/// How many of the units that take the most steps are named.
const SHOWN: usize = 60;
/// What follows a literal: the marks of the grammars in which values stand.
const ENDINGS: [&str; 22] = [
    "", " ", "=", ": ", "=\"", "='", "\":\"", " is ", "\n", "=\n", "\\n", "\\", "[", "(", "{", "<", "@", "://",
    "%3D", "=aB3$xY7", ": aB3$xY7\n", "aB3xY7kQ",
];

static STEPS: AtomicU64 = AtomicU64::new(0);

/// Called at every edge by code that is compiled with `-sanitizer-coverage-trace-pc`.
#[unsafe(no_mangle)]
extern "C" fn __sanitizer_cov_trace_pc() {
    // One thread counts, and a lost step would not matter.
    STEPS.store(STEPS.load(Relaxed).wrapping_add(1), Relaxed);
}

/// The steps that redaction takes over a unit, repeated to so many bytes.
fn steps(redactor: &Redactor, unit: &str, bytes: usize) -> u64 {
    let text = Text::from(unit.repeat(bytes / unit.len()).as_str());
    let before = STEPS.load(Relaxed);
    let done = redactor.redact("/memories/a.md", &text);
    let steps = STEPS.load(Relaxed) - before;
    drop(done);
    steps
}

fn units() -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for rule in built_in() {
        words.extend(rule.literals.iter().chain(rule.keywords).map(ToString::to_string));
    }
    let dictionary = include_str!("dictionaries/redact.dict").lines();
    let entries = dictionary.filter_map(|line| line.strip_prefix('"')?.strip_suffix('"'));
    let entries: Vec<String> = entries
        .map(|entry| entry.replace("\\x0a", "\n").replace("\\\"", "\"").replace("\\\\", "\\"))
        .collect();
    let mut units: Vec<String> = Vec::new();
    for word in words.iter().chain(&entries) {
        units.extend(ENDINGS.iter().map(|ending| format!("{word}{ending}")));
    }
    for first in &entries {
        units.extend(entries.iter().map(|second| format!("{first}{second}")));
    }
    units.extend((0..=u8::MAX).map(|byte| char::from(byte).to_string()));
    units.retain(|unit| (1..=UNIT_MAX).contains(&unit.len()));
    units.sort_unstable();
    units.dedup();
    units
}

fn main() -> ExitCode {
    let all = std::env::args().nth(1).is_some_and(|word| word == "all");
    let redactor = Redactor::default();
    // What is made ready when it is first needed is not the text's.
    let units = units();
    let tried: Vec<&String> = units.iter().step_by(if all { 1 } else { 40 }).collect();
    let (mut cost, mut broken) = (Vec::new(), 0);
    for unit in &tried {
        steps(&redactor, unit, 256);
        let short = steps(&redactor, unit, SHORT);
        let long = steps(&redactor, unit, SHORT * TIMES as usize);
        assert!(short > 0, "nothing is counted: see fuzz/linear");
        let a_byte = long / (SHORT as u64 * TIMES);
        cost.push((a_byte, *unit));
        // A tenth more than the length is for what is made ready on the way.
        if long > short * TIMES * 11 / 10 || a_byte > STEPS_A_BYTE {
            broken += 1;
            println!("{unit:?}: {short} steps, and {long} for {TIMES} times the text");
        }
    }
    println!("{} units of {}, {broken} not linear; the most steps a byte:", tried.len(), units.len());
    cost.sort_unstable_by(|one, other| other.cmp(one));
    for (steps, unit) in cost.iter().take(SHOWN) {
        println!("{steps:8} {unit:?}");
    }
    if broken > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
