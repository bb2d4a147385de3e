//! Any bytes as the journal: what is whole is read, and what is added is behind it.
//!
//! `fuzz/run journal`

#![no_main]

use agekeep::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().expect("a place to write to");
    fuzzing::journal(folder.path(), bytes);
});
