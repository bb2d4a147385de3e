//! What goes out and comes in again is the same, byte for byte.

use std::fs;

use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::port::place::{Place, Tree, text, tree};
use crate::support::stderr;

/// Names as agents and people choose them.
const NAMES: [&str; 22] = [
    "a",
    "b.md",
    "A",
    ".hidden",
    "node_modules",
    "...",
    "a..b",
    " space ",
    "tab-less name.txt",
    "caf\u{e9}",
    "\u{65e5}\u{672c}",
    "\u{1f600}",
    "-rf",
    "--help",
    "'quote\"",
    "$HOME",
    "a*b?",
    "CON",
    "100%",
    "#x;y&z",
    ".gitignore",
    ".agekeep-export-1-0",
];

// The random letters are few: of all letters, one text in some ten thousand says `pw` or `psk`
// before a word, and redaction rightly takes it.

fn a_path() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        8 => proptest::sample::select(&NAMES[..]).prop_map(str::to_owned),
        1 => "[aeioulmnAEIOULMN\u{e0}-\u{f6}]{1,60}",
    ];
    proptest::collection::vec(name, 1..5).prop_map(|names| names.join("/"))
}

fn a_text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[aeioulmn \n\r\t\u{2028}\u{feff}\u{e9}\u{1f600}\"\\\\]{0,80}",
        1 => Just(String::new()),
        1 => "([aeioulmn]{1,9} ){1,9}".prop_map(|line| line.repeat(300)),
    ]
}

/// A tree in which no file stands where a folder has to be.
fn a_tree() -> impl Strategy<Value = Tree> {
    let files = proptest::collection::btree_map(a_path(), a_text(), 0..14);
    files.prop_map(|files| {
        let mut tree = Tree::new();
        for (path, text) in files {
            let above = |known: &String| known.starts_with(&format!("{path}/"));
            let below = |known: &String| path.starts_with(&format!("{known}/"));
            if !tree.keys().any(|known| above(known) || below(known)) {
                tree.insert(path, text.into_bytes());
            }
        }
        tree
    })
}

proptest! {
    #![proptest_config(Config { cases: 12, ..Config::default() })]
    #[test]
    fn out_and_in_and_out_again(want in a_tree()) {
        let place = Place::new();
        for (name, bytes) in &want {
            place.write(&format!("in/{name}"), bytes);
        }
        place.folder("in");
        let said = place.import(&["in", "--from", "folder"]);
        prop_assert_eq!(said.code, 0, "{:#?} {}", &said.files, stderr(&said.output));
        place.ok(&["export", "out"]);
        prop_assert!(tree(&place.path("out")) == want);
        place.ok(&["export", "--jsonl", "out.jsonl"]);
        place.ok(&["export", "--jsonl", "all.jsonl", "--history"]);
        for source in ["out", "out.jsonl", "all.jsonl"] {
            let other = Place::new();
            let path = place.path(source);
            let mut args = vec![text(&path)];
            if source == "out" {
                args.extend(["--from", "folder"]);
            }
            let said = other.import(&args);
            prop_assert_eq!(said.code, 0, "{}: {:#?}", source, &said.files);
            other.ok(&["export", "again"]);
            prop_assert!(tree(&other.path("again")) == want, "{}", source);
            fs::remove_dir_all(other.path("again")).expect("removed");
        }
    }
}
