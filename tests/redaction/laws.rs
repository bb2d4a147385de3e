//! What holds for every text, through the library.

use std::sync::LazyLock;

use agekeep::event::Context;
use agekeep::memory_tool::command::Command;
use agekeep::policy::Policy;
use agekeep::redact::{Finding, Redactor, built_in};
use agekeep::store::{Identity, Keys, SigningKey, Store};
use proptest::prelude::*;

use crate::redaction::canary::canaries;
use crate::redaction::texts::{boundary, marker, rules, without_markers};

/// How many texts each law is tried on.
const CASES: u32 = 200;
/// How many texts are put together by edits.
const EDITED_CASES: u32 = 24;

static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::default);

/// Every sample of every rule.
static EXAMPLES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let texts = rules().into_iter().flat_map(|rule| {
        let found = rule.found.into_iter().map(|example| example.text);
        found.chain(rule.kept)
    });
    texts.collect()
});

/// Examples of one line whose rules need no more than the example.
static SECRETS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let marked = rules().into_iter().filter(|rule| rule.class == "marked");
    let texts = marked.flat_map(|rule| rule.found);
    let texts = texts.map(|example| example.text);
    texts.filter(|text| !text.contains('\n')).collect()
});

fn redacted(text: &str) -> (String, Vec<Finding>) {
    let done = REDACTOR.redact("", &text.into()).expect("a short text");
    (done.text().as_str().to_owned(), done.findings().to_vec())
}

fn text_of(text: &str) -> String {
    redacted(text).0
}

/// A piece of an example, cut anywhere.
fn piece() -> impl Strategy<Value = String> {
    (any::<prop::sample::Index>(), any::<u16>(), any::<u16>()).prop_map(|(which, from, to)| {
        let text = which.get(&EXAMPLES);
        let at = |cut: u16| usize::from(cut) % (text.len() + 1);
        let (from, to) = (at(from).min(at(to)), at(from).max(at(to)));
        text[boundary(text, from)..boundary(text, to)].to_owned()
    })
}

/// Examples, pieces of them, markers and marks in any order.
fn soup() -> impl Strategy<Value = String> {
    let whole = any::<prop::sample::Index>().prop_map(|which| which.get(&EXAMPLES).clone());
    let marks = prop::sample::select(vec![
        "\n",
        " ",
        "\r\n",
        "\"",
        "\\n",
        "=",
        ": ",
        "é",
        "密码",
        "\u{feff}",
        "\0",
        "**",
        "](",
        "%3D",
        "[REDACTED:github-pat]",
        "[REDACTED:password#0123abcd]",
        "[REDACTED:",
        "]",
        "+",
        "\u{200b}",
    ]);
    let marks = marks.prop_map(str::to_owned);
    let part = prop_oneof![3 => piece(), 2 => whole, 4 => marks, 1 => "[ -~]{0,12}"];
    prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

/// Where column `column` of line `line` is, both counted from 1.
fn offset(text: &str, line: usize, column: usize) -> Option<usize> {
    let start = match line {
        1 => 0,
        line => text.match_indices('\n').nth(line - 2)?.0 + 1,
    };
    let rest = &text[start..];
    let end = rest.find('\n').unwrap_or(rest.len());
    let ends = rest[..end].char_indices().map(|(at, _)| at).chain([end]);
    ends.into_iter().nth(column - 1).map(|at| start + at)
}

/// Whether replacing what the findings name gives the other text. A finding does not say in which
/// line it ends, and a later round counts in the text that the one before left.
fn explains(before: &str, after: &str, findings: &[Finding]) -> bool {
    if findings.is_empty() {
        return before == after;
    }
    (1..=findings.len()).rev().any(|count| {
        let (round, rest) = findings.split_at(count);
        let mut results = Vec::new();
        replace(before, 0, String::new(), round, &mut results);
        results.iter().any(|text| explains(text, after, rest))
    })
}

/// Every text that one round of findings may leave.
fn replace(text: &str, from: usize, out: String, findings: &[Finding], results: &mut Vec<String>) {
    let Some((first, rest)) = findings.split_first() else {
        results.push(out + &text[from..]);
        return;
    };
    let Some(start) = offset(text, first.line, first.start).filter(|start| *start >= from) else {
        return;
    };
    let out = format!(
        "{out}{}[REDACTED:{}]",
        &text[from..start],
        first.kind.as_str()
    );
    for line in first.line..=first.line + 11 {
        let Some(end) = offset(text, line, first.end).filter(|end| *end > start) else {
            continue;
        };
        replace(text, end, out.clone(), rest, results);
        if results.len() > 500 {
            return;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..Default::default() })]

    #[test]
    fn twice_is_once(text in soup()) {
        let once = text_of(&text);
        let (twice, findings) = redacted(&once);
        prop_assert_eq!(&twice, &once);
        prop_assert_eq!(findings.len(), 0);
    }

    #[test]
    fn what_is_outside_the_findings_stays(text in soup()) {
        let (after, findings) = redacted(&text);
        prop_assert!(explains(&text, &after, &findings), "{:?} {:?} {:?}", text, after, findings);
    }

    #[test]
    fn lines_around_a_redacted_text_change_nothing(text in soup()) {
        let around = format!("\n{}\n", text_of(&text));
        prop_assert_eq!(text_of(&around), around);
    }

    #[test]
    fn two_redacted_texts_on_lines_of_their_own_hide_nothing(a in soup(), b in soup()) {
        let both = format!("{}\n\n{}", text_of(&a), text_of(&b));
        let once = text_of(&both);
        prop_assert_eq!(text_of(&once), once);
    }

    #[test]
    fn a_loose_marker_hides_nothing(which in any::<prop::sample::Index>(), form in 0..10usize) {
        let secret = which.get(&SECRETS);
        let alone = text_of(secret);
        let text = match form {
            0 => format!("[REDACTED: github-pat] {secret}"),
            1 => format!("[redacted:{secret}]"),
            2 => format!("[REDACTED:{secret}]"),
            3 => format!("[REDACTED:no-such-kind] {secret}"),
            4 => format!("[REDACTED:github-pat#XYZ] {secret}"),
            5 => format!("[REDACTED:github-pat#0123456] {secret}"),
            6 => format!("[REDACTED:github-pat {secret}]"),
            7 => format!("[REDACTED:github-pat#{secret}]"),
            8 => format!("[REDACTED:github-pat]{secret}[REDACTED:github-pat]"),
            _ => format!("[[REDACTED:github-pat]{secret}]"),
        };
        let after = text_of(&text);
        prop_assert!(!after.contains(secret.as_str()), "{}", after);
        // What goes when it stands alone goes here too.
        let whole = without_markers(&alone) == "|";
        let tail = secret.get(secret.len().saturating_sub(8)..);
        let stays = tail.is_some_and(|tail| tail.len() == 8 && after.contains(tail));
        prop_assert!(!(whole && stays), "{:?} became {:?}", text, after);
    }
}

#[test]
fn a_marker_that_is_not_exact_is_no_shield_for_a_password() {
    let word = &canaries()[1].value;
    let mut left = Vec::new();
    for text in [
        format!("password: [REDACTED: password]{word}"),
        format!("password=[REDACTED:no-such-kind]{word}"),
        format!("password=[REDACTED:{word}]"),
        format!("password: \"[redacted:password] {word}\""),
        format!("[REDACTED:password#XYZ] password={word}"),
        format!("password: \"[REDACTED:acme-badge] {word}\""),
        format!("password={word}[REDACTED:password]"),
        format!("password=[REDACTED:password] {word}\npassword={word}"),
    ] {
        let after = text_of(&text);
        if after.contains(word.as_str()) {
            left.push(after);
        }
    }
    assert!(left.is_empty(), "{left:#?}");
}

#[test]
fn exact_markers_stay() {
    for rule in built_in() {
        for text in [
            format!("[REDACTED:{}]", rule.kind),
            format!("x=[REDACTED:{}#0123abcd], y", rule.kind),
        ] {
            assert_eq!(text_of(&text), text);
        }
        let text = format!("[REDACTED:{}]", rule.kind);
        assert_eq!(marker(&text), Some(text.as_str()));
    }
}

// ---- texts put together by edits ----

fn slot(number: usize) -> String {
    format!("@{number}@")
}

/// Cuts a text at these places.
fn cut(text: &str, cuts: &[u16]) -> Vec<String> {
    let at = |cut: &u16| boundary(text, usize::from(*cut) % (text.len() + 1));
    let mut places: Vec<usize> = cuts.iter().map(at).chain([0, text.len()]).collect();
    places.sort_unstable();
    let pairs = places.windows(2);
    pairs
        .map(|pair| text[pair[0]..pair[1]].to_owned())
        .collect()
}

/// Puts the parts of one line in their places, in this order, and reads the file.
fn put_together(parts: &[String], order: &[usize]) -> String {
    let folder = crate::support::folder();
    let keys = Keys {
        identity: Identity::generate(),
        signing_key: Some(SigningKey::generate()),
        state: None,
        keyring: None,
    };
    let (root, context) = (folder.path().join("store"), Context::default());
    let clock = Box::new(chrono::Utc::now);
    let made = Store::init(&root, keys, &Policy::default(), &context, clock);
    let mut store = made.expect("a store");
    let path = "/memories/a.md".to_owned();
    let slots: String = (0..parts.len()).map(slot).collect();
    let mut commands = vec![
        Command::Create {
            path: path.clone(),
            file_text: "first\n".into(),
        },
        Command::Insert {
            path: path.clone(),
            insert_line: 1,
            insert_text: slots.into(),
        },
    ];
    commands.extend(order.iter().map(|number| Command::StrReplace {
        path: path.clone(),
        old_str: slot(*number).into(),
        new_str: parts[*number].as_str().into(),
    }));
    commands.push(Command::Insert {
        path,
        insert_line: 0,
        insert_text: "title".into(),
    });
    for command in &commands {
        // A slot beside a part of a secret may have gone with it: then the edit is refused.
        store.execute(command, &context).expect("recorded");
    }
    let read = Command::Read {
        path: Some("a.md".into()),
    };
    let answer = store.execute(&read, &context).expect("recorded");
    answer.content.as_str().to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: EDITED_CASES, failure_persistence: None, ..Default::default() })]

    #[test]
    fn edits_never_put_a_secret_together(
        which in any::<prop::sample::Index>(),
        cuts in prop::collection::vec(any::<u16>(), 1..4),
        turn in any::<bool>(),
    ) {
        let secret = which.get(&SECRETS);
        let parts = cut(secret, &cuts);
        let mut order: Vec<usize> = (0..parts.len()).collect();
        if turn {
            order.reverse();
        }
        let text = put_together(&parts, &order);
        prop_assert!(text.starts_with("title\nfirst\n"));
        prop_assert_eq!(text_of(&text), text.clone(), "nothing is left to find");
        prop_assert!(!text.contains(secret.as_str()), "{:?} {:?}", parts, text);
    }
}

/// A text that is found bare is found behind, before and amid an exact marker, and in brackets.
#[test]
fn neither_an_exact_marker_nor_a_bracket_shields_what_is_glued_to_it() {
    let value = "Xk3jd8Fs2Qw9";
    let places = [
        "the password is §.",
        "password: \"§\"",
        "api_key: §",
        "token=§",
        "postgres://app:§@db.internal/app",
        "Authorization: Bearer §",
        "curl -u ann:§ https://example.org",
        "//registry.npmjs.org/:_authToken=§",
    ];
    let frames = [
        "§",
        "[REDACTED:token]§",
        "§[REDACTED:token]",
        "[REDACTED:§]",
        "[FOO:§]",
        "[§]",
        "<§>",
        "{§}",
    ];
    let mut left = Vec::new();
    for (place, frame) in places.iter().flat_map(|p| frames.map(|frame| (p, frame))) {
        let after = text_of(&place.replace('§', &frame.replace('§', value)));
        if after.contains(value) {
            left.push(after);
        }
    }
    let amid = text_of("password: \"Xk3jd8[REDACTED:token]Fs2Qw9\"");
    if amid.contains("Xk3jd8") || amid.contains("Fs2Qw9") {
        left.push(amid);
    }
    assert!(left.is_empty(), "{left:#?}");
}

/// Half of it has the look of a token by itself, but not the length of its kind.
#[test]
fn a_token_of_a_fixed_length_goes_whole_wherever_a_line_breaks_it() {
    let body = "22A7Xq9LmZ3vT8bKc5RwYd_Q1sF6gHj4NpUeDyMoVrGtBzXkWl7Ci2Jh9Sa5Tn8Wq3Ev6Lb0Ym4Kx1PzR6";
    let token = format!("github_pat_{body}");
    assert_eq!(token.len(), 93);
    for cut in 30..80 {
        let (first, second) = token.split_at(cut);
        for between in ["\n", "\r\n", "\n  "] {
            let after = text_of(&format!("See {first}{between}{second} there.\n"));
            assert!(
                !after.contains(&second[second.len() - 8..]),
                "{cut}: {after}"
            );
        }
    }
}
