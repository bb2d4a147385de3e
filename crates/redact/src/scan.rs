//! The scan of one text, for secrets that stand plainly in it, that are encoded, escaped, disguised
//! or split, and that are repeated.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use crate::engine::{BUILT_IN, Engine};
use crate::gitleaks::Gitleaks;
use crate::notes::{self, Label};
use crate::personal::{self, Personal};
use crate::span::{Kind, Rank, Span};
use crate::view::{self, TextView};
use crate::{code_list, decode, entropy, mnemonic, named, rules};

/// Most levels to which encodings inside encodings are followed.
const DEPTH_MAX: usize = 2;
/// Shortest value whose repetitions are looked for in the rest of the text, in bytes.
const REPEAT_BYTES_MIN: usize = 8;
/// Longest value whose repetitions are looked for, in bytes.
const REPEAT_BYTES_MAX: usize = 1_024;
/// Shortest piece of a token that counts as broken although it is whole by itself, in bytes: no
/// program breaks shorter lines.
const BROKEN_BYTES_MIN: usize = 56;
/// Most different values whose repetitions are looked for.
const REPEATS_MAX: usize = 4_096;

/// The owner's switches for the built-in rules.
#[derive(Debug, Clone)]
pub(super) struct Switches {
    pub(super) off: BTreeSet<Kind>,
    pub(super) personal: Personal,
}

impl Default for Switches {
    fn default() -> Self {
        Self {
            off: BTreeSet::new(),
            personal: Personal::PROVEN,
        }
    }
}

/// The rules that one text is scanned with.
pub(super) struct Scan<'a> {
    /// The owner's rules, besides the built-in ones.
    pub(super) own: Option<&'a Engine>,
    /// The rules of the owner's `gitleaks.toml`.
    pub(super) gitleaks: Option<&'a Gitleaks>,
    /// The owner's switches.
    pub(super) switches: &'a Switches,
    /// The path of the text, for rules that ask.
    pub(super) path: &'a str,
    /// True to weigh words too, which takes sentences to tell.
    pub(super) weighs: bool,
}

impl Scan<'_> {
    /// Finds every secret in a text whose markers have been blanked. Spans may overlap.
    pub(super) fn of(&self, text: &[u8], budget: &mut Budget) -> Result<Vec<Span>, OverBudget> {
        let (mut labels, mut found) = (Vec::new(), Vec::new());
        self.labelled(text, budget, &mut labels, &mut found)?;
        personal::scan(text, self.switches.personal, &mut found);
        if let Some(gitleaks) = self.gitleaks {
            gitleaks.scan(text, self.path, budget, &mut found)?;
        }
        self.views(text, budget, &mut found, DEPTH_MAX)?;
        // Once, and last: the other findings say best what stands around a word.
        if self.weighs {
            notes::scan(text, &labels, &mut found);
        }
        found.retain(|span| !self.switches.off.contains(&span.kind));
        repeats(text, &mut found);
        Ok(found)
    }

    fn plain(
        &self,
        text: &[u8],
        budget: &mut Budget,
        found: &mut Vec<Span>,
    ) -> Result<(), OverBudget> {
        self.labelled(text, budget, &mut Vec::new(), found)
    }

    /// Finds the secrets that stand plainly in a text, and the words that announce a secret nearby.
    fn labelled(
        &self,
        text: &[u8],
        budget: &mut Budget,
        labels: &mut Vec<Label>,
        found: &mut Vec<Span>,
    ) -> Result<(), OverBudget> {
        BUILT_IN.plain(text, budget, labels, found)?;
        mnemonic::scan(text, found);
        code_list::disk_keys(text, found);
        self.own
            .map_or(Ok(()), |own| own.plain(text, budget, labels, found))
    }

    /// Finds the secrets that are encoded, escaped, disguised or split.
    fn views(
        &self,
        text: &[u8],
        budget: &mut Budget,
        found: &mut Vec<Span>,
        depth: usize,
    ) -> Result<(), OverBudget> {
        for run in decode::runs(text) {
            let mut inside = Vec::new();
            self.plain(&run.text, budget, &mut inside)?;
            if depth > 1 {
                self.views(&run.text, budget, &mut inside, depth - 1)?;
            }
            if inside.is_empty() && named::is_login(&run.text) {
                let whole = 0..run.text.len();
                inside.push(Span::new(whole, "credential", Rank::Named));
            }
            if inside.is_empty() && is_password_line(text, &run) {
                let whole = 0..run.text.len();
                inside.push(Span::new(whole, "password", Rank::Named));
            }
            // One finding is enough: the whole run is removed.
            if let Some(span) = inside.into_iter().max_by_key(|span| span.rank) {
                let (start, end) = (run.range.start, run.range.end);
                found.push(Span { start, end, ..span });
            }
        }
        let views = [view::unescaped, view::joined, view::bared];
        for view in views.into_iter().filter_map(|view| view(text)) {
            let mut inside = Vec::new();
            self.plain(view.bytes(), budget, &mut inside)?;
            if depth > 1 {
                self.views(view.bytes(), budget, &mut inside, depth - 1)?;
            }
            found.extend(
                inside
                    .into_iter()
                    .flat_map(|span| through(text, &view, &span)),
            );
        }
        for wrapped in view::wrapped(text) {
            let mut inside = Vec::new();
            self.plain(wrapped.view.bytes(), budget, &mut inside)?;
            for span in inside {
                if self.is_broken(&wrapped, &span) {
                    found.extend(through(text, &wrapped.view, &span));
                }
            }
        }
        Ok(())
    }

    /// Tells whether a line break splits a finding in joined lines.
    fn is_broken(&self, wrapped: &view::Wrapped, span: &Span) -> bool {
        // The catch-all knows no length, and would take in a line that begins with a digest.
        let vague = span.rank < Rank::Structural || span.kind.as_str() == rules::CATCH_ALL;
        if span.start >= wrapped.seam || span.end <= wrapped.seam || vague {
            return false;
        }
        // The token could be whole before the break, and the next line begin with something else.
        // Then only a long line counts as broken.
        let rest = &wrapped.view.bytes()[wrapped.seam..span.end];
        let broken =
            wrapped.seam >= BROKEN_BYTES_MIN && wrapped.piece >= 12 && entropy::random(rest);
        broken || !self.is_whole_before(wrapped, span)
    }

    /// Tells whether the piece before the break is as long as a token of its own. A finding of the
    /// catch-all there proves nothing: it would take half a token as well.
    fn is_whole_before(&self, wrapped: &view::Wrapped, span: &Span) -> bool {
        let mut alone = Vec::new();
        let before = &wrapped.view.bytes()[..wrapped.seam];
        let scanned = self.plain(before, &mut Budget::new(1 << 20, 1_000), &mut alone);
        scanned.is_ok()
            && alone
                .iter()
                .filter(|one| one.kind.as_str() != rules::CATCH_ALL)
                .any(|one| {
                    one.start <= span.start && span.start < one.end && one.rank >= Rank::Structural
                })
    }
}

/// Maps a finding in a view back to the text: one span for each literal or line that it was joined
/// from, so that the text between them stays. A block of armour is removed whole.
fn through(text: &[u8], view: &TextView, span: &Span) -> Vec<Span> {
    let range = span.start..span.end;
    let ranges = if span.rank == Rank::Armour {
        vec![view.source(&range)]
    } else {
        view.pieces(text, range)
    };
    let piece = |Range { start, end }| Span {
        start,
        end,
        ..span.clone()
    };
    ranges.into_iter().map(piece).collect()
}

/// Tells whether a run could encode a password, and its line speaks of one.
fn is_password_line(text: &[u8], run: &decode::Encoded) -> bool {
    static WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
        AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build([
                "passw", "secret", "token", "api key", "api_key", "apikey", "pwd",
            ])
            .expect("a few words")
    });
    if run.text.len() > 128 || !named::is_password(&run.text) {
        return false;
    }
    let before = &text[run.range.start.saturating_sub(120)..run.range.start];
    let before = memchr::memrchr(b'\n', before).map_or(before, |n| &before[n + 1..]);
    let after = &text[run.range.end..text.len().min(run.range.end + 120)];
    let after = memchr::memchr(b'\n', after).map_or(after, |n| &after[..n]);
    WORDS.is_match(before) || WORDS.is_match(after)
}

/// Finds every further place of a value that was found once.
fn repeats(text: &[u8], found: &mut Vec<Span>) {
    let mut values: BTreeMap<&[u8], Span> = BTreeMap::new();
    for span in found.iter().filter(|span| span.rank != Rank::Armour) {
        let value = &text[span.start..span.end];
        let makeup = entropy::Makeup::of(value);
        let telling =
            makeup.digits > 0 && makeup.letters() + makeup.symbols > 0 && makeup.distinct >= 5;
        let length = (REPEAT_BYTES_MIN..=REPEAT_BYTES_MAX).contains(&value.len());
        if length && telling && values.len() < REPEATS_MAX {
            values.entry(value).or_insert_with(|| span.clone());
        }
    }
    if values.is_empty() {
        return;
    }
    let kind = Some(AhoCorasickKind::ContiguousNFA);
    let automaton = AhoCorasick::builder().kind(kind).build(values.keys());
    let automaton = automaton.expect("a few megabytes of values fit an automaton");
    let spans: Vec<&Span> = values.values().collect();
    let again: Vec<Span> = automaton
        .find_iter(text)
        .map(|again| Span {
            start: again.start(),
            end: again.end(),
            kind: spans[again.pattern().as_usize()].kind.clone(),
            rank: spans[again.pattern().as_usize()].rank,
        })
        .collect();
    found.extend(again);
}

/// Sorts spans, and merges overlapping ones into one of the surest kind, on whole characters.
pub(super) fn merge(text: &str, mut spans: Vec<Span>) -> Vec<Span> {
    spans.retain(|span| span.start < span.end && span.end <= text.len());
    for span in &mut spans {
        while !text.is_char_boundary(span.start) {
            span.start -= 1;
        }
        while !text.is_char_boundary(span.end) {
            span.end += 1;
        }
    }
    spans.sort_by_key(|span| (span.start, span.end));
    let mut merged: Vec<Span> = Vec::new();
    // The length of the finding that names the last merged span.
    let mut named = 0;
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start < last.end => {
                // The surest finding names the whole; of two equally sure ones, the longer.
                if (span.rank, span.end - span.start) > (last.rank, named) {
                    named = span.end - span.start;
                    last.kind = span.kind;
                    last.rank = span.rank;
                }
                last.end = last.end.max(span.end);
            }
            _ => {
                named = span.end - span.start;
                merged.push(span);
            }
        }
    }
    merged
}

// Budgets: rules that others wrote run only so long, then the text is refused.

/// The bytes and matches left for one text. Once overdrawn, a budget stays so.
#[derive(Debug)]
pub(super) struct Budget {
    bytes: u64,
    matches: u64,
}

/// The reason why a text could not be scanned to its end. It must then not be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OverBudget {
    /// The scan would read more bytes than the limit allows.
    Bytes,
    /// The rules found more matches than the limit allows.
    Matches,
    /// A pattern needs more memory than it may have.
    Pattern {
        /// The rule that the pattern belongs to.
        rule: String,
        /// The fault of the pattern.
        why: String,
    },
}

impl Budget {
    /// Makes a budget of bytes to read, with each pass over a byte counted, and of matches.
    pub(super) const fn new(bytes: u64, matches: u64) -> Self {
        Self { bytes, matches }
    }

    /// Pays for a pass over `count` bytes before it is made.
    pub(super) fn read(&mut self, count: usize) -> Result<(), OverBudget> {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        spend(&mut self.bytes, count).ok_or(OverBudget::Bytes)
    }

    /// Pays for one match.
    pub(super) fn found(&mut self) -> Result<(), OverBudget> {
        spend(&mut self.matches, 1).ok_or(OverBudget::Matches)
    }
}

/// Takes `count` from `left`, or all of it if there is too little.
fn spend(left: &mut u64, count: u64) -> Option<()> {
    let rest = left.checked_sub(count);
    *left = rest.unwrap_or(0);
    rest.map(|_| ())
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes => f.write_str("the rules would read the text too many times"),
            Self::Matches => f.write_str("the rules match too often"),
            Self::Pattern { rule, why } => write!(f, "rule `{rule}`: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_ends_and_stays_ended() {
        let mut budget = Budget::new(10, 1);
        assert_eq!(budget.read(10), Ok(()));
        assert_eq!(budget.read(1), Err(OverBudget::Bytes));
        assert_eq!(budget.read(1), Err(OverBudget::Bytes));
        assert_eq!(budget.read(0), Ok(()));
        assert_eq!(budget.found(), Ok(()));
        assert_eq!(budget.found(), Err(OverBudget::Matches));
    }

    #[test]
    fn what_does_not_fit_takes_all() {
        let mut budget = Budget::new(10, 0);
        assert_eq!(budget.read(11), Err(OverBudget::Bytes));
        assert_eq!(budget.read(1), Err(OverBudget::Bytes));
    }
}
