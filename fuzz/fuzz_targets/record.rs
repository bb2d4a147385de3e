//! Any bytes as the record of an event: what is read is written back the same.
//!
//! `fuzz/run record`

#![no_main]

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use agekeep::fuzzing::{self, FuzzKeys};
use agekeep::store::Identity;
use libfuzzer_sys::fuzz_target;

/// A copy of the keyring in `fixtures/format-v1`, which opens what the seeds hold.
static KEYS: LazyLock<FuzzKeys> = LazyLock::new(|| {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = here.join("../fixtures/format-v1/TEST-ONLY-identity.txt");
    let identity = Identity::parse(&fs::read_to_string(file).expect("readable"));
    FuzzKeys::open(&here.join("keyring"), &identity.expect("an identity")).expect("opens")
});

fuzz_target!(|json: &[u8]| fuzzing::record(&KEYS, json));
