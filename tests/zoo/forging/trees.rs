//! Scenarios of trees: what changed under which command, and what rode along.

use serde_json::json;

use super::commits::view;
use super::draft::Draft;
use super::{Forged, Memory, Zoo};
use crate::zoo::scenario::MARK;

pub(super) const ALL: &[Forged] = &[
    ("view-that-swaps-two-memories", |zoo| {
        let (plan, handover) = (zoo.memory("project/plan.md"), zoo.memory("handover.md"));
        let tree = zoo.tree_with("main", &plan.id, Some(&handover.blob));
        let tree = zoo.tree_with(&tree, &handover.id, Some(&plan.blob));
        zoo.adopt_draft(&Draft { tree, ..view(zoo) });
    }),
    ("view-that-replays-a-version", |zoo| {
        let tree = zoo.tree_with("main", &zoo.memory("project/plan.md").id, Some(&first(zoo)));
        zoo.adopt_draft(&Draft { tree, ..view(zoo) });
    }),
    ("view-that-drops-a-memory", |zoo| {
        let tree = zoo.tree_with("main", &zoo.memory("handover.md").id, None);
        zoo.adopt_draft(&Draft { tree, ..view(zoo) });
    }),
    ("refusal-that-drops-a-memory", |zoo| {
        let mut draft = zoo.draft("delete", json!([]));
        draft.record["outcome"] = "denied".into();
        draft.record["error"] = "denied".into();
        draft.record["path"] = json!({"asked": "/memories/../handover.md"});
        draft.tree = zoo.tree_with("main", &zoo.memory("handover.md").id, None);
        zoo.adopt_draft(&draft);
    }),
    ("edit-that-swaps-two-memories", |zoo| {
        let (mut plan, mut handover) = (zoo.memory("project/plan.md"), zoo.memory("handover.md"));
        std::mem::swap(&mut plan.blob, &mut handover.blob);
        edits(zoo, &[plan, handover]);
    }),
    ("edit-that-replays-a-version", |zoo| {
        let mut plan = zoo.memory("project/plan.md");
        plan.blob = first(zoo);
        edits(zoo, &[plan]);
    }),
    ("edit-with-the-header-of-another-path", |zoo| {
        misplaced(zoo, |next, _| {
            next.path = "/memories/project/decisions.md".into();
        });
    }),
    ("edit-with-the-header-of-another-version", |zoo| {
        misplaced(zoo, |next, _| next.version += 1);
    }),
    ("edit-with-the-header-of-another-memory", |zoo| {
        misplaced(zoo, |next, other| next.id.clone_from(&other.id));
    }),
    ("edit-with-the-digest-of-another-blob", |zoo| {
        let (mut draft, _) = edit(zoo);
        draft.record["memories"][0]["sha256"] = zoo.chain_of("main").into();
        zoo.adopt_draft(&draft);
    }),
    ("edit-in-plaintext", |zoo| {
        let mut plan = zoo.memory("project/plan.md");
        let text = format!("{MARK}: in the clear\n");
        plan.blob = zoo.git_fed(&["hash-object", "-w", "--stdin"], text);
        edits(zoo, &[plan]);
    }),
    ("edit-that-was-not-made", |zoo| {
        let (mut draft, _) = edit(zoo);
        draft.tree = zoo.git(&["rev-parse", "main^{tree}"]);
        zoo.adopt_draft(&draft);
    }),
    ("edit-of-another-memory-than-it-says", |zoo| {
        let (mut draft, blob) = edit(zoo);
        draft.tree = zoo.tree_with("main", &zoo.memory("handover.md").id, Some(&blob));
        zoo.adopt_draft(&draft);
    }),
    ("create-with-a-rider", |zoo| {
        let mut draft = create(zoo);
        draft.tree = zoo.tree_with(&draft.tree, &rider(), Some(&first(zoo)));
        zoo.adopt_draft(&draft);
    }),
    ("create-with-a-rider-behind-a-trailer", |zoo| {
        let mut draft = create(zoo);
        let mut other = zoo.memory("handover.md");
        let touch = zoo.touch(&other, "none");
        other.blob = zoo.memory("project/plan.md").blob;
        let touches = draft.record["memories"].as_array_mut().expect("touches");
        touches.push(touch);
        draft.tree = zoo.tree_with(&draft.tree, &other.id, Some(&other.blob));
        zoo.adopt_draft(&draft);
    }),
    ("delete-that-leaves-the-blob", |zoo| {
        let gone = zoo.memory("handover.md");
        zoo.adopt_draft(&zoo.draft("delete", json!([zoo.touch(&gone, "remove")])));
    }),
    ("delete-that-takes-two", |zoo| {
        let (gone, also) = (zoo.memory("handover.md"), zoo.memory("team/ana.md"));
        let mut draft = zoo.draft("delete", json!([zoo.touch(&gone, "remove")]));
        draft.tree = zoo.tree_with("main", &gone.id, None);
        draft.tree = zoo.tree_with(&draft.tree, &also.id, None);
        zoo.adopt_draft(&draft);
    }),
    ("policy-changed-under-an-edit", |zoo| {
        let (mut draft, _) = edit(zoo);
        draft.tree = zoo.tree_with_file(&draft.tree, "agekeep.toml", &policy(zoo));
        zoo.adopt_draft(&draft);
    }),
    ("policy-change-that-takes-a-memory", |zoo| {
        let mut draft = zoo.draft("policy_set", json!([]));
        draft.tree = zoo.tree_with_file("main", "agekeep.toml", &policy(zoo));
        draft.tree = zoo.tree_with(&draft.tree, &zoo.memory("handover.md").id, None);
        zoo.adopt_draft(&draft);
    }),
    ("policy-change-that-adds-a-recipient", |zoo| {
        let mut draft = zoo.draft("policy_set", json!([]));
        draft.tree = zoo.tree_with_file("main", "agekeep.toml", &policy(zoo));
        draft.tree = zoo.tree_with_file(&draft.tree, "recipients", &recipients(zoo));
        zoo.adopt_draft(&draft);
    }),
    ("recipient-added-under-a-view", |zoo| {
        let mut draft = view(zoo);
        draft.tree = zoo.tree_with_file("main", "recipients", &recipients(zoo));
        zoo.adopt_draft(&draft);
    }),
    ("signer-added-under-an-edit", |zoo| {
        let (mut draft, _) = edit(zoo);
        let stranger = std::fs::read_to_string(zoo.key("stranger_key")).expect("a key");
        let stranger = agekeep::store::SigningKey::parse(&stranger).expect("a key");
        let line = format!("helper namespaces=\"git\" {}\n", stranger.public_line());
        let signers = zoo.git(&["show", "main:signers"]) + "\n" + &line;
        draft.tree = zoo.tree_with_file(&draft.tree, "signers", &signers);
        zoo.adopt_draft(&draft);
    }),
    ("tree-with-an-unknown-file", |zoo| {
        let (mut draft, blob) = edit(zoo);
        let line = format!("100644 blob {blob}\tnotes.txt");
        draft.tree = zoo.tree_line(&draft.tree, "notes.txt", Some(&line));
        zoo.adopt_draft(&draft);
    }),
    ("tree-with-a-memory-in-another-folder", |zoo| {
        let (mut draft, blob) = edit(zoo);
        let id = zoo.memory("project/plan.md").id;
        let folder = if id.starts_with("5a") { "5b" } else { "5a" };
        let inner = zoo.git_fed(&["mktree"], format!("100644 blob {blob}\t{id}\n"));
        let line = format!("040000 tree {inner}\t{folder}");
        draft.tree = zoo.tree_line(&draft.tree, folder, Some(&line));
        zoo.adopt_draft(&draft);
    }),
    ("tree-with-a-symlink", |zoo| {
        odd_entry(zoo, "120000 blob", "notes");
    }),
    ("tree-with-a-program", |zoo| {
        odd_entry(zoo, "100755 blob", "signers");
    }),
];

/// The first version of the plan.
fn first(zoo: &Zoo) -> String {
    zoo.memory_at("project/plan.md", 1).blob
}

/// An id that no event ever named.
fn rider() -> String {
    "5eed".repeat(8)
}

/// An event that edits these memories: each gets its blob, as the next version.
fn edits(zoo: &Zoo, memories: &[Memory]) {
    let mut tree = String::from("main");
    let mut touches = Vec::new();
    for memory in memories {
        let mut next = memory.clone();
        next.version += 1;
        tree = zoo.tree_with(&tree, &next.id, Some(&next.blob));
        touches.push(zoo.write_touch(&next, "edit", &next.blob));
    }
    let mut draft = zoo.draft("memory_write", json!(touches));
    draft.tree = tree;
    zoo.adopt_draft(&draft);
}

/// An edit of the plan that is right in everything, and its blob.
fn edit(zoo: &Zoo) -> (Draft, String) {
    let mut plan = zoo.memory("project/plan.md");
    plan.version += 1;
    let blob = zoo.version(&plan.id, &plan, "as it should be");
    let mut draft = zoo.draft(
        "memory_write",
        json!([zoo.write_touch(&plan, "edit", &blob)]),
    );
    draft.tree = zoo.tree_with("main", &plan.id, Some(&blob));
    (draft, blob)
}

/// An edit of the plan whose version has another header than its place asks for.
fn misplaced(zoo: &Zoo, change: impl FnOnce(&mut Memory, &Memory)) {
    let mut plan = zoo.memory("project/plan.md");
    plan.version += 1;
    let mut says = plan.clone();
    change(&mut says, &zoo.memory("handover.md"));
    plan.blob = zoo.version(&plan.id, &says, "in another place");
    plan.version -= 1;
    edits(zoo, &[plan]);
}

/// A create that is right in everything.
fn create(zoo: &Zoo) -> Draft {
    let mut new = super::keyring::new_memory(zoo, "project/new.md");
    new.version = 1;
    let blob = zoo.version(&new.id, &new, "as it should be");
    let mut draft = zoo.draft("create", json!([zoo.write_touch(&new, "add", &blob)]));
    draft.tree = zoo.tree_with("main", &new.id, Some(&blob));
    draft
}

/// The policy with a larger limit.
fn policy(zoo: &Zoo) -> String {
    let policy = zoo.git(&["show", "main:agekeep.toml"]) + "\n";
    let other = policy.replacen("lines = 5000", "lines = 9000", 1);
    assert_ne!(policy, other);
    other
}

/// The recipients and one more.
fn recipients(zoo: &Zoo) -> String {
    let recipient = agekeep::store::Identity::generate()
        .recipient()
        .expect("X25519");
    zoo.git(&["show", "main:recipients"]) + &format!("\nreader helper {recipient}\n")
}

/// An edit beside which the root tree has an entry of a mode that no store writes.
fn odd_entry(zoo: &Zoo, mode: &str, name: &str) {
    let (mut draft, blob) = edit(zoo);
    let blob = match name {
        "signers" => zoo.git(&["rev-parse", "main:signers"]),
        _ => blob,
    };
    let line = format!("{mode} {blob}\t{name}");
    draft.tree = zoo.tree_line(&draft.tree, name, Some(&line));
    zoo.adopt_draft(&draft);
}
