//! Any bytes as a tree and as a commit: what is accepted is written back to the same bytes.
//!
//! `fuzz/run object`

#![no_main]

use agekeep::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzzing::object(bytes));
