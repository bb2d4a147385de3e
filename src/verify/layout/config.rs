//! The file `config`, which only stock git reads: what agekeep wrote, and where to push to.

use super::super::findings::{Fault, Findings};
use super::read;
use crate::disk::{Folder, Name};
use crate::repository::CONFIG;
use std::collections::BTreeMap;

/// Keys of a remote or branch that stock git writes when one is added.
const OF_REMOTES: &[&str] = &["url", "fetch"];
const OF_BRANCHES: &[&str] = &["remote", "merge"];

pub(super) fn check(root: &Folder, findings: &mut Findings) {
    let mut fault = |what: String| findings.add_outside(Fault::new("config", what));
    let bytes = match read(root, &Name::CONFIG) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return fault("the file config is missing".into()),
        Err(what) => return fault(what),
    };
    let mut own: BTreeMap<String, String> = keys(CONFIG)
        .filter_map(Result::ok)
        .map(|key| (key.name, key.value))
        .collect();
    let expected = own.clone();
    for (index, key) in keys(&String::from_utf8_lossy(&bytes)).enumerate() {
        let Ok(key) = key else {
            fault(format!(
                "a line of config does not parse, after {index} keys"
            ));
            continue;
        };
        match expected.get(&key.name) {
            Some(value) if *value == key.value => drop(own.remove(&key.name)),
            // What was said is said once, with the value it has.
            Some(_) => {
                own.remove(&key.name);
                fault(format!("config gives {} another value", key.name));
            }
            None if is_harmless(&key) => {}
            None => fault(format!("config has the key {:?}", key.name)),
        }
    }
    for name in own.into_keys() {
        fault(format!("config does not say {name}"));
    }
}

/// A key with its section, and its value.
struct Key {
    name: String,
    value: String,
    section: String,
    subsection: bool,
    last: String,
}

fn is_harmless(key: &Key) -> bool {
    let known = match key.section.as_str() {
        "remote" => OF_REMOTES,
        "branch" => OF_BRANCHES,
        _ => return false,
    };
    // A remote helper is a program.
    let runs = key.value.contains("::") || key.value.trim_start_matches('"').starts_with('-');
    key.subsection && known.contains(&key.last.as_str()) && !(runs && key.last == "url")
}

/// Every key in a configuration file (git-config(1)); an error for each line that is none.
fn keys(text: &str) -> impl Iterator<Item = Result<Key, ()>> {
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

/// `core]`, or `remote "origin"]`, and nothing behind it.
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

fn key((section, subsection): &(String, Option<String>), line: &str) -> Option<Key> {
    let (last, value) = line.split_once('=').unwrap_or((line, "true"));
    let (last, value) = (last.trim(), value.trim());
    // A value that goes on in the next line could hide a key.
    if section.is_empty() || !plain(last) || value.ends_with('\\') {
        return None;
    }
    let last = last.to_ascii_lowercase();
    let name = match subsection {
        Some(subsection) => format!("{section}.{subsection}.{last}"),
        None => format!("{section}.{last}"),
    };
    Some(Key {
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
        check(&Folder::at(folder.path()).expect("there"), &mut findings);
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
        assert_eq!(findings("").len(), keys(CONFIG).count());
    }
}
