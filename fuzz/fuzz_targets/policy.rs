//! Any text as `agekeep.toml`: within bounds, written back the same, and it can be followed.
//!
//! `fuzz/run policy`

#![no_main]

use agekeep::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| fuzzing::policy(text));
