//! Tokens with a shape: a regular expression in a window around a literal. Code decides the rest:
//! neighbours, placeholders, checksums, randomness.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder};

use crate::config::OwnRule;
use crate::rule::{Check, Class, Finder, Rule, Shape, Tail};
use crate::span::{Kind, Rank, Span};
use crate::{checksum, entropy};

/// Largest compiled form of one shape, in bytes.
const SHAPE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Most bytes that a group and anchors around a shape add to its compiled form.
const ANCHORS_BYTES_MAX: usize = 64 * 1024;
/// Longest distance between a vendor's name and a bare shape behind it, in bytes.
const KEYED_REACH: usize = 160;
/// Longest distance between the word for a key or token and a vendor's name behind it, in bytes.
const KEYED_LEAD: usize = 60;
/// Longest distance between the word for a key or token and a bare shape behind it, in bytes.
const KEYED_GAP: usize = 48;
/// Most bytes of a token before its shape, if its literal stands inside the token.
const LEAD_EXTRA: usize = 128;
/// Most white space and marks of a fence before a value on the line below, in bytes.
const GAP_BELOW: usize = 24;
/// Most tries of a shape around one literal.
const SEARCHES_MAX: usize = 2;
/// Bytes behind its core that are read to judge a token; a token that passes is taken to its end.
const TAIL_JUDGED: usize = 128;

/// A shape with its rule, compiled when first needed.
pub(super) struct Token {
    kind: Kind,
    rank: Rank,
    core: Cow<'static, str>,
    lead: usize,
    reach: usize,
    tail: Tail,
    checks: Cow<'static, [Check]>,
    regex: OnceLock<Regex>,
}

impl Token {
    /// Makes the token of a built-in rule, if the rule has a shape.
    pub(super) fn of(rule: &'static Rule) -> Option<Self> {
        let Finder::Shape(Shape {
            core,
            lead,
            reach,
            tail,
        }) = &rule.finder
        else {
            return None;
        };
        Some(Self {
            kind: Kind::known(rule.kind),
            rank: if rule.class == Class::Keyed {
                Rank::Keyed
            } else {
                Rank::Marked
            },
            core: Cow::Borrowed(core),
            lead: *lead,
            reach: *reach,
            tail: *tail,
            checks: Cow::Borrowed(rule.checks),
            regex: OnceLock::new(),
        })
    }

    /// Makes the token of an owner's rule.
    pub(super) fn own(rule: &OwnRule) -> Self {
        Self {
            kind: Kind::parse(&rule.kind).expect("checked when the policy was read"),
            rank: Rank::Marked,
            core: Cow::Owned(rule.shape.clone()),
            lead: rule.lead,
            reach: rule.reach,
            tail: rule.tail,
            checks: Cow::Owned(rule.checks.clone()),
            regex: OnceLock::new(),
        }
    }

    fn regex(&self) -> &Regex {
        self.regex.get_or_init(|| {
            let core = &self.core;
            let anchored = self.lead == 0 && self.rank != Rank::Keyed;
            let pattern = if anchored {
                format!("^(?:{core})")
            } else {
                core.to_string()
            };
            compile(&pattern).expect("the shape was compiled when it was accepted")
        })
    }

    /// Looks for the token where its literal stands.
    pub(super) fn at(&self, text: &[u8], at: usize, found: &mut Vec<Span>) {
        if self.lead == 0 && !begins(text, at) {
            return;
        }
        let from = at - self.lead.min(at);
        let to = text.len().min(at + self.reach);
        let window = &text[from..to];
        let mut searched = 0;
        for _ in 0..SEARCHES_MAX {
            let Some(captures) = self.regex().captures_at(window, searched) else {
                return;
            };
            let all = captures.get(0).expect("the whole match");
            if all.is_empty() || from + all.start() > at {
                return;
            }
            searched = all.start() + 1;
            if from + all.end() <= at {
                continue;
            }
            let secret = captures.get(1).unwrap_or(all);
            let core = from + secret.start()..from + secret.end();
            if let Some(span) = self.settle(text, core, at) {
                found.push(span);
                return;
            }
            // With the literal inside the token, a core that begins a word may stand further on.
            let next = (from + searched..=at).find(|next| begins(text, *next));
            let Some(next) = next else { return };
            searched = next - from;
        }
    }

    /// Looks for a bare shape after the vendor's name on the same line, where a word for a key or
    /// token leads up to it.
    pub(super) fn beside(&self, text: &[u8], name: Range<usize>, found: &mut Vec<Span>) {
        let (line, below) = lines(text, name.end, KEYED_REACH + self.reach);
        let before = name.start.saturating_sub(KEYED_LEAD);
        let before =
            memchr::memrchr(b'\n', &text[before..name.start]).map_or(before, |n| before + n + 1);
        let window = &text[name.end..line];
        let mut searched = 0;
        while let Some(captures) = self.regex().captures_at(window, searched) {
            let whole = captures.get(0).expect("the whole match");
            let secret = captures.get(1).unwrap_or(whole);
            let core = name.end + secret.start()..name.end + secret.end();
            let core_start = core.start;
            // On the line below, only a value at its start counts.
            if core.start > name.end + KEYED_REACH
                || below.is_some_and(|(end, start)| core.start > end && core.start != start)
            {
                return;
            }
            let free = begins(text, core.start);
            if free
                && leads_up(&text[before..core.start])
                && let Some(span) = self.settle(text, core, name.end)
            {
                found.push(span);
                return;
            }
            // The end of a word before the value may look like its beginning.
            let next = if free {
                whole.end()
            } else if whole.start() == secret.start() {
                let further = core_start + 1..line;
                let next = further.clone().find(|next| begins(text, *next));
                next.unwrap_or(further.end) - name.end
            } else {
                whole.start() + 1
            };
            searched = next.max(searched + 1);
            if searched > window.len() {
                return;
            }
        }
    }

    /// Settles a match: its borders, and whether it is a secret.
    fn settle(&self, text: &[u8], core: Range<usize>, at: usize) -> Option<Span> {
        let mut start = core.start;
        if self.lead > 0 && !begins(text, start) {
            if self.tail == Tail::Exact {
                return None;
            }
            let before = &text[start - start.min(LEAD_EXTRA)..start];
            let run = before.iter().rev();
            start -= run.take_while(|b| b.is_ascii_alphanumeric()).count();
        }
        if self.lead > 0 && start > 0 && text[start - 1] == b'\\' && b"nrt".contains(&text[start]) {
            start += 1;
        }
        // A run may be as long as the text, and hold a literal at every step. So only a found
        // token, which is not read again, is followed to its end.
        let judged = &text[..text.len().min(core.end + TAIL_JUDGED)];
        let end = extend(judged, core.end, self.tail)?;
        let token = &text[start..end];
        let checked = self.checks.iter().any(|check| match check {
            Check::Crc32Base62 => checksum::crc32_base62(&text[core.clone()]),
            Check::Crc32Upper => checksum::crc32_upper(&text[core.clone()]),
            Check::Crc32Reversed => checksum::crc32_reversed(&text[core.clone()]),
            Check::Crc32Body => checksum::crc32_body(&text[core.clone()]),
            Check::Bech32 => checksum::age_identity(&text[core.clone()]),
            _ => false,
        });
        if !checked {
            // If the literal leads, only the text after the prefix has to be random.
            let body = if self.lead == 0 && at == start {
                &text[prefix_end(text, start..end)..end]
            } else {
                token
            };
            let passes = self.checks.iter().all(|check| passes(*check, body, token));
            if !passes || entropy::placeholder_token(body) {
                return None;
            }
        }
        Some(Span {
            start,
            end: extend(text, core.end, self.tail)?,
            kind: self.kind.clone(),
            rank: self.rank,
        })
    }
}

/// Returns the end of the line at `at`, or of the next line if that begins with a value, as below a
/// heading or in a fence. For the next line it also returns the end of the first line and the start
/// of the value.
fn lines(text: &[u8], at: usize, reach: usize) -> (usize, Option<(usize, usize)>) {
    let most = text.len().min(at + reach);
    let end_from = |from: usize| memchr::memchr(b'\n', &text[from..most]).map(|n| from + n);
    let Some(first) = end_from(at) else {
        return (most, None);
    };
    let open = |b: &&u8| b.is_ascii_whitespace() || b"`~>\"'*".contains(b);
    let gap = text[first..most].iter().take(GAP_BELOW).take_while(open);
    let start = first + gap.count();
    (end_from(start).unwrap_or(most), Some((first, start)))
}

/// Tells whether the text before a bare shape leads up to a secret: a word for one, and then no
/// more than the text that joins a name to its value.
fn leads_up(before: &[u8]) -> bool {
    static WORDS: LazyLock<Regex> = LazyLock::new(|| {
        compile(r"(?i)(?:key|token|secret|passw(?:or)?d|pwd|credential|seed|wif|[_ -]pat\b)s?")
            .expect("a few words")
    });
    let Some(word) = WORDS.find_iter(before).last() else {
        return false;
    };
    let between = &before[word.end()..];
    let joins = |b: &u8| b.is_ascii_whitespace() || b"\"'`=:|,<>(*[]){}\\-_~?#".contains(b);
    if between.iter().all(joins) {
        return true;
    }
    let words = |b: &u8| b.is_ascii_alphanumeric() || joins(b) || *b >= 0x80;
    // A full stop inside a name (`Last.fm`) does not end a sentence.
    let stops = |pair: &[u8]| pair[0] == b'.' && !pair[1].is_ascii_alphanumeric();
    let end = between.trim_ascii_end();
    // Arrows, quotes and verbs beyond ASCII lead on as well.
    let leads_on = |b: &u8| joins(b) || *b >= 0x80;
    between.len() <= KEYED_GAP
        && between.iter().all(|b| words(b) || *b == b'.')
        && !between.windows(2).any(stops)
        && (end.last().is_some_and(leads_on) || VERBS.iter().any(|verb| end.ends_with(verb)))
}

/// Words that a value follows.
const VERBS: [&[u8]; 8] = [
    b" is",
    b" was",
    b" are",
    b" to",
    b" sent",
    b" be",
    b" now",
    b"currently",
];

/// Compiles a pattern on bytes. A pattern that was accepted by itself has room for anchors around
/// it.
pub(super) fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    compile_within(pattern, SHAPE_BYTES_MAX + ANCHORS_BYTES_MAX)
}

/// Compiles an owner's pattern, to see whether it can be accepted.
pub(super) fn compile_new(pattern: &str) -> Result<Regex, regex::Error> {
    if pattern.contains('#') {
        // Inside a group, a comment that runs to the end of the pattern would swallow the end of
        // the group.
        compile(&format!("^(?:{pattern})$"))?;
    }
    compile_within(pattern, SHAPE_BYTES_MAX)
}

fn compile_within(pattern: &str, bytes_max: usize) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern)
        .unicode(false)
        .size_limit(bytes_max)
        .build()
}

/// Returns the end of a token's readable prefix: behind the last `_`, `-`, `.`, `:` or `~` in the
/// first third, or else the token's start.
fn prefix_end(text: &[u8], token: Range<usize>) -> usize {
    let third = &text[token.start..token.start + token.len() / 3];
    let mark = third.iter().rposition(|b| b"_-.:~".contains(b));
    token.start + mark.map_or(0, |mark| mark + 1)
}

fn passes(check: Check, body: &[u8], token: &[u8]) -> bool {
    match check {
        Check::Random => entropy::random(body),
        Check::Digit => body.iter().any(u8::is_ascii_digit),
        Check::MixedCase => {
            body.iter().any(u8::is_ascii_lowercase) && body.iter().any(u8::is_ascii_uppercase)
        }
        Check::JsonParts => super::decode::json_parts(token),
        Check::NumberPart => super::decode::number_part(token),
        Check::Crc32Base62
        | Check::Crc32Upper
        | Check::Crc32Reversed
        | Check::Crc32Body
        | Check::Bech32 => true,
    }
}

/// Tells whether a token can begin at `at`: nothing before it belongs to the same word. The end of
/// an escape (`\n`, `%3D`, `\u0022`, a colour code) is not a word.
pub(super) fn begins(text: &[u8], at: usize) -> bool {
    let before = &text[..at];
    let Some(last) = before.last() else {
        return true;
    };
    if !last.is_ascii_alphanumeric() {
        return true;
    }
    let back = |count: usize| before.len().checked_sub(count).map(|i| before[i]);
    let hex = |count: usize| (1..=count).all(|i| back(i).is_some_and(|b| b.is_ascii_hexdigit()));
    if b"nrtbfv0".contains(last) && back(2) == Some(b'\\') {
        return true;
    }
    if hex(2) && (back(3) == Some(b'%') || (back(3) == Some(b'x') && back(4) == Some(b'\\'))) {
        return true;
    }
    if hex(4) && back(5) == Some(b'u') && back(6) == Some(b'\\') {
        return true;
    }
    if *last == b'm' {
        let codes = before[..before.len() - 1].iter().rev();
        let codes = codes.take_while(|b| b.is_ascii_digit() || **b == b';');
        let open = 2 + codes.count();
        return back(open) == Some(b'[')
            && matches!(back(open + 1), Some(0x1B | b'e' | b'3' | b'b'));
    }
    false
}

/// Returns the end of a token whose core ends at `end`, or `None` if the core must not run on and
/// does.
fn extend(text: &[u8], end: usize, tail: Tail) -> Option<usize> {
    let rest = &text[end..];
    let word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    let run = match tail {
        Tail::Exact => {
            let runs_on = rest.first().is_some_and(u8::is_ascii_alphanumeric);
            return (!runs_on).then_some(end);
        }
        Tail::Word => rest.iter().take_while(|b| word(b)).count(),
        Tail::Base64 => {
            let body = |b: &u8| word(b) || matches!(b, b'+' | b'/');
            let body = rest.iter().take_while(|b| body(b)).count();
            let padding = rest[body..].iter().take_while(|b| **b == b'=').count();
            body + padding.min(3)
        }
        Tail::Dotted => rest.iter().take_while(|b| word(b) || **b == b'.').count(),
        Tail::Url => {
            let stops = |b: &u8| b.is_ascii_whitespace() || b"\"'<>()[]{}\\`|,;*\x01".contains(b);
            rest.iter()
                .take_while(|b| !stops(b) && b.is_ascii())
                .count()
        }
    };
    // Marks at the end belong to the sentence, not to the token.
    let marks = rest[..run].iter().rev();
    let marks = marks.take_while(|b| b"_-.:!?&".contains(b)).count();
    Some(end + run - marks)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn token(core: &'static str, lead: usize, tail: Tail) -> Token {
        Token {
            kind: Kind::known("a-token"),
            rank: Rank::Marked,
            core: Cow::Borrowed(core),
            lead,
            reach: 64,
            tail,
            checks: Cow::Borrowed(&[]),
            regex: OnceLock::new(),
        }
    }

    fn at(token: &Token, literal: &str, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        for (at, _) in text.match_indices(literal) {
            token.at(text.as_bytes(), at, &mut found);
        }
        found
            .into_iter()
            .map(|span| text[span.start..span.end].to_owned())
            .collect()
    }

    #[test]
    fn a_token_begins_a_word() {
        for text in [
            "",
            " ",
            "a-",
            "(",
            "é",
            "\\n",
            "%3D",
            "\\x3d",
            "\\u0022",
            "\u{1b}[31m",
        ] {
            assert!(begins(text.as_bytes(), text.len()), "{text:?}");
        }
        for text in ["a", "Z9", "=3D", "n", "0022", "31m"] {
            assert!(!begins(text.as_bytes(), text.len()), "{text:?}");
        }
    }

    #[test]
    fn tails_end_where_the_sentence_does() {
        let end = |text: &str, tail| extend(text.as_bytes(), 2, tail);
        assert_eq!(end("ab", Tail::Exact), Some(2));
        assert_eq!(end("abc", Tail::Exact), None);
        assert_eq!(end("ab-c_d-. x", Tail::Word), Some(6));
        assert_eq!(end("ab+/c==.", Tail::Base64), Some(7));
        assert_eq!(end("ab.c.d. x", Tail::Dotted), Some(6));
        assert_eq!(end("ab?c=d&e/f.) x", Tail::Url), Some(10));
    }

    #[test]
    fn a_core_around_its_literal_is_looked_for_at_each_word() {
        let exact = token("[a-z0-9]{6}MARK[a-z0-9]{2}", 6, Tail::Exact);
        assert_eq!(at(&exact, "MARK", "x q7r2k9MARKz4 y"), ["q7r2k9MARKz4"]);
        assert!(at(&exact, "MARK", "xq7r2k9MARKz4").is_empty());
        let loose = token("[a-z0-9-]{3,12}MARK[a-z0-9]{2}", 12, Tail::Exact);
        assert_eq!(at(&loose, "MARK", "wwwwwwwq7-r2k9fMARKz4"), ["r2k9fMARKz4"]);
        let word = token("[a-z0-9]{6}MARK[a-z0-9]{2}", 6, Tail::Word);
        assert_eq!(at(&word, "MARK", "xq7r2k9MARKz4-1"), ["xq7r2k9MARKz4-1"]);
    }

    #[test]
    fn a_match_before_the_literal_is_passed_over() {
        let token = token("[a-z0-9]{2,9}MARK", 9, Tail::Word);
        assert_eq!(at(&token, "MARK", "q7MARK r2MARK"), ["q7MARK", "r2MARK"]);
    }

    #[test]
    fn a_long_run_goes_whole() {
        let token = token("pre_[a-z0-9]{8}", 0, Tail::Word);
        let text = format!("pre_{}", "q7r2k9z4".repeat(500));
        assert_eq!(at(&token, "pre_", &text), [text.as_str()]);
    }

    #[test]
    fn a_name_and_a_word_lead_up_to_a_bare_value() {
        for text in [
            "key: ",
            "API key = `",
            "token (Acme) → ",
            "key of the Acme account was ",
            "key\n\n```\n",
        ] {
            assert!(leads_up(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "see ",
            "the key fits. The commit ",
            "key in the tree at node",
        ] {
            assert!(!leads_up(text.as_bytes()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_a_token(text in "([a-z0-9é. \n-]|MARK|\u{200b}){0,80}") {
            for tail in [Tail::Exact, Tail::Word, Tail::Base64, Tail::Dotted, Tail::Url] {
                let token = token("[a-z0-9-]{2,20}MARK[a-z0-9]{1,3}", 20, tail);
                let mut found = Vec::new();
                for (at, literal) in text.match_indices("MARK") {
                    token.at(text.as_bytes(), at, &mut found);
                    token.beside(text.as_bytes(), at..at + literal.len(), &mut found);
                }
                for span in found {
                    prop_assert!(span.start < span.end && text.get(span.start..span.end).is_some());
                }
            }
        }
    }
}
