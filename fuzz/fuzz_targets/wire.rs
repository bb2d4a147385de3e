//! Any bytes as a call in JSON: answered in one line with its own id, in any spelling the same.
//!
//! `fuzz/run wire`

#![no_main]

use agekeep::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &[u8]| fuzzing::wire(line));
