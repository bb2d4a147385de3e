//! Any bytes as the plaintext of a version: what opens says where it belongs.
//!
//! `fuzz/run version`

#![no_main]

use agekeep::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzzing::version(bytes));
