//! Any entries as a pack, and a piece of it changed: what is read is what was put there.
//!
//! `fuzz/run pack`

#![no_main]

use agekeep::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().expect("a place to write to");
    fuzzing::pack(folder.path(), bytes);
});
