//! Any text as the message of a commit: its subject and trailers say what its record says.
//!
//! `fuzz/run message`

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

fuzz_target!(|text: &str| fuzzing::message(&KEYS, text));
