//! Secrets that are looked for wherever a process may have left them.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Output;

use base64ct::{Base64Unpadded, Encoding};

use crate::redaction::texts::boundary;

/// A text with a secret in it.
pub(crate) struct Canary {
    pub(crate) name: &'static str,
    /// How the kind in its marker ends.
    pub(crate) kind: &'static str,
    /// What is written.
    pub(crate) text: String,
    /// How it stands in a path.
    pub(crate) in_path: String,
    /// What must be nowhere.
    pub(crate) value: String,
}

/// One of each sort.
pub(crate) fn canaries() -> Vec<Canary> {
    let body = ["R7mQ2vX9bT4kZ8nL5w", "J3cF6hD1sG0pYaEuKi"].concat();
    let word = ["W1nt3r", "F0x_", "995"].concat();
    let pass = ["Zk9vT", "q2Lm4x"].concat();
    let key = [
        "MC4CAQAwBQYDK2VwBCIEIH5m",
        "Q0kqT1v0hXn2RzT7b9cLp6WqYsDfGjKl",
    ]
    .concat();
    let name = ["PRIVATE", "KEY"].join(" ");
    vec![
        Canary {
            name: "github",
            kind: "github-pat",
            text: ["gh", "p_", &body].concat(),
            in_path: ["gh", "p_", &body].concat(),
            value: body,
        },
        Canary {
            name: "word",
            kind: "password",
            text: format!("DB_PASSWORD={word}"),
            in_path: format!("DB_PASSWORD={word}"),
            value: word,
        },
        Canary {
            name: "uri",
            kind: "uri-userinfo",
            text: format!("postgres://dev:{pass}@db.internal/app"),
            in_path: format!("DB_PASSWORD={pass}"),
            value: pass,
        },
        Canary {
            name: "block",
            kind: "private-key-pem",
            text: format!("-----BEGIN {name}-----\n{key}\n-----END {name}-----"),
            in_path: format!("-----BEGIN {name}-----\n{key}\n-----END {name}-----"),
            value: key,
        },
    ]
}

/// A name and the bytes under it.
pub(crate) type Piece = (String, Vec<u8>);

/// What a process said.
pub(crate) fn shown(output: &Output) -> Vec<Piece> {
    vec![
        ("standard output".into(), output.stdout.clone()),
        ("standard error".into(), output.stderr.clone()),
    ]
}

/// The forms a careless program might leave a value in.
fn forms(value: &str) -> Vec<(&'static str, Vec<u8>)> {
    let hex: String = value.bytes().map(|b| format!("{b:02x}")).collect();
    let mut forms = vec![
        ("plain", value.into()),
        ("reversed", value.bytes().rev().collect()),
        ("upper hex", hex.to_uppercase().into()),
        ("hex", hex.into()),
    ];
    for shift in 0..3 {
        let text = [&vec![0; shift][..], value.as_bytes()].concat();
        let encoded = Base64Unpadded::encode_string(&text);
        let (first, whole) = ((shift * 8).div_ceil(6), text.len() * 8 / 6);
        forms.push(("base64", encoded.as_bytes()[first..whole].to_vec()));
    }
    forms
}

/// Where a form of a canary stands.
pub(crate) fn sightings(pieces: &[Piece]) -> Vec<String> {
    let mut found = Vec::new();
    for canary in canaries() {
        for (form, needle) in forms(&canary.value) {
            let text = String::from_utf8_lossy(&needle).into_owned();
            for (name, bytes) in pieces {
                let inside = String::from_utf8_lossy(bytes).find(&text);
                if let Some(at) = inside {
                    let said = String::from_utf8_lossy(bytes).into_owned();
                    let from = boundary(&said, at.saturating_sub(120));
                    let near = &said[from..boundary(&said, at + 60)];
                    found.push(format!("{name}: {} {form}: {near}", canary.name));
                } else if name.contains(&text) {
                    found.push(format!("{name}: {} {form} in its name", canary.name));
                }
            }
        }
    }
    found
}

/// Every file below a folder, as it is and inflated where it is zlib data.
pub(crate) fn files(folder: &Path) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.display().to_string();
        if path.is_dir() {
            pieces.push((name, Vec::new()));
            pieces.extend(files(&path));
            continue;
        }
        let bytes = fs::read(&path).expect("readable");
        let mut inflated = Vec::new();
        let mut zlib = flate2::read::ZlibDecoder::new(&bytes[..]);
        if zlib.read_to_end(&mut inflated).is_ok() {
            pieces.push((format!("{name} inflated"), inflated));
        }
        pieces.push((name, bytes));
    }
    pieces
}

#[test]
fn the_search_finds_every_form() {
    for canary in canaries() {
        for (form, bytes) in forms(&canary.value) {
            let planted = vec![("file".to_owned(), [b"\0\xffx", &bytes[..], b"yy"].concat())];
            assert!(!sightings(&planted).is_empty(), "{} {form}", canary.name);
        }
        assert_eq!(sightings(&[(canary.value.clone(), Vec::new())]).len(), 1);
    }
}
