//! Scenarios of records: what a commit of a real signer says in its sealed part.

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::commits::view;
use super::{Forged, MARK, Memory, Zoo};
use crate::support::Home;

pub(super) const ALL: &[Forged] = &[
    ("record-of-another-commit", |zoo| {
        let mut draft = view(zoo);
        draft.record["memories"] = zoo.record_of(&zoo.commit_of(29))["memories"].clone();
        draft.armored = Some(zoo.armored_of(29));
        zoo.adopt_draft(&draft);
    }),
    ("record-and-chain-of-another-commit", |zoo| {
        let mut draft = view(zoo);
        draft.record["memories"] = zoo.record_of(&zoo.commit_of(29))["memories"].clone();
        draft.armored = Some(zoo.armored_of(29));
        draft.chain = Some(format!("sha256:{}", zoo.chain_of(&zoo.commit_of(28))));
        zoo.adopt_draft(&draft);
    }),
    ("record-over-another-tree", |zoo| {
        let mut draft = view(zoo);
        draft.record["tree"] = zoo.git(&["rev-parse", "main~5^{tree}"]).into();
        zoo.adopt_draft(&draft);
    }),
    ("records-of-two-commits-exchanged", exchanged),
    ("record-of-another-store", |zoo| {
        let other = Home::with_store();
        let means =
            crate::support::forge::Means::of(&other.store(), &other.identity(), other.path());
        let mut draft = view(zoo);
        draft.armored = Some(means.seal_record(&draft.record));
        zoo.adopt_draft(&draft);
    }),
    ("record-torn", |zoo| {
        let mut draft = view(zoo);
        let whole = zoo.seal_record(&draft.record);
        let mut lines: Vec<&str> = whole.lines().collect();
        lines.remove(lines.len() / 2);
        draft.armored = Some(lines.join("\n"));
        zoo.adopt_draft(&draft);
    }),
    ("record-with-an-unknown-field", |zoo| {
        changed(zoo, &json!({"note": 1}));
    }),
    ("record-without-a-time", |zoo| {
        changed(zoo, &json!({"time": "yesterday"}));
    }),
    ("record-not-json", |zoo| {
        let mut draft = view(zoo);
        let identity = zoo.audit["identities"][0].as_str().expect("an identity");
        let sealed = zoo.seal(&["-a"], identity, b"not a record");
        draft.armored = Some(String::from_utf8(sealed).expect("armor").trim_end().into());
        zoo.adopt_draft(&draft);
    }),
    ("subject-says-something-else", |zoo| {
        let mut draft = view(zoo);
        draft.subject = Some("memory_read ok".into());
        zoo.adopt_draft(&draft);
    }),
    ("trailer-names-one-more", |zoo| {
        let mut draft = view(zoo);
        draft.named = Some(vec![zoo.memory("handover.md").id]);
        zoo.adopt_draft(&draft);
    }),
    ("event-number-skipped", |zoo| {
        changed(zoo, &json!({"event": zoo.events.len() + 1}));
    }),
    ("event-number-repeated", |zoo| {
        changed(zoo, &json!({"event": zoo.events.len() - 1}));
    }),
    ("time-back-unflagged", |zoo| {
        dated(zoo, -TimeDelta::days(2), None);
    }),
    ("time-back-flagged-by-less", |zoo| {
        dated(zoo, -TimeDelta::days(2), Some(1_000));
    }),
    ("time-flagged-and-not-back", |zoo| {
        dated(zoo, TimeDelta::minutes(1), Some(1_000));
    }),
    ("time-of-the-commit-another", |zoo| {
        let mut draft = view(zoo);
        draft.seconds -= 3_600;
        zoo.adopt_draft(&draft);
    }),
    ("state-edit-of-a-deleted-memory", |zoo| {
        let mut next = zoo.memory("scratch.md");
        next.version += 1;
        written(zoo, "str_replace", "edit", &next);
    }),
    ("state-read-of-a-deleted-memory", |zoo| {
        let mut draft = zoo.draft(
            "view",
            json!([zoo.touch(&zoo.memory("scratch.md"), "read")]),
        );
        draft.record["path"] = json!({"asked": "/memories/scratch.md"});
        zoo.adopt_draft(&draft);
    }),
    ("state-version-skipped", |zoo| {
        let mut next = zoo.memory("handover.md");
        next.version += 5;
        written(zoo, "memory_write", "edit", &next);
    }),
    ("state-path-taken", |zoo| {
        let mut new = super::keyring::new_memory(zoo, "project/plan.md");
        new.version = 1;
        written(zoo, "create", "add", &new);
    }),
    ("state-restored-what-is-there", |zoo| {
        let mut next = zoo.memory("handover.md");
        next.version += 1;
        written(zoo, "restore", "restore", &next);
    }),
    ("state-restored-as-another-version", |zoo| {
        let mut next = zoo.memory("scratch.md");
        next.version += 2;
        written(zoo, "restore", "restore", &next);
    }),
    ("erased-without-a-receipt", |zoo| {
        zoo.adopt_draft(&erased(zoo));
    }),
    ("erased-with-its-keys-left", |zoo| {
        let mut draft = erased(zoo);
        draft.record["receipt"] = receipt(&zoo.memory("scratch.md"));
        zoo.adopt_draft(&draft);
    }),
    ("earlier-versions-erased-and-their-key-left", |zoo| {
        let plan = zoo.memory("project/plan.md");
        let first = zoo.memory_at("project/plan.md", 1).blob;
        super::keyring::add_new_identity(zoo, &plan.id);
        let mut next = plan.clone();
        next.version += 1;
        // A text that is encrypted anew stays as long as it was.
        let room = usize::try_from(next.bytes).expect("small") - format!("{MARK}: \n").len();
        let blob = zoo.version(&next.id, &next, &"x".repeat(room));
        let mut draft = zoo.draft("erase", json!([zoo.write_touch(&next, "reseal", &blob)]));
        draft.tree = zoo.tree_with("main", &next.id, Some(&blob));
        draft.record["receipt"] = receipt(&plan);
        // By these numbers the keyring is the one from after it.
        draft.record["receipt"]["epoch"] = json!([0, 1]);
        draft.record["receipt"]["names"] = json!([0, 1]);
        draft.record["receipt"]["versions"] = 2.into();
        let erased = &mut draft.record["receipt"]["memories"][0];
        erased["blobs"] = json!([first, plan.blob]);
        erased["kept"] = next.version.into();
        zoo.adopt_draft(&draft);
    }),
    ("receipt-about-another-memory", |zoo| {
        let mut draft = erased(zoo);
        draft.record["receipt"] = receipt(&zoo.memory("handover.md"));
        zoo.adopt_draft(&draft);
    }),
    ("control-restored", |zoo| {
        let mut next = zoo.memory("scratch.md");
        next.version += 1;
        written(zoo, "restore", "restore", &next);
    }),
];

/// An event that says it destroyed the keys of the deleted memory.
fn erased(zoo: &Zoo) -> super::draft::Draft {
    let memory = zoo.memory("scratch.md");
    let mut touch = zoo.touch(&memory, "erase");
    touch.as_object_mut().expect("an object").remove("path");
    zoo.draft("erase", json!([touch]))
}

/// A receipt for the last version of a memory.
fn receipt(memory: &Memory) -> Value {
    json!({
        "epoch": [1, 2],
        "names": [1, 2],
        "memories": [{"memory": memory.id, "blobs": [memory.blob]}],
        "versions": 1,
        "records": 1,
        "asked": 0,
        "not_reached": ["copies of the keyring"],
    })
}

/// A view with something else in its record.
fn changed(zoo: &Zoo, changes: &Value) {
    let mut draft = view(zoo);
    for (name, value) in changes.as_object().expect("an object") {
        draft.record[name] = value.clone();
    }
    zoo.adopt_draft(&draft);
}

/// A view so much later or earlier than the event before, and flagged like this.
fn dated(zoo: &Zoo, later: TimeDelta, flagged: Option<u64>) {
    let mut draft = view(zoo);
    draft.at(zoo.time_of(zoo.events.len() - 1) + later);
    if let Some(millis) = flagged {
        draft.record["clock_behind_ms"] = millis.into();
    }
    zoo.adopt_draft(&draft);
}

/// An event that writes the version `next`, in everything else as it should be.
fn written(zoo: &Zoo, command: &str, change: &str, next: &Memory) {
    let blob = zoo.version(&next.id, next, "as it should be");
    let mut draft = zoo.draft(command, json!([zoo.write_touch(next, change, &blob)]));
    draft.tree = zoo.tree_with("main", &next.id, Some(&blob));
    zoo.adopt_draft(&draft);
}

/// The last two events, each with the record of the other.
fn exchanged(zoo: &Zoo) {
    let mut draft = zoo.draft_after(28, "view", json!([]));
    for (number, record) in [(29, 30), (30, 29)] {
        let is = zoo.record_of(&zoo.commit_of(record));
        draft.record["memories"] = is["memories"].clone();
        draft.armored = Some(zoo.armored_of(record));
        draft.seconds = zoo.time_of(number).timestamp();
        let commit = zoo.write(&draft);
        draft.parents = vec![commit];
    }
    zoo.adopt(&draft.parents[0]);
}
