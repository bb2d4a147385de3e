//! The rules' examples, run through the whole engine as a text is before it is sealed.

use crate::config::Redaction;
use crate::rules::tests::*;
use crate::{Redactor, checksum};

/// Returns a redactor with the rule's personal data switched on, and the defaults for all else.
fn redactor(rule: &Rule) -> Redactor {
    let mut policy = Redaction::default();
    if rule.class == Class::Personal {
        policy.personal.push(rule.kind.to_owned());
    }
    Redactor::of_policy(&policy).expect("a kind of personal data")
}

/// Returns the text after redaction, and the kinds of its findings.
fn redacted(rule: &Rule, text: &[u8]) -> (String, Vec<String>) {
    let text = std::str::from_utf8(text).expect("examples are text");
    let redacted = redactor(rule)
        .redact("", &text.into())
        .expect("examples are short");
    let kinds = redacted.findings().iter();
    let kinds = kinds.map(|finding| finding.kind.as_str().to_owned());
    (redacted.text().as_str().to_owned(), kinds.collect())
}

/// Tells whether a text is the example with each of its secrets replaced by a marker.
fn is_left(mut after: &str, text: &[u8], secrets: &[Range<usize>]) -> bool {
    let mut done = 0;
    for secret in secrets {
        let before = std::str::from_utf8(&text[done..secret.start]).expect("whole characters");
        let marker = after
            .strip_prefix(before)
            .and_then(|rest| rest.strip_prefix("[REDACTED:"));
        let Some((_, rest)) = marker.and_then(|rest| rest.split_once(']')) else {
            return false;
        };
        (after, done) = (rest, secret.end);
    }
    after.as_bytes() == &text[done..]
}

#[test]
fn what_is_found_goes_whole_and_nothing_else() {
    let mut wrong = Vec::new();
    for rule in all() {
        for marked in &samples::of(rule).found {
            let (text, secrets) = example(marked);
            let (after, _) = redacted(rule, &text);
            if !is_left(&after, &text, &secrets) {
                wrong.push(format!("{}: {marked}\n    {after}", rule.kind));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), wrong.len());
}

/// Kinds whose tokens another rule of the same rank finds too, at least in part.
const SHARED: [(&str, &str); 3] = [
    ("gitlab-pat-routable", "gitlab-pat"),
    ("google-chat-webhook", "gcp-api-key"),
    ("openai-key", "openai-project"),
];

#[test]
fn what_is_found_bears_its_own_kind() {
    let mut wrong = Vec::new();
    for rule in all() {
        for marked in &samples::of(rule).found {
            let (text, _) = example(marked);
            let (_, kinds) = redacted(rule, &text);
            let sure = matches!(rule.class, Class::Marked | Class::Keyed | Class::Personal);
            let other = kinds.first().filter(|kind| *kind != rule.kind);
            let known = |kind: &String| SHARED.contains(&(rule.kind, kind));
            if sure && other.is_some_and(|kind| !known(kind)) {
                wrong.push(format!("{} is {kinds:?}: {marked}", rule.kind));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), wrong.len());
}

#[test]
fn some_example_of_every_rule_bears_its_kind() {
    let mut wrong = Vec::new();
    for rule in all() {
        let shown = samples::of(rule).found.iter().any(|marked| {
            let (_, kinds) = redacted(rule, &example(marked).0);
            kinds.iter().any(|kind| kind == rule.kind)
        });
        if !shown && SHARED.iter().all(|(kind, _)| *kind != rule.kind) {
            wrong.push(rule.kind);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn what_is_kept_passes_unchanged() {
    let mut wrong = Vec::new();
    for rule in all() {
        for marked in &samples::of(rule).kept {
            let (text, _) = example(marked);
            let (after, _) = redacted(rule, &text);
            if after.as_bytes() != text {
                wrong.push(format!("{}: {marked}\n    {after}", rule.kind));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), wrong.len());
}

#[test]
fn a_rule_with_a_checksum_shows_one_that_holds() {
    for rule in all() {
        for check in rule.checks {
            let sum = match check {
                Check::Crc32Base62 => checksum::crc32_base62,
                Check::Crc32Upper => checksum::crc32_upper,
                Check::Crc32Reversed => checksum::crc32_reversed,
                Check::Crc32Body => checksum::crc32_body,
                _ => continue,
            };
            let holds = samples::of(rule).found.iter().any(|marked| {
                let (text, secrets) = example(marked);
                secrets.into_iter().any(|secret| sum(&text[secret]))
            });
            assert!(holds, "{}: {check:?} of no example", rule.kind);
        }
    }
}
