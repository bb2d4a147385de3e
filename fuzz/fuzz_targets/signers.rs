//! Any text as the `signers` file: one form, and only keys that can sign.
//!
//! `fuzz/run signers`

#![no_main]

use agekeep::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| fuzzing::signers(text));
