//! Verification through the binary: of every scenario, exactly its findings, with and without the
//! identity.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Home, stderr, stdout, verify_result};
use crate::zoo::live;
use crate::zoo::open;
use crate::zoo::scenario::{self, MARK, Scenario};

/// Every finding that a scenario or a live test here is about: the one list of them.
const FINDINGS: &[&str] = &[
    "alternates",
    "author",
    "blob-digest",
    "blob-form",
    "catalog",
    "chain",
    "commit-form",
    "config",
    "erased-key",
    "event-number",
    "former-signer",
    "grafts",
    "head",
    "history-broken",
    "hooks",
    "journal",
    "key-damaged",
    "key-left",
    "key-shared",
    "keyring",
    "keyring-ahead",
    "keyring-missing",
    "memory-closed",
    "memory-key",
    "memory-misplaced",
    "merge",
    "not-allowed",
    "object-damaged",
    "object-missing",
    "pin-rolled-back",
    "policy-changed",
    "recipients-changed",
    "record-closed",
    "record-malformed",
    "record-mismatch",
    "record-swapped",
    "refs",
    "replace-refs",
    "signature",
    "signer",
    "signers-changed",
    "state",
    "stray",
    "time-author",
    "time-backwards",
    "tree-change",
    "tree-form",
    "unsigned",
];

/// Findings about what was kept outside the store, whose tests have no forged store: those of
/// checkpoints, of the store that was seen at a place, and of the point up to which an earlier run
/// verified.
const ELSEWHERE: &[&str] = &[
    "another-store",
    "checkpoint-foreign",
    "checkpoint-fork",
    "checkpoint-rolled-back",
    "checkpoint-unsigned",
    "history-moved",
    "pin-damaged",
];

/// What a full verification says.
pub(crate) struct Verified {
    pub(crate) findings: BTreeSet<String>,
    erased: u64,
    exit: Option<i32>,
    /// How it has to end by what it found.
    end: i32,
    said: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Verifies the store of a home, which must not change by it.
pub(crate) fn verify(home: &Home) -> Verified {
    let before = scenario::all_files(&home.store());
    let output = home.run(&["--json", "verify", "--full"]);
    let after = scenario::all_files(&home.store());
    let changed: Vec<_> = after
        .iter()
        .filter(|(name, bytes)| before.get(*name) != Some(bytes))
        .map(|(name, _)| name)
        .collect();
    assert!(
        changed.is_empty() && before.len() == after.len(),
        "{changed:?}"
    );
    let said = stdout(&output) + &stderr(&output);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let findings = report["findings"].as_array().into_iter().flatten();
    let findings = findings.map(|finding| finding["id"].as_str().expect("an id").to_owned());
    let erased = match &report["erased"] {
        Value::Array(ids) => ids.len() as u64,
        number => number.as_u64().unwrap_or_default(),
    };
    let schema = report["schema"].as_str();
    assert_eq!(schema, Some("agekeep.verify/1"), "{said}");
    Verified {
        findings: findings.collect(),
        erased,
        exit: output.status.code(),
        end: verify_result(&report).1,
        said,
    }
}

impl Verified {
    /// What is not as it should be, in words.
    fn faults(&self, expect: &BTreeSet<String>, erased: u64) -> Vec<String> {
        let mut faults = Vec::new();
        if self.findings != *expect {
            faults.push(format!(
                "{:?}, not {expect:?}: {}",
                self.findings, self.said
            ));
        }
        let exit = self.end;
        if self.exit != Some(exit) {
            faults.push(format!("exit {:?}, not {exit}", self.exit));
        }
        if self.erased != erased {
            faults.push(format!("{} erased, not {erased}", self.erased));
        }
        if self.said.contains(MARK) {
            faults.push("it shows what a memory says".into());
        }
        faults
    }

    /// Asserts exactly these findings.
    pub(crate) fn assert(&self, expect: &[&str]) {
        self.assert_erased(expect, 0);
    }

    /// Asserts exactly these findings, and how many memories are erased.
    pub(crate) fn assert_erased(&self, expect: &[&str], erased: u64) {
        let expect = expect.iter().map(|id| (*id).to_owned()).collect();
        assert_eq!(self.faults(&expect, erased), Vec::<String>::new());
    }
}

#[test]
fn the_base_has_no_findings() {
    verify(&scenario::base_home(true)).assert(&[]);
    verify(&scenario::base_home(false)).assert(&[]);
}

/// Each forged store is made once: somebody without keys verifies it, then its owner, who reads it
/// last. Verification changes nothing in it; [`verify`] sees to that.
#[test]
fn every_scenario_has_exactly_its_findings_for_both_and_reads_as_it_says() {
    let faults = scenario::each(|scenario| {
        let home = scenario.home();
        scenario::forget_everything(&home);
        let verified = verify(&home);
        let mut faults = verified.faults(&scenario.expect_keyless, 0);
        if verified.said.contains("plan.md") {
            faults.push("a path without a key".into());
        }
        scenario::forget_everything(&home);
        scenario::give_keys(&home);
        faults.extend(verify(&home).faults(&scenario.expect, scenario.erased));
        scenario::forget_everything(&home);
        scenario::give_keys(&home);
        faults.extend(open::faults(scenario, &home));
        faults
    });
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn every_finding_has_a_scenario_and_every_scenario_a_known_finding() {
    let mut shown: BTreeSet<String> = live::FINDINGS.iter().map(|id| (*id).into()).collect();
    for scenario in Scenario::all() {
        let keyless = &scenario.expect_keyless;
        assert!(
            keyless.is_subset(&scenario.expect),
            "{}: with a key no less is found",
            scenario.name
        );
        let plain =
            scenario.open == "ok" || !scenario.why.is_empty() || !scenario.expect.is_empty();
        assert!(plain, "{}: says why", scenario.name);
        shown.extend(scenario.expect);
    }
    let known: BTreeSet<String> = FINDINGS.iter().map(|id| (*id).into()).collect();
    assert_eq!(shown, known);
}

/// Names of files that look like ids.
const FILES: &[&str] = &["http-alternates", "packed-refs"];

/// Ids stand in the sources as texts of their own: whatever looks like one has to be known here,
/// and whatever is known has to stand there.
#[test]
fn every_finding_that_verification_can_raise_is_listed() {
    let mut texts = BTreeSet::new();
    literals(&root().join("src/verify.rs"), &mut texts);
    literals(&root().join("src/verify"), &mut texts);
    literals(&root().join("src/note.rs"), &mut texts);
    literals(&root().join("src/pin.rs"), &mut texts);
    let looks_like_one = |text: &&String| {
        let mut words = text.split('-');
        let lower = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase());
        text.contains('-') && words.all(lower)
    };
    let known: BTreeSet<&str> = FINDINGS.iter().chain(ELSEWHERE).copied().collect();
    let raised = texts.iter().filter(looks_like_one).map(String::as_str);
    let unknown: Vec<_> = raised
        .filter(|text| !known.contains(text) && !FILES.contains(text))
        .collect();
    assert!(unknown.is_empty(), "no scenario shows {unknown:?}");
    let gone: Vec<_> = known.iter().filter(|id| !texts.contains(**id)).collect();
    assert!(gone.is_empty(), "nothing raises {gone:?}");
}

/// Every text in the code of a file or folder, without its tests and comments.
fn literals(path: &Path, texts: &mut BTreeSet<String>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a folder") {
            literals(&entry.expect("an entry").path(), texts);
        }
        return;
    }
    let Ok(source) = fs::read_to_string(path) else {
        return;
    };
    let code = source.split("#[cfg(test)]").next().expect("one piece");
    for line in code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
    {
        texts.extend(line.split('"').skip(1).step_by(2).map(str::to_owned));
    }
}
