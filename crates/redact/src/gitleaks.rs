//! The owner's rules, in the form of a `gitleaks.toml`.
//!
//! * `file`: the keys of the file.
//! * `load`: the way from the file to rules, and the reasons for refusals.
//! * `go`: patterns in Go's syntax.
//! * `scan`: the run of the rules, and patterns, which are compiled when first needed.
//!
//! Each statement of the file is followed, or refused with its line. Statements that have no
//! bearing here (commits, rules for file names, the switch for gitleaks' own rules) are accepted
//! and reported.

mod file;
mod go;
mod load;
mod scan;

use std::fmt;
use std::sync::{Arc, OnceLock};

use self::load::{AllowList, LoadedRule, RuleOutcome};
use self::scan::{Gate, Pattern, Room};

/// The rules of a file, ready to run.
#[derive(Debug)]
pub(crate) struct Gitleaks {
    rules: Vec<LoadedRule>,
    allow: Vec<Arc<AllowList>>,
    room: Room,
    gate: OnceLock<Option<Gate>>,
}

/// A fault in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line, from 1.
    pub line: Option<usize>,
    /// The reason.
    pub why: String,
}

impl Fault {
    fn new(line: Option<usize>, why: impl Into<String>) -> Self {
        let why = why.into();
        Self { line, why }
    }
}

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

/// The verdicts on all parts of a file.
#[derive(Debug)]
pub(crate) struct GitleaksReport {
    /// Every rule, in the order of the file.
    pub(crate) rules: Vec<Checked>,
    /// Faults outside the rules.
    pub(crate) faults: Vec<Fault>,
    /// Remarks on parts that are accepted, but have no bearing here.
    pub(crate) remarks: Vec<String>,
}

/// A rule, and the verdict on it.
#[derive(Debug)]
pub struct Checked {
    /// Its id in the file.
    pub id: String,
    /// The line it begins at.
    pub line: usize,
    /// The verdict on the rule.
    pub verdict: Verdict,
}

/// The verdict on a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It runs, as it is written.
    Loaded,
    /// It runs. These parts of its patterns are written another way, with the same meaning.
    Rewritten(Vec<&'static str>),
    /// It does not run, and need not.
    Ignored(&'static str),
    /// It cannot run: the file is refused.
    Refused(Fault),
}

impl Gitleaks {
    /// Reads the rules. Patterns are translated, but compiled only when they are first needed: call
    /// [`Gitleaks::check`] before a file is accepted.
    ///
    /// # Errors
    /// The first [`Fault`], with its line.
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        let loaded = load::load(text)?;
        if let Some(fault) = loaded.faults.into_iter().next() {
            return Err(fault);
        }
        let mut rules = Vec::with_capacity(loaded.rules.len());
        for entry in loaded.rules {
            match entry.outcome {
                RuleOutcome::Loaded(rule) => rules.push(*rule),
                RuleOutcome::Ignored(_) => {}
                RuleOutcome::Refused(fault) => return Err(fault),
            }
        }
        Ok(Self {
            rules,
            allow: loaded.allow,
            room: Room::new(),
            gate: OnceLock::new(),
        })
    }

    /// Reads a file and compiles all its patterns, for a verdict on each rule.
    ///
    /// # Errors
    /// A [`Fault`] that keeps the file from being read at all: in its syntax, in an unknown key, in
    /// a value of the wrong type, in its size.
    pub(crate) fn check(text: &str) -> Result<GitleaksReport, Fault> {
        let loaded = load::load(text)?;
        let room = Room::new();
        let mut faults = loaded.faults;
        for pattern in loaded.allow.iter().flat_map(|allow| allow.patterns()) {
            if let Err(why) = pattern.regex(&room) {
                faults.push(Fault::new(None, format!("allowlist: {why}")));
            }
        }
        let mut rules = Vec::with_capacity(loaded.rules.len());
        for entry in loaded.rules {
            let verdict = match entry.outcome {
                RuleOutcome::Loaded(rule) => verdict(&rule, entry.line, &room),
                RuleOutcome::Ignored(why) => Verdict::Ignored(why),
                RuleOutcome::Refused(fault) => Verdict::Refused(fault),
            };
            rules.push(Checked {
                id: entry.id,
                line: entry.line,
                verdict,
            });
        }
        Ok(GitleaksReport {
            rules,
            faults,
            remarks: loaded.remarks,
        })
    }

    /// Returns the number of rules that run.
    pub(crate) fn len(&self) -> usize {
        self.rules.len()
    }

    /// Returns the kinds of the rules.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = String> {
        self.rules.iter().map(|rule| rule.kind.as_str().to_owned())
    }
}

impl GitleaksReport {
    /// Returns the first fault for which the file must be refused.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        let refused = self.rules.iter().find_map(|rule| match &rule.verdict {
            Verdict::Refused(fault) => Some(fault),
            _ => None,
        });
        self.faults.first().or(refused)
    }
}

/// Compiles the patterns of a rule, for the verdict on it.
fn verdict(rule: &LoadedRule, line: usize, room: &Room) -> Verdict {
    let failed = rule
        .patterns()
        .find_map(|pattern: &Pattern| pattern.regex(room).err());
    if let Some(why) = failed {
        let why = format!("rule `{}`: {why}", rule.id);
        return Verdict::Refused(Fault::new(Some(line), why));
    }
    let changes = rule.changes();
    if changes.is_empty() {
        Verdict::Loaded
    } else {
        Verdict::Rewritten(changes.into_iter().map(go::Rewrite::what).collect())
    }
}

#[cfg(test)]
mod tests;
