//! Scenarios that are made when they are tested: they need what the program keeps outside the
//! store, or in a form of its own.

use std::fs;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use crate::support::forge::{has_means, unhex};
use crate::support::{Home, stderr, stdout};
use crate::zoo::forging::Zoo;
use crate::zoo::scenario;
use crate::zoo::verify::verify;

/// The findings that are shown here.
pub(crate) const FINDINGS: &[&str] = &["catalog", "pin-rolled-back"];

/// Makes `home` keyless.
fn forget_keys(home: &Home) {
    let folder = home.path().join("config");
    fs::rename(folder, home.path().join("config.away")).expect("moved");
}

fn run(home: &Home, args: &[&str]) {
    let output = home.run(args);
    assert!(output.status.success(), "{}", stderr(&output));
}

/// The newest events are dropped, together with everything in the store that remembers them.
fn dropped() -> Home {
    let home = scenario::base_home(true);
    let before = Zoo::at(&home).git(&["rev-parse", "main"]);
    run(&home, &["write", "handover.md", "--text", "one more"]);
    run(&home, &["read", "handover.md"]);
    let zoo = Zoo::at(&home);
    zoo.git(&["update-ref", "refs/heads/main", &before]);
    for name in ["journal", "catalog"] {
        fs::remove_file(home.store().join(name)).expect("there");
    }
    home
}

#[test]
fn dropped_events_are_missed_by_who_has_seen_them() {
    if !has_means("events are dropped") {
        return;
    }
    let home = dropped();
    verify(&home).assert(&["pin-rolled-back"]);
    forget_keys(&home);
    verify(&home).assert(&["pin-rolled-back"]);
}

/// Nothing in the store tells: whoever never saw the dropped events cannot miss them.
#[test]
fn dropped_events_are_not_missed_by_who_never_saw_them() {
    if !has_means("events are dropped") {
        return;
    }
    let home = dropped();
    fs::remove_dir_all(home.path().join(".local")).ok();
    verify(&home).assert(&[]);
}

#[test]
fn dropped_events_stop_an_ordinary_command() {
    if !has_means("events are dropped") {
        return;
    }
    let output = dropped().run(&["--json", "read", "handover.md"]);
    assert_eq!(output.status.code(), Some(13));
    assert!(
        stderr(&output).contains("rolled_back"),
        "{}",
        stderr(&output)
    );
}

/// A store whose catalog, sealed with the right key, says of one memory that it was last read a
/// minute later than it was: as somebody would have it who wants to keep it from expiring.
fn catalog_forged(by_millis: i64) -> Home {
    let home = scenario::base_home(true);
    run(&home, &["status"]);
    let zoo = Zoo::at(&home);
    let read = zoo.last_access("handover.md");
    let key = zoo.cache_key();
    let store = unhex(zoo.audit["store"].as_str().expect("an id"));
    let path = home.store().join("catalog");
    let bytes = fs::read(&path).expect("there");
    let length =
        |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four")) as usize;
    let root = u64::from_le_bytes(bytes[64..72].try_into().expect("eight bytes"));
    let root = usize::try_from(root).expect("small");
    assert_eq!(
        bytes.len(),
        root + 4 + length(root),
        "no step is behind the root"
    );
    // The first leaf, by path.
    let end = 84 + length(80);
    let label = b"agekeep/1 catalog leaf ";
    let context = [label, &store[..], &bytes[48..64], &bytes[84..92]].concat();
    let cipher = XChaCha20Poly1305::new_from_slice(&key).expect("32 bytes");
    let nonce = XNonce::from_slice(&bytes[92..116]);
    let (msg, aad) = (&bytes[116..end], &context[..]);
    let mut plain = cipher.decrypt(nonce, Payload { msg, aad }).expect("opens");
    let (is, says) = (varint(read), varint(read + by_millis));
    let mut places = plain
        .windows(is.len())
        .enumerate()
        .filter(|(_, window)| *window == is);
    let at = places.next().expect("the time is in it").0;
    plain.splice(at..at + is.len(), says);
    let msg = &plain[..];
    let sealed = cipher.encrypt(nonce, Payload { msg, aad }).expect("short");
    fs::write(&path, [&bytes[..116], &sealed, &bytes[end..]].concat()).expect("written");
    home
}

/// A signed number as the catalog has it: zigzag, seven bits a byte, the low ones first.
fn varint(number: i64) -> Vec<u8> {
    let mut rest = (number << 1 ^ number >> 63).cast_unsigned();
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(rest & 0x7f).expect("seven bits");
        rest >>= 7;
        if rest == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

#[test]
fn a_catalog_that_says_something_else_than_history_is_found() {
    if !has_means("a catalog is forged") {
        return;
    }
    let home = catalog_forged(60_000);
    verify(&home).assert(&["catalog"]);
    forget_keys(&home);
    // Without a key it does not open.
    verify(&home).assert(&[]);
}

#[test]
fn a_catalog_that_was_sealed_anew_as_it_was_is_no_finding() {
    if has_means("a catalog is forged") {
        verify(&catalog_forged(0)).assert(&[]);
    }
}

/// The control: the forged catalog opens and is believed by an ordinary command, so that what
/// verification finds there is what it says and not that it is broken.
#[test]
fn an_ordinary_command_goes_by_the_forged_catalog() {
    if !has_means("a catalog is forged") {
        return;
    }
    let home = catalog_forged(60_000);
    let before = fs::read(home.store().join("catalog")).expect("there");
    let status = home.run(&["status"]);
    assert!(status.status.success(), "{}", stdout(&status));
    let after = fs::read(home.store().join("catalog")).expect("there");
    assert!(before == after, "it was not made anew");
}

/// Erases the deleted memory of the base, and puts the keyring from before in its place again.
fn erased(with_old_keys: bool) -> Home {
    let home = scenario::base_home(true);
    // The first command moves the store on from format 1.
    run(&home, &["read", "handover.md"]);
    let (keyring, kept) = (home.store().join("keyring"), home.path().join("kept"));
    fs::create_dir(&kept).expect("made");
    for file in fs::read_dir(&keyring).expect("a folder").flatten() {
        fs::copy(file.path(), kept.join(file.file_name())).expect("copied");
    }
    let id = Zoo::at(&home).id_of("scratch.md");
    run(&home, &["erase", &id, "--yes", "--reason", "asked"]);
    if with_old_keys {
        for file in fs::read_dir(&kept).expect("a folder").flatten() {
            fs::copy(file.path(), keyring.join(file.file_name())).expect("copied");
        }
    }
    home
}

/// The control: what is erased is not damaged.
#[test]
fn an_erasure_with_its_receipt_is_no_finding() {
    let report = verify(&erased(false));
    report.assert_erased(&[], 1);
}

#[test]
fn an_older_keyring_after_an_erasure_is_found() {
    let home = erased(true);
    verify(&home).assert_erased(&["erased-key"], 1);
    // Whoever may write destroys those keys again.
    run(&home, &["read", "handover.md"]);
    verify(&home).assert_erased(&[], 1);
}
