//! A store, and folders of files beside it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use crate::support::{Home, json_lines, stderr, stdout};

/// A tree of files: each with its path and its bytes.
pub(crate) type Tree = BTreeMap<String, Vec<u8>>;

/// A home with a store, and what an import said of everything in its source.
pub(crate) struct Place {
    pub(crate) home: Home,
}

/// What an import said.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) files: Vec<Value>,
    pub(crate) sum: Value,
    pub(crate) output: Output,
}

impl Place {
    pub(crate) fn new() -> Self {
        let home = Home::with_store();
        Self { home }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Writes a file, and the folders above it.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("in a folder")).expect("made");
        fs::write(path, bytes).expect("written");
    }

    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        fs::create_dir_all(self.path(name)).expect("made");
        self.path(name)
    }

    /// What `import` says, as objects.
    pub(crate) fn import(&self, args: &[&str]) -> Said {
        let output = self.home.run(&[&["import", "--json"], args].concat());
        let mut files = json_lines(&output.stdout);
        let sum = files
            .pop()
            .unwrap_or_else(|| panic!("{args:?}: {}", stderr(&output)));
        assert_eq!(sum["schema"], "agekeep.import/1", "{args:?}");
        let code = output.status.code().expect("it ended by itself");
        Said {
            code,
            files,
            sum,
            output,
        }
    }

    /// What a command prints that succeeds.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.home.run(args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        stdout(&output)
    }

    /// What a command says that ends with this code.
    pub(crate) fn fails(&self, code: i32, args: &[&str]) -> String {
        let output = self.home.run(args);
        let said = stdout(&output) + &stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        said
    }

    /// What a command says that is refused and records nothing.
    pub(crate) fn unrecorded(&self, code: i32, args: &[&str]) -> String {
        let head = self.head();
        let said = self.fails(code, args);
        assert_eq!(self.head(), head, "{args:?} was recorded");
        said
    }

    /// Where history ends, as stock git says.
    pub(crate) fn head(&self) -> String {
        stdout(&self.home.git(&["rev-parse", "main"]))
    }

    /// Every event, oldest first, as `log` tells them.
    pub(crate) fn log(&self) -> Vec<Value> {
        let mut log = json_lines(self.ok(&["log", "--json"]).as_bytes());
        log.reverse();
        log
    }

    /// How often each path was the one of an event with this command that was carried out.
    pub(crate) fn carried_out(&self, command: &str) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for event in self.log() {
            if event["command"] == command && event["outcome"] == "ok" {
                let path = event["path"].as_str().expect("a path").to_owned();
                *counts.entry(path).or_default() += 1;
            }
        }
        counts
    }

    /// What is in the store, as an export to a folder has it.
    pub(crate) fn kept(&self) -> Tree {
        let folder = crate::support::folder();
        let out = folder.path().join("out");
        self.ok(&["export", text(&out)]);
        tree(&out)
    }
}

impl Said {
    /// What became of the thing that the source calls so.
    #[track_caller]
    pub(crate) fn of(&self, name: &str) -> (&str, &str) {
        let file = self.files.iter().find(|file| file["name"] == name);
        let file = file.unwrap_or_else(|| panic!("{name} is not in {:#?}", self.files));
        let text = |field: &str| file[field].as_str().unwrap_or_default();
        (text("outcome"), text("why"))
    }

    #[track_caller]
    pub(crate) fn refuses(&self, name: &str, why: &str) {
        let (outcome, said) = self.of(name);
        assert_eq!(outcome, "refused", "{name}");
        assert!(said.contains(why), "{name}: {said}");
    }

    /// How many there were of each outcome that there was.
    pub(crate) fn counts(&self) -> BTreeMap<&'static str, u64> {
        let all = [
            "imported",
            "overwritten",
            "same",
            "other",
            "left_out",
            "older",
            "refused",
            "stripped",
        ];
        let counts = all.map(|name| (name, self.sum[name].as_u64().expect("a number")));
        counts.into_iter().filter(|(_, count)| *count > 0).collect()
    }
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Every file below a folder.
pub(crate) fn tree(folder: &Path) -> Tree {
    let mut found = Tree::new();
    add(folder, "", &mut found);
    found
}

fn add(folder: &Path, above: &str, found: &mut Tree) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = format!("{above}{}", entry.file_name().to_str().expect("UTF-8"));
        if entry.file_type().expect("known").is_dir() {
            add(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name, fs::read(entry.path()).expect("readable"));
        }
    }
}

/// A tree of texts.
pub(crate) fn texts(files: &[(&str, &str)]) -> Tree {
    let files = files.iter();
    files
        .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()))
        .collect()
}
