//! Checks the store's folder for anything that stock git would see, follow or run.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::Path;

use crate::disk::{self, FileKind, Folder, Name};
use crate::id::hex_bytes;
use crate::repository::{BRANCH, CONFIG};
use crate::verify::findings::{Fault, Findings};

/// The names in a store's folder: those that agekeep makes, and those that stock git makes by
/// itself.
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
    "local.toml",
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

/// What stock git adds to a clone that has files checked out.
const OF_CHECKOUT: &[&str] = &["index", "index.lock", "COMMIT_EDITMSG"];

/// Prefixes of the names of temporary files.
const PASSING: &[&str] = &["tmp_agekeep_", ".agekeep-init-", ".nfs"];

/// The depth to which folders of refs are searched: stock git makes no deeper ones.
const DEPTH_MAX: u32 = 32;

/// Checks everything in the folder but history and keys.
pub(super) fn check(root: &Folder, findings: &mut Findings) {
    let names = refs(root, findings);
    head_file(root, &names, findings);
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
    check_config(root, findings);
    hooks(root, findings);
    kinds(root, findings);
    stray(root, findings);
}

/// Tells whether something is there, or that cannot be known.
fn may_have(folder: &Folder, name: &Name) -> bool {
    !matches!(disk::if_there(folder.look(name)), Ok(None | Some(None)))
}

/// Reads a file; `None` if there is none. The error says what is wrong with it.
fn read(root: &Folder, name: &Name) -> Result<Option<Vec<u8>>, String> {
    disk::if_there(root.read(name)).map_err(|e| root.fault("read", name)(e).to_string())
}

/// Tells whether stock git made the folder: a store has a journal.
fn is_clone(root: &Folder) -> bool {
    !root.has(&Name::JOURNAL)
}

/// Tells whether stock git made the folder for a clone that has files checked out.
fn has_checkout(root: &Folder) -> bool {
    let config = read(root, &Name::CONFIG).ok().flatten().unwrap_or_default();
    let config = String::from_utf8_lossy(&config);
    let mut keys = keys(&config).filter_map(Result::ok);
    let bare = keys.find(|key| key.name == "core.bare");
    is_clone(root) && bare.is_some_and(|key| key.value == "false")
}

/// Checks the file `HEAD`, of which only stock git reads what it says. If it names another branch,
/// stock git shows that one; a clone of a host may name a branch that is not there.
fn head_file(root: &Folder, refs: &[String], findings: &mut Findings) {
    let what = format!("the file HEAD does not say {BRANCH}");
    let (id, what) = match read(root, &Name::HEAD) {
        Ok(found) => {
            let text = found.and_then(|found| String::from_utf8(found).ok());
            let name = text.as_deref();
            let name = name.and_then(|text| text.strip_prefix("ref: ")?.strip_suffix('\n'));
            let is_missing = |name: &str| !refs.iter().any(|known| known == name);
            match name {
                Some(BRANCH) => return,
                Some(name) if name.starts_with("refs/heads/") && is_missing(name) => {
                    if is_clone(root) {
                        return;
                    }
                    ("refs", what)
                }
                _ => ("head", what),
            }
        }
        Err(what) => ("head", what),
    };
    findings.add_outside(Fault::new(id, what));
}

/// Reports every ref but the branch and, in a clone, those of machines and those that stock git keeps of a
/// remote; returns the names of all.
fn refs(root: &Folder, findings: &mut Findings) -> Vec<String> {
    let mut names = Vec::new();
    if let Ok(refs) = root.sub(&Name::REFS) {
        loose_refs(&refs, "refs", DEPTH_MAX, &mut names);
    }
    let packed = read(root, &Name::PACKED_REFS).unwrap_or_else(|what| {
        findings.add_outside(Fault::new("refs", what));
        None
    });
    let packed = packed.unwrap_or_default();
    let packed = String::from_utf8_lossy(&packed);
    let mut packed_names = HashSet::new();
    for line in packed.lines() {
        if line.starts_with(['#', '^']) || line.is_empty() {
            continue;
        }
        let name = line.split_once(' ').map_or(line, |(_, name)| name);
        if !packed_names.insert(name) {
            // Readers differ in which of the two counts.
            let what = format!("packed-refs has {name:?} twice");
            findings.add_outside(Fault::new("head", what));
        }
        names.push(name.to_owned());
    }
    names.sort();
    names.dedup();
    let (is_clone, has_checkout) = (is_clone(root), has_checkout(root));
    let is_known =
        |name: &&String| is_clone && is_of_machine(name) || has_checkout && is_of_remote(name);
    let others = names.iter().filter(|name| *name != BRANCH);
    for name in others.filter(|name| !is_known(name)) {
        let id = if name.starts_with("refs/replace/") {
            "replace-refs"
        } else {
            "refs"
        };
        let what = format!("there is a ref {name:?}");
        findings.add_outside(Fault::new(id, what));
    }
    names
}

/// Tells whether a ref is a machine's card or line, also where a host takes branches alone.
fn is_of_machine(name: &str) -> bool {
    let beside = name.strip_prefix("refs/agekeep/");
    let beside = beside.or_else(|| name.strip_prefix("refs/heads/agekeep/"));
    let parts = beside.and_then(|rest| rest.split_once('/'));
    parts.is_some_and(|(kind, rest)| {
        // A copied machine has a line beside that of the first.
        let line = rest.split_once('-').filter(|_| kind == "lines");
        let digits = match line {
            Some((digits, head)) if hex_bytes::<4>(head).is_some() => digits,
            _ => rest,
        };
        ["cards", "lines"].contains(&kind) && hex_bytes::<8>(digits).is_some()
    })
}

/// Tells whether a ref is one that stock git keeps of a remote.
fn is_of_remote(name: &str) -> bool {
    let rest = name.strip_prefix("refs/remotes/");
    let rest = rest.and_then(|rest| rest.split_once('/'));
    rest.is_some_and(|(_, rest)| {
        rest == "HEAD"
            || rest == BRANCH.trim_start_matches("refs/heads/")
            || is_of_machine(&format!("refs/heads/{rest}"))
    })
}

fn loose_refs(folder: &Folder, name: &str, depth: u32, names: &mut Vec<String>) {
    for found in folder.look_at_all().unwrap_or_default() {
        let name = format!("{name}/{}", found.name.to_string_lossy());
        let below = (found.look.kind == FileKind::Folder && depth > 0)
            .then(|| folder.enter(&found).ok())
            .flatten();
        // Stock git follows a link to a folder, and a store has no such link.
        if let Some(below) = below {
            loose_refs(&below, &name, depth - 1, names);
        } else if !has_extension(&name, "lock") {
            // A name in `.lock` is no ref, but a leftover of a killed stock git.
            names.push(name);
        }
    }
}

/// Reports anything but a file in the place of files that agekeep makes and can do without.
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
        if let Err(error) = root.has_that_is(&name, FileKind::File) {
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
        // The target of a link may be anything at any time.
        let runs = match found.look.kind {
            FileKind::File => found.look.is_executable(),
            kind => kind == FileKind::Link,
        };
        if runs && !has_extension(&name, "sample") {
            fault(format!("hooks/{name:?} can be run"));
        }
    }
}

fn stray(root: &Folder, findings: &mut Findings) {
    let has_checkout = has_checkout(root);
    let files = root.look_at_all().unwrap_or_default().into_iter();
    let files: Vec<String> = files
        .filter(|found| found.look.kind == FileKind::File)
        .map(|found| found.name.to_string_lossy().into_owned())
        .filter(|name| OF_CHECKOUT.contains(&name.as_str()))
        .collect();
    for name in root.list().unwrap_or_default() {
        let name = name.to_string_lossy().into_owned();
        let passing = PASSING.iter().any(|begin| name.starts_with(begin));
        let is_of_checkout = has_checkout && files.contains(&name);
        if passing || is_of_checkout || KNOWN.contains(&name.as_str()) {
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

// Checks of the file `config`, which only stock git reads: either agekeep's own keys, or those of a
// clone; and remotes.

/// The keys of `CONFIG` that stock git writes as well.
const OF_BOTH: &[&str] = &[
    "core.repositoryformatversion",
    "core.bare",
    "core.filemode",
    "core.logallrefupdates",
];
/// The key of `CONFIG` that stores of earlier versions lack.
const LATER: &str = "receive.hiderefs";
/// Those of them that a clone has to have.
const OF_CLONES: &[&str] = &["core.repositoryformatversion", "core.bare"];
/// Keys of `core` that stock git writes by what the file system can do.
const OF_CORE: &[&str] = &[
    "filemode",
    "ignorecase",
    "logallrefupdates",
    "precomposeunicode",
    "symlinks",
];
/// Keys of a remote or branch that stock git writes when one is added.
const OF_REMOTES: &[&str] = &["url", "fetch", "mirror"];
const OF_BRANCHES: &[&str] = &["remote", "merge"];

fn check_config(root: &Folder, findings: &mut Findings) {
    let mut fault = |what: String| findings.add_outside(Fault::new("config", what));
    let bytes = match read(root, &Name::CONFIG) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return fault("the file config is missing".into()),
        Err(what) => return fault(what),
    };
    let found: Vec<_> = keys(&String::from_utf8_lossy(&bytes)).collect();
    let mut expected = expected_keys(&found);
    if has_checkout(root) && !expected.contains_key(LATER) {
        expected.insert("core.bare".into(), "false".into());
    }
    let mut missing = expected.clone();
    for (index, key) in found.into_iter().enumerate() {
        let Ok(key) = key else {
            fault(format!(
                "a line of config does not parse, after {index} keys"
            ));
            continue;
        };
        match expected.get(&key.name) {
            Some(value) if *value == key.value => drop(missing.remove(&key.name)),
            // Each key is reported once, with the value it has.
            Some(_) => {
                missing.remove(&key.name);
                fault(format!("config gives {} another value", key.name));
            }
            None if is_harmless(&key) => {}
            None => fault(format!("config has the key {:?}", key.name)),
        }
    }
    for name in missing.into_keys().filter(|name| name != LATER) {
        fault(format!("config does not say {name}"));
    }
}

/// Returns the keys that a file has to have, with their values: all of agekeep's own, or, where
/// stock git wrote the file for a clone and none is agekeep's alone, the few of a bare repository.
fn expected_keys(found: &[Result<ConfigEntry, ()>]) -> BTreeMap<String, String> {
    let mut own: BTreeMap<String, String> = keys(CONFIG)
        .filter_map(Result::ok)
        .map(|key| (key.name, key.value))
        .collect();
    let is_own = |key: &ConfigEntry| own.contains_key(&key.name);
    let mut own_alone = found.iter().flatten().filter(|key| is_own(key));
    if own_alone.all(|key| OF_BOTH.contains(&key.name.as_str())) {
        own.retain(|name, _| OF_CLONES.contains(&name.as_str()));
    }
    own
}

/// A key with its section, and its value.
struct ConfigEntry {
    name: String,
    value: String,
    section: String,
    subsection: bool,
    last: String,
}

fn is_harmless(key: &ConfigEntry) -> bool {
    let is_switch = ["true", "false"].contains(&key.value.as_str());
    if key.section == "core" {
        return !key.subsection && OF_CORE.contains(&key.last.as_str()) && is_switch;
    }
    let known = match key.section.as_str() {
        "remote" => OF_REMOTES,
        "branch" => OF_BRANCHES,
        _ => return false,
    };
    // A remote helper is a program, and quotes could hide that one is named.
    let runs =
        key.value.contains("::") || key.value.contains(['"', '\\']) || key.value.starts_with('-');
    key.subsection && known.contains(&key.last.as_str()) && !(runs && key.last == "url")
}

/// Parses every key of a configuration file (git-config(1)), with an error for each invalid line.
fn keys(text: &str) -> impl Iterator<Item = Result<ConfigEntry, ()>> {
    let mut header = (String::new(), None::<String>);
    text.lines().filter_map(move |line| {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            return None;
        }
        let Some(rest) = line.strip_prefix('[') else {
            return Some(key(&header, line).ok_or(()));
        };
        match section(rest) {
            Some(found) => {
                header = found;
                None
            }
            None => Some(Err(())),
        }
    })
}

/// Parses `core]` or `remote "origin"]`, with nothing after it.
fn section(rest: &str) -> Option<(String, Option<String>)> {
    let inner = rest.strip_suffix(']')?;
    let Some((name, quoted)) = inner.split_once(' ') else {
        return plain(inner).then(|| (inner.to_ascii_lowercase(), None));
    };
    let subsection = quoted.trim().strip_prefix('"')?.strip_suffix('"')?;
    let ordinary = !subsection.contains(['"', '\\', ']', '[']);
    (plain(name) && ordinary).then(|| (name.to_ascii_lowercase(), Some(subsection.to_owned())))
}

fn plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn key((section, subsection): &(String, Option<String>), line: &str) -> Option<ConfigEntry> {
    let (last, value) = line.split_once('=').unwrap_or((line, "true"));
    let (last, value) = (last.trim(), value.trim());
    // A value that continues on the next line could hide a key.
    if section.is_empty() || !plain(last) || value.ends_with('\\') {
        return None;
    }
    let last = last.to_ascii_lowercase();
    let name = match subsection {
        Some(subsection) => format!("{section}.{subsection}.{last}"),
        None => format!("{section}.{last}"),
    };
    Some(ConfigEntry {
        name,
        value: value.to_owned(),
        section: section.clone(),
        subsection: subsection.is_some(),
        last,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn findings(config: &str) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("config"), config).expect("written");
        let mut findings = Findings::default();
        check_config(&Folder::at(folder.path()).expect("there"), &mut findings);
        findings.listed.into_iter().map(|one| one.what).collect()
    }

    #[test]
    fn what_agekeep_wrote_and_remotes_are_no_findings() {
        assert!(findings(CONFIG).is_empty());
        let remote = "[remote \"origin\"]\n\turl = git@host:store.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                      [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
        assert!(findings(&format!("{CONFIG}{remote}# a comment\n")).is_empty());
    }

    #[test]
    fn hostile_keys_are_findings() {
        for (bad, word) in [
            ("[core]\n\tfsmonitor = /tmp/x\n", "core.fsmonitor"),
            ("[core]\n\thooksPath = /tmp\n", "core.hookspath"),
            ("[include]\n\tpath = /tmp/x\n", "include.path"),
            ("[alias]\n\tlog = !sh\n", "alias.log"),
            ("[CORE]\n\tBARE = false\n", "core.bare"),
            ("[core]\n\tsshCommand\n", "core.sshcommand"),
            ("[remote \"o\"]\n\turl = ext::sh -c x\n", "remote.o.url"),
            ("[remote \"o\"]\n\tuploadpack = x\n", "remote.o.uploadpack"),
            ("[remote]\n\turl = x\n", "remote.url"),
            (
                "[extensions]\n\tobjectFormat = sha256\n",
                "extensions.objectformat",
            ),
            ("[core] pager = x\n", "does not parse"),
            ("[remote \"a\\\"b\"]\n", "does not parse"),
            ("x = 1\\\n", "does not parse"),
        ] {
            let found = findings(&format!("{CONFIG}{bad}"));
            assert!(
                found.iter().any(|what| what.contains(word)),
                "{bad}: {found:?}"
            );
        }
    }

    #[test]
    fn what_is_gone_is_a_finding() {
        let without = CONFIG.replace("\tdenyDeletes = true\n", "");
        assert_eq!(findings(&without).len(), 1);
        assert_eq!(
            findings("[gc]\n\tauto = 0\n").len(),
            keys(CONFIG).count() - 2
        );
        let earlier = CONFIG.replace("\thideRefs = refs/\n", "");
        assert_ne!(earlier, CONFIG);
        assert_eq!(findings(&earlier), Vec::<String>::new());
        assert_eq!(
            findings(&CONFIG.replace("hideRefs = refs/", "hideRefs = x")).len(),
            1
        );
        // Nothing in it is agekeep's own, so only what a clone has is missing.
        assert_eq!(findings("").len(), OF_CLONES.len());
    }

    const CLONE: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = false\n\tbare = true\n\
                         \tignorecase = true\n\tprecomposeunicode = true\n\tsymlinks = false\n\
                         [remote \"origin\"]\n\turl = https://host/store.git\n\
                         \tfetch = +refs/*:refs/*\n\tmirror = true\n";

    #[test]
    fn what_git_writes_for_a_clone_is_no_finding() {
        assert_eq!(findings(CLONE), Vec::<String>::new());
    }

    #[test]
    fn what_runs_or_deceives_is_a_finding_in_a_clone_too() {
        for (bad, word) in [
            ("[core]\n\tfsmonitor = /tmp/x\n", "core.fsmonitor"),
            ("[core]\n\thooksPath = /tmp\n", "core.hookspath"),
            ("[core]\n\tworktree = /tmp\n", "core.worktree"),
            ("[core]\n\tsymlinks = !sh\n", "core.symlinks"),
            ("[core]\n\tbare = false\n", "core.bare"),
            (
                "[core]\n\trepositoryformatversion = 1\n",
                "core.repositoryformatversion",
            ),
            ("[include]\n\tpath = /tmp/x\n", "include.path"),
            ("[alias]\n\tlog = !sh\n", "alias.log"),
            ("[credential]\n\thelper = !sh\n", "credential.helper"),
            ("[diff \"x\"]\n\ttextconv = sh\n", "diff.x.textconv"),
            ("[uploadpack]\n\tpackObjectsHook = sh\n", "uploadpack."),
            ("[remote \"origin\"]\n\tpromisor = true\n", "promisor"),
            ("[remote \"o\"]\n\turl = zz:\":\"x\n", "remote.o.url"),
            ("[receive]\n\tdenyDeletes = false\n", "receive.denydeletes"),
        ] {
            let found = findings(&format!("{CLONE}{bad}"));
            assert!(
                found.iter().any(|what| what.contains(word)),
                "{bad}: {found:?}"
            );
        }
    }
}
