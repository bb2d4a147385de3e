//! Commits made by hand that a signer's role does not allow: open refuses them, verify names them.

use std::fs;

use serde_json::{Value, json};

use crate::signers::team::{NIGHT, Team};
use crate::support::forge::{Means, has_means};
use crate::support::{stderr, stdout};

const LATER: &str = "2026-02-01T00:00:00Z";

/// What a commit by hand says, and does to a file of its tree or to a memory.
#[derive(Default)]
struct Made {
    said: Value,
    /// A public file, and what it becomes.
    file: Option<(&'static str, String)>,
    /// A memory that its tree has no more.
    without: Option<String>,
}

/// A store with somebody in each role, and what is needed to make commits for it by hand.
struct Scene {
    team: Team,
    means: Means,
    x: Memory,
    y: Memory,
    /// The event by which a hold on `y` began.
    hold: u64,
}

/// A memory, as records name it.
struct Memory {
    id: String,
    sealed_path: String,
}

impl Scene {
    fn new() -> Option<Self> {
        has_means("commits that roles do not allow").then_some(())?;
        let team = Team::new()?;
        for role in ["writer", "sweeper", "auditor"] {
            team.let_in(role, &["--role", role]);
        }
        let eve = agekeep::store::Identity::generate();
        let eve = eve.recipient().expect("X25519").to_string();
        let add = ["recipients", "add", "eve", &eve, "--role", "auditor"];
        team.done(NIGHT, &add);
        for path in ["/memories/x.md", "/memories/y.md"] {
            team.done(NIGHT, &["create", path, "--text", "nut\n"]);
        }
        let log = team.log("2");
        let hold = ["hold", "add", "/memories/y.md", "--reason", "a case"];
        team.done(NIGHT, &hold);
        let means = Means::of(&team.store(), &team.home.identity(), team.home.path());
        let memory = |at: usize, path: &str| {
            let id = log[at]["memories"][0]["memory"].as_str().expect("an id");
            Memory {
                id: id.into(),
                sealed_path: means.sealed_path(id, path),
            }
        };
        Some(Self {
            x: memory(1, "/memories/x.md"),
            y: memory(0, "/memories/y.md"),
            hold: team.log("1")[0]["event"].as_u64().expect("a number"),
            means,
            team,
        })
    }

    fn key(&self, signer: &str) -> String {
        if signer == "owner" {
            let key = self.team.home.signing_key();
            return key.to_str().expect("UTF-8").into();
        }
        self.team.path(signer)
    }

    /// Makes a commit the head; what the head was is answered.
    fn put(&self, signer: &str, made: &Made) -> String {
        let head = self.means.git(&["rev-parse", "main"]);
        let mut tree = self.means.git(&["rev-parse", "main^{tree}"]);
        if let Some((name, text)) = &made.file {
            tree = self.means.tree_with_file(&tree, name, text);
        }
        if let Some(id) = &made.without {
            tree = self.means.tree_with(&tree, id, None);
        }
        let commit = self
            .means
            .next_commit(signer, &self.key(signer), &tree, &made.said);
        self.means.adopt(&commit);
        head
    }

    /// A commit by hand is refused by every open, and found by verify as nothing but that; then the
    /// store is as before.
    fn refused(&self, signer: &str, made: &Made, what: &str) {
        let head = self.put(signer, made);
        let role =
            format!("its signer {signer} has the role {signer}, which may not record {what}");
        let commit = self.means.git(&["rev-parse", "main"]);
        let said = self.judged(Some("not-allowed"));
        assert!(said.contains(&role) && said.contains(&commit), "{said}");
        self.means.adopt(&head);
    }

    /// The store opens and verifies, or neither, with this one finding; what the open says.
    fn judged(&self, expected: Option<&str>) -> String {
        let said = self.opened(expected.is_none());
        let report = self.report(&["--full"]);
        let found = ids(&report);
        assert_eq!(found, Vec::from_iter(expected), "{said}: {report}");
        said
    }

    fn opened(&self, expected: bool) -> String {
        let mut said = String::new();
        for without_catalog in [false, true] {
            if without_catalog {
                drop(fs::remove_file(self.team.store().join("catalog")));
            }
            let output = self.team.run(LATER, &["signers", "list", "--json"]);
            said = stdout(&output) + &stderr(&output);
            let code = if expected { 0 } else { 13 };
            assert_eq!(output.status.code(), Some(code), "{said}");
        }
        said
    }

    fn report(&self, args: &[&str]) -> Value {
        let args = [&["verify", "--json"], args].concat();
        serde_json::from_slice(&self.team.run(LATER, &args).stdout).expect("JSON")
    }

    /// What verify finds without any key.
    fn found_without_key(&self) -> Vec<String> {
        let report = self.report(&["--full", "--identity", "/nowhere"]);
        ids(&report).into_iter().map(str::to_owned).collect()
    }

    /// A touch of a memory that is there in its first version.
    fn touch(memory: &Memory, change: &str) -> Value {
        let mut touch = json!({"id": memory.id, "change": change, "version": 1, "bytes": 4});
        if change != "erase" {
            touch["path"] = memory.sealed_path.as_str().into();
        }
        touch
    }

    /// A memory that is taken away by a command with a `mark`, or another change that ends it.
    fn taken(memory: &Memory, command: &str, changes: &[&str]) -> Made {
        let touches = changes.iter().map(|change| Self::touch(memory, change));
        let touches: Vec<Value> = touches.collect();
        Made {
            said: json!({
                "command": command, "memories": touches,
                "path": {"of": [memory.id, memory.sealed_path]},
            }),
            without: Some(memory.id.clone()),
            ..Made::default()
        }
    }

    fn file(&self, name: &str) -> String {
        self.means.git(&["show", &format!("main:{name}")]) + "\n"
    }

    /// What a commit of this command can be that is right but for its signer.
    fn made(&self, command: &str) -> Made {
        let said = json!({"command": command});
        let with = |field: &str, value: Value| {
            let mut said = said.clone();
            said[field] = value;
            said
        };
        let member = |name: &str| with("member", name.into());
        let (signers, recipients) = (self.file("signers"), self.file("recipients"));
        let only = |text: &str, left_out: &str| -> String {
            let lines = text.lines().filter(|line| !line.contains(left_out));
            lines.map(|line| format!("{line}\n")).collect()
        };
        let put = |name, said: Value, text: String| Made {
            said,
            file: Some((name, text)),
            without: None,
        };
        match command {
            "policy_set" => {
                let off = "\n[redaction]\nmode = \"off\"\n[expiration]\nunaccessed_for = \"1s\"\n\
                           grace = \"0s\"\nthen = \"erase\"\n";
                put("agekeep.toml", said, self.file("agekeep.toml") + off)
            }
            "recipients_add" => {
                let zoe = agekeep::store::Identity::generate();
                let zoe = zoe.recipient().expect("X25519");
                let text = format!("{recipients}auditor zoe {zoe}\n");
                put("recipients", member("zoe"), text)
            }
            "recipients_rm" => put("recipients", member("eve"), only(&recipients, " eve ")),
            "signers_add" => {
                let key = agekeep::store::SigningKey::generate().public_line();
                let text = format!("{signers}zoe namespaces=\"git\" {key} owner\n");
                put("signers", member("zoe"), text)
            }
            "signers_rm" => put("signers", member("owner"), only(&signers, "owner ")),
            "signers_set" => {
                let raised = |role: &str| signers.replace(&format!(" {role}\n"), " owner\n");
                put("signers", member("auditor"), raised("auditor"))
            }
            "hold_rm" => Made {
                said: with("hold", json!({"lift": self.hold})),
                ..Made::default()
            },
            "hold_add" => Made {
                said: with("hold", json!({"add": {"memory": self.x.id}})),
                ..Made::default()
            },
            "erase" => Self::taken(&self.x, "erase", &["remove", "mark"]),
            "expire" => Self::taken(&self.x, "expire", &["expire", "mark"]),
            "delete" | "rollback" => Self::taken(&self.x, command, &["remove"]),
            "view_at" | "show" => Made {
                said: with("memories", json!([Self::touch(&self.x, "look")])),
                ..Made::default()
            },
            _ => plain(command),
        }
    }
}

/// A commit that says its command, and nothing besides.
fn plain(command: &str) -> Made {
    Made {
        said: json!({"command": command}),
        ..Made::default()
    }
}

fn ids(report: &Value) -> Vec<&str> {
    let found = report["findings"].as_array().expect("a list").iter();
    found.map(|f| f["id"].as_str().expect("an id")).collect()
}

const AGENTS: [&str; 14] = [
    "view",
    "create",
    "str_replace",
    "insert",
    "delete",
    "rename",
    "memory_read",
    "memory_write",
    "unknown",
    "restore",
    "revert",
    "rollback",
    "export",
    "export_history",
];
const SWEEPS: [&str; 3] = ["expire", "erase", "hold_add"];
const OWNERS: [&str; 11] = [
    "init",
    "policy_set",
    "recipients_add",
    "recipients_rm",
    "rekey",
    "keys_export",
    "signers_add",
    "signers_rm",
    "signers_set",
    "redact",
    "hold_rm",
];
const LOOKS: [&str; 8] = [
    "view_at",
    "show",
    "diff",
    "blame",
    "log",
    "grep",
    "scan",
    "accept_rollback",
];

/// The commands of a role, and those that are not its.
fn sides(role: &str) -> (Vec<&'static str>, Vec<&'static str>) {
    let (mut its, mut others) = (LOOKS.to_vec(), OWNERS.to_vec());
    for (of, commands) in [("writer", &AGENTS[..]), ("sweeper", &SWEEPS)] {
        let side = if role == of { &mut its } else { &mut others };
        side.extend(commands);
    }
    (its, others)
}

fn no_commit_goes_beyond(role: &str) {
    let Some(scene) = Scene::new() else { return };
    let (its, others) = sides(role);
    for command in others {
        let made = scene.made(command);
        scene.refused(role, &made, command);
        // The subject line is enough, without any key; that a writer's erasure completes another is
        // known by the record, and by its leaving the tree as it is.
        let head = scene.put(role, &made);
        assert_eq!(scene.found_without_key(), ["not-allowed"], "{command}");
        scene.means.adopt(&head);
    }
    for signer in [role, "owner"] {
        let unknown = scene.made("signers_take");
        scene.refused(signer, &unknown, "a command that is not known here");
    }
    for command in its {
        let made = if SWEEPS[..2].contains(&command) {
            // What it marks, the open that is tried next would erase.
            plain(command)
        } else {
            scene.made(command)
        };
        let head = scene.put(role, &made);
        scene.judged(None);
        assert_eq!(scene.found_without_key(), [""; 0], "{command}");
        scene.means.adopt(&head);
        drop(fs::remove_file(scene.team.store().join("catalog")));
        drop(fs::remove_dir_all(scene.team.home.state()));
    }
    scene.judged(None);
}

#[test]
fn no_commit_by_hand_goes_beyond_a_writer() {
    no_commit_goes_beyond("writer");
}

#[test]
fn no_commit_by_hand_goes_beyond_a_sweeper() {
    no_commit_goes_beyond("sweeper");
}

#[test]
fn no_commit_by_hand_goes_beyond_an_auditor() {
    no_commit_goes_beyond("auditor");
}

#[test]
fn nobody_gives_himself_another_role() {
    for role in ["writer", "sweeper", "auditor"] {
        let Some(scene) = Scene::new() else { return };
        let signers = scene.file("signers");
        let raised = signers.replace(&format!(" {role}\n"), " owner\n");
        assert_ne!(signers, raised);
        let file = Some(("signers", raised));
        // By a command that is his own, the file is changed in passing.
        let head = scene.put(
            role,
            &Made {
                file: file.clone(),
                ..plain("log")
            },
        );
        scene.judged(Some("signers-changed"));
        scene.means.adopt(&head);
        // By the command for it, that is not his; what he does as an owner then is beside the point.
        scene.put(
            role,
            &Made {
                said: json!({"command": "signers_set", "member": role}),
                file,
                ..Made::default()
            },
        );
        scene.put(role, &scene.made("policy_set"));
        scene.judged(Some("not-allowed"));
        assert_eq!(scene.found_without_key(), ["not-allowed"]);
    }
}

#[test]
fn a_role_that_was_taken_away_does_not_come_back_by_an_earlier_date() {
    let Some(scene) = Scene::new() else { return };
    scene.team.done(
        "2026-01-02T00:00:00Z",
        &["signers", "role", "writer", "auditor"],
    );
    let mut made = plain("view");
    made.said["clock_behind_ms"] = 86_400_000.into();
    scene.put("writer", &made);
    let said = scene.judged(Some("not-allowed"));
    assert!(said.contains("writer has the role auditor"), "{said}");
}

#[test]
fn a_command_that_is_allowed_changes_no_public_file_in_passing() {
    let Some(scene) = Scene::new() else { return };
    for (signer, command) in [
        ("writer", "create"),
        ("sweeper", "expire"),
        ("auditor", "log"),
    ] {
        for (of, id) in [
            ("policy_set", "policy-changed"),
            ("recipients_add", "recipients-changed"),
            ("signers_add", "signers-changed"),
        ] {
            let made = Made {
                said: json!({"command": command}),
                ..scene.made(of)
            };
            let head = scene.put(signer, &made);
            scene.judged(Some(id));
            scene.means.adopt(&head);
        }
    }
}

#[test]
fn what_a_hold_keeps_is_taken_away_by_no_commit_of_one_who_cannot_lift_it() {
    let Some(scene) = Scene::new() else { return };
    for (signer, command, changes) in [
        ("writer", "delete", &["remove"][..]),
        ("writer", "revert", &["remove"]),
        ("sweeper", "expire", &["expire"]),
        ("sweeper", "expire", &["expire", "mark"]),
        ("sweeper", "erase", &["remove", "mark"]),
    ] {
        let made = Scene::taken(&scene.y, command, changes);
        let what = format!("{command} of what a hold keeps");
        scene.refused(signer, &made, &what);
    }
    // An owner could have lifted it.
    scene.put("owner", &Scene::taken(&scene.y, "delete", &["remove"]));
    scene.judged(None);
}

/// The receipt of an erasure of one memory that says it goes on with an earlier one.
fn receipt(memory: &Memory, after: Option<u64>) -> Value {
    let mut erased = json!({"memory": memory.id, "blobs": []});
    if let Some(after) = after {
        erased["after"] = after.into();
    }
    json!({
        "epoch": [1, 2], "names": [1, 2], "memories": [erased], "versions": 0, "records": 0,
        "asked": 0, "not_reached": [],
    })
}

#[test]
fn a_writer_completes_an_erasure_and_begins_none() {
    let Some(scene) = Scene::new() else { return };
    let deleted = scene.team.events() as u64;
    scene.team.done(NIGHT, &["delete", "/memories/x.md"]);
    let erase = json!([Scene::touch(&scene.x, "erase")]);
    for (after, outcome) in [
        (None, "ok"),
        // It was deleted then, added then, and a later event and this one are none before it.
        (Some(deleted), "ok"),
        (Some(deleted - 3), "ok"),
        (Some(0), "ok"),
        (Some(deleted + 1), "ok"),
        (Some(u64::MAX), "ok"),
    ] {
        let said = json!({
            "command": "erase", "outcome": outcome, "memories": erase,
            "receipt": receipt(&scene.x, after),
        });
        let made = Made {
            said,
            ..Made::default()
        };
        let head = scene.put("writer", &made);
        let said = scene.opened(false);
        assert!(
            said.contains("which may not record erase"),
            "{after:?}: {said}"
        );
        // It names no keys, as what erases has to, and the erased ones are still there.
        let report = scene.report(&["--full"]);
        assert_eq!(
            ids(&report),
            ["not-allowed", "state", "erased-key"],
            "{after:?}: {report}"
        );
        scene.means.adopt(&head);
    }
    // Nor by a receipt about another memory, or about none.
    for said in [
        json!({"command": "erase", "memories": erase, "receipt": receipt(&scene.y, Some(0))}),
        json!({"command": "erase", "memories": erase}),
        json!({"command": "erase"}),
        json!({"command": "expire", "memories": erase, "receipt": receipt(&scene.x, None)}),
    ] {
        let made = Made {
            said,
            ..Made::default()
        };
        let head = scene.put("writer", &made);
        let said = scene.opened(false);
        assert!(said.contains("writer has the role writer"), "{said}");
        assert!(ids(&scene.report(&["--full"])).contains(&"not-allowed"));
        scene.means.adopt(&head);
    }
    scene.judged(None);
}

#[test]
fn a_store_from_before_there_were_roles_goes_on_and_says_how_to_give_them() {
    let Some(scene) = Scene::new() else { return };
    let mut signers = scene.file("signers");
    for role in ["owner", "writer", "sweeper", "auditor"] {
        signers = signers.replace(&format!(" {role}\n"), "\n");
    }
    let old = Made {
        said: json!({"command": "signers_set"}),
        file: Some(("signers", signers)),
        ..Made::default()
    };
    scene.put("owner", &old);
    scene.judged(None);
    // Whoever signs may do everything, as it was.
    scene.put("auditor", &scene.made("recipients_add"));
    scene.judged(None);
    let team = &scene.team;
    let problem = |names: &str| {
        format!("the signers {names} have no role, so each may do everything; set a role")
    };
    let status = team.done(LATER, &["status"]);
    assert!(
        status.contains(&problem("owner, writer, sweeper, auditor")),
        "{status}"
    );
    assert!(
        status.contains("agekeep signers role NAME ROLE"),
        "{status}"
    );
    for role in ["sweeper", "auditor", "writer"] {
        team.done(LATER, &["signers", "role", role, role]);
    }
    let status: Value =
        serde_json::from_str(&team.done(LATER, &["status", "--json"])).expect("JSON");
    assert!(
        status["problems"].to_string().contains(&problem("owner")),
        "{status}"
    );
    team.done(LATER, &["signers", "role", "owner", "owner"]);
    let status = team.done(LATER, &["status"]);
    assert!(!status.contains("no role"), "{status}");
    let key = team.path("auditor");
    let view = ["view", "/memories/a.md", "--signing-key", &key];
    team.refused(LATER, &view, 7, "not_allowed");
    assert!(team.findings().is_empty());
}
