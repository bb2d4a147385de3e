//! Any text through redaction: it ends, twice is as once, and what is no finding stays.
//!
//! `fuzz/run redact`

#![no_main]

use agekeep::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| fuzzing::redact(text));
