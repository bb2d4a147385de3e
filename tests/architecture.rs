//! Who may name whom: rooms use only rooms below them, one module owns one foreign crate, and only the
//! program sees the machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The rooms of the library, from the ground up: docs/architecture.md draws them. A room uses only rooms
/// that stand before it here, so that there is no circle.
const ROOMS: &[&str] = &[
    "id",
    "background",
    "error",
    "disk",
    "crypto",
    "repository",
    "journal",
    "keyring",
    "memory_tool",
    "diff",
    "version",
    "event",
    "policy",
    "state",
    "store",
    "verify",
    "remote",
    "report",
    "jsonl",
];

/// Crates that a program needs and a library must not bring along.
const OF_THE_PROGRAM: &[&str] = &[
    "clap",
    "rmcp",
    "tokio",
    "indicatif",
    "qrcode",
    "hyper",
    "maud",
    "plotters",
    "comfy-table",
    "unicode-width",
];

/// The files that a port to another operating system writes again.
const PLATFORM: &[&str] = &["src/disk", "src/bin/agekeep/platform"];

/// A word in the source, and the only files it may stand in.
const OWNERS: &[(&str, &[&str])] = &[
    ("age::", &["src/crypto/seal"]),
    ("aho_corasick", &["crates/redact/src"]),
    ("base64ct", &["src/crypto/base64.rs"]),
    ("getrandom", &["src/id.rs"]),
    ("bech32::", &["crates/redact/src/checksum.rs"]),
    ("base64::engine", &["crates/redact/src/decode.rs"]),
    ("chacha20poly1305", &["src/crypto/aead.rs"]),
    ("clap", &["src/bin/agekeep/"]),
    ("comfy_table", &["src/bin/agekeep/table.rs"]),
    ("unicode_width", &["src/bin/agekeep/table.rs"]),
    (
        "crc32fast::",
        &["crates/redact/src/checksum.rs", "src/repository/pack"],
    ),
    (
        "flate2",
        &["src/repository/loose.rs", "src/repository/pack/reader.rs"],
    ),
    ("git2", &["src/repository.rs"]),
    ("qrcode::", &["src/bin/agekeep/recovery.rs"]),
    (
        "hmac::",
        &["src/crypto/digest.rs", "crates/redact/src/redactor.rs"],
    ),
    ("form_urlencoded::", &["src/bin/agekeep/ui/query.rs"]),
    (
        "http_body_util::",
        &[
            "src/bin/agekeep/http.rs",
            "src/bin/agekeep/mcp/http.rs",
            "src/bin/agekeep/ui/server.rs",
        ],
    ),
    (
        "hyper::",
        &[
            "src/bin/agekeep/http.rs",
            "src/bin/agekeep/mcp/call.rs",
            "src/bin/agekeep/mcp/http",
            "src/bin/agekeep/ui/",
        ],
    ),
    ("hyper_util::", &["src/bin/agekeep/http.rs"]),
    ("imara_diff::", &["src/diff.rs"]),
    ("indicatif", &["src/bin/agekeep/output.rs"]),
    ("memchr::", &["crates/redact/src"]),
    (
        "maud::",
        &["src/bin/agekeep/report/html.rs", "src/bin/agekeep/ui/"],
    ),
    ("percent_encoding::", &["src/bin/agekeep/mcp/resource.rs"]),
    ("plotters::", &["src/bin/agekeep/report/chart.rs"]),
    (
        "rmcp::",
        &["src/bin/agekeep/mcp.rs", "src/bin/agekeep/mcp/"],
    ),
    (
        "regex::",
        &["crates/redact/src", "src/store/history/blame_and_grep.rs"],
    ),
    // Calls that differ between operating systems.
    ("rustix", PLATFORM),
    ("std::os::", PLATFORM),
    ("target_os = \"linux\"", PLATFORM),
    ("\"/proc/", PLATFORM),
    ("\"/dev/", &["src/bin/agekeep/platform.rs"]),
    ("signal::unix", &["src/bin/agekeep/platform.rs"]),
    ("Command::new(\"git\")", &["src/remote/git.rs"]),
    ("Command::new(\"sh\")", &["src/bin/agekeep/platform.rs"]),
    ("sha1::", &["src/repository/pack"]),
    ("bip39::", &["crates/redact/src/mnemonic.rs"]),
    (
        "sha2::",
        &["src/crypto/digest.rs", "crates/redact/src/redactor.rs"],
    ),
    (
        "ed25519_dalek",
        &["src/crypto/sign.rs", "src/crypto/sign/authority.rs"],
    ),
    (
        "signature::",
        &["src/crypto/sign.rs", "src/crypto/sign/authority.rs"],
    ),
    (
        "ssh_key",
        &["src/crypto/sign.rs", "src/crypto/sign/signers.rs"],
    ),
    (
        "postcard",
        &[
            "src/state/catalog/",
            "src/state/timeline",
            "src/verify/claims.rs",
        ],
    ),
    (
        "tokio::",
        &[
            "src/bin/agekeep/http",
            "src/bin/agekeep/mcp",
            "src/bin/agekeep/platform.rs",
            "src/bin/agekeep/ui",
            "src/bin/agekeep/worker.rs",
        ],
    ),
    (
        "toml::",
        &[
            "src/policy",
            "crates/redact/src/gitleaks",
            "src/bin/agekeep/config.rs",
            "src/bin/agekeep/mcp/tool.rs",
            "src/bin/agekeep/verbs/mcp_config",
            "src/remote/local.rs",
            "src/store/replica.rs",
        ],
    ),
    (
        "unicode_normalization",
        &["src/memory_tool/path.rs", "crates/redact/src/glob.rs"],
    ),
    ("zlib_rs", &["src/repository/loose.rs"]),
    // The library is mute and reads no clock, environment or home folder.
    ("std::env", &["src/bin/agekeep/environment.rs"]),
    ("env::var", &["src/bin/agekeep/environment.rs"]),
    ("Utc::now", &["src/bin/agekeep/args.rs"]),
    ("io::stdout", &["src/bin/agekeep/output.rs"]),
    ("io::stderr", &["src/bin/agekeep/output.rs"]),
    (
        "io::stdin",
        &[
            "src/bin/agekeep/input.rs",
            "src/bin/agekeep/verbs/memory.rs",
            "src/bin/agekeep/verbs/rules.rs",
        ],
    ),
    // Ciphertext and its plaintext meet in one place each.
    ("Sealed(", &["src/crypto/seal.rs"]),
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
        "src/bin/agekeep/",
        "the program: what a person names is theirs, and no file of a store",
    ),
    (
        "src/store/pin/",
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
fn rooms_use_only_rooms_below_them() {
    let floor = |room: &str| ROOMS.iter().position(|known| *known == room);
    let mut faults = Vec::new();
    for (path, code) in sources() {
        let Some(rest) = path.strip_prefix("src/") else {
            continue;
        };
        let room = rest.split(['/', '.']).next().expect("a name");
        if ["lib", "bin", "fuzzing"].contains(&room) || is_for_tests(&path) {
            continue;
        }
        let Some(own) = floor(room) else {
            faults.push(format!("{path} is in no room that ROOMS has"));
            continue;
        };
        for used in code.split("crate::").skip(1).flat_map(first_names) {
            if floor(used).is_some_and(|floor| floor > own) {
                faults.push(format!("{path} uses {used}, which stands above {room}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The pages name files and functions of the source: they are where the pages say.
#[test]
fn what_the_pages_name_is_there() {
    let code: Vec<(String, String)> = sources();
    let mut faults = Vec::new();
    let mut named = 0;
    for page in crate::readme::pages(&root()) {
        // The changelog also speaks of what was.
        if page == "CHANGELOG.md" {
            continue;
        }
        let text = fs::read_to_string(root().join(&page)).expect("a page");
        // Between two marks stands code, outside of blocks of it.
        let outside = text.split("```").step_by(2);
        for code_word in outside.flat_map(|part| part.split('`').skip(1).step_by(2)) {
            let place = [
                "src/",
                "crates/",
                "tests/",
                "docs/",
                "fuzz/",
                "fixtures/",
                "benches/",
            ];
            if place.iter().any(|start| code_word.starts_with(start))
                && !code_word.contains(['*', ' '])
            {
                named += 1;
                if !root().join(code_word).exists() {
                    faults.push(format!("{page} names {code_word}, which is not there"));
                }
            }
        }
    }
    // `name` in `src/file.rs`, or in a row of names and files: the file, or one of them, has that
    // function.
    let map = fs::read_to_string(root().join("docs/architecture.md")).expect("the map");
    for (at, _) in map.match_indices("` in `src/") {
        let function = map[..at].rsplit('`').next().expect("a name");
        let file = map[at + 6..].split('`').next().expect("a file");
        let there = code.iter().find(|(path, _)| path == file);
        if !there.is_some_and(|(_, code)| has_function(code, function)) {
            faults.push(format!("docs/architecture.md: no {function} in {file}"));
        }
        named += 1;
    }
    let path = map
        .split_once("| step | functions | file |")
        .expect("the table")
        .1;
    let rows = path
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let mut steps = 0;
    for row in rows {
        let cells: Vec<&str> = row.split('|').collect();
        let files: Vec<&str> = cells[3].split('`').skip(1).step_by(2).collect();
        for function in cells[2].split('`').skip(1).step_by(2) {
            let name = function.rsplit("::").next().expect("a name");
            let mut there = code
                .iter()
                .filter(|(path, _)| files.contains(&path.as_str()));
            if !there.any(|(_, code)| has_function(code, name)) {
                faults.push(format!("docs/architecture.md: no {name} in {files:?}"));
            }
            steps += 1;
        }
    }
    assert!(steps > 20, "{steps}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(named > 60, "{named}");
}

/// Tells whether a source file has a function of this name.
fn has_function(code: &str, name: &str) -> bool {
    [format!("fn {name}("), format!("fn {name}<")]
        .iter()
        .any(|start| mentions(code, start))
}

/// The names that a path behind `crate::` begins with: one, or those of a list in braces.
fn first_names(path: &str) -> Vec<&str> {
    let head = |text: &str| {
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
        end.unwrap_or(text.len())
    };
    let Some(list) = path.strip_prefix('{') else {
        return vec![&path[..head(path)]];
    };
    let (mut names, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                let item = list[start..at].trim();
                names.push(&item[..head(item)]);
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names
}

#[test]
fn a_list_of_paths_is_read_as_each_of_them() {
    assert_eq!(first_names("disk::{a, b};"), ["disk"]);
    assert_eq!(
        first_names("{Text, journal::{self, Record}, version};"),
        ["Text", "journal", "version"]
    );
}

/// The rooms stand in the crate's table and on the map in the same order, and the façade is small.
#[test]
fn the_map_and_the_table_have_the_rooms() {
    let lib = fs::read_to_string(root().join("src/lib.rs")).expect("the crate's page");
    let (_, table) = lib.split_once("//! | room | is |").expect("a table");
    let in_table = table
        .lines()
        .skip(2)
        .map_while(|row| row.strip_prefix("//! | "));
    let in_table: Vec<&str> = in_table.filter_map(|row| row.split('`').nth(1)).collect();
    assert_eq!(in_table, ROOMS);
    let map = fs::read_to_string(root().join("docs/architecture.md")).expect("the map");
    let house = map.split("```").nth(1).expect("a drawing");
    let drawn = house
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let drawn: Vec<&str> = drawn.filter(|name| ROOMS.contains(name)).collect();
    assert_eq!(drawn.into_iter().rev().collect::<Vec<_>>(), ROOMS);
    let facade = sources()
        .into_iter()
        .filter(|(_, code)| code.contains("\nimpl Store {"));
    let facade: Vec<String> = facade.map(|(path, _)| path).collect();
    assert!(facade.len() <= 8, "{facade:?}");
}

/// A reader who looks for a type by its name finds one.
#[test]
fn no_two_types_of_a_crate_have_one_name() {
    let mut seen: BTreeMap<(&str, String), String> = BTreeMap::new();
    let mut faults = Vec::new();
    let sources = sources();
    for (path, code) in &sources {
        if is_for_tests(path) || path.contains("/train") {
            continue;
        }
        let crate_of = ["crates/redact", "src/bin", "src"];
        let own = crate_of.iter().find(|start| path.starts_with(**start));
        let own = own.expect("one of them");
        for line in code.lines().filter(|line| !line.starts_with(' ')) {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            let is_type = |word: &&str| ["struct", "enum", "trait", "type"].contains(word);
            if !words.by_ref().take(6).any(|word| is_type(&word)) || line.contains('"') {
                continue;
            }
            let name = words.next().unwrap_or_default().to_owned();
            let before = seen.insert((own, name.clone()), path.clone());
            if let Some(before) = before {
                faults.push(format!("{name} is in {before} and in {path}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(seen.len() > 500, "{}", seen.len());
}

/// Words that were given up for the field's: they come back neither as a name nor as a file.
#[test]
fn words_that_nobody_would_guess_stay_away() {
    const GIVEN_UP: [&str; 16] = [
        "foresee",
        "foreseen",
        "has_news",
        "living",
        "Living",
        "settle_catalog",
        "refold",
        "on_ground",
        "mended",
        "MENDED",
        "record_head",
        "record_plainly",
        "OWNER_COMMANDS",
        "pinning",
        "sealing",
        "keeper",
    ];
    let mut faults = Vec::new();
    for (path, code) in sources() {
        for (number, line) in code.lines().enumerate() {
            let code = line.split("//").next().expect("a line");
            let outside = code.split('"').step_by(2);
            let mut words =
                outside.flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && c != '_'));
            if let Some(word) = words.find(|word| GIVEN_UP.contains(word)) {
                faults.push(format!("{path}:{}: {word}", number + 1));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Comments on items say what an item is or does: at most one in fifty begins with a clause.
#[test]
fn few_comments_on_items_begin_with_a_clause() {
    const CLAUSES: [&str; 6] = ["What", "Whether", "Where", "Who", "One", "Those"];
    let (mut all, mut clauses) = (0, 0);
    for (path, _) in sources() {
        let mut is_inside = false;
        let text = fs::read_to_string(root().join(path)).expect("a file");
        for line in text.lines() {
            let comment = line.trim_start().strip_prefix("/// ");
            if let Some(text) = comment.filter(|_| !is_inside) {
                all += 1;
                let first = text.split(|c: char| !c.is_alphanumeric()).next();
                clauses += usize::from(first.is_some_and(|word| CLAUSES.contains(&word)));
            }
            is_inside = line.trim_start().starts_with("///");
        }
    }
    assert!(all > 5_000, "{all}");
    assert!(clauses * 50 <= all, "{clauses} of {all}");
}

/// A thing stands in one file that is neither a scrap nor a book. Tests do not count.
#[test]
fn files_have_some_length() {
    /// Lists of modules, and files that own a foreign crate or a build step.
    const SHORT: [&str; 8] = [
        "src/state.rs",
        "src/crypto.rs",
        "src/memory_tool.rs",
        "src/crypto/base64.rs",
        "src/bin/agekeep/main.rs",
        "src/bin/agekeep/verbs.rs",
        "crates/redact/src/rules.rs",
        "crates/redact/src/notes/hash.rs",
    ];
    let mut faults = Vec::new();
    for (path, _) in sources() {
        let text = fs::read_to_string(root().join(&path)).expect("a file");
        let code = text.split("#[cfg(test)]\nmod tests {").next();
        let lines = code.expect("a file").lines().count();
        let is_short = lines < 40 && !SHORT.contains(&path.as_str()) && !is_for_tests(&path);
        if is_short || lines > 800 {
            faults.push(format!("{path}: {lines} lines"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_library_alone_brings_no_crate_of_the_program() {
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--locked",
            "--edges",
            "normal",
            "--prefix",
            "none",
        ])
        .args(["--no-default-features", "--package", "agekeep"])
        .current_dir(root())
        .output()
        .expect("cargo");
    let tree = String::from_utf8(tree.stdout).expect("UTF-8");
    assert!(tree.contains("agekeep-redact "), "{tree}");
    for name in OF_THE_PROGRAM {
        let named = tree
            .lines()
            .find(|line| line.starts_with(&format!("{name} ")));
        assert_eq!(named, None);
    }
}

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
            let is_foreign = *word == "fn get_" && path == "src/bin/agekeep/mcp/server.rs";
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
