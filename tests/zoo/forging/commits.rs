//! Scenarios of single commits: who signed what, in which form, after which parent.

use chrono::TimeDelta;
use serde_json::json;

use super::draft::{Draft, Signature};
use super::{Forged, Zoo};
use crate::support::{git, stdout};

pub(super) const ALL: &[Forged] = &[
    ("control-one-more-event", |zoo| zoo.adopt_draft(&view(zoo))),
    ("commit-by-a-stranger", |zoo| resigned(zoo, "stranger_key")),
    ("commit-by-a-former-signer", former_signer),
    (
        "commit-by-a-former-signer-in-his-time",
        former_signer_dated_back,
    ),
    ("commit-beyond-a-role", beyond_a_role),
    ("commit-unsigned", |zoo| {
        let mut head = zoo.head_again();
        head.signature = Signature::Absent;
        zoo.adopt_draft(&head);
    }),
    ("commit-signature-of-another", |zoo| {
        let mut head = zoo.head_again();
        head.signature = Signature::Copied(signature_of(zoo, 27));
        zoo.adopt_draft(&head);
    }),
    ("commit-signature-for-a-file", |zoo| {
        let mut head = zoo.head_again();
        head.signature = Signature::For(zoo.home.signing_key(), "file");
        zoo.adopt_draft(&head);
    }),
    ("commit-signature-torn", |zoo| {
        let mut head = zoo.head_again();
        let whole = signature_of(zoo, 30);
        let lines: Vec<&str> = whole.lines().collect();
        head.signature = Signature::Copied(format!("{}\n{}", lines[0], lines[1]));
        zoo.adopt_draft(&head);
    }),
    ("commit-author-of-another", |zoo| {
        let mut draft = view(zoo);
        draft.author = "deputy".into();
        zoo.adopt_draft(&draft);
    }),
    ("commit-committer-of-another", |zoo| {
        let mut draft = view(zoo);
        draft.committer = Some("deputy".into());
        zoo.adopt_draft(&draft);
    }),
    ("commit-merge", |zoo| {
        let mut draft = view(zoo);
        draft.parents.push(zoo.commit_of(20));
        zoo.adopt_draft(&draft);
    }),
    ("commit-extra-header", |zoo| {
        let mut draft = view(zoo);
        draft.headers = "encoding ISO-8859-1\n".into();
        zoo.adopt_draft(&draft);
    }),
    ("commit-mergetag", |zoo| {
        let mut draft = view(zoo);
        let other = zoo.commit_of(20);
        draft.headers = format!(
            "mergetag object {other}\n type commit\n tag v1\n tagger owner <owner@agekeep> 1 +0000\n \n v1\n"
        );
        zoo.adopt_draft(&draft);
    }),
    ("chain-trailer-wrong", |zoo| {
        let mut draft = view(zoo);
        draft.chain = Some(format!("sha256:{}", zoo.chain_of(&zoo.commit_of(28))));
        zoo.adopt_draft(&draft);
    }),
    ("chain-and-record-wrong", |zoo| {
        let mut draft = view(zoo);
        let other = zoo.chain_of(&zoo.commit_of(28));
        draft.record["parent"] = other.clone().into();
        draft.chain = Some(format!("sha256:{other}"));
        zoo.adopt_draft(&draft);
    }),
    ("chain-cut", |zoo| {
        let mut draft = view(zoo);
        draft.chain = Some("none".into());
        zoo.adopt_draft(&draft);
    }),
    ("history-begins-late", |zoo| {
        let mut draft = view(zoo);
        draft.parents.clear();
        zoo.adopt_draft(&draft);
    }),
    ("history-made-anew", |zoo| {
        let mut draft = zoo.draft("init", json!([]));
        draft.parents.clear();
        draft.record["event"] = 0.into();
        zoo.adopt_draft(&draft);
    }),
    ("signer-who-adds-himself", |zoo| {
        adds_himself(zoo, "stranger");
    }),
    ("signer-who-comes-back", |zoo| adds_himself(zoo, "deputy")),
];

/// The next event: a look at the list.
pub(super) fn view(zoo: &Zoo) -> Draft {
    let mut draft = zoo.draft("view", json!([]));
    draft.record["path"] = "root".into();
    draft
}

/// The head with everything as it was but the signature.
fn resigned(zoo: &Zoo, key: &str) {
    let mut head = zoo.head_again();
    head.signature = Signature::By(zoo.key(key));
    zoo.adopt_draft(&head);
}

fn former_signer(zoo: &Zoo) {
    let mut draft = view(zoo);
    draft.author = "deputy".into();
    draft.signature = Signature::By(zoo.key("deputy_key"));
    zoo.adopt_draft(&draft);
}

/// The clock is said to be behind, by as much as lies between then and now.
fn former_signer_dated_back(zoo: &Zoo) {
    let mut draft = view(zoo);
    let (then, last) = (zoo.time_of(15), zoo.time_of(zoo.events.len() - 1));
    draft.at(then);
    draft.record["clock_behind_ms"] = (last - then).num_milliseconds().into();
    draft.author = "deputy".into();
    draft.signature = Signature::By(zoo.key("deputy_key"));
    zoo.adopt_draft(&draft);
}

/// The deputy is let in again, as an auditor, and goes on as an owner.
fn beyond_a_role(zoo: &Zoo) {
    let mut adds = zoo.draft("signers_add", json!([]));
    adds.tree = tree_with_signer(zoo, "deputy", " auditor");
    let last = zoo.events.len() - 1;
    let mut draft = zoo.draft("policy_set", json!([]));
    let policy = zoo.git(&["show", "main:agekeep.toml"]) + "\n[redaction]\nmode = \"off\"\n";
    draft.tree = zoo.tree_with_file(&adds.tree, "agekeep.toml", &policy);
    draft.parents = vec![zoo.write(&adds)];
    draft.record["event"] = (last + 2).into();
    draft.at(zoo.time_of(last) + TimeDelta::minutes(2));
    draft.author = "deputy".into();
    draft.signature = Signature::By(zoo.key("deputy_key"));
    zoo.adopt_draft(&draft);
}

/// The tree of the head with another line in `signers`.
fn tree_with_signer(zoo: &Zoo, name: &str, role: &str) -> String {
    let text = std::fs::read_to_string(zoo.key(&format!("{name}_key"))).expect("a key");
    let key = agekeep::store::SigningKey::parse(&text).expect("a key");
    let line = format!("{name} namespaces=\"git\" {}{role}\n", key.public_line());
    let signers = zoo.git(&["show", "main:signers"]) + "\n" + &line;
    zoo.tree_with_file("main", "signers", &signers)
}

/// A reader who may not write puts his key into `signers`, and signs that with it.
fn adds_himself(zoo: &Zoo, name: &str) {
    let key = zoo.key(&format!("{name}_key"));
    let mut draft = zoo.draft("signers_add", json!([]));
    draft.tree = tree_with_signer(zoo, name, "");
    draft.author = name.into();
    draft.signature = Signature::By(key);
    zoo.adopt_draft(&draft);
}

/// The signature in an event's commit.
fn signature_of(zoo: &Zoo, event: usize) -> String {
    let commit = git(&zoo.store(), &["cat-file", "commit", &zoo.commit_of(event)]);
    let commit = stdout(&commit);
    let (_, after) = commit.split_once("\ngpgsig ").expect("signed");
    let (signature, _) = after.split_once("\n\n").expect("a message");
    signature.replace("\n ", "\n")
}
