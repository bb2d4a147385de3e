//! Any text as the `recipients` file: what is accepted is written back to the same bytes.
//!
//! `fuzz/run recipients`

#![no_main]

use agekeep::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| fuzzing::recipients(text));
