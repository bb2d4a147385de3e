//! Secrets in files, and imports that are only tried.

use serde_json::json;

use crate::port::place::Place;
use crate::redaction::canary::{canaries, files, shown, sightings};
use crate::support::stdout;

/// A file for each sort of secret: two lines, the secret, a line; and one whose name has one.
fn secrets(place: &Place) {
    for canary in canaries() {
        let text = format!("# notes\n\n{}\nand so on\n", canary.text);
        place.write(&format!("in/{}.md", canary.name), text);
        if !canary.in_path.contains('\n') {
            place.write(&format!("in/{}.txt", canary.in_path), "its name has one\n");
        }
    }
    place.write("in/clean.md", "nothing to hide\n");
}

#[test]
fn secrets_are_stripped_and_told_by_kind_and_line_only() {
    let place = Place::new();
    secrets(&place);
    let dry = place.import(&["in", "--dry-run"]);
    let told_dry = place.home.run(&["import", "in", "--dry-run"]);
    let said = place.import(&["in"]);
    let again = place.import(&["in"]);
    let told = place.home.run(&["import", "in"]);
    for said in [&dry, &said] {
        for canary in canaries() {
            let name = format!("{}.md", canary.name);
            let file = said.files.iter().find(|file| file["name"] == *name);
            let found = &file.expect("it is told")["redactions"];
            assert_eq!(found.as_array().map(Vec::len), Some(1), "{name}: {found}");
            // Of a block what is between its first and its last line is secret.
            let line = if canary.name == "block" { 4 } else { 3 };
            assert_eq!(found[0]["line"], json!(line), "{name}");
            let kind = found[0]["kind"].as_str().expect("a kind");
            assert!(kind.ends_with(canary.kind), "{name}: {kind}");
        }
    }
    assert_eq!(said.sum["stripped"], 4);
    // They are found there again, though the files say what the store does not.
    assert_eq!(again.counts()["same"], 5);
    assert_eq!(again.sum["imported"], 0);
    let text = stdout(&told_dry);
    assert!(
        text.contains("word.md  would be imported; stripped: "),
        "{text}"
    );
    assert!(text.contains("password in line 3"), "{text}");
    // Names with secrets are refused, and repeated nowhere.
    let refused = said
        .files
        .iter()
        .filter(|file| file["outcome"] == "refused");
    let refused: Vec<_> = refused.collect();
    assert!(refused.len() >= 2, "{refused:?}");
    for file in refused {
        assert!(
            file["why"].as_str().expect("why").contains("secret"),
            "{file}"
        );
    }
    let mut pieces = files(&place.home.store());
    for output in [&dry.output, &told_dry, &said.output, &again.output, &told] {
        pieces.extend(shown(output));
    }
    pieces.extend(shown(&place.home.run(&["log", "--json"])));
    pieces.extend(shown(&place.home.run(&["export", "--jsonl", "-"])));
    assert_eq!(sightings(&pieces), Vec::<String>::new());
}

#[test]
fn what_is_only_tried_leaves_everything_as_it_is() {
    let place = Place::new();
    secrets(&place);
    place.ok(&["create", "/memories/clean.md", "--text", "another text\n"]);
    let head = place.head();
    let before = files(&place.home.store());
    let said = place.import(&["in", "-n"]);
    assert_eq!(said.of("clean.md").0, "other");
    assert_eq!(said.of("word.md").0, "imported");
    assert_eq!(
        place.import(&["in", "-n", "--overwrite"]).of("clean.md").0,
        "overwritten"
    );
    assert_eq!(place.head(), head);
    assert!(
        files(&place.home.store()) == before,
        "no byte of the store is another"
    );
    assert!(place.ok(&["read"]) == "clean.md\n");
}
