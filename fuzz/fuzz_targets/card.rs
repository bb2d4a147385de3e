//! Any bytes as the commit of a machine's card, or as its message.
//!
//! `fuzz/run card`

#![no_main]

use agekeep::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzzing::card(bytes));
