//! Any bytes as a loose git object: bounded, whole, and of one form.
//!
//! `fuzz/run loose`

#![no_main]

use agekeep::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzzing::loose(bytes));
