//! Any blocks as the catalog, sealed by one who has the key: what is asked is answered, or history is.
//!
//! `fuzz/run catalog`

#![no_main]

use agekeep::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().expect("a place to write to");
    fuzzing::catalog(folder.path(), bytes);
});
