//! Scenarios as fixtures: what a folder says, and the store it makes out of the base.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::Deserialize;

use crate::support::Home;

/// A word in every text of the zoo's memories, and nowhere else.
pub(crate) const MARK: &str = "Quillfeather";

/// What a folder of `fixtures/zoo` says of itself.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    #[serde(skip)]
    pub(crate) name: String,
    /// What was done, and with which means.
    #[allow(dead_code)] // for readers of the file
    pub(crate) did: String,
    /// Every finding of a full verification with the identity.
    pub(crate) expect: BTreeSet<String>,
    /// Every finding of a full verification without one.
    pub(crate) expect_keyless: BTreeSet<String>,
    /// How an ordinary read ends: `ok`, or the code of its error.
    pub(crate) open: String,
    /// The memory that is read.
    #[serde(default = "plan")]
    pub(crate) read: String,
    /// Why these are the findings, or why the read is right to end so, where that is not plain.
    #[serde(default)]
    pub(crate) why: String,
    /// How many erased memories verification counts.
    #[serde(default)]
    pub(crate) erased: u64,
    /// Files of the base that are gone.
    #[serde(default)]
    pub(crate) removed: BTreeSet<String>,
    /// Files that can be run.
    #[serde(default)]
    pub(crate) executable: BTreeSet<String>,
    /// Shell commands that succeed on this store and fail on the base.
    pub(crate) proof: String,
}

fn plan() -> String {
    "project/plan.md".into()
}

impl Scenario {
    /// One scenario.
    pub(crate) fn read(name: &str) -> Self {
        let path = folder().join(name).join("scenario.toml");
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let scenario = toml::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        Self {
            name: name.into(),
            ..scenario
        }
    }

    /// Every scenario, by name.
    pub(crate) fn all() -> Vec<Self> {
        let mut names = BTreeSet::new();
        for entry in fs::read_dir(folder()).expect("the zoo") {
            let path = entry.expect("an entry").path();
            if path.join("scenario.toml").is_file() {
                let name = path.file_name().expect("a name").to_str().expect("UTF-8");
                names.insert(name.to_owned());
            }
        }
        assert!(names.len() > 80, "the scenarios are where they were");
        names.iter().map(|name| Self::read(name)).collect()
    }

    /// The folder of what differs from the base.
    pub(crate) fn overlay(&self) -> PathBuf {
        folder().join(&self.name).join("files")
    }

    /// Says in its file which names a word stands for; no line where there are none.
    pub(crate) fn say(&self, word: &str, names: &BTreeSet<String>) {
        let path = folder().join(&self.name).join("scenario.toml");
        let text = fs::read_to_string(&path).expect("there");
        let begins = format!("{word} = ");
        let mut lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with(&begins))
            .collect();
        let line = format!("{begins}{names:?}")
            .replace('{', "[")
            .replace('}', "]");
        let proof = lines.iter().position(|line| line.starts_with("proof = "));
        if !names.is_empty() {
            lines.insert(proof.expect("every scenario has a proof"), &line);
        }
        fs::write(path, lines.join("\n") + "\n").expect("written");
    }

    /// A home with the forged store and the keys to it.
    pub(crate) fn home(&self) -> Home {
        let home = base_home(true);
        let store = home.store();
        for name in &self.removed {
            let path = store.join(name);
            fs::remove_file(&path).expect("a file of the base");
            // Fixtures have no empty folders, and what was removed leaves none behind.
            drop(fs::remove_dir(path.parent().expect("a folder")));
        }
        if self.overlay().is_dir() {
            for (name, bytes) in files(&self.overlay()) {
                put(&store, &name, &bytes);
            }
        }
        finish(&store, &self.executable);
        home
    }
}

/// Looks at every scenario, on as many threads as there are processors; what they find wrong, by the
/// name of the scenario.
pub(crate) fn each(look: impl Fn(&Scenario) -> Vec<String> + Sync) -> String {
    let (scenarios, next) = (Scenario::all(), AtomicUsize::new(0));
    let faults = Mutex::new(Vec::new());
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = look(scenario);
                    let found = found
                        .iter()
                        .map(|fault| format!("{}: {fault}", scenario.name));
                    faults.lock().expect("no thread panics").extend(found);
                }
            });
        }
    });
    faults.into_inner().expect("no thread panics").join("\n")
}

/// Whoever looks at the store of a home next has no keys and has never seen it.
pub(crate) fn forget_everything(home: &Home) {
    for folder in ["config", ".local"] {
        drop(fs::remove_dir_all(home.path().join(folder)));
    }
}

/// A home with the base in it and, if wanted, the keys to it.
pub(crate) fn base_home(with_keys: bool) -> Home {
    let home = Home::empty();
    for (name, bytes) in files(&base()) {
        put(&home.store(), &name, &bytes);
    }
    if with_keys {
        give_keys(&home);
    }
    finish(&home.store(), &BTreeSet::new());
    home
}

/// Puts the keys of the zoo where a home has its own.
pub(crate) fn give_keys(home: &Home) {
    let to = home.path().join("config/agekeep");
    for (name, bytes) in files(&keys()) {
        let name = name.strip_prefix("TEST-ONLY-").expect("a key's name");
        put(&to, name, &bytes);
        set_mode(&to.join(name), 0o600);
    }
}

/// What a folder among fixtures cannot keep: empty folders, modes, and the zeros that a journal
/// ends with.
fn finish(store: &Path, executable: &BTreeSet<String>) {
    for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags"] {
        fs::create_dir_all(store.join(folder)).expect("made");
    }
    if let Ok(journal) = fs::OpenOptions::new()
        .write(true)
        .open(store.join("journal"))
    {
        let length = journal.metadata().expect("a file").len();
        let filled = length.next_multiple_of(256 * 1024);
        journal.set_len(filled).expect("filled");
    }
    protect(store, store, executable);
}

fn protect(store: &Path, folder: &Path, executable: &BTreeSet<String>) {
    set_mode(folder, 0o700);
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.strip_prefix(store).expect("inside");
        let runs = executable.contains(name.to_str().expect("UTF-8"));
        if path.is_dir() {
            protect(store, &path, executable);
        } else {
            set_mode(&path, if runs { 0o700 } else { 0o600 });
        }
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
}

/// The files of a store or overlay by name, without what is made anew when it is missing, and
/// without the zeros at the end of the journal.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    collect(folder, folder, &mut found);
    found.remove("catalog");
    if let Some(journal) = found.get_mut("journal") {
        let used = journal
            .iter()
            .rposition(|byte| *byte != 0)
            .map_or(0, |at| at + 1);
        journal.truncate(used.max(128));
    }
    found
}

/// Every file below a folder, as it is.
pub(crate) fn all_files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    collect(folder, folder, &mut found);
    found
}

fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(root, &path, found);
            continue;
        }
        let name = path.strip_prefix(root).expect("inside");
        let name = name.to_str().expect("UTF-8").to_owned();
        found.insert(name, fs::read(&path).expect("readable"));
    }
}

/// Writes a file and the folders above it, whatever stands there.
pub(crate) fn put(folder: &Path, name: &str, bytes: &[u8]) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    drop(fs::remove_file(&path));
    fs::write(&path, bytes).expect("written");
}

/// The folder of the zoo.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/zoo")
}

/// The store that every scenario begins with.
pub(crate) fn base() -> PathBuf {
    folder().join("base")
}

/// The keys to it.
pub(crate) fn keys() -> PathBuf {
    folder().join("keys")
}
