//! Allowlists, of one rule or of all: the secrets that are let pass.

use std::sync::{Arc, OnceLock};

use aho_corasick::AhoCorasick;
use toml::Spanned;

use crate::gitleaks::load::{COMMITS, Loaded, RuleOutcome, Source};
use crate::gitleaks::scan::Pattern;
use crate::gitleaks::{Fault, file};

/// An allowlist.
#[derive(Debug)]
pub(in crate::gitleaks) struct AllowList {
    /// Set if all of its conditions must hold, and not only one.
    pub(in crate::gitleaks) all: bool,
    /// Set if it names commits. A text never stands in one here.
    pub(in crate::gitleaks) commits: bool,
    pub(in crate::gitleaks) paths: Vec<Pattern>,
    pub(in crate::gitleaks) target: Target,
    pub(in crate::gitleaks) regexes: Vec<Pattern>,
    pub(in crate::gitleaks) stops: Option<Stops>,
}

/// The text that the patterns of an allowlist are matched against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::gitleaks) enum Target {
    Secret,
    Match,
    Line,
}

/// Stop words in lower case. A secret that holds one of them is let pass.
#[derive(Debug)]
pub(in crate::gitleaks) struct Stops {
    words: Vec<String>,
    built: OnceLock<Option<AhoCorasick>>,
}

impl Stops {
    /// Tells whether a text in lower case holds one of the words.
    pub(in crate::gitleaks) fn within(&self, lower: &str) -> bool {
        let built = self
            .built
            .get_or_init(|| AhoCorasick::new(&self.words).ok());
        match built {
            Some(words) => words.is_match(lower),
            None => self.words.iter().any(|word| lower.contains(word)),
        }
    }
}

impl AllowList {
    /// Returns its patterns.
    pub(in crate::gitleaks) fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.paths.iter().chain(&self.regexes)
    }
}

impl Source {
    /// Reads the allowlists of one rule.
    pub(super) fn allowlists(
        &self,
        owner: &str,
        rule: &file::RawRule,
    ) -> Result<Vec<Arc<AllowList>>, Fault> {
        if let Some(old) = &rule.allowlist
            && !rule.allowlists.is_empty()
        {
            let why = format!("{owner}: both `allowlist` and `allowlists`");
            return Err(self.fault(old, why));
        }
        let mut allow = Vec::new();
        for list in rule.allowlists.iter().chain(&rule.allowlist) {
            if let Some(targets) = &list.get_ref().target_rules {
                let why = format!("{owner}: `targetRules` in an allowlist of one rule");
                return Err(self.fault(targets, why));
            }
            allow.push(Arc::new(self.allow(owner, list)?));
        }
        Ok(allow)
    }

    /// Reads the allowlists outside the rules, and gives them to the rules that they name or to
    /// all.
    pub(super) fn global(&self, file: &file::File, loaded: &mut Loaded) {
        if let Some(old) = &file.allowlist
            && !file.allowlists.is_empty()
        {
            let why = "both `[allowlist]` and `[[allowlists]]`";
            loaded.faults.push(self.fault(old, why));
        }
        for list in file.allowlists.iter().chain(&file.allowlist) {
            let allow = match self.allow("allowlist", list) {
                Ok(allow) => Arc::new(allow),
                Err(fault) => {
                    loaded.faults.push(fault);
                    continue;
                }
            };
            if allow.commits {
                loaded.remarks.push(format!("allowlist: {COMMITS}"));
            }
            let targets = list.get_ref().target_rules.as_ref();
            match targets.map(Spanned::get_ref) {
                Some(targets) if !targets.is_empty() => {
                    for target in targets {
                        self.target(target, &allow, loaded);
                    }
                }
                _ => loaded.allow.push(allow),
            }
        }
    }

    fn target(&self, target: &Spanned<String>, allow: &Arc<AllowList>, loaded: &mut Loaded) {
        let id = target.get_ref();
        let Some(entry) = loaded.rules.iter_mut().find(|entry| entry.id == *id) else {
            let why =
                format!("allowlist: `targetRules` names `{id}`, which is no rule of this file");
            loaded.faults.push(self.fault(target, why));
            return;
        };
        if let RuleOutcome::Loaded(rule) = &mut entry.outcome {
            rule.allow.push(Arc::clone(allow));
        }
    }

    fn allow(&self, owner: &str, spanned: &Spanned<file::Allowlist>) -> Result<AllowList, Fault> {
        let list = spanned.get_ref();
        let all = match &list.condition {
            None => false,
            Some(condition) => match condition.get_ref().to_uppercase().as_str() {
                "AND" | "&&" => true,
                "" | "OR" | "||" => false,
                _ => {
                    let why = format!("{owner}: `condition` is neither `AND` nor `OR`");
                    return Err(self.fault(condition, why));
                }
            },
        };
        let target = match &list.regex_target {
            None => Target::Secret,
            Some(target) => match target.get_ref().as_str() {
                "" | "secret" => Target::Secret,
                "match" => Target::Match,
                "line" => Target::Line,
                _ => {
                    let why = format!("{owner}: `regexTarget` is not `secret`, `match` or `line`");
                    return Err(self.fault(target, why));
                }
            },
        };
        let stops = self.words(owner, "stop word", &list.stopwords)?;
        let allow = AllowList {
            all,
            commits: !list.commits.is_empty(),
            paths: self.patterns(owner, "paths", &list.paths)?,
            target,
            regexes: self.patterns(owner, "regexes", &list.regexes)?,
            stops: (!stops.is_empty()).then(|| Stops {
                words: stops,
                built: OnceLock::new(),
            }),
        };
        let empty = allow.paths.is_empty() && allow.regexes.is_empty() && allow.stops.is_none();
        if empty && !allow.commits {
            let why = format!("{owner}: an allowlist of no commits, paths, regexes or stopwords");
            return Err(self.fault(spanned, why));
        }
        Ok(allow)
    }

    /// Reads the patterns of an allowlist. An empty one would let everything pass.
    fn patterns(
        &self,
        owner: &str,
        key: &str,
        all: &[Spanned<String>],
    ) -> Result<Vec<Pattern>, Fault> {
        let mut patterns = Vec::with_capacity(all.len());
        for spanned in all {
            let Some(pattern) = self.pattern(owner, key, Some(spanned))? else {
                let why = format!("{owner}: `{key}`: an empty pattern lets everything pass");
                return Err(self.fault(spanned, why));
            };
            patterns.push(pattern);
        }
        Ok(patterns)
    }
}
