//! Who may name whom: one module owns one foreign crate, and only the doors see the machine.

use std::fs;
use std::path::{Path, PathBuf};

/// A word in the source, and the only files it may stand in.
const OWNERS: &[(&str, &[&str])] = &[
    ("age::", &["src/seal"]),
    ("aho_corasick", &["crates/redact/src"]),
    ("base64ct", &["src/base64.rs"]),
    ("bech32::", &["crates/redact/src/checksum.rs"]),
    ("base64::engine", &["crates/redact/src/decode.rs"]),
    ("chacha20poly1305", &["src/aead.rs"]),
    ("clap", &["src/cli"]),
    (
        "crc32fast::",
        &["crates/redact/src/checksum.rs", "src/repository/pack"],
    ),
    (
        "flate2",
        &["src/repository/loose.rs", "src/repository/pack/reader.rs"],
    ),
    ("git2", &["src/repository.rs"]),
    ("qrcode::", &["src/cli/recovery.rs"]),
    (
        "hmac::",
        &["src/digest.rs", "crates/redact/src/redactor.rs"],
    ),
    ("http_body_util::", &["src/cli/mcp/http.rs"]),
    ("hyper::", &["src/cli/mcp/claim.rs", "src/cli/mcp/http"]),
    ("hyper_util::", &["src/cli/mcp/http.rs"]),
    ("imara_diff::", &["src/diff.rs"]),
    ("indicatif", &["src/cli/output.rs"]),
    ("memchr::", &["crates/redact/src"]),
    ("percent_encoding::", &["src/cli/mcp/resource.rs"]),
    ("rmcp::", &["src/cli/mcp.rs", "src/cli/mcp/"]),
    ("regex::", &["crates/redact/src", "src/store/past/grep.rs"]),
    (
        "rustix",
        &[
            "src/disk/",
            "src/cli/folder.rs",
            "src/cli/lines.rs",
            "src/cli/process.rs",
            "src/cli/terminal.rs",
        ],
    ),
    ("sha1::", &["src/repository/pack"]),
    ("bip39::", &["crates/redact/src/mnemonic.rs"]),
    (
        "sha2::",
        &["src/digest.rs", "crates/redact/src/redactor.rs"],
    ),
    ("ed25519_dalek", &["src/sign.rs", "src/sign/authority.rs"]),
    ("signature::", &["src/sign.rs", "src/sign/authority.rs"]),
    ("ssh_key", &["src/sign.rs", "src/sign/signers.rs"]),
    (
        "postcard",
        &["src/catalog/", "src/timeline", "src/verify/point.rs"],
    ),
    ("tokio::", &["src/cli/mcp.rs", "src/cli/mcp/"]),
    (
        "toml::",
        &[
            "src/policy",
            "crates/redact/src/gitleaks",
            "src/cli/mcp_config",
        ],
    ),
    (
        "unicode_normalization",
        &["src/path.rs", "crates/redact/src/glob.rs"],
    ),
    ("zlib_rs", &["src/repository/loose.rs"]),
    // The library is mute and reads no clock, environment or home folder.
    ("std::env", &["src/cli/place.rs"]),
    ("env::var", &["src/cli/place.rs"]),
    ("Utc::now", &["src/cli.rs"]),
    ("io::stdout", &["src/cli/output.rs"]),
    ("io::stderr", &["src/cli/output.rs"]),
    (
        "io::stdin",
        &["src/cli/lines.rs", "src/cli/memory.rs", "src/cli/redact.rs"],
    ),
    // Ciphertext and its plaintext meet in one place each.
    ("Sealed(", &["src/seal.rs"]),
    // What may be sealed is made in one place.
    ("Redacted {", &["crates/redact/src/redactor.rs"]),
    // One place decides what makes bytes durable.
    ("sync_all", &["src/disk.rs", "src/disk/"]),
    ("sync_data", &["src/disk.rs"]),
];

/// What reaches a file by its path: all that `disk` is there to do otherwise.
const BY_PATH: &[&str] = &[
    "std::fs",
    "fs::",
    "File::",
    "OpenOptions",
    ".exists()",
    ".is_dir()",
    ".is_file()",
    ".is_symlink()",
    ".metadata()",
    ".symlink_metadata()",
    ".read_dir()",
    ".canonicalize()",
    ".read_link()",
];

/// Files of the library that do it all the same, each with the reason.
const BY_PATH_ALLOWED: &[(&str, &str)] = &[
    ("src/disk", "it is what all others use"),
    (
        "src/cli",
        "the program: what a person names is theirs, and no file of a store",
    ),
    (
        "src/pin/",
        "outside the store, in a folder that only its user can write",
    ),
];

/// Words that stand nowhere: what they do is done another way here, or not at all.
const ABSENT: &[&str] = &[
    "unsafe ",
    "mod utils",
    "Manager",
    "fn get_",
    "todo!",
    "unimplemented!",
];

#[test]
fn every_foreign_crate_has_one_owner() {
    let mut faults = Vec::new();
    for (path, code) in sources() {
        for (word, owners) in OWNERS {
            let named = mentions(&code, word);
            let owned = owners.iter().any(|owner| path.starts_with(owner));
            if named && !owned {
                faults.push(format!("{path} names {word}, which belongs to {owners:?}"));
            }
        }
        for word in ABSENT {
            // There the protocol's library names the functions.
            let is_foreign = *word == "fn get_" && path == "src/cli/mcp/server.rs";
            if mentions(&code, word) && !is_foreign {
                faults.push(format!("{path} has {word}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_owner_still_owns() {
    let sources = sources();
    for (word, owners) in OWNERS {
        for owner in *owners {
            let mut owned = sources.iter().filter(|(path, _)| path.starts_with(owner));
            assert!(
                owned.any(|(_, code)| mentions(code, word)),
                "{owner} names no {word}"
            );
        }
    }
}

/// One module opens, makes, lists and removes files: what is planted in a store is met there.
#[test]
fn the_library_touches_files_in_one_module() {
    let mut faults = Vec::new();
    for (path, code) in sources() {
        let allowed = BY_PATH_ALLOWED.iter();
        if is_for_tests(&path)
            || allowed
                .map(|(file, _)| file)
                .any(|file| path.starts_with(file))
        {
            continue;
        }
        for line in code.lines() {
            let found = BY_PATH.iter().find(|word| mentions_call(line, word));
            if let Some(word) = found {
                faults.push(format!("{path} has {word}: {}", line.trim()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Whether a line has the word: a method whatever it is called on, anything else not as the end of a
/// longer one.
fn mentions_call(line: &str, word: &str) -> bool {
    if word.starts_with('.') {
        line.contains(word)
    } else {
        mentions(line, word)
    }
}

/// Whether a source file is compiled for tests and fuzzing alone.
fn is_for_tests(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/") || path.ends_with("fuzzing.rs")
}

#[test]
fn every_file_that_may_touch_files_does() {
    let sources = sources();
    for (file, reason) in BY_PATH_ALLOWED {
        let mut own = sources.iter().filter(|(path, _)| path.starts_with(file));
        let uses = own.any(|(_, code)| {
            BY_PATH
                .iter()
                .any(|word| code.lines().any(|line| mentions_call(line, word)))
        });
        assert!(uses, "{file} touches none; {reason}");
    }
}

#[test]
fn every_file_opens_with_what_it_is() {
    for (path, _) in sources() {
        let text = fs::read_to_string(root().join(&path)).expect("a source file");
        assert!(text.starts_with("//! "), "{path}");
    }
}

fn root() -> PathBuf {
    env!("CARGO_MANIFEST_DIR").into()
}

/// Every source file with its code: no comments, no tests.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(&root().join("src"), &mut found);
    collect(&root().join("crates/redact/src"), &mut found);
    assert!(found.len() > 30, "the sources are where they were");
    found
}

fn collect(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, found);
            continue;
        }
        // Texts and rules stand in files of their own. The build script is no part of the program.
        if path.extension().is_none_or(|end| end != "rs") || path.ends_with("build.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source file");
        let code = text
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .expect("one piece");
        let lines = code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let name = path.strip_prefix(root()).expect("below the root");
        found.push((
            name.display().to_string(),
            lines.collect::<Vec<_>>().join("\n"),
        ));
    }
}

/// Whether the code has the word, not as the end of a longer one.
fn mentions(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}
