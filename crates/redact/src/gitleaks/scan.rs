//! Runs the owner's rules over a text.
//!
//! It does so as gitleaks does, with these differences, all towards removing more:
//! * a comment `gitleaks:allow` lets nothing pass, nor does a commit;
//! * where the group that is the secret took no part in the match, the whole match is the secret;
//! * a finding of a rule named "generic" stays though another rule finds the same;
//! * each pattern of an allowlist stands for itself: its flags do not reach the next one;
//! * a line is one line, also where it is the last and nothing ends it.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};

use crate::gitleaks::Gitleaks;
use crate::gitleaks::go::{self, Rewrite};
use crate::gitleaks::load::{AllowList, LoadedRule, Target};
use crate::scan::{Budget, OverBudget};
use crate::span::{Rank, Span};

/// The byte in place of our own markers; no span may cover it.
const BOUNDARY: u8 = 0x01;

/// A gate that finds the rules with a keyword in a text.
#[derive(Debug)]
pub(super) struct Gate {
    words: AhoCorasick,
    /// The rules of each word.
    rules: Vec<Vec<usize>>,
    /// Set if a word has letters whose case ASCII does not fold.
    wide: bool,
}

impl Gate {
    /// Builds the gate of these rules. Returns `None` if it cannot be built, and all rules must
    /// run.
    pub(super) fn new(rules: &[LoadedRule]) -> Option<Self> {
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut words = Vec::new();
        let mut owners: Vec<Vec<usize>> = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            for word in &rule.keywords {
                let place = *places.entry(word).or_insert_with(|| {
                    words.push(word);
                    owners.push(Vec::new());
                    owners.len() - 1
                });
                owners[place].push(index);
            }
        }
        let wide = words.iter().any(|word| !word.is_ascii());
        let words = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(words)
            .ok()?;
        Some(Self {
            words,
            rules: owners,
            wide,
        })
    }

    /// Returns the rules that have a keyword in the text.
    fn open(&self, text: &[u8], budget: &mut Budget) -> Result<HashSet<usize>, OverBudget> {
        budget.read(text.len())?;
        let lower;
        let text = if self.wide {
            lower = String::from_utf8_lossy(text).to_lowercase();
            lower.as_bytes()
        } else {
            text
        };
        let mut seen = vec![false; self.rules.len()];
        let mut open = HashSet::new();
        for hit in self.words.find_overlapping_iter(text) {
            // Keywords may hold each other: each hit costs as much as a byte.
            budget.read(1)?;
            let word = hit.pattern().as_usize();
            if !seen[word] {
                seen[word] = true;
                open.extend(&self.rules[word]);
            }
        }
        Ok(open)
    }
}

impl Gitleaks {
    /// Finds the secrets of the owner's rules in a text, the memory `path`. The text holds the byte
    /// 0x01 in place of our own markers.
    ///
    /// # Errors
    /// [`OverBudget`] if the rules cost too much; the findings until then are not all.
    pub(crate) fn scan(
        &self,
        text: &[u8],
        path: &str,
        budget: &mut Budget,
        found: &mut Vec<Span>,
    ) -> Result<(), OverBudget> {
        let mut run = Run {
            text,
            path,
            room: &self.room,
            budget,
            line: 0..0,
            lines: HashMap::new(),
        };
        for allow in &self.allow {
            if run.path_allowed(GLOBAL, allow)? {
                return Ok(());
            }
        }
        let gate = self.gate.get_or_init(|| Gate::new(&self.rules));
        let open = match gate {
            Some(gate) => Some(gate.open(text, run.budget)?),
            None => None,
        };
        for (index, rule) in self.rules.iter().enumerate() {
            let closed = open.as_ref().is_some_and(|open| !open.contains(&index));
            if rule.keywords.is_empty() || !closed {
                run.rule(self, rule, found)?;
            }
        }
        Ok(())
    }
}

/// The name, in a fault, of the allowlists outside the rules.
const GLOBAL: &str = "allowlist";

/// A scan of one text.
struct Run<'a> {
    text: &'a [u8],
    path: &'a str,
    room: &'a Room,
    budget: &'a mut Budget,
    /// The line that was asked for last.
    line: Range<usize>,
    /// The answers of allowlists for lines: whether they let the line pass.
    lines: HashMap<(*const AllowList, usize, usize), bool>,
}

impl Run<'_> {
    fn rule(
        &mut self,
        all: &Gitleaks,
        rule: &LoadedRule,
        found: &mut Vec<Span>,
    ) -> Result<(), OverBudget> {
        for allow in &rule.allow {
            if self.path_allowed(&rule.id, allow)? {
                return Ok(());
            }
        }
        if let Some(path) = &rule.path
            && !self.matches(&rule.id, path, self.path.as_bytes())?
        {
            return Ok(());
        }
        let regex = compiled(&rule.id, &rule.regex, self.room)?;
        self.budget.read(self.text.len())?;
        for found_at in regex.find_iter(self.text) {
            self.budget.found()?;
            let whole = trimmed(self.text, found_at.range());
            if whole.is_empty() {
                continue;
            }
            let secret = self.secret(rule, regex, &whole)?;
            let allowed = entropy_allows(rule, &self.text[secret.clone()])
                || self.any_allows(all, rule, &whole, &secret)?;
            if !allowed {
                self.push(rule, secret, found);
            }
        }
        Ok(())
    }

    /// Returns the secret in a match: a group of the pattern, which is matched against the match
    /// alone.
    fn secret(
        &mut self,
        rule: &LoadedRule,
        regex: &regex::bytes::Regex,
        whole: &Range<usize>,
    ) -> Result<Range<usize>, OverBudget> {
        if rule.regex.groups == 0 {
            return Ok(snapped(self.text, whole.clone()));
        }
        self.budget.read(whole.len())?;
        let group = Pattern::group(regex, &self.text[whole.clone()], rule.group);
        let secret = group.map_or(whole.clone(), |group| {
            whole.start + group.start..whole.start + group.end
        });
        Ok(snapped(self.text, secret))
    }

    fn any_allows(
        &mut self,
        all: &Gitleaks,
        rule: &LoadedRule,
        whole: &Range<usize>,
        secret: &Range<usize>,
    ) -> Result<bool, OverBudget> {
        for allow in &all.allow {
            if self.allows(GLOBAL, allow, whole, secret)? {
                return Ok(true);
            }
        }
        for allow in &rule.allow {
            if self.allows(&rule.id, allow, whole, secret)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Tells whether an allowlist lets a finding pass. Lists of paths alone were asked before the
    /// scan.
    fn allows(
        &mut self,
        owner: &str,
        allow: &AllowList,
        whole: &Range<usize>,
        secret: &Range<usize>,
    ) -> Result<bool, OverBudget> {
        if allow.all {
            return Ok(!allow.commits
                && (allow.paths.is_empty() || self.path_matches(owner, allow)?)
                && (allow.regexes.is_empty()
                    || self.regex_allows(owner, allow, whole, secret)?)
                && (allow.stops.is_none() || self.word_allows(allow, secret)?));
        }
        Ok(self.regex_allows(owner, allow, whole, secret)? || self.word_allows(allow, secret)?)
    }

    fn regex_allows(
        &mut self,
        owner: &str,
        allow: &AllowList,
        whole: &Range<usize>,
        secret: &Range<usize>,
    ) -> Result<bool, OverBudget> {
        if allow.regexes.is_empty() {
            return Ok(false);
        }
        let range = match allow.target {
            Target::Secret => secret.clone(),
            Target::Match => whole.clone(),
            Target::Line => self.line(whole)?,
        };
        let text = &self.text[range.clone()];
        if allow.target != Target::Line {
            return self.any_matches(owner, &allow.regexes, text);
        }
        let key = (std::ptr::from_ref(allow), range.start, range.end);
        if let Some(known) = self.lines.get(&key) {
            return Ok(*known);
        }
        let allowed = self.any_matches(owner, &allow.regexes, text)?;
        self.lines.insert(key, allowed);
        Ok(allowed)
    }

    /// Returns the lines of a match. A line is searched once, however many matches are on it.
    fn line(&mut self, whole: &Range<usize>) -> Result<Range<usize>, OverBudget> {
        if self.line.start <= whole.start && whole.end <= self.line.end {
            return Ok(self.line.clone());
        }
        let found = line(self.text, whole);
        self.budget.read(found.len())?;
        if !self.text[whole.clone()].contains(&b'\n') {
            self.line = found.clone();
        }
        Ok(found)
    }

    fn word_allows(
        &mut self,
        allow: &AllowList,
        secret: &Range<usize>,
    ) -> Result<bool, OverBudget> {
        let Some(stops) = &allow.stops else {
            return Ok(false);
        };
        self.budget.read(secret.len())?;
        let lower = String::from_utf8_lossy(&self.text[secret.clone()]).to_lowercase();
        Ok(stops.within(&lower))
    }

    /// Tells whether an allowlist lets the whole text pass for its path.
    fn path_allowed(&mut self, owner: &str, allow: &AllowList) -> Result<bool, OverBudget> {
        let more = !allow.regexes.is_empty() || allow.stops.is_some() || allow.commits;
        if allow.all && more {
            return Ok(false);
        }
        self.path_matches(owner, allow)
    }

    fn path_matches(&mut self, owner: &str, allow: &AllowList) -> Result<bool, OverBudget> {
        if self.path.is_empty() {
            return Ok(false);
        }
        self.any_matches(owner, &allow.paths, self.path.as_bytes())
    }

    fn any_matches(
        &mut self,
        owner: &str,
        patterns: &[Pattern],
        text: &[u8],
    ) -> Result<bool, OverBudget> {
        for pattern in patterns {
            if self.matches(owner, pattern, text)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn matches(&mut self, owner: &str, pattern: &Pattern, text: &[u8]) -> Result<bool, OverBudget> {
        self.budget.read(text.len())?;
        Ok(compiled(owner, pattern, self.room)?.is_match(text))
    }

    /// Adds the part of a secret that is to be removed: all but our own markers in it.
    fn push(&self, rule: &LoadedRule, secret: Range<usize>, found: &mut Vec<Span>) {
        let mut start = secret.start;
        for piece in self.text[secret].split(|byte| *byte == BOUNDARY) {
            if !piece.is_empty() {
                found.push(Span {
                    start,
                    end: start + piece.len(),
                    kind: rule.kind.clone(),
                    rank: Rank::Keyed,
                });
            }
            start += piece.len() + 1;
        }
    }
}

fn compiled<'p>(
    owner: &str,
    pattern: &'p Pattern,
    room: &Room,
) -> Result<&'p regex::bytes::Regex, OverBudget> {
    pattern.regex(room).map_err(|why| OverBudget::Pattern {
        rule: owner.to_owned(),
        why: why.to_owned(),
    })
}

/// Returns a range without the line ends at its ends.
fn trimmed(text: &[u8], range: Range<usize>) -> Range<usize> {
    let within = &text[range.clone()];
    let filled = |byte: &u8| *byte != b'\n';
    match (
        within.iter().position(filled),
        within.iter().rposition(filled),
    ) {
        (Some(first), Some(last)) => range.start + first..range.start + last + 1,
        _ => range.start..range.start,
    }
}

/// Widens a range to whole characters of UTF-8.
fn snapped(text: &[u8], range: Range<usize>) -> Range<usize> {
    let inside = |at: usize| text.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
    let Range { mut start, mut end } = range;
    for _ in 0..3 {
        if start > 0 && inside(start) {
            start -= 1;
        }
        if inside(end) {
            end += 1;
        }
    }
    start..end
}

/// Returns the lines of a match as gitleaks does: with the line end before them.
fn line(text: &[u8], whole: &Range<usize>) -> Range<usize> {
    let upto = (whole.start + 1).min(text.len());
    let before = text[..upto].iter().rposition(|byte| *byte == b'\n');
    let after = text[whole.end..].iter().position(|byte| *byte == b'\n');
    before.unwrap_or(0)..after.map_or(text.len(), |after| whole.end + after)
}

/// Tells whether a secret has too little entropy for the rule.
fn entropy_allows(rule: &LoadedRule, secret: &[u8]) -> bool {
    rule.entropy > 0.0 && entropy(secret) <= rule.entropy
}

/// Returns the entropy as gitleaks computes it: of characters, but over the number of bytes.
#[expect(clippy::cast_precision_loss, reason = "no text has 2^52 bytes")]
fn entropy(secret: &[u8]) -> f64 {
    let mut counts: HashMap<char, u32> = HashMap::new();
    for c in String::from_utf8_lossy(secret).chars() {
        *counts.entry(c).or_default() += 1;
    }
    let bytes = secret.len() as f64;
    let bits = |count: &u32| {
        let part = f64::from(*count) / bytes;
        -part * part.log2()
    };
    counts.values().map(bits).sum()
}

// Patterns of the owner, which are translated when read and compiled when first needed.

/// Most memory of the compiled patterns of one file, in bytes.
const ROOM: usize = 64 * 1024 * 1024;
/// The steps in which a pattern's size is measured, in bytes; the last is the limit.
const SIZES: [usize; 5] = [
    16 * 1024,
    64 * 1024,
    256 * 1024,
    1024 * 1024,
    4 * 1024 * 1024,
];

/// The memory that is left for patterns.
#[derive(Debug)]
pub(super) struct Room(AtomicUsize);

impl Room {
    /// Makes the room for the patterns of one file.
    pub(super) const fn new() -> Self {
        Self(AtomicUsize::new(ROOM))
    }

    fn take(&self, size: usize) -> bool {
        let spend = |left: usize| left.checked_sub(size);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend)
            .is_ok()
    }
}

/// A pattern in a rule or an allowlist.
#[derive(Debug)]
pub(super) struct Pattern {
    text: String,
    /// The number of groups that it captures.
    pub(super) groups: usize,
    /// The constructs that are written another way than in the file.
    pub(super) changes: BTreeSet<Rewrite>,
    built: OnceLock<Result<Regex, String>>,
}

impl Pattern {
    /// Translates a pattern in Go's syntax.
    pub(super) fn new(go: &str) -> Result<Self, go::PatternRefusal> {
        let translated = go::translate(go)?;
        Ok(Self {
            text: translated.pattern,
            groups: translated.groups,
            changes: translated.changes,
            built: OnceLock::new(),
        })
    }

    /// Returns the compiled pattern, or the reason why it cannot be compiled.
    pub(super) fn regex(&self, room: &Room) -> Result<&Regex, &str> {
        let built = self.built.get_or_init(|| compile(&self.text, room));
        built.as_ref().map_err(String::as_str)
    }

    /// Returns the range of a group of this pattern in a text: of the group `wanted`, or with 0 of
    /// the first that is not empty.
    pub(super) fn group(regex: &Regex, text: &[u8], wanted: usize) -> Option<Range<usize>> {
        let groups = regex.captures(text)?;
        let group = match wanted {
            0 => groups
                .iter()
                .skip(1)
                .flatten()
                .find(|group| !group.is_empty()),
            _ => groups.get(wanted).filter(|group| !group.is_empty()),
        };
        group.map(|group| group.range())
    }
}

/// Compiles a pattern in the smallest size that fits it, and takes that size from the room.
fn compile(text: &str, room: &Room) -> Result<Regex, String> {
    for size in SIZES {
        let built = RegexBuilder::new(text)
            .unicode(false)
            .size_limit(size)
            .build();
        match built {
            Ok(_) if !room.take(size) => {
                return Err("the patterns of the file take more than 64 MiB".into());
            }
            Ok(regex) => return Ok(regex),
            Err(regex::Error::CompiledTooBig(_)) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Err("the pattern takes more than 4 MiB".into())
}

#[cfg(test)]
mod pattern_tests {
    use super::*;

    #[test]
    fn a_pattern_takes_room_once() {
        let room = Room::new();
        let pattern = Pattern::new("ab{3}c").expect("a pattern");
        assert!(pattern.regex(&room).is_ok());
        assert!(pattern.regex(&room).is_ok());
        assert_eq!(room.0.load(Ordering::Relaxed), ROOM - SIZES[0]);
    }

    #[test]
    fn too_large_a_pattern_is_refused() {
        let room = Room::new();
        let pattern = Pattern::new("(?:[a-z]{10}\\pL){100}").expect("within Go's limit");
        assert_eq!(
            pattern.regex(&room).err(),
            Some("the pattern takes more than 4 MiB")
        );
    }

    #[test]
    fn all_patterns_together_have_a_limit() {
        let room = Room(AtomicUsize::new(SIZES[0]));
        let first = Pattern::new("a").expect("a pattern");
        let second = Pattern::new("b").expect("a pattern");
        assert!(first.regex(&room).is_ok());
        assert_eq!(
            second.regex(&room).err(),
            Some("the patterns of the file take more than 64 MiB")
        );
    }
}
