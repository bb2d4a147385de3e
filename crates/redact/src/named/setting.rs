//! Passwords of plain words. The text around a value gives them away, not their look.
//!
//! In a literal of code or of settings any words are the value. Without quotes they are the value
//! only where the lines around are settings too: code has names there.

use std::ops::Range;

use crate::entropy;
use crate::named::Seek;
use crate::named::decide::Joint;
use crate::named::name::Strength;
use crate::named::refers::points;
use crate::named::shape::{bare_hex, token};
use crate::named::value::{self, Frame, line_end, line_start};
use crate::named::words::{
    ACCOUNT_WORDS, ASKS, DEVICES, GIVING, KEYWORDS, NO_VALUE, OF_CODE, OF_SENTENCES, SESSIONS,
    STATES, SURE, TECHNICAL, TYPES, USERS, foreign_words, holds,
};
use crate::span::Span;

/// Lengths of a value that may be plain words, in bytes.
const VALUE_BYTES: std::ops::RangeInclusive<usize> = 6..=64;
/// Number of lines that are read above a setting, and as many below.
const LINES: usize = 2;
/// Longest line that is read, in bytes.
const LINE_BYTES_MAX: usize = 160;
/// Most words of a phrase.
const WORDS_MAX: usize = 10;
/// Prefixes of a line before its setting.
const OPENERS: &[&[u8]] = &[b"export ", b"ENV ", b"ARG ", b"- ", b"+", b"-", b"#"];
/// Options before a setting.
const OPTIONS: &[&[u8]] = &[
    b"--set ",
    b"--set-string ",
    b"-e ",
    b"--env ",
    b"--build-arg ",
    b"--from-literal=",
    b"--from-literal ",
    b"--define ",
    b" -",
];
/// Parts of words that make a value a name, not a secret.
const NAMING: &[&str] = &[
    "passw",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "token",
    "credential",
];

/// The kind of a line beside a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// An empty line, a remark, words.
    Other,
    Setting,
    /// The setting of a user or of a server.
    Login,
    Code,
}

/// Counts of the words of a value.
#[derive(Default)]
struct Words {
    all: usize,
    /// Words of code, of sentences and of formats.
    common: usize,
    /// Length of the longest other word, in bytes.
    longest: usize,
}

impl Words {
    /// Tells whether most of the words are not words of code.
    fn are_chosen(&self, value: &[u8]) -> bool {
        let digits = usize::from(value.iter().any(u8::is_ascii_digit));
        self.common * 2 < self.all + digits && self.longest >= 4
    }
}

impl Seek<'_> {
    /// Reports the whole value of a setting, whatever its words.
    pub(super) fn setting(&self, at: usize, joint: Joint, found: &mut Vec<Span>) -> bool {
        if let Some(range) = self.session(at, joint) {
            found.push(self.span(range));
            return true;
        }
        let known = match self.name.strength {
            Strength::Password | Strength::Secret => true,
            // Credentials that a server hands over: `credentials=…`.
            Strength::Login => joint == Joint::Tight,
            _ => false,
        };
        if !known || self.asks() {
            return false;
        }
        let range = if self.is_joined(at) && !joint.is_sentence() {
            self.literal(at).or_else(|| self.unquoted(at, joint))
        } else {
            self.device(at)
        };
        let Some(range) = range.filter(|range| !range.is_empty()) else {
            return false;
        };
        found.push(self.span(range));
        true
    }

    /// Returns the id of a session straight behind its name, `session=…`, or a salt in hexadecimal
    /// digits.
    fn session(&self, at: usize, joint: Joint) -> Option<Range<usize>> {
        let name = &self.text[self.name.range.clone()];
        let session = holds(SESSIONS, name);
        let salt = name.to_ascii_lowercase().ends_with(b"salt");
        if !(session && joint == Joint::Tight || salt && !joint.is_sentence()) {
            return None;
        }
        let range = value::read(self.text, at)?.range;
        let value = &self.text[range.clone()];
        let rolled = bare_hex(value) || session && token(value);
        (value.len() >= 32 && rolled && !value.contains(&b'-')).then_some(range)
    }

    /// Tells whether a mark joins the value to its name: no comma, and no comparison.
    fn is_joined(&self, at: usize) -> bool {
        let before = self.text[self.name.range.end..at].trim_ascii_end();
        let mark = matches!(before.last(), Some(b'=' | b':' | b'>'));
        let defined = matches!(before, b"'," | b"\",") && self.is_handed_over();
        mark && !before.ends_with(b"==")
            || defined
            || before == b" ascii-text"
            || self.is_variable_of_image()
            || before.is_empty() && self.is_apart(at)
    }

    /// Tells whether the name is the first argument of a call that takes a name and a value.
    fn is_handed_over(&self) -> bool {
        let Some((b'"' | b'\'', call)) = self.prefix().split_last() else {
            return false;
        };
        let call = call.strip_suffix(b"(").unwrap_or_default();
        let start = call.iter().rposition(|b| !b.is_ascii_alphanumeric());
        holds(GIVING, &call[start.map_or(0, |at| at + 1)..])
    }

    /// Tells whether a quoted value stands behind its name and a blank as in settings: alone on the
    /// line, or with words that no sentence has.
    fn is_apart(&self, at: usize) -> bool {
        let Some(value) = value::quoted(self.text, at) else {
            return false;
        };
        let rest = self.text[value.after..line_end(self.text, value.after)].trim_ascii();
        let prefix = self.prefix();
        let alone = prefix.is_empty()
            || prefix.ends_with(b"{ ")
            || matches!(prefix, b"option " | b"#define ");
        let coded = self.text[at] == b'`' && is_literal(&self.text[value.range]);
        coded || alone && rest.iter().all(|b| matches!(b, b';' | b'}' | b' '))
    }

    /// Returns the word that ends a configuration line of a device: `username admin password …`.
    fn device(&self, at: usize) -> Option<Range<usize>> {
        let prefix = self.prefix();
        let line = self.text[at..line_end(self.text, at)].trim_ascii_end();
        let mut words = prefix.split(|b| *b == b' ').filter(|word| !word.is_empty());
        let name = &self.text[self.name.range.clone()];
        let first = words.next().unwrap_or(name);
        let several = words.clone().next().is_some();
        let part = |b: &u8| b.is_ascii_alphanumeric() || b"-_./:@".contains(b);
        let plain = |word: &[u8]| {
            let account = holds(ACCOUNT_WORDS, word);
            word.iter().all(part) && (account || !holds(OF_SENTENCES, word))
        };
        let known = if prefix.is_empty() {
            holds(SURE, name)
        } else {
            holds(DEVICES, first) && several && words.all(plain) || name == b"insecure-password"
        };
        let value = value::read(self.text, at).filter(|_| known)?;
        // A sentence may begin with `set` too.
        let value = Some(value)
            .filter(|value| !first.eq_ignore_ascii_case(b"set") || value.frame == Frame::Quoted)?;
        let whole = value.after >= at + line.len() && prefix.len() <= LINE_BYTES_MAX;
        let bytes = &self.text[value.range.clone()];
        (whole && fits(bytes, bytes.contains(&b' '))).then_some(value.range)
    }

    /// Tells whether the name stands behind the `ENV` of a Dockerfile.
    fn is_variable_of_image(&self) -> bool {
        self.prefix() == b"ENV "
    }

    /// Returns the text before the name on its line.
    fn prefix(&self) -> &[u8] {
        let start = self.name.range.start;
        self.text[line_start(self.text, start)..start].trim_ascii_start()
    }

    /// Tells whether the name asks for a password or speaks about one: `forgotPassword`.
    fn asks(&self) -> bool {
        let name = &self.text[self.name.range.clone()];
        let words = super::name::split(name);
        words.into_iter().any(|word| holds(ASKS, &name[word]))
    }

    /// Returns a literal between quotes or in an element.
    fn literal(&self, at: usize) -> Option<Range<usize>> {
        let read = value::read(self.text, at)
            .filter(|value| value.frame == Frame::Quoted)
            .map(|value| (value.range, value.after))
            .or_else(|| self.element(at))?;
        let (range, after) = read;
        let value = &self.text[range.clone()];
        let rest = self.text[after..line_end(self.text, after)].trim_ascii_start();
        // Only a part of a concatenated value stands here.
        if matches!(rest.first(), Some(b'+' | b'%' | b'&')) || rest.starts_with(b". ") {
            return None;
        }
        let words = words(value)?;
        let blanks = value.contains(&b' ');
        let secret = self.name.strength == Strength::Secret;
        let assigned = self.text[..at].ends_with(b"= ");
        let enough = match secret {
            // A store of secrets has entries with such names.
            true if is_literal(value) => words.all >= 2,
            true if self.is_bare_secret() && !assigned => blanks && words.all >= 2,
            true => words.all >= 3 || blanks && words.all >= 2,
            false => words.all >= 1,
        };
        // A word in lower case may be a name, unless the name of a user stands beside it.
        let pair = self.is_pair(at);
        let plain = !pair && words.all == 1 && value.iter().all(u8::is_ascii_lowercase);
        let beside = if plain { self.beside() } else { Vec::new() };
        if beside.contains(&Beside::Code) && !beside.contains(&Beside::Login) {
            return None;
        }
        let title = blanks || value[0].is_ascii_uppercase();
        let taken = enough && words.are_chosen(value);
        (taken && !(title && self.is_translated())).then_some(range)
    }

    /// Tells whether the name is just the word `secret`.
    fn is_bare_secret(&self) -> bool {
        self.text[self.name.range.clone()].eq_ignore_ascii_case(b"secret")
    }

    /// Tells whether a word stands between the name and its value: `name: PASSWORD`, `value: …`.
    fn is_pair(&self, at: usize) -> bool {
        let between = &self.text[self.name.range.end..at];
        between.iter().any(u8::is_ascii_alphabetic)
    }

    /// Returns the text of an element up to its closing tag, and the end of that text.
    fn element(&self, at: usize) -> Option<(Range<usize>, usize)> {
        let tag = self.name.range.start.checked_sub(1)?;
        if !matches!(self.text[tag], b'<' | b':')
            || self.text[self.name.range.end..at].trim_ascii() != b">"
        {
            return None;
        }
        let line = &self.text[at..line_end(self.text, at).min(at + LINE_BYTES_MAX)];
        let close = memchr::memmem::find(line, b"</")?;
        let name = &self.text[self.name.range.clone()];
        let tag = &line[close + 2..];
        let tag = &tag[..memchr::memchr(b'>', tag)?];
        let same = tag.ends_with(name);
        same.then(|| (at..at + close, at + close))
    }

    /// Returns a value without quotes: the rest of its line, or a word behind an option or in a
    /// log.
    fn unquoted(&self, at: usize, joint: Joint) -> Option<Range<usize>> {
        if matches!(self.text.get(at), Some(b'"' | b'\'' | b'`' | b'<')) {
            return None;
        }
        let option = OPTIONS.iter().any(|option| {
            let before = &self.text[..self.name.range.start];
            before.ends_with(option)
                && (*option != b" -" || self.text[self.name.range.start] == b'D')
        });
        if joint == Joint::Tight && (option || self.is_logged()) {
            let value = value::read(self.text, at)?;
            let bytes = &self.text[value.range.clone()];
            return fits(bytes, false).then_some(value.range);
        }
        let pair = self.is_pair(at) && !self.is_variable_of_image();
        let prefix = if pair { b"" } else { self.prefix() };
        let opener = OPENERS
            .iter()
            .find_map(|opener| prefix.strip_prefix(*opener));
        if !prefix.is_empty() && !opener.is_some_and(|rest| rest.trim_ascii().is_empty()) {
            return None;
        }
        let line = &self.text[at..line_end(self.text, at)];
        let marks = [&b" #"[..], b" //", b" ("];
        let ends = marks
            .iter()
            .filter_map(|mark| memchr::memmem::find(line, mark));
        let value = line[..ends.min().unwrap_or(line.len())].trim_ascii_end();
        // Spring names the encoder of a password before it.
        let encoder = if value.starts_with(b"{noop}") {
            b"{noop}".len()
        } else {
            0
        };
        let (blanks, odd) = (value.contains(&b' '), is_odd(value));
        // Other settings follow, or a command that the setting is for.
        let parted = value.iter().rposition(|b| matches!(b, b'&' | b';' | b','));
        let more = parted.is_some_and(|at| value[at..].contains(&b'='));
        let secret = self.name.strength == Strength::Secret;
        if more || secret && blanks || !fits(&value[encoder..], blanks) {
            return None;
        }
        if pair || self.is_variable_of_image() {
            return Some(at..at + value.len());
        }
        let beside = self.beside();
        let any = |kind: Beside| beside.contains(&kind);
        let dotted = |b: &u8| matches!(b, b'_' | b'.' | b'-');
        let name = &self.text[self.name.range.clone()];
        let named = name.iter().any(dotted);
        let scoped = name.iter().any(|b| matches!(b, b'_' | b'.'));
        let login = any(Beside::Login);
        // A store of secrets has entries with names of words too.
        if secret && joint != Joint::Tight && !odd {
            return None;
        }
        let enough = match joint {
            Joint::Tight if self.name.strength == Strength::Login => login,
            Joint::Tight if blanks && !name.iter().any(u8::is_ascii_lowercase) => {
                let first = value.split(|b| *b == b' ').next().unwrap_or_default();
                let plain = !first.iter().any(u8::is_ascii_digit);
                plain && (login || any(Beside::Setting))
            }
            Joint::Tight => named || login || any(Beside::Setting),
            _ if holds(SURE, name) => true,
            Joint::Assigned => login || blanks && named,
            _ => login || !blanks && odd || scoped,
        };
        (enough && !any(Beside::Code)).then(|| at..at + value.len())
    }

    /// Tells whether the name stands in a log line that names a user as well: `user=ines pw=…`.
    fn is_logged(&self) -> bool {
        let start = line_start(self.text, self.name.range.start);
        let line = &self.text[start..line_end(self.text, start)];
        let pairs = line.split(|b| *b == b' ').filter_map(|pair| {
            let equals = memchr::memchr(b'=', pair)?;
            Some((&pair[..equals], &pair[equals + 1..]))
        });
        let code = |b: &u8| b"(){};\"'`,".contains(b);
        let tail = &self.text[self.name.range.start..start + line.len()];
        line.len() <= 4 * LINE_BYTES_MAX
            && !tail.iter().any(code)
            && pairs.into_iter().any(|(name, value)| {
                let word = super::name::split(name).pop();
                word.is_some_and(|word| holds(USERS, &name[word])) && !value.is_empty()
            })
    }

    /// Returns the lines above and below.
    fn lines_beside(&self) -> impl Iterator<Item = &[u8]> {
        let text = self.text;
        let mut start = line_start(text, self.name.range.start);
        let mut end = line_end(text, self.name.range.end);
        let above = std::iter::from_fn(move || {
            let before = start.checked_sub(1)?;
            start = line_start(text, before);
            Some(&text[start..before])
        });
        let below = std::iter::from_fn(move || {
            let next = end + 1;
            (next < text.len()).then(|| {
                end = line_end(text, next);
                &text[next..end]
            })
        });
        above.take(LINES).chain(below.take(LINES))
    }

    fn beside(&self) -> Vec<Beside> {
        self.lines_beside().map(beside).collect()
    }

    /// Tells whether the lines beside hold texts for people: then this line does too.
    fn is_translated(&self) -> bool {
        self.lines_beside().any(is_text)
    }
}

/// Tells whether the words of an unquoted value could be a password.
fn fits(value: &[u8], blanks: bool) -> bool {
    let part = |b: &u8| b.is_ascii_alphanumeric() || *b >= 0x80 || b" -'!?.&#@*+".contains(b);
    let code = |b: &u8| b"(){}|\"`<>\\".contains(b);
    let ends = matches!(value.last(), Some(b';' | b',' | b'{' | b':' | b'['));
    let shaped = if blanks {
        value.iter().all(part)
    } else {
        !value.iter().any(code)
    };
    // Values with digits are judged by their look, except for phrases.
    shaped
        && !ends
        && words(value).is_some_and(|words| words.all > words.common && words.longest >= 4)
}

/// Tells whether a value is a password that stands in the place of an argument, or between marks of
/// code behind its name: words with a capital and a mark, as code has none.
pub(super) fn is_literal(value: &[u8]) -> bool {
    let mark = |b: &u8| b.is_ascii_punctuation() && *b != b'_' || *b == b' ';
    value.iter().any(u8::is_ascii_uppercase) && value.iter().any(mark) && is_chosen(value)
}

/// Tells whether most words of a value are not words of code.
pub(super) fn is_chosen(value: &[u8]) -> bool {
    words(value).is_some_and(|words| words.are_chosen(value))
}

/// Tells whether a line holds a text for people in quotes: words that begin with a capital.
fn is_text(line: &[u8]) -> bool {
    let line = &line[..line.len().min(LINE_BYTES_MAX)];
    let joint = line
        .windows(2)
        .position(|w| matches!(w, b": " | b"= " | b"=\"" | b"=>" | b":\""));
    let Some(joint) = joint else { return false };
    let rest = line[joint + 1..].trim_ascii();
    let Some(quote) = rest.iter().position(|b| matches!(b, b'"' | b'\'')) else {
        return false;
    };
    let inner = &rest[quote + 1..];
    let inner = &inner[..memchr::memchr(rest[quote], inner).unwrap_or(inner.len())];
    let words = |b: &u8| b.is_ascii_alphabetic() || *b >= 0x80 || b" .,!?-'".contains(b);
    quote <= 2
        && inner
            .first()
            .is_some_and(|b| b.is_ascii_uppercase() || *b >= 0x80)
        && inner.len() >= 3
        && inner.iter().all(words)
        && (inner.contains(&b' ')
            || inner[1..]
                .iter()
                .all(|b| b.is_ascii_lowercase() || *b >= 0x80))
}

/// Returns the kind of a line beside a setting.
fn beside(line: &[u8]) -> Beside {
    let line = line[..line.len().min(LINE_BYTES_MAX)].trim_ascii();
    let line = match line.first() {
        None | Some(b'#' | b';' | b'!' | b'`' | b'@') => return Beside::Other,
        Some(b'[') if line.ends_with(b"]") => return Beside::Setting,
        _ => OPENERS
            .iter()
            .find_map(|opener| line.strip_prefix(*opener))
            .unwrap_or(line),
    };
    let line = line.trim_ascii_start();
    let word = line
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric())
        .count();
    let keyword = line.get(word) == Some(&b' ') && holds(KEYWORDS, &line[..word]);
    let part = |b: &&u8| b.is_ascii_alphanumeric() || b"_.-/ \"'".contains(b) || **b >= 0x80;
    let name = line.iter().take(48).take_while(part).count();
    // `name=value` is a setting whatever the line ends with, and so is an item of JSON.
    let tight = line.get(name) == Some(&b'=') && line.get(name + 1).is_some_and(|b| *b != b' ');
    let item = line.ends_with(b"\",") || line.ends_with(b"',");
    let ends = matches!(line.last(), Some(b'{' | b'}' | b';' | b'(' | b')' | b','));
    let spaced = !tight || line[..name].contains(&b' ');
    if keyword || ends && spaced && !item {
        return Beside::Code;
    }
    if name == 0 || !matches!(line.get(name), Some(b'=' | b':')) {
        return Beside::Other;
    }
    let value = line[name + 1..].trim_ascii();
    if holds(TYPES, value) || value.starts_with(b"=") || value.starts_with(b":") {
        return Beside::Code;
    }
    let mut words = super::name::split(&line[..name]).into_iter().rev();
    let user = words.next().is_some_and(|word| holds(USERS, &line[word]));
    if user && !value.is_empty() {
        Beside::Login
    } else {
        Beside::Setting
    }
}

/// Tells whether a value has a capital inside and a mark, as no name in code has:
/// `Bergamot;Station`.
fn is_odd(value: &[u8]) -> bool {
    let inner = value.get(1..).unwrap_or_default();
    let mark = |b: &u8| b.is_ascii_punctuation() && !matches!(b, b'_' | b'.' | b'(' | b'<' | b'[');
    value.iter().filter(|b| b.is_ascii_uppercase()).count() >= 2
        && inner.iter().any(mark)
        && value.iter().any(u8::is_ascii_lowercase)
}

/// Counts the words of a value. Returns `None` if nobody would choose it for a password, or if a
/// word in it names one.
fn words(value: &[u8]) -> Option<Words> {
    let control = |b: &u8| *b < b' ' || *b == 0x7F;
    if !VALUE_BYTES.contains(&value.len())
        || value.iter().any(control)
        || value[0] == b' '
        || holds(NO_VALUE, value)
        || holds(TYPES, value)
        || entropy::placeholder(value)
        || points(value)
        || is_file(value)
    {
        return None;
    }
    let lower = value.to_ascii_lowercase();
    let foreign = foreign_words()
        .map(|(word, _)| word)
        .filter(|word| word.len() >= 5);
    let mut naming = NAMING.iter().copied().chain(foreign);
    if lower.ends_with(b"pass")
        || naming.any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some())
    {
        return None;
    }
    let mut words = Words::default();
    let spaced = value.split(|b| *b == b' ').count();
    if spaced > WORDS_MAX || matches!(value.last(), Some(b':')) {
        return None;
    }
    let letter = |b: u8| b.is_ascii_alphabetic() || b >= 0x80;
    let mut start = 0;
    for at in 0..=value.len() {
        let hump = at > start
            && value.get(at).is_some_and(u8::is_ascii_uppercase)
            && value[at - 1].is_ascii_lowercase();
        if at < value.len() && letter(value[at]) && !hump {
            continue;
        }
        let word = &value[start..at];
        if !word.is_empty() {
            words.all += 1;
            let lists = [NO_VALUE, OF_CODE, OF_SENTENCES, STATES, TECHNICAL];
            if lists.iter().any(|list| holds(*list, word)) {
                words.common += 1;
            } else {
                words.longest = words.longest.max(word.len());
            }
        }
        start = if hump { at } else { at + 1 };
    }
    Some(words)
}

/// Tells whether a value ends as a file or a host does, without a number before that ending.
fn is_file(value: &[u8]) -> bool {
    let mut parts = value.rsplit(|b| *b == b'.').skip(1);
    let number = parts
        .next()
        .is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    !number && super::refers::hostname(value)
}
