//! Any bytes as the plaintext of a backup of the keyring.
//!
//! `fuzz/run backup`

#![no_main]

use agekeep::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzzing::backup(bytes));
