//! Codes of the physical world: doors, alarms, safes, cards, telephones, messages with a code.
//!
//! The gate calls a scanner at a word for code. What stands around it in its sentence says what the
//! code is for; a bare word for code finds nothing without that. The value stands behind the word,
//! shortly before it, or on the next line as the answer to a question. The words are data, in
//! `codes/words.toml` and in the rules.

mod answer;
pub(super) mod value;
pub(super) mod words;

use std::collections::HashMap;
use std::sync::LazyLock;

pub(super) use self::answer::answer;
use self::value::{Value, digit, digits, is_year, mixed, stands_in};
use self::words::{WORDS, ahead, behind, is_joined};
use super::rules;
use super::span::{Rank, Span};

/// How far behind a word for code the text is read, in bytes.
const AHEAD_BYTES_MAX: usize = 288;
/// How far before a word for code the text is read, in bytes.
const BEHIND_BYTES_MAX: usize = 240;
/// How far behind its word a code may stand, in bytes.
const GAP_BYTES_MAX: usize = 96;
/// How far before its word a code may stand, in bytes.
const BACK_BYTES_MAX: usize = 64;
/// How much of the sentence behind a code is asked what the code is for, in bytes.
const REST_BYTES_MAX: usize = 80;
/// Most words between a word for code and the code.
const GAP_WORDS_MAX: usize = 10;
/// Most numbers behind a word that are tried.
const TRIES_MAX: usize = 3;
/// Longest name before what is said in a chat, in bytes.
const SPEAKER_BYTES_MAX: usize = 24;
/// Longest ending of a word for code, in characters.
const ENDING_CHARS_MAX: usize = 6;
/// Keywords as short as this have the endings of [`ENDINGS`] alone, in bytes.
const SHORT_BYTES_MAX: usize = 6;

/// Endings of short words for code, in any language.
const ENDINGS: &[&str] = &[
    "s", "n", "en", "et", "er", "e", "a", "u", "y", "i", "em", "om", "ie", "ul", "uri", "ja", "ni",
    "ot", "jét", "kod", "koden", "kode", "code", "codes", "nummer", "ów", "lar", "unu", "unun",
    "ului", "urile", "а", "у", "ом", "е", "ы", "и", "ів", "ы", "ов", "ам", "ς", "ό", "sı", "si",
    "ı", "un", "ok", "ját", "in", "ini", "leri", "a", "ia", "nya", "ny", "ets", "ens",
];

/// What a word for code says by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Access,
    Card,
    Once,
    Pin,
}

/// Finds the code of a door, an alarm, a safe or a lock; of what a bare word for code stands for.
pub(super) fn access(text: &[u8], at: usize, found: &mut Vec<Span>) {
    find(text, at, Sort::Access, found);
}

/// Finds the check number of a payment card.
pub(super) fn card(text: &[u8], at: usize, found: &mut Vec<Span>) {
    find(text, at, Sort::Card, found);
}

/// Finds the code of one login.
pub(super) fn one_time(text: &[u8], at: usize, found: &mut Vec<Span>) {
    find(text, at, Sort::Once, found);
}

/// Finds a personal identification number.
pub(super) fn pin(text: &[u8], at: usize, found: &mut Vec<Span>) {
    find(text, at, Sort::Pin, found);
}

/// The keywords of the rules, by their kind.
static LABELS: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let own = ["access-code", "card-code", "one-time-code", "pin"];
    let rules = rules::all().filter(|rule| own.contains(&rule.kind));
    rules
        .map(|rule| (rule.kind, rule.keywords.to_vec()))
        .collect()
});

impl Sort {
    fn kind(self) -> &'static str {
        match self {
            Self::Access => "access-code",
            Self::Card => "card-code",
            Self::Once => "one-time-code",
            Self::Pin => "pin",
        }
    }

    /// The longest of its keywords with which a text begins.
    fn label(self, text: &str) -> Option<&'static str> {
        let fits = |word: &&&str| {
            text.get(..word.len()).is_some_and(|there| {
                there.eq_ignore_ascii_case(word)
                    || !word.is_ascii() && there.to_lowercase() == **word
            })
        };
        let words = LABELS.get(self.kind())?;
        words
            .iter()
            .filter(fits)
            .max_by_key(|word| word.len())
            .copied()
    }
}

/// A word for code, and what stands around it.
struct Label<'a> {
    sort: Sort,
    /// The word as it stands in the text.
    written: &'a str,
    /// The whole word with what it is made of, and the words before it, in lower case.
    phrase: String,
    /// The word itself and the one before it, in lower case.
    near: String,
    /// The sentence up to the word.
    sentence: &'a str,
    /// That sentence and the one before it, in lower case.
    context: String,
    /// What follows the word.
    after: &'a str,
    /// Whether the word says what is done with a code.
    act: bool,
    /// Whether the word is that of a thing that is opened.
    thing: bool,
}

fn find(text: &[u8], at: usize, sort: Sort, found: &mut Vec<Span>) {
    let ahead = ahead(text, at, AHEAD_BYTES_MAX);
    let back = behind(text, at, BEHIND_BYTES_MAX);
    let has_digit = |text: &str| text.chars().any(|c| digit(c).is_some());
    let near = (0..=BACK_BYTES_MAX)
        .rev()
        .find_map(|most| back.get(back.len().checked_sub(most)?..));
    if !has_digit(ahead) && !near.is_some_and(has_digit) {
        return;
    }
    let Some(label) = sort
        .label(ahead)
        .and_then(|word| Label::read(sort, word, ahead, back))
    else {
        return;
    };
    let behind_label = at + ahead.len() - label.after.len();
    for (range, sort) in label.codes() {
        let range = behind_label + range.start..behind_label + range.end;
        found.push(Span::new(range, sort.kind(), Rank::Structural));
    }
    if let Some((range, sort)) = label.code_before() {
        let start = at - label.sentence.len();
        let range = start + range.start..start + range.end;
        found.push(Span::new(range, sort.kind(), Rank::Structural));
    }
}

/// What a gap between a word for code and a number is like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    /// Nothing but words like `is` and `now`.
    Tight,
    /// Other words, and before the number one like `is`, or a colon.
    Said,
    /// Other words.
    Loose,
}

impl<'a> Label<'a> {
    fn read(sort: Sort, word: &'static str, ahead: &'a str, back: &'a str) -> Option<Self> {
        let inside = |c: char| c.is_alphanumeric() && !is_joined(c);
        let written = &ahead[..word.len()];
        let head = back.trim_end_matches(inside);
        let prefix = &back[head.len()..];
        let joined = word.starts_with(is_joined);
        let rest = &ahead[word.len()..];
        let after = if joined {
            rest
        } else {
            rest.trim_start_matches(inside)
        };
        let ending = &rest[..rest.len() - after.len()];
        if !joined && !is_ending(word, &ending.to_lowercase()) {
            return None;
        }
        // `PIN-ul`, `CVV-ja`, `PIN'i`, `ПИН-код`
        let after = ["-", "'", "’"].iter().find_map(|mark| {
            let tail = after.strip_prefix(mark)?;
            let rest = tail.trim_start_matches(|c: char| c.is_alphabetic() && !is_joined(c));
            let length = tail.len() - rest.len();
            (1..=12).contains(&length).then_some(rest)
        });
        let after = after.unwrap_or(&rest[ending.len()..]);
        let own = &ahead[..ahead.len() - after.len()];
        let sentence = &back[sentence_start(back)..];
        let before = &back[..back.len() - sentence.len()];
        let context = back[sentence_start(before.trim_end_matches(is_break))..].to_lowercase();
        let words = |count: usize| {
            let limit = if joined { 16 } else { 48 };
            let tail = last_words(
                &sentence[..sentence.len() - prefix.len().min(sentence.len())],
                count,
                limit,
            );
            format!("{tail} {prefix}{own}").to_lowercase()
        };
        let words_of = &*WORDS;
        let lower = own.to_lowercase();
        let label = Self {
            sort,
            written,
            phrase: words(3),
            near: words(2),
            sentence,
            context,
            after,
            act: sort == Sort::Access && words_of.act.begins(&lower),
            thing: sort == Sort::Access
                && words_of.thing.begins(&lower)
                && !words_of.opens.begins(&lower),
        };
        if !prefix.is_empty() && !joined {
            let prefix = prefix.to_lowercase();
            let known = [
                &words_of.thing,
                &words_of.opens,
                &words_of.once,
                &words_of.card,
            ];
            let part = format!("{prefix}{own}").to_lowercase();
            let compound = !label.act
                && !label.thing
                && known
                    .iter()
                    .any(|list| list.is_in(&prefix) || list.is_in(&part));
            if !compound {
                return None;
            }
        }
        Some(label)
    }

    /// What the code is for, with what stands between it and its word and what follows it.
    fn sort_of(&self, gap: &str, rest: &str) -> Option<Sort> {
        let words = &*WORDS;
        let gap_head = first_words(gap, 3).to_lowercase();
        if words.other.is_in(&self.near) || words.other.is_in(&first_words(gap, 2).to_lowercase()) {
            return None;
        }
        let gap = gap.to_lowercase();
        let rest = rest.to_lowercase();
        let all = || [&self.context, &gap, &rest].into_iter();
        match self.sort {
            Sort::Card => return Some(Sort::Card),
            Sort::Once => return Some(Sort::Once),
            Sort::Pin => {
                let wired = all().any(|text| words.wiring.is_in(text));
                return (!wired).then_some(Sort::Pin);
            }
            Sort::Access => {}
        }
        let card = || all().any(|text| words.card.is_in(text));
        let thing = || all().any(|text| words.thing.is_in(text));
        if self.act || self.thing {
            return (self.thing || thing()).then_some(Sort::Access);
        }
        if words.thing.is_in(&self.phrase) || words.thing.is_in(&gap) {
            return Some(Sort::Access);
        }
        if words.once.is_in(&self.phrase) || words.once.is_in(&gap_head) {
            let of_card =
                card() && !all().any(|text| words.message.is_in(text) || text.contains("sms"));
            return Some(if of_card { Sort::Card } else { Sort::Once });
        }
        if words.opens.is_in(&self.phrase) || words.opens.is_in(&gap_head) {
            return Some(Sort::Access);
        }
        if card() {
            return Some(Sort::Pin);
        }
        if thing() {
            return Some(Sort::Access);
        }
        all()
            .any(|text| words.message.is_in(text))
            .then_some(Sort::Once)
    }

    /// The codes behind the word, as places behind it.
    fn codes(&self) -> Vec<(std::ops::Range<usize>, Sort)> {
        let line = self.after.find(['\n', '\r']).unwrap_or(self.after.len());
        let (line, below) = self.after.split_at(line);
        let mut tries = 0;
        let mut at = 0;
        while tries < TRIES_MAX && at <= GAP_BYTES_MAX.min(line.len()) {
            let Some((start, value)) = next_code(line, at, self.takes_letters()) else {
                break;
            };
            if start > GAP_BYTES_MAX {
                return Vec::new();
            }
            let gap = &line[..start];
            let Some(shape) = shape_of(gap) else {
                return Vec::new();
            };
            let rest = sentence(&line[value.end..], REST_BYTES_MAX);
            if let Some(sort) = self.sort_of(gap, rest)
                && self.is_code(line, start, &value, shape, sort)
            {
                return with_next(line, start, value, sort);
            }
            tries += 1;
            at = value.end.max(start + 1);
        }
        if tries > 0 {
            return Vec::new();
        }
        self.code_below(line, below).into_iter().collect()
    }

    /// Whether a code may have letters.
    fn takes_letters(&self) -> bool {
        !matches!(self.sort, Sort::Card | Sort::Pin) && !self.act && !self.thing
    }

    /// Whether a number is the code that the word speaks of.
    fn is_code(&self, line: &str, start: usize, value: &Value, gap: Gap, sort: Sort) -> bool {
        let code = &line[start..value.end];
        if !(value::begins(&line[..start]) || value.marked && start == 0)
            || !value::ends(&line[value.end..])
            || stands_in(code)
        {
            return false;
        }
        let lower = line[..start].to_lowercase();
        let least = match sort {
            Sort::Card => 3,
            Sort::Access if gap == Gap::Tight => 3,
            _ => 4,
        };
        let most = if sort == Sort::Card { 4 } else { 8 };
        let letters = match sort {
            Sort::Once => true,
            Sort::Access => value.letters <= 2 && value.digits >= 3 && gap != Gap::Loose,
            Sort::Card | Sort::Pin => false,
        };
        if !(least..=most).contains(&(value.digits + value.letters))
            || value.letters > 0 && (!letters || gap == Gap::Loose)
        {
            return false;
        }
        if self.thing {
            return self.opens_line(line, start, value);
        }
        if self.act && (gap != Gap::Tight || is_time(code)) {
            return false;
        }
        let words = &*WORDS;
        // `pin … to 2024`: in English no more than a verb.
        let is_verb = self.sort == Sort::Pin && self.written == "pin" && is_year(code);
        if is_verb && lower.trim_end().ends_with(" to") {
            return false;
        }
        if self.sort == Sort::Pin && self.written == "pin" && gap == Gap::Tight {
            let said = lower.contains([':', '=']) || words.is.is_in(&lower);
            let known = words.card.is_in(&self.context) || words.thing.is_in(&self.context);
            let counts = self.near.trim().ends_with("to pin");
            return (said || known) && !counts;
        }
        match gap {
            Gap::Tight => true,
            Gap::Said => !(is_year(code) && self.sort == Sort::Access),
            Gap::Loose => {
                let about = words.thing.is_in(&lower)
                    || words.card.is_in(&lower)
                    || words.opens.is_in(&lower);
                about && !is_year(code)
            }
        }
    }

    /// Whether a thing and its code are all that stands on a line: `gate: #1975*`. A number alone is
    /// a code only if the thing beside it on the next line or the last has one too.
    fn opens_line(&self, line: &str, start: usize, value: &Value) -> bool {
        let head = self.sentence.trim_matches([' ', '\t', '-', '*', '•', '>']);
        let colon = line[..start].trim() == ":";
        let alone = line[value.end..].trim().is_empty();
        let last = self
            .context
            .trim_end()
            .lines()
            .rev()
            .nth(usize::from(!self.sentence.trim().is_empty()));
        let next = self.after.trim_start_matches(|c| c != '\n').lines().nth(1);
        let beside = [last, next].into_iter().flatten().any(|line| {
            line.split_once(':').is_some_and(|(name, code)| {
                let code = code.trim();
                let name = name
                    .trim_matches([' ', '\t', '-', '*', '•', '>'])
                    .to_lowercase();
                let read = digits(code, 0)
                    .is_some_and(|value| value.end == code.len() && value.digits >= 4);
                WORDS.thing.begins(&name) && read
            })
        });
        head.is_empty() && colon && alone && value.digits >= 4 && (value.marked || beside)
    }

    /// The code on the next line, as the answer to a question or below its heading.
    fn code_below(&self, line: &str, below: &str) -> Option<(std::ops::Range<usize>, Sort)> {
        let asked = line.to_lowercase();
        let asks = line
            .trim_end_matches([' ', '"', '”', '*'])
            .ends_with(['?', '？', '؟', ';'])
            || WORDS.asks.is_in(&asked);
        let heads = line.len() <= 24 && shape_of(line) == Some(Gap::Tight);
        if line.len() > GAP_BYTES_MAX || !asks && !heads {
            return None;
        }
        let offset =
            line.len() + below.len() - below.trim_start_matches(['\n', '\r', ' ', '\t']).len();
        let breaks = self.after[line.len()..offset].matches('\n').count();
        let next = self.after[offset..].lines().next()?;
        if breaks > 2 {
            return None;
        }
        let said = offset + speaker(next);
        let next = &self.after[said..offset + next.len()];
        let (start, value) = next_code(next, 0, false)?;
        let lead = &next[..start];
        let plain =
            lead.split_whitespace().count() <= 2 && !lead.contains([',', '.', '\u{1}', '$', '<']);
        let rest = &next[value.end..];
        let whole = rest.trim_matches([' ', '.', '*', '`', '"', '!']).is_empty();
        let fits = plain
            && lead.len() <= 32
            && value::begins(lead)
            && value::ends(rest)
            && (asks || whole && lead.trim_matches(['-', '*', '`', ' ', '"']).is_empty());
        let code = &next[start..value.end];
        let least = if self.sort == Sort::Card { 3 } else { 4 };
        let own = !self.act && !self.thing && (asks || !is_year(code));
        let sort = self.sort_of(line, "")?;
        (fits && own && (least..=8).contains(&value.digits) && !stands_in(code))
            .then(|| (said + start..said + value.end, sort))
    }

    /// The code before the word, as a place in the sentence.
    fn code_before(&self) -> Option<(std::ops::Range<usize>, Sort)> {
        if self.thing || self.sort == Sort::Card {
            return None;
        }
        let floor = self.sentence.len().saturating_sub(BACK_BYTES_MAX);
        let last = self
            .sentence
            .char_indices()
            .rev()
            .find(|(at, c)| *at < floor || digit(*c).is_some())?;
        let mut start = last.0;
        for (at, c) in self.sentence[..last.0].char_indices().rev() {
            if digit(c).is_some()
                || matches!(c, '#' | '*')
                || matches!(c, '-' | ' ')
                    && self.sentence[..at].ends_with(|c: char| digit(c).is_some())
            {
                start = at;
            } else {
                break;
            }
        }
        // `SMS 4471 …`: what begins with a blank or a dash begins a byte later.
        let value = digits(self.sentence, start).filter(|value| value.end > last.0)?;
        let code = &self.sentence[start..value.end];
        let gap = &self.sentence[value.end..];
        let gap = &gap[..gap.len() - own_prefix(gap).len()];
        let lower = gap.to_lowercase();
        let linked = if self.act {
            let first = lower.trim();
            first.is_empty()
                || matches!(
                    first,
                    "を" | "einfach" | "wieder" | "to" | "और" | "번" | "를"
                )
        } else {
            let head = lower.trim_start();
            let dash = head.starts_with(['—', '–', '=']) || head.starts_with("- ");
            let first = head
                .split(|c: char| c.is_whitespace())
                .next()
                .unwrap_or_default();
            let words = &*WORDS;
            (dash
                || words.is.holds(first)
                || words.is.begins(first) && first.starts_with(is_joined))
                && head.split_whitespace().count() <= 7
                && !head.contains([',', ';', '(', '、', '，', '\u{1}', ':'])
        };
        let fits = linked
            && (4..=8).contains(&value.digits)
            && value::begins(&self.sentence[..start])
            && value::ends(gap)
            && !is_year(code)
            && !stands_in(code);
        let rest = sentence(self.after, REST_BYTES_MAX);
        let sort = if fits {
            self.sort_of("", rest)?
        } else {
            return None;
        };
        let plain = self.sort == Sort::Pin
            && self.written == "pin"
            && !WORDS.card.is_in(&self.context)
            && !WORDS.thing.is_in(&self.context);
        (!plain).then_some((start..value.end, sort))
    }
}

/// The letters that end a text: the beginning of a word that goes on behind it.
fn own_prefix(text: &str) -> &str {
    &text[text
        .trim_end_matches(|c: char| c.is_alphanumeric() && !is_joined(c))
        .len()..]
}

/// A code, and the one that takes its place: `1590 with 6284`.
fn with_next(
    line: &str,
    start: usize,
    value: Value,
    sort: Sort,
) -> Vec<(std::ops::Range<usize>, Sort)> {
    let mut codes = vec![(start..value.end, sort)];
    let rest = &line[value.end..];
    let word = rest.split_whitespace().next().unwrap_or_default();
    if WORDS.becomes.holds(&word.to_lowercase()) {
        let from = value.end + rest.find(word).unwrap_or(0) + word.len() + 1;
        let next = line.get(from..).and_then(|_| digits(line, from));
        if let Some(next) =
            next.filter(|next| next.digits == value.digits && value::ends(&line[next.end..]))
        {
            codes.push((from..next.end, sort));
        }
    }
    codes
}

/// The next code on a line from `at` on.
fn next_code(line: &str, at: usize, letters: bool) -> Option<(usize, Value)> {
    let mut before = line[..at].chars().next_back();
    for (i, c) in line[at..].char_indices() {
        let start = at + i;
        let inside = before.is_some_and(|b| {
            b.is_alphanumeric() && !is_joined(b) || matches!(b, '#' | '*') && i > 0
        });
        before = Some(c);
        let mark = matches!(c, '#' | '*');
        if mark || digit(c).is_some() || letters && c.is_ascii_alphabetic() {
            let plain = || {
                if digit(c).is_some() || mark {
                    digits(line, start)
                } else {
                    None
                }
            };
            let whole = |value: &Value| {
                let next = line[value.end..].chars().next();
                !next.is_some_and(|c| c.is_ascii_alphanumeric())
            };
            let value = plain()
                .filter(whole)
                .or_else(|| if letters { mixed(line, start) } else { None });
            let value = value.or_else(plain);
            if let Some(value) = value.filter(|_| !inside) {
                return Some((start, value));
            }
        }
    }
    None
}

/// What a gap is like; `None` if it parts the number from the word.
fn shape_of(gap: &str) -> Option<Gap> {
    let words = &*WORDS;
    let mut back = gap.chars().rev().skip_while(|c| {
        matches!(
            c,
            ' ' | '\t' | '"' | '\'' | '`' | '*' | '(' | '“' | '„' | '«' | '「' | '|' | '\u{a0}'
        )
    });
    let colon = back
        .next()
        .is_some_and(|c| matches!(c, ':' | '=' | '：' | '→' | '>'));
    let mut tight = true;
    let mut said = colon;
    let mut chars = gap.chars().peekable();
    while let Some(c) = chars.next() {
        let ends = chars.peek().is_none_or(|next| next.is_whitespace());
        match c {
            '\u{1}' | '\n' | ',' | ';' | '!' | '?' | '。' | '、' | '，' | '；' | '！' | '？'
            | '؟' | '،' | '$' | '{' | '<' | '\\' | '/' => return None,
            '.' if ends => return None,
            ':' | '：' if !colon => return None,
            _ => {}
        }
    }
    let lower = gap.to_lowercase();
    let split = |c: char| {
        c.is_whitespace() || "\"'`*()«»„“”‘’「」『』|:：=→>—–-_\u{a0}#[]".contains(c) && c != '\''
    };
    let tokens: Vec<&str> = lower
        .split(split)
        .map(|t| t.trim_matches('\''))
        .filter(|t| !t.is_empty())
        .collect();
    for token in &tokens {
        let joined = token.starts_with(is_joined);
        let is = words.is.holds(token) || words.is.holds(&format!("'{token}"));
        let rest = if joined {
            words.is.without_end(token)
        } else {
            token
        };
        tight &=
            is || words.lead.holds(token) || words.still.holds(token) || joined && rest.is_empty();
        if is || joined && rest.len() < token.len() {
            said = true;
        } else if !words.still.holds(token) {
            said = colon;
        }
    }
    if tokens.len() > GAP_WORDS_MAX {
        return None;
    }
    Some(match (tight, said) {
        (true, _) => Gap::Tight,
        (_, true) => Gap::Said,
        _ => Gap::Loose,
    })
}

/// Whether four digits are a time on a clock that people set.
fn is_time(code: &str) -> bool {
    let number = |part: Option<&str>| part.and_then(|part| part.parse::<u32>().ok());
    code.len() == 4
        && number(code.get(..2)).is_some_and(|hour| hour < 24)
        && number(code.get(2..)).is_some_and(|minute| minute % 15 == 0 && minute < 60)
}

/// How much of a line names who says it: `B: `, `<jo> `.
fn speaker(line: &str) -> usize {
    let name = line
        .find(": ")
        .map(|end| end + 2)
        .or_else(|| line.find("> ").map(|end| end + 2));
    let name = name.or_else(|| line.find('：').map(|end| end + '：'.len_utf8()));
    name.filter(|end| {
        *end <= SPEAKER_BYTES_MAX && !line[..*end].contains(|c: char| digit(c).is_some())
    })
    .unwrap_or(0)
}

fn is_break(c: char) -> bool {
    c.is_whitespace() || matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '؟')
}

/// Where the last sentence of a text begins.
fn sentence_start(text: &str) -> usize {
    let mut before = ' ';
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let ends = c == '\n'
            || matches!(c, '。' | '！' | '？')
            || c.is_whitespace() && matches!(before, '.' | '!' | '?' | '؟');
        if ends {
            start = at + c.len_utf8();
        }
        before = c;
    }
    start
}

/// A text up to the end of its first sentence, no more than `most` bytes.
fn sentence(text: &str, most: usize) -> &str {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let ends = c == '\n'
            || matches!(c, '。' | '！' | '？')
            || c.is_whitespace() && matches!(before, '.' | '!' | '?');
        if at >= most || ends {
            return &text[..at];
        }
        before = c;
    }
    text
}

/// The last words of a text, no more than `most` bytes.
fn last_words(text: &str, count: usize, most: usize) -> &str {
    let mut start = text.len().saturating_sub(most);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let tail = &text[start..];
    let split = |c: char| c.is_whitespace() || matches!(c, '_' | ',' | '/');
    let trimmed = tail.trim_end_matches(split);
    let begin = trimmed
        .rmatch_indices(split)
        .nth(count - 1)
        .map_or(0, |(at, _)| at);
    &tail[begin..]
}

/// The first words of a text.
fn first_words(text: &str, count: usize) -> &str {
    let trimmed = text.trim_start();
    let end = trimmed.match_indices(char::is_whitespace).nth(count - 1);
    let words = &trimmed[..end.map_or(trimmed.len(), |(at, _)| at)];
    // Without blanks, no more than a clause.
    let end = words
        .char_indices()
        .nth(24)
        .map_or(words.len(), |(at, _)| at);
    &words[..end]
}

/// Whether a word for code may end so.
fn is_ending(word: &str, ending: &str) -> bool {
    let known = word.len() > SHORT_BYTES_MAX && ending.chars().count() <= ENDING_CHARS_MAX;
    ending.is_empty() || known || ENDINGS.contains(&ending)
}

#[cfg(test)]
mod tests;
