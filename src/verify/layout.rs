//! The store's folder: nothing in it that would make stock git see, follow or run something else.

mod config;

use std::io;
use std::path::Path;

use super::findings::{Fault, Findings};
use crate::disk::{Folder, Kind, Name};
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

/// Folders in a folder of refs that are looked into: stock git makes no deeper ones.
const DEPTH_MAX: u32 = 32;

/// Looks at everything in the folder but history and keys.
pub(super) fn check(root: &Folder, findings: &mut Findings) {
    head_file(root, findings);
    refs(root, findings);
    let objects = root.sub(&Name::OBJECTS);
    for name in [Name::ALTERNATES, Name::HTTP_ALTERNATES] {
        if objects
            .as_ref()
            .is_ok_and(|objects| may_have(objects, &name))
        {
            let what = format!("objects/{} is there", name.as_str());
            findings.add_outside(Fault::new("alternates", what));
        }
    }
    for name in [Name::GRAFTS, Name::SHALLOW] {
        if may_have(root, &name) {
            let what = format!("{} is there", name.as_str());
            findings.add_outside(Fault::new("grafts", what));
        }
    }
    config::check(root, findings);
    hooks(root, findings);
    kinds(root, findings);
    stray(root, findings);
}

/// Whether something is there, or that cannot be told.
fn may_have(folder: &Folder, name: &Name) -> bool {
    !matches!(folder.look(name), Ok(None))
        && !matches!(folder.look(name), Err(e) if e.kind() == io::ErrorKind::NotFound)
}

/// Everything in a file, `None` if there is none, or what is wrong with it.
fn read(root: &Folder, name: &Name) -> Result<Option<Vec<u8>>, String> {
    match root.read(name) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(root.fault("read", name)(e).to_string()),
    }
}

fn head_file(root: &Folder, findings: &mut Findings) {
    let what = match read(root, &Name::HEAD) {
        Ok(Some(found)) if found == format!("ref: {BRANCH}\n").as_bytes() => return,
        Ok(_) => format!("the file HEAD does not say {BRANCH}"),
        Err(what) => what,
    };
    findings.add_outside(Fault::new("refs", what));
}

fn refs(root: &Folder, findings: &mut Findings) {
    let mut names = Vec::new();
    if let Ok(refs) = root.sub(&Name::REFS) {
        loose_refs(&refs, "refs", DEPTH_MAX, &mut names);
    }
    let packed = read(root, &Name::PACKED_REFS).unwrap_or_else(|what| {
        findings.add_outside(Fault::new("refs", what));
        None
    });
    let packed = packed.unwrap_or_default();
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

fn loose_refs(folder: &Folder, name: &str, depth: u32, names: &mut Vec<String>) {
    for found in folder.look_at_all().unwrap_or_default() {
        let name = format!("{name}/{}", found.name.to_string_lossy());
        let below = (found.look.kind == Kind::Folder && depth > 0)
            .then(|| folder.enter(&found).ok())
            .flatten();
        // A link to a folder is followed by stock git, and is itself nothing a store has.
        if let Some(below) = below {
            loose_refs(&below, &name, depth - 1, names);
        } else if !has_extension(&name, "lock") {
            // What ends in `.lock` is no ref, but what stock git leaves behind when it is killed.
            names.push(name);
        }
    }
}

/// What stands in the place of a file that agekeep makes and can do without, and is none.
fn kinds(root: &Folder, findings: &mut Findings) {
    let files = [
        Name::BRANCH_BEFORE,
        Name::CATALOG,
        Name::TIMELINE,
        Name::AUDITORS_CATALOG,
        Name::AUDITORS_TIMELINE,
        Name::JOURNAL_NEW,
        Name::LOCK,
    ];
    for name in files {
        if let Err(error) = root.has_that_is(&name, Kind::File) {
            let fault = root.fault("look at", &name)(error);
            findings.add_outside(Fault::new("stray", fault.to_string()));
        }
    }
}

fn has_extension(name: &str, wanted: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|found| found == wanted)
}

fn hooks(root: &Folder, findings: &mut Findings) {
    let mut fault = |what: String| findings.add_outside(Fault::new("hooks", what));
    let folder = match root.sub(&Name::HOOKS) {
        Ok(folder) => folder,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return,
        Err(e) => return fault(root.fault("read", &Name::HOOKS)(e).to_string()),
    };
    for found in folder.look_at_all().unwrap_or_default() {
        let name = found.name.to_string_lossy();
        // What a link leads to may be anything at any time.
        let runs = match found.look.kind {
            Kind::File => found.look.mode & 0o111 != 0,
            kind => kind == Kind::Link,
        };
        if runs && !has_extension(&name, "sample") {
            fault(format!("hooks/{name:?} can be run"));
        }
    }
}

fn stray(root: &Folder, findings: &mut Findings) {
    for name in root.list().unwrap_or_default() {
        let name = name.to_string_lossy().into_owned();
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
