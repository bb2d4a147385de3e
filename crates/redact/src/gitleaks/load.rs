//! Turns the file as it is written into rules that can run.

mod allow;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use toml::Spanned;

use crate::gitleaks::go::Rewrite;
use crate::gitleaks::scan::Pattern;
use crate::gitleaks::{Fault, file};
use crate::span::Kind;

pub(super) use self::allow::{AllowList, Target};

/// Largest file, in bytes.
const FILE_BYTES: usize = 2 * 1024 * 1024;
/// Most rules in one file.
const RULES: usize = 2_000;
/// Most bytes of keywords and stop words in one file.
const WORD_BYTES: usize = 256 * 1024;

/// A rule that can run.
#[derive(Debug)]
pub(super) struct LoadedRule {
    pub(super) id: String,
    pub(super) kind: Kind,
    pub(super) regex: Pattern,
    /// The group that is the secret; 0 for the first that is not empty.
    pub(super) group: usize,
    /// The entropy up to which a secret is let pass; 0 lets none pass.
    pub(super) entropy: f64,
    /// Keywords in lower case. The rule runs on a text that holds one of them; without keywords it
    /// always runs.
    pub(super) keywords: Vec<String>,
    /// A pattern for the path. The rule runs only where it matches.
    pub(super) path: Option<Pattern>,
    pub(super) allow: Vec<Arc<AllowList>>,
}

/// The outcome of loading a rule of the file.
pub(super) enum RuleOutcome {
    Loaded(Box<LoadedRule>),
    /// The rule has no bearing on a text; with the reason.
    Ignored(&'static str),
    Refused(Fault),
}

/// A rule of the file, with its outcome.
pub(super) struct RuleEntry {
    pub(super) id: String,
    pub(super) line: usize,
    pub(super) outcome: RuleOutcome,
}

/// The contents of a file.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) rules: Vec<RuleEntry>,
    /// Allowlists for all its rules.
    pub(super) allow: Vec<Arc<AllowList>>,
    /// Faults outside its rules.
    pub(super) faults: Vec<Fault>,
    /// Remarks for its owner.
    pub(super) remarks: Vec<String>,
}

/// Reads a file. A fault in one rule does not keep the others from being read.
pub(super) fn load(text: &str) -> Result<Loaded, Fault> {
    if text.len() > FILE_BYTES {
        return Err(Fault::new(None, "the file is larger than 2 MiB"));
    }
    let source = Source::new(text);
    let file: file::File = toml::from_str(text).map_err(|error| Fault {
        line: error.span().map(|span| source.line(span.start)),
        why: error.message().to_owned(),
    })?;
    if let Some(rule) = file.rules.get(RULES) {
        return Err(source.fault(rule, "more than 2,000 rules"));
    }
    let words = file.words();
    if words > WORD_BYTES {
        let why = "more than 256 KiB of keywords and stop words";
        return Err(Fault::new(None, why));
    }
    let mut loaded = Loaded::default();
    source.extend(&file.extend, &mut loaded);
    source.rules(&file, &mut loaded);
    source.global(&file, &mut loaded);
    Ok(loaded)
}

impl file::File {
    /// Counts the bytes of all keywords and stop words.
    fn words(&self) -> usize {
        let of_rules = self.rules.iter().flat_map(|rule| {
            let rule = rule.get_ref();
            let lists = rule.allowlists.iter().chain(&rule.allowlist);
            let stops = lists.flat_map(|list| &list.get_ref().stopwords);
            rule.keywords.iter().chain(stops)
        });
        let lists = self.allowlists.iter().chain(&self.allowlist);
        let of_file = lists.flat_map(|list| &list.get_ref().stopwords);
        of_rules
            .chain(of_file)
            .map(|word| word.get_ref().len())
            .sum()
    }
}

/// The ends of the file's lines, from which a fault gets its line.
struct Source {
    ends: Vec<usize>,
}

impl Source {
    fn new(text: &str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at).collect();
        Self { ends }
    }

    fn line(&self, at: usize) -> usize {
        1 + self.ends.partition_point(|end| *end < at)
    }

    fn fault<T>(&self, place: &Spanned<T>, why: impl Into<String>) -> Fault {
        Fault::new(Some(self.line(place.span().start)), why)
    }

    fn extend(&self, extend: &file::Extend, loaded: &mut Loaded) {
        for (name, value) in [("path", &extend.path), ("url", &extend.url)] {
            if let Some(value) = value {
                let why = format!("`extend.{name}`: no other file is read; put its rules in here");
                loaded.faults.push(self.fault(value, why));
            }
        }
        if extend.use_default {
            let remark = "`extend.useDefault`: gitleaks' own rules are not here; \
                          our own rules stand in for them";
            loaded.remarks.push(remark.into());
        }
        if !extend.disabled_rules.is_empty() {
            loaded.remarks.push(format!(
                "`extend.disabledRules`: {} belong to gitleaks' own rules, which are not here",
                extend.disabled_rules.join(", ")
            ));
        }
    }

    fn rules(&self, file: &file::File, loaded: &mut Loaded) {
        let mut ids = BTreeSet::new();
        let mut kinds = BTreeMap::new();
        for spanned in &file.rules {
            let rule = spanned.get_ref();
            let line = self.line(spanned.span().start);
            let outcome = self
                .kind(spanned, &mut ids, &mut kinds)
                .and_then(|kind| self.rule(spanned, kind, file.extend.use_default))
                .unwrap_or_else(RuleOutcome::Refused);
            let commits = |list: &Spanned<file::Allowlist>| !list.get_ref().commits.is_empty();
            if rule.allowlists.iter().chain(&rule.allowlist).any(commits) {
                loaded
                    .remarks
                    .push(format!("rule `{}`: {COMMITS}", rule.id));
            }
            loaded.rules.push(RuleEntry {
                id: rule.id.clone(),
                line,
                outcome,
            });
        }
    }

    /// Makes the kind of an id, which no other rule may have.
    fn kind<'f>(
        &self,
        spanned: &'f Spanned<file::RawRule>,
        ids: &mut BTreeSet<&'f str>,
        kinds: &mut BTreeMap<Kind, &'f str>,
    ) -> Result<Kind, Fault> {
        let id = spanned.get_ref().id.as_str();
        if id.trim().is_empty() {
            return Err(self.fault(spanned, "a rule without an `id`"));
        }
        if !ids.insert(id) {
            return Err(self.fault(spanned, format!("a second rule `{id}`")));
        }
        let Some(kind) = Kind::parse(&clean(id)) else {
            let why = format!("rule `{id}`: its id holds fewer than two of a-z and 0-9");
            return Err(self.fault(spanned, why));
        };
        if let Some(other) = kinds.get(&kind) {
            let kind = kind.as_str();
            let why = format!("rule `{id}`: its kind would be `{kind}`, as that of rule `{other}`");
            return Err(self.fault(spanned, why));
        }
        kinds.insert(kind.clone(), id);
        Ok(kind)
    }

    fn rule(
        &self,
        spanned: &Spanned<file::RawRule>,
        kind: Kind,
        default: bool,
    ) -> Result<RuleOutcome, Fault> {
        let rule = spanned.get_ref();
        let owner = format!("rule `{}`", rule.id);
        for (name, value) in [
            ("required", &rule.required),
            ("skipReport", &rule.skip_report),
        ] {
            if let Some(value) = value {
                let why = format!("{owner}: `{name}`: rules that hang together do not run here");
                return Err(self.fault(value, why));
            }
        }
        let path = self.pattern(&owner, "path", rule.path.as_ref())?;
        let Some(regex) = self.pattern(&owner, "regex", rule.regex.as_ref())? else {
            return match path {
                Some(_) => Ok(RuleOutcome::Ignored(
                    "it finds files by their names alone: there is no text to remove",
                )),
                None if default => Err(self.fault(
                    spanned,
                    format!("{owner} changes one of gitleaks' own rules, which are not here"),
                )),
                None => Err(self.fault(spanned, format!("{owner} has neither `regex` nor `path`"))),
            };
        };
        let group = self.group(&owner, rule, &regex)?;
        let entropy = self.entropy(&owner, rule)?;
        let keywords = self.words(&owner, "keyword", &rule.keywords)?;
        let allow = self.allowlists(&owner, rule)?;
        Ok(RuleOutcome::Loaded(Box::new(LoadedRule {
            id: rule.id.clone(),
            kind,
            regex,
            group,
            entropy,
            keywords,
            path,
            allow,
        })))
    }

    /// Reads the number of the group that is the secret.
    fn group(&self, owner: &str, rule: &file::RawRule, regex: &Pattern) -> Result<usize, Fault> {
        let Some(place) = &rule.secret_group else {
            return Ok(0);
        };
        let (group, count) = (*place.get_ref(), regex.groups);
        if group > count {
            let why = format!("{owner}: `secretGroup` is {group}, its regex has {count}");
            return Err(self.fault(place, why));
        }
        Ok(group)
    }

    fn entropy(&self, owner: &str, rule: &file::RawRule) -> Result<f64, Fault> {
        let Some(place) = &rule.entropy else {
            return Ok(0.0);
        };
        let entropy = *place.get_ref();
        if !entropy.is_finite() || entropy < 0.0 {
            let why = format!("{owner}: `entropy` is {entropy}");
            return Err(self.fault(place, why));
        }
        Ok(entropy)
    }

    /// Reads a pattern. An empty pattern counts as none.
    fn pattern(
        &self,
        owner: &str,
        key: &str,
        spanned: Option<&Spanned<String>>,
    ) -> Result<Option<Pattern>, Fault> {
        let Some(spanned) = spanned.filter(|text| !text.get_ref().is_empty()) else {
            return Ok(None);
        };
        match Pattern::new(spanned.get_ref()) {
            Ok(pattern) => Ok(Some(pattern)),
            Err(refusal) => Err(self.fault(spanned, format!("{owner}: `{key}`: {refusal}"))),
        }
    }

    /// Reads words, and puts them in lower case.
    fn words(
        &self,
        owner: &str,
        what: &str,
        words: &[Spanned<String>],
    ) -> Result<Vec<String>, Fault> {
        if let Some(empty) = words.iter().find(|word| word.get_ref().is_empty()) {
            return Err(self.fault(empty, format!("{owner}: an empty {what}")));
        }
        let lower = |word: &Spanned<String>| word.get_ref().to_lowercase();
        Ok(words.iter().map(lower).collect())
    }
}

const COMMITS: &str = "its `commits` let nothing pass: a text is scanned before it is in a commit";

/// Turns an id into a kind: lower case, one `-` for each run of other characters, no more than 40
/// bytes.
fn clean(id: &str) -> String {
    let mut kind = String::with_capacity(id.len());
    for c in id.chars() {
        let c = c.to_ascii_lowercase();
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            kind.push(c);
        } else if !kind.is_empty() && !kind.ends_with('-') {
            kind.push('-');
        }
    }
    kind.truncate(40);
    kind.trim_end_matches('-').to_owned()
}

impl LoadedRule {
    /// Returns the rule's own patterns and those of its allowlists.
    pub(super) fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        let lists = self.allow.iter().flat_map(|allow| allow.patterns());
        std::iter::once(&self.regex).chain(&self.path).chain(lists)
    }

    /// Returns the constructs that were written another way in its patterns.
    pub(super) fn changes(&self) -> BTreeSet<Rewrite> {
        self.patterns()
            .flat_map(|pattern| pattern.changes.iter().copied())
            .collect()
    }
}
