//! Any bytes as `ring` or `names`: nothing is lost, and the last entry of an id counts.
//!
//! `fuzz/run table`

#![no_main]

use agekeep::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().expect("a place to write to");
    fuzzing::table(folder.path(), bytes);
});
