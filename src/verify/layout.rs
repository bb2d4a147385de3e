//! The store's folder: nothing in it that would make stock git see, follow or run something else.

mod config;

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::findings::{Fault, Findings};
use crate::repository::BRANCH;

/// What stands in a store's folder: what agekeep makes, and what stock git makes there by itself.
const KNOWN: &[&str] = &[
    "HEAD",
    "config",
    "objects",
    "refs",
    "keyring",
    "journal",
    "journal.new",
    "catalog",
    "catalog.audit",
    "main.before",
    "timeline",
    "timeline.audit",
    "lock",
    "packed-refs",
    "info",
    "hooks",
    "shallow",
    "branches",
    "description",
    "logs",
    "gc.pid",
    "gc.log",
    "FETCH_HEAD",
    "ORIG_HEAD",
    "config.lock",
    "HEAD.lock",
    "packed-refs.lock",
    "gc.pid.lock",
    "FETCH_HEAD.lock",
];

/// Begin the names of what is passing.
const PASSING: &[&str] = &["tmp_agekeep_", ".agekeep-init-", ".nfs"];

/// Looks at everything in the folder but history and keys.
pub(super) fn check(root: &Path, findings: &mut Findings) {
    head_file(root, findings);
    refs(root, findings);
    for name in ["alternates", "http-alternates"] {
        if root.join("objects/info").join(name).exists() {
            let what = format!("objects/info/{name} is there");
            findings.add_outside(Fault::new("alternates", what));
        }
    }
    for name in ["info/grafts", "shallow"] {
        if root.join(name).exists() {
            let what = format!("{name} is there");
            findings.add_outside(Fault::new("grafts", what));
        }
    }
    config::check(root, findings);
    hooks(&root.join("hooks"), findings);
    stray(root, findings);
}

fn head_file(root: &Path, findings: &mut Findings) {
    let found = fs::read(root.join("HEAD")).unwrap_or_default();
    if found != format!("ref: {BRANCH}\n").as_bytes() {
        let what = format!("the file HEAD does not say {BRANCH}");
        findings.add_outside(Fault::new("refs", what));
    }
}

fn refs(root: &Path, findings: &mut Findings) {
    let mut names = Vec::new();
    loose_refs(&root.join("refs"), "refs", &mut names);
    let packed = fs::read(root.join("packed-refs")).unwrap_or_default();
    for line in String::from_utf8_lossy(&packed).lines() {
        if line.starts_with(['#', '^']) || line.is_empty() {
            continue;
        }
        let name = line.split_once(' ').map_or(line, |(_, name)| name);
        names.push(name.to_owned());
    }
    names.sort();
    names.dedup();
    for name in names.iter().filter(|name| *name != BRANCH) {
        let id = if name.starts_with("refs/replace/") {
            "replace-refs"
        } else {
            "refs"
        };
        let what = format!("there is a ref {name:?}");
        findings.add_outside(Fault::new(id, what));
    }
}

fn loose_refs(folder: &Path, name: &str, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        // A link to a folder is followed by stock git, and is itself nothing a store has.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            loose_refs(&entry.path(), &name, names);
        } else if !has_extension(&name, "lock") {
            // What ends in `.lock` is no ref, but what stock git leaves behind when it is killed.
            names.push(name);
        }
    }
}

fn has_extension(name: &str, wanted: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|found| found == wanted)
}

fn hooks(folder: &Path, findings: &mut Findings) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // A link counts as what it leads to.
        let runs = fs::metadata(entry.path())
            .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0);
        if runs && !has_extension(&name, "sample") {
            let what = format!("hooks/{name:?} can be run");
            findings.add_outside(Fault::new("hooks", what));
        }
    }
}

fn stray(root: &Path, findings: &mut Findings) {
    let names = match fs::read_dir(root) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return,
        entries => entries.into_iter().flatten().flatten(),
    };
    for entry in names {
        let name = entry.file_name().to_string_lossy().into_owned();
        let passing = PASSING.iter().any(|begin| name.starts_with(begin));
        if passing || KNOWN.contains(&name.as_str()) {
            continue;
        }
        let fault = if name == "config.worktree" {
            Fault::new("config", "there is a config.worktree")
        } else {
            Fault::new("stray", format!("{name:?} is in the store's folder"))
        };
        findings.add_outside(fault);
    }
}
