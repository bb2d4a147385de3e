//! A store with a past, kept at several moments, and the people who know something of it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

use agekeep::store::Identity;
use serde_json::json;
use tempfile::TempDir;

use crate::attack::canary;
use crate::attack::law::Truth;
use crate::attack::opener::Opener;
use crate::attack::plant;
use crate::attack::probe;
use crate::support::forge::private;
use crate::support::{Home, stderr, stdout};

/// The memory that every case views by a command of its own.
pub(crate) const KNOWN: &str = "/memories/plan.md";
/// Stands in every text that is there, and in no path: an auditor never sees it.
pub(crate) const CONTENT: &str = "content-canary";
/// Stands in every text that was erased: nobody ever sees it again.
pub(crate) const ERASED: &str = "erased-canary";

/// A home with a store, copies of the store from before, and two other stores.
pub(crate) struct Scene {
    pub(crate) home: Home,
    /// The store at earlier moments, oldest first, by name.
    pub(crate) moments: Vec<(&'static str, PathBuf)>,
    /// Where a store of the same user is, and one of the attacker's.
    pub(crate) others: Vec<(&'static str, PathBuf)>,
    /// What every command says of the store when nobody has touched it.
    pub(crate) truth: Truth,
    /// What a reader who left and an attacker can open with everything they know.
    pub(crate) outsiders: Opener,
    /// Every object there is, by its name.
    pub(crate) objects: BTreeSet<String>,
    /// Dropped last: it holds the copies.
    _kept: TempDir,
}

impl Scene {
    /// The scene of this process, made when first asked for and removed with its last user.
    pub(crate) fn shared() -> Arc<Self> {
        static SCENE: Mutex<Weak<Scene>> = Mutex::new(Weak::new());
        let mut shared = SCENE
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let made = Arc::new(Self::make());
            *shared = Arc::downgrade(&made);
            made
        })
    }

    fn make() -> Self {
        let kept = crate::support::folder();
        let mut past = Past::begin(kept.path());
        past.live_through();
        let Past { home, moments, .. } = past;
        let others = others(&home, kept.path());
        let mut scene = Self {
            objects: objects(&home),
            outsiders: Opener::default(),
            truth: Truth::default(),
            home,
            moments,
            others,
            _kept: kept,
        };
        scene.outsiders = Opener::of(
            &Self::identity(&scene.home, "leaver"),
            scene.moments.iter().map(|(_, store)| store.as_path()),
        );
        scene.truth = Truth::of(&scene);
        scene
    }

    /// The identity files of those who were let in.
    pub(crate) fn identity(home: &Home, name: &str) -> PathBuf {
        home.path()
            .join("config/agekeep")
            .join(format!("{name}.txt"))
    }

    /// A copy of the scene in a home of its own, with files beside it that nobody may touch. The
    /// owner has used the store there.
    pub(crate) fn copy(&self) -> Home {
        let home = Home::empty();
        plant::copy(self.home.path(), home.path());
        canary::put(home.path());
        let used = probe::run(&home.command(&["status"]), "");
        assert_eq!(used.code, Some(0), "{}", used.stderr);
        home
    }

    /// Where a moment's store is.
    pub(crate) fn moment(&self, name: &str) -> &Path {
        let found = self.moments.iter().find(|(known, _)| *known == name);
        &found.expect("a moment of the scene").1
    }
}

/// The scene while it is made.
struct Past<'a> {
    home: Home,
    kept: &'a Path,
    moments: Vec<(&'static str, PathBuf)>,
}

impl<'a> Past<'a> {
    fn begin(kept: &'a Path) -> Self {
        let home = Home::with_store();
        for name in ["auditor", "leaver"] {
            private(
                &Scene::identity(&home, name),
                &Identity::generate().to_file(),
            );
        }
        Self {
            home,
            kept,
            moments: Vec::new(),
        }
    }

    /// Everything that happens in the life of a store, so that there are packs and loose objects,
    /// several keys of a memory, and a journal that is not empty.
    fn live_through(&mut self) {
        self.keep("young");
        self.tool(
            &(1..=9)
                .map(|n| create(&format!("note{n}.md"), n))
                .collect::<Vec<_>>(),
        );
        self.tool(&[
            create("plan.md", 0),
            create("team/handover.md", 60),
            create("team/empty.md", 0),
            erased("client.md"),
            erased("team/salary.md"),
        ]);
        self.let_in("auditor", "auditor");
        self.let_in("leaver", "reader");
        self.tool(&[
            edit("plan.md", "line", "step"),
            edit("client.md", "line", "fact"),
        ]);
        self.run(&["compact"]);
        self.keep("with the leaver");
        self.tool(&[
            json!({"command": "rename", "old_path": "/memories/note1.md", "new_path": "/memories/first.md"}),
            json!({"command": "delete", "path": "/memories/note2.md"}),
            edit("note3.md", "line", "idea"),
        ]);
        self.run(&["recipients", "rm", "leaver"]);
        self.keep("the leaver gone");
        self.tool(&[create("late.md", 3), edit("plan.md", "step", "stage")]);
        self.run(&["erase", "/memories/client.md", "--reason", "asked", "--yes"]);
        self.run(&[
            "erase",
            "/memories/team/salary.md",
            "--reason",
            "asked",
            "--yes",
        ]);
        self.keep("erased");
        self.run(&["policy", "set", "limits.lines", "5000"]);
        self.run(&["rekey", "--memories", "/memories/note*.md"]);
        self.run(&["rekey"]);
        self.run(&["hold", "add", "/memories/team/**", "--reason", "a dispute"]);
        self.run(&["compact"]);
        self.keep("new keys");
        self.tool(&[
            create("last.md", 2),
            edit("plan.md", "stage", "phase"),
            json!({"command": "view", "path": "/memories/late.md"}),
        ]);
        self.run(&["verify"]);
    }

    /// Keeps a copy of the store as it is now.
    fn keep(&mut self, name: &'static str) {
        let copy = self.kept.join(name);
        plant::copy(&self.home.store(), &copy);
        self.moments.push((name, copy));
    }

    fn run(&self, args: &[&str]) {
        run(&self.home, args);
    }

    fn tool(&self, calls: &[serde_json::Value]) {
        let lines: String = calls.iter().map(|call| format!("{call}\n")).collect();
        for answer in self.home.tool(&lines) {
            assert_eq!(answer["is_error"], false, "{answer}");
        }
    }

    fn let_in(&self, name: &str, role: &str) {
        let recipient = recipient(&Scene::identity(&self.home, name));
        self.run(&["recipients", "add", name, &recipient, "--role", role]);
    }
}

/// The public key of an identity file.
pub(crate) fn recipient(identity: &Path) -> String {
    let text = fs::read_to_string(identity).expect("there");
    let identity = Identity::parse(&text).expect("an identity");
    identity.recipient().expect("X25519").to_string()
}

pub(crate) fn run(home: &Home, args: &[&str]) -> String {
    let output = home.run(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

fn create(name: &str, more_lines: usize) -> serde_json::Value {
    let rest: String = (0..more_lines).map(|n| format!("{n}\n")).collect();
    let text = format!("{CONTENT} {name}: line\n{rest}");
    json!({"command": "create", "path": format!("/memories/{name}"), "file_text": text})
}

fn erased(name: &str) -> serde_json::Value {
    let text = format!("{ERASED} {name}: line\n");
    json!({"command": "create", "path": format!("/memories/{name}"), "file_text": text})
}

fn edit(name: &str, old: &str, new: &str) -> serde_json::Value {
    let (old, new) = (format!("{name}: {old}"), format!("{name}: {new}"));
    json!({"command": "str_replace", "path": format!("/memories/{name}"),
        "old_str": old, "new_str": new})
}

/// A second store of the same user, and a store of the attacker's.
fn others(home: &Home, kept: &Path) -> Vec<(&'static str, PathBuf)> {
    let second = kept.join("second");
    let attacker = Home::empty_in(kept);
    run(home, &["init", "--store", second.to_str().expect("UTF-8")]);
    run(&attacker, &["init"]);
    let stores = [("second", second), ("attacker", attacker.store())];
    for ((_, store), by) in stores.iter().zip([home, &attacker]) {
        let store = store.to_str().expect("UTF-8");
        for name in ["plan.md", "other.md"] {
            let (path, text) = (format!("/memories/{name}"), "of another store\n");
            run(by, &["--store", store, "create", &path, "--text", text]);
        }
    }
    attacker.keep(); // `kept` removes it
    stores.into()
}

/// The name of every object, as stock git lists them.
fn objects(home: &Home) -> BTreeSet<String> {
    let args = [
        "cat-file",
        "--batch-all-objects",
        "--batch-check=%(objectname)",
    ];
    let listed = home.git(&args);
    stdout(&listed).lines().map(str::to_owned).collect()
}
