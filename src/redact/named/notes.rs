//! Passwords and codes in notes: words that could be one, weighed by what they are like and by what
//! stands around them.
//!
//! People name a password and say it somewhere near, in any order and in any words. So every word on
//! the lines around a label is weighed: what it is made of, how near the label is, and what stands
//! straight before it. The words that count are data, in `notes.txt`.

use std::collections::HashSet;
use std::ops::{Range, RangeInclusive};
use std::sync::LazyLock;

use super::chosen::Made;
use super::name::Strength;
use crate::redact::codes::value as code;
use crate::redact::codes::words::{WORDS as CODES, behind, is_joined};
use crate::redact::marker::BLANK;
use crate::redact::span::{Rank, Span};

/// How far before and behind a label words are weighed, in bytes.
const REACH_BYTES: usize = 220;
/// How many lines before it are, and how many behind it.
const LINES_BEFORE: usize = 1;
const LINES_BEHIND: usize = 3;
/// How much is weighed together, in bytes: every word of it may be asked for each.
const REGION_BYTES_MAX: usize = 1_500;
/// Shortest and longest password that is weighed, in bytes.
const BYTES: RangeInclusive<usize> = 6..=48;
/// From so many points on a word is a password or a code.
const ENOUGH: i32 = 30;
/// How many words from its label a word is still in one sentence with it.
const WORDS_MAX: usize = 12;
/// Longest word before one for code that makes one word with it, in bytes.
const COMPOUND_BYTES_MAX: usize = 24;
/// Marks that seldom stand inside a word of a sentence.
const MARKS: &[u8] = b"!@#$%&*+?~";

/// The lists of `notes.txt`.
struct Words {
    /// What stands behind one of these is what its label names.
    equals: HashSet<&'static str>,
    /// Words between a label and its value that say nothing.
    fills: HashSet<&'static str>,
    /// Who or what logs in.
    names: HashSet<&'static str>,
    /// What has a number of its own, or a name with a number.
    other: HashSet<&'static str>,
    /// Products, algorithms and protocols.
    technical: HashSet<&'static str>,
    /// Stems of what nothing but a number opens.
    keyed: HashSet<&'static str>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| Words {
    equals: list("equals"),
    fills: list("fills"),
    names: list("names"),
    other: list("other"),
    technical: list("technical"),
    keyed: list("keyed"),
});

/// Words for what one logs in to, which open the gate.
pub(in crate::redact) fn accounts() -> Vec<&'static str> {
    list("accounts")
}

fn list<T: FromIterator<&'static str>>(name: &str) -> T {
    let mut parts = include_str!("notes.txt").split("\n\n");
    let part = parts.find_map(|part| part.strip_prefix(name)?.strip_prefix('\n'));
    let words = part.expect("a list of that name").split_whitespace();
    words.collect()
}

/// What a label says of what stands near it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redact) enum Says {
    Password,
    /// A user, and then a password.
    Login,
    /// Something that one logs in to.
    Account,
    /// A number, and nothing else is called so.
    Pin,
    /// A number, if something that is opened stands near.
    Code,
    /// Something that is opened.
    Thing,
    /// What is done with a number.
    Act,
}

/// A label as the gate found it.
pub(in crate::redact) struct Label {
    pub(in crate::redact) range: Range<usize>,
    pub(in crate::redact) says: Says,
}

impl Says {
    /// What a name of this strength says here, if anything.
    pub(in crate::redact) fn of_name(strength: Strength) -> Option<Self> {
        match strength {
            Strength::Password => Some(Self::Password),
            Strength::Login => Some(Self::Login),
            Strength::Pin => Some(Self::Pin),
            Strength::Secret | Strength::Weak => None,
        }
    }

    /// What the words of a rule say here, if anything.
    pub(in crate::redact) fn of_rule(kind: &str) -> Option<Self> {
        match kind {
            "pin" => Some(Self::Pin),
            "access-code" => Some(Self::Code),
            _ => None,
        }
    }

    /// What it says exactly, as its word is written.
    fn as_written(self, word: &str) -> Self {
        match self {
            Self::Code if WORDS.keyed.iter().any(|stem| word.starts_with(stem)) => Self::Pin,
            Self::Code if CODES.act.begins(word) => Self::Act,
            Self::Code if CODES.thing.begins(word) && !CODES.opens.begins(word) => Self::Thing,
            says => says,
        }
    }

    fn is_password(self) -> bool {
        matches!(self, Self::Password | Self::Login | Self::Account)
    }
}

/// A word of a note, without the marks around it.
struct Word<'a> {
    range: Range<usize>,
    bytes: &'a [u8],
    lower: String,
    line: usize,
    /// The marks behind it.
    marks: &'a str,
    /// The quote or mark of code that it stands between.
    quote: Option<u8>,
    label: Option<Says>,
    /// Something stands there that has been found.
    taken: bool,
}

/// Weighs the words around all labels of a text. `found` has what has been found in it so far.
pub(in crate::redact) fn scan(text: &[u8], labels: &[Label], found: &mut Vec<Span>) {
    let labels: Vec<&Label> = labels.iter().filter(|label| stands(text, label)).collect();
    let mut taken: Vec<(usize, usize)> = found.iter().map(|span| (span.start, span.end)).collect();
    taken.sort_unstable();
    let mut at = 0;
    while at < labels.len() {
        let mut region = around(text, &labels[at].range);
        let first = at;
        at += 1;
        while at < labels.len()
            && labels[at].range.start < region.end
            && region.len() < REGION_BYTES_MAX
        {
            region.end = region.end.max(around(text, &labels[at].range).end);
            at += 1;
        }
        let words = read(text, &region, &labels[first..at], &taken);
        let named = words
            .iter()
            .any(|word| word.label.is_some_and(Says::is_password));
        for number in 0..words.len() {
            if named && let Some(range) = password(&words, number) {
                found.push(Span::new(range, "password", Rank::Named));
            } else if let Some(range) = number_code(text, &words, number) {
                found.push(Span::new(range, "access-code", Rank::Named));
            }
        }
    }
}

/// Whether a label is a word by itself, and not part of a name in code or of another word.
fn stands(text: &[u8], label: &Label) -> bool {
    let Range { start, end } = label.range;
    let word = &text[start..end];
    let before = start.checked_sub(1).map_or(b' ', |at| text[at]);
    if word.is_ascii() && b"_-.$/\\%{<".contains(&before) {
        return false;
    }
    if word.is_ascii() && (before.is_ascii_alphanumeric() || before >= 0x80) {
        // `Portkoden`, and no other word that has one in it.
        let head = behind(text, start, COMPOUND_BYTES_MAX);
        let head = &head[head.trim_end_matches(char::is_alphanumeric).len()..];
        return label.says == Says::Code && CODES.thing.is_in(&head.to_lowercase());
    }
    let letters = text[end..].iter();
    let letters = letters.take_while(|b| b.is_ascii_alphanumeric() || **b >= 0x80);
    let tail = &text[end..end + letters.count()];
    let next = text.get(end + tail.len()).copied().unwrap_or(b' ');
    if b"_([{<$\\".contains(&next) {
        return false;
    }
    if tail.is_empty() || tail == b"s" || !word.is_ascii() {
        return true;
    }
    let goes_on = |ends: &[&[u8]]| {
        let fits = |end: &&[u8]| {
            tail.get(..end.len())
                .is_some_and(|t| t.eq_ignore_ascii_case(end))
        };
        ends.iter().any(fits)
    };
    // `passage`, `signing`: only these go on.
    if word.eq_ignore_ascii_case(b"pass") {
        goes_on(&[b"w", b"cod", b"phr", b"fras", b"ord"])
    } else if word.eq_ignore_ascii_case(b"cred") {
        goes_on(&[b"ential"])
    } else {
        word.len() >= 4 && matches!(label.says, Says::Password | Says::Code)
    }
}

/// Whether a label is a verb as well, or a word for something else: it says something of the next
/// word alone.
fn is_vague(word: &str) -> bool {
    matches!(word, "pass" | "passes" | "clave")
}

/// The lines around a label, as far as it reaches.
fn around(text: &[u8], label: &Range<usize>) -> Range<usize> {
    let least = label.start.saturating_sub(REACH_BYTES);
    let mut breaks = memchr::memrchr_iter(b'\n', &text[least..label.start]);
    let start = breaks.nth(LINES_BEFORE).map_or(least, |at| least + at + 1);
    let most = text.len().min(label.end + REACH_BYTES);
    let mut breaks = memchr::memchr_iter(b'\n', &text[label.end..most]);
    let end = breaks.nth(LINES_BEHIND).map_or(most, |at| label.end + at);
    // A word that is cut in two is none.
    let space = |b: &u8| b.is_ascii_whitespace();
    let head = &text[start..label.start];
    let is_cut = start > 0 && start == least;
    let start = start + head.iter().position(space).filter(|_| is_cut).unwrap_or(0);
    let tail = &text[label.end..end];
    let is_cut = end < text.len() && end == most;
    let kept = tail.iter().rposition(space).filter(|_| is_cut);
    start..kept.map_or(end, |at| label.end + at)
}

/// The words of a region, but for those on lines of code.
fn read<'a>(
    text: &'a [u8],
    region: &Range<usize>,
    labels: &[&Label],
    taken: &[(usize, usize)],
) -> Vec<Word<'a>> {
    let mut words = Vec::new();
    let mut start = region.start;
    for (number, bytes) in text[region.clone()].split(|b| *b == b'\n').enumerate() {
        let begun = words.len();
        if !is_code(bytes) {
            split(text, start..start + bytes.len(), number, &mut words);
        }
        for word in &mut words[begun..] {
            let Range { start, end } = word.range;
            let first = labels.partition_point(|label| label.range.end <= start);
            let label = labels.get(first).filter(|label| label.range.start < end);
            word.label = label.map(|label| {
                if label.range.start > start {
                    label.says
                } else {
                    label.says.as_written(&word.lower)
                }
            });
            let first = taken.partition_point(|span| span.1 <= start);
            let hit = taken.get(first).is_some_and(|span| span.0 < end);
            word.taken = hit || word.bytes.contains(&BLANK);
        }
        start += bytes.len() + 1;
    }
    words
}

/// Whether a line is one of a program, of markup or of a listing.
fn is_code(line: &[u8]) -> bool {
    const PARTS: &[&str] = &[
        "{", "};", "</", "/>", "::", "==", "!=", "&&", "||", "();", "$(", "\\(", "\\s", "[^", ".*",
        "\": ",
    ];
    let line = line.trim_ascii();
    let is_call = |w: &[u8]| w[1] == b'(' && (w[0].is_ascii_alphanumeric() || w[0] == b'_');
    PARTS
        .iter()
        .any(|part| memchr::memmem::find(line, part.as_bytes()).is_some())
        || line.windows(2).any(is_call)
        || line.ends_with(b";")
        || line.starts_with(b"//")
        || line.starts_with(b"@")
        || line.starts_with(b"\"") && line.ends_with(b",")
}

/// Adds the words of a line; in scripts without blanks between words, what is of another script.
fn split<'a>(text: &'a [u8], line: Range<usize>, number: usize, words: &mut Vec<Word<'a>>) {
    let Ok(whole) = std::str::from_utf8(&text[line.clone()]) else {
        return;
    };
    let mut open: Option<(usize, bool)> = None;
    for (at, c) in whole.char_indices().chain([(whole.len(), ' ')]) {
        let joined = is_joined(c);
        if let Some((from, kind)) = open
            && (c.is_whitespace() || joined != kind)
        {
            words.push(word(text, line.start + from..line.start + at, number));
            open = None;
        }
        if !c.is_whitespace() && open.is_none() {
            open = Some((at, joined));
        }
    }
}

/// A word without the marks around it.
fn word(text: &[u8], range: Range<usize>, line: usize) -> Word<'_> {
    const OPENING: &[char] = &[
        '(', '[', '"', '\'', '`', '«', '„', '“', '‘', '»', '「', '<', '¿', '¡',
    ];
    const CLOSING: &[char] = &[
        ')', ']', '"', '\'', '`', '»', '“', '”', '’', '「', '」', '>', ',', ';', ':', '.', '«',
        '、', '。',
    ];
    let whole = std::str::from_utf8(&text[range.clone()]).unwrap_or_default();
    let inner = whole.trim_start_matches(OPENING);
    let start = range.start + whole.len() - inner.len();
    let inner = inner.trim_end_matches(CLOSING);
    let end = start + inner.len();
    let bare = inner.trim_end_matches(['!', '?']);
    let open = start.checked_sub(1).and_then(|at| text.get(at)).copied();
    Word {
        lower: if bare.is_empty() { whole } else { bare }.to_lowercase(),
        bytes: &text[start..end],
        range: start..end,
        line,
        marks: std::str::from_utf8(&text[end..range.end]).unwrap_or_default(),
        quote: open.filter(|b| b"\"'`".contains(b) && text.get(end) == Some(b)),
        label: None,
        taken: false,
    }
}

impl Word<'_> {
    /// The sentence goes no further.
    fn ends(&self) -> bool {
        self.marks.contains(['.', '。']) || self.bytes.ends_with(b"?") || self.bytes.ends_with(b"!")
    }

    /// What stands behind it is what it says.
    fn equates(&self) -> bool {
        self.marks.contains([':', '='])
            || WORDS.equals.contains(&*self.lower)
            || self.lower.ends_with([':', '='])
    }

    /// It joins a user and a password.
    fn joins(&self) -> bool {
        matches!(
            &*self.lower,
            "/" | ","
                | "|"
                | "+"
                | "&"
                | ":"
                | "-"
                | "–"
                | "and"
                | "und"
                | "et"
                | "y"
                | "e"
                | "en"
                | "i"
                | "og"
                | "och"
                | "и"
                | "with"
                | "mit"
                | "con"
                | "avec"
        )
    }

    fn names_password(&self) -> bool {
        self.label.is_some_and(Says::is_password) && !is_vague(&self.lower)
    }

    /// What networks are called: `Larkspur_5G`.
    fn is_network(&self) -> bool {
        const ENDS: &[&str] = &[
            "5g", "2g", "24g", "2.4", "guest", "gast", "net", "wlan", "wifi",
        ];
        ENDS.iter().any(|end| self.lower.ends_with(end))
    }

    /// A user of a login: an address, a name with a mark in it, or one that everybody has.
    fn is_user(&self) -> bool {
        WORDS.names.contains(&*self.lower)
            || self.bytes.iter().any(|b| b"@._-".contains(b))
                && self.bytes.iter().any(u8::is_ascii_alphabetic)
    }

    /// Names of products, algorithms and protocols, with what is behind them.
    fn is_known(&self) -> bool {
        let number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
        let stem = self.lower.trim_end_matches(number);
        let mut parts = self.lower.split(['-', '_', '.']);
        WORDS.other.contains(stem)
            || WORDS.technical.contains(stem)
            || parts.any(|part| WORDS.technical.contains(part))
    }
}

/// Where a password stands at a word, if it is one.
fn password(words: &[Word], number: usize) -> Option<Range<usize>> {
    let word = &words[number];
    if word.taken || word.label.is_some() || !BYTES.contains(&word.bytes.len()) {
        return None;
    }
    // Names in code have humps too.
    let is_plain = word
        .bytes
        .iter()
        .all(|b| b.is_ascii_alphabetic() || *b == b'_');
    let mut points = looks(word)? + surroundings(words, number, is_plain)?;
    points += match word.quote {
        Some(b'`') => -6,
        Some(_) => 4,
        None => 0,
    };
    let last = number.checked_sub(1).map(|at| &words[at]);
    let last = last.filter(|last| last.line == word.line);
    if last.is_some_and(|last| WORDS.other.contains(&*last.lower)) {
        points -= 20;
    }
    (points >= ENOUGH).then(|| word.range.clone())
}

/// How much a word looks like a password that somebody chose; `None` where it is something else.
fn looks(word: &Word) -> Option<i32> {
    let value = word.bytes;
    let made = Made::of(value);
    let part = |b: &u8| {
        b.is_ascii_alphanumeric() || *b >= 0x80 || b"-_.'".contains(b) || MARKS.contains(b)
    };
    if !value.iter().all(part) || made.letters < 3 || made.common || word.is_known() {
        return None;
    }
    let is_hex = value.iter().all(|b| b.is_ascii_hexdigit() || *b == b'-');
    let is_number = value.starts_with(b"0x") || value.starts_with(b"0b");
    if is_hex || is_number || b"-.$%@#*+~&".contains(&value[0]) || is_address(value) {
        return None;
    }
    // A host, a name that owns something, the keys of a keyboard.
    let lower = !value.iter().any(u8::is_ascii_uppercase);
    if lower && value.contains(&b'.') && made.marks == 0 && made.words < 4
        || value.ends_with(b"'s")
        || memchr::memmem::find(value, b"**").is_some()
        || made.digits == 0 && value.contains(&b'+')
    {
        return None;
    }
    let letter = |b: u8| b.is_ascii_alphabetic() || b >= 0x80;
    let leet = |w: &[u8]| letter(w[0]) && w[1].is_ascii_digit() && w[2].is_ascii_lowercase();
    let marks = value.iter().filter(|b| MARKS.contains(b)).count();
    let inside = value[..value.len() - 1].iter().any(|b| MARKS.contains(b));
    let capital = i32::from(made.inner_capital || made.capital && made.digits > 0);
    let mixed = made.digits > 0 || made.inner_capital;
    let points = if inside && mixed {
        26 + 4 * capital
    } else if marks > 0 && (made.digits > 0 || made.inner_capital && made.words > 1) {
        24
    } else if inside && made.joiners == 0 && made.shortest >= 3 {
        16
    } else if value.windows(3).any(leet) && made.letters >= 5 {
        22
    } else if made.digits > 0 && made.joiners > 0 && made.words >= 2 {
        20 + 2 * capital
    } else if made.digits > 0 && made.joiners == 0 && made.letters >= 4 {
        18 + 3 * capital + 2 * i32::from(made.digits >= 2)
    } else if made.digits > 0 && made.letters >= 4 {
        14 + 3 * capital
    } else if made.digits > 0 {
        return None;
    } else if made.joiners > 0 {
        joined(value, &made)?
    } else if made.inner_capital && made.words >= 2 {
        if made.words >= 3 { 18 } else { 8 }
    } else if made.letters >= 12 && value.iter().all(u8::is_ascii_lowercase) {
        2
    } else {
        return None;
    };
    // Models and standards are written so.
    let is_upper = !value.iter().any(|b| b.is_ascii_lowercase() || *b >= 0x80);
    Some(points - 8 * i32::from(is_upper && made.marks == 0))
}

/// An address of mail, or a name at a host: no two digits follow the `@`.
fn is_address(value: &[u8]) -> bool {
    memchr::memchr(b'@', value).is_some_and(|at| {
        let rest = &value[at + 1..];
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        digits < 2 && rest.contains(&b'.') || rest.is_empty()
    })
}

/// What words with joiners between them say: names in code are like that too.
fn joined(value: &[u8], made: &Made) -> Option<i32> {
    let parts = || value.split(|b| b"-_.".contains(b));
    if made.joiners + 1 != made.words || made.shortest < 2 || parts().any(<[u8]>::is_empty) {
        return None;
    }
    let capitals = parts().filter(|part| part[0].is_ascii_uppercase()).count();
    let is_upper = !value.iter().any(u8::is_ascii_lowercase);
    let is_name = capitals == 0 && value.contains(&b'.') && made.words < 3;
    if is_upper || is_name {
        return None;
    }
    let words = i32::try_from(made.words).unwrap_or(4).min(5);
    Some(match capitals {
        2.. => 8 + 3 * words,
        _ if value.contains(&b'-') && words >= 3 => 4 + 3 * words,
        _ => 0,
    })
}

/// What stands around a word says for it.
fn surroundings(words: &[Word], number: usize, is_plain: bool) -> Option<i32> {
    let word = &words[number];
    let before = words[..number]
        .iter()
        .rev()
        .take_while(|other| other.line == word.line);
    let last = before.clone().next();
    let mut points = match label_before(before.clone(), Says::is_password) {
        Some((Says::Login, gap)) => 13 - gap.min(9),
        Some((Says::Account, gap)) if word.is_network() => -gap,
        Some((Says::Account, gap)) => 12 - gap.min(9),
        Some((_, 0)) => 22,
        Some((_, gap)) => 14 - gap.min(9),
        None if is_plain => return None,
        None => elsewhere(words, number),
    };
    if last.is_some_and(Word::equates) {
        points += 7;
    }
    let user = match last {
        Some(last) if last.joins() => before.clone().nth(1),
        Some(last) if last.marks.contains(',') => Some(last),
        _ => None,
    };
    if user.is_some_and(Word::is_user) {
        points += 12;
    }
    Some(points)
}

/// The nearest such label before a word in its sentence, and how many words that say something stand
/// between.
fn label_before<'a>(
    before: impl Iterator<Item = &'a Word<'a>>,
    is_one: impl Fn(Says) -> bool,
) -> Option<(Says, i32)> {
    let mut gap = 0;
    for other in before.take(WORDS_MAX) {
        if let Some(label) = other.label.filter(|label| is_one(*label)) {
            return (gap == 0 || !is_vague(&other.lower)).then_some((label, gap));
        }
        if other.ends() {
            return None;
        }
        gap += match other {
            // That label has its value.
            _ if other.taken => 6,
            _ if other.equates() || WORDS.fills.contains(&*other.lower) => 0,
            _ => 1,
        };
    }
    None
}

/// What a label behind a word, or on a line near it, says for it.
fn elsewhere(words: &[Word], number: usize) -> i32 {
    let line = words[number].line;
    let mut points = 0;
    let mut gap = 0;
    let behind = words[number + 1..].iter().take(WORDS_MAX);
    for other in behind.take_while(|other| other.line == line) {
        if other.names_password() && other.label != Some(Says::Account) {
            points = 10 - gap.min(6);
            break;
        }
        gap += if other.ends() { 4 } else { 1 };
    }
    let named = |line: usize| {
        words
            .iter()
            .any(|other| other.line == line && other.names_password())
    };
    points += match (1..=3).find(|up| line.checked_sub(*up).is_some_and(named)) {
        Some(1) => 8,
        Some(_) => 5,
        None if named(line) => 5,
        None => 2,
    };
    let other_line = |at: Option<usize>| {
        let other = at.and_then(|at| words.get(at));
        other.is_none_or(|other| other.line != line)
    };
    if other_line(number.checked_sub(1)) && other_line(Some(number + 1)) {
        points += 8;
    }
    points
}

/// Where a code of digits stands at a word, if it is one.
fn number_code(text: &[u8], words: &[Word], number: usize) -> Option<Range<usize>> {
    let word = &words[number];
    let first = word.bytes.iter().find(|b| !b"#*".contains(b))?;
    if word.taken || !(first.is_ascii_alphanumeric() || *first >= 0x80) {
        return None;
    }
    let before = words[..number]
        .iter()
        .rev()
        .take_while(|other| other.line == word.line);
    let last = before.clone().next()?;
    let (says, gap) = label_before(before.clone(), |says| !says.is_password())?;
    let from = before.clone().last()?.range.start;
    let behind = words[number..]
        .iter()
        .take_while(|other| other.line == word.line);
    let line = std::str::from_utf8(&text[from..behind.last()?.range.end]).ok()?;
    let at = word.range.start - from;
    let value = code::digits(line, at).or_else(|| code::mixed(line, at))?;
    let (head, written, rest) = (&line[..at], &line[at..value.end], &line[value.end..]);
    let lower = head.to_lowercase();
    if !code::begins(head)
        || !code::ends(rest)
        || code::stands_in(written)
        || value.letters > 3
        || CODES.wiring.is_in(&lower)
        || CODES.other.is_in(&lower)
    {
        return None;
    }
    let about = CODES.thing.is_in(&lower);
    let mut points = match value.digits + value.letters {
        3 => 2,
        4..=8 => 8,
        _ => return None,
    };
    points += match says {
        Says::Code if !about => 0,
        Says::Pin | Says::Code if gap == 0 => 22,
        Says::Pin | Says::Code => 16 - gap.min(9),
        Says::Thing if gap == 0 && last.marks.contains(':') => 18,
        Says::Act if gap == 0 => 13,
        Says::Thing => 10 - gap.min(9),
        _ => 0,
    };
    let ends = rest.trim_start().is_empty() || rest.starts_with([',', '.', ';', ')']);
    points += 6 * i32::from(value.marked) + 8 * i32::from(value.groups >= 3);
    points += 4 * i32::from(about && says != Says::Thing) + 7 * i32::from(last.equates());
    points += 2 * i32::from(ends) - 12 * i32::from(code::is_year(written));
    if WORDS.other.contains(&*last.lower) {
        points -= 20;
    }
    (points >= ENOUGH).then(|| word.range.start..from + value.end)
}

#[cfg(test)]
mod tests {
    use crate::Text;
    use crate::redact::Redactor;

    #[test]
    fn a_code_is_known_by_what_it_opens() {
        for (text, left) in [
            ("Sat nav pin 7316", "Sat nav pin "),
            (
                "user pin 519047, admin pin 83315026",
                "user pin , admin pin ",
            ),
            (
                "Safe with the float: 41-07-63, clockwise",
                "Safe with the float: , clockwise",
            ),
            (
                "Portkoden är ny, den är 8351 nu",
                "Portkoden är ny, den är  nu",
            ),
            (
                "Alarm: 6204\nbins go out on Friday",
                "Alarm: \nbins go out on Friday",
            ),
            ("bike padlock is 318", "bike padlock is "),
        ] {
            let redacted = Redactor::default().redact("/memories/a.md", &Text::from(text));
            let redacted = redacted.expect("kept").text().as_str().to_owned();
            assert_eq!(redacted.replace("[REDACTED:access-code]", ""), left);
        }
    }
}
