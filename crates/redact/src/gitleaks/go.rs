//! Translates patterns from Go's syntax (RE2) to the syntax of the `regex` crate.
//!
//! A part that both read the same way stays as it is. A part that only Go reads is rewritten, and a
//! part that Go refuses is refused: the two never differ without a word. The result is meant for
//! `regex::bytes` with Unicode off; parts that need it switch it on for themselves. Known and
//! accepted: with Unicode off `.` and `[^x]` stand for one byte, not for one character, and `(?i)`
//! folds the case of ASCII letters alone, unless a class names characters beyond ASCII.

mod class;

use std::collections::BTreeSet;
use std::fmt;

/// Most repetitions that Go allows, with repetitions within repetitions multiplied.
const REPEATS: u64 = 1000;
/// Most groups within groups: the limit of the `regex` crate without a setting of its own.
const DEPTH: usize = 50;

/// A translated pattern.
#[derive(Debug)]
pub(super) struct Translated {
    /// The pattern, in the syntax of the `regex` crate.
    pub(super) pattern: String,
    /// The number of groups that it captures.
    pub(super) groups: usize,
    /// The constructs that had to be written another way.
    pub(super) changes: BTreeSet<Rewrite>,
}

/// The reason why a pattern is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PatternRefusal {
    /// The character at which it fails, from 1.
    pub(super) at: usize,
    /// The fault there.
    pub(super) why: String,
}

/// A construct that is spelled another way for the `regex` crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rewrite {
    /// `{` that counts nothing.
    Brace,
    /// `[` in a class.
    Bracket,
    /// `-`, `&` or `~` in a class, where it could be read as an operator.
    Sign,
    /// `\<` or `\>`, which are not boundaries in Go.
    Angle,
    /// `\Q...\E`.
    Quote,
    /// An octal number.
    Octal,
    /// `\s` or `\S`, which in Go leave out the vertical tab.
    Space,
    /// A part that needs Unicode.
    Unicode,
    /// Flags that are set twice, or no flags.
    Flags,
    /// A name that begins with a digit.
    Name,
}

impl Rewrite {
    /// Returns the change in words.
    pub(super) const fn what(self) -> &'static str {
        match self {
            Self::Brace => "`{` that counts nothing is written `\\{`",
            Self::Bracket => "`[` in a class is written `\\[`",
            Self::Sign => "`-`, `&` and `~` in a class are escaped where they could be operators",
            Self::Angle => "`\\<` and `\\>` are written `<` and `>`",
            Self::Quote => "`\\Q...\\E` is written out",
            Self::Octal => "an octal number is written in hexadecimal",
            Self::Space => "`\\s` is written out: in Go it leaves out the vertical tab",
            Self::Unicode => "what lies beyond ASCII has Unicode switched on for itself",
            Self::Flags => "flags are written once",
            Self::Name => "a group whose name begins with a digit has no name",
        }
    }
}

impl fmt::Display for PatternRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, at character {}", self.why, self.at)
    }
}

/// Translates a pattern.
pub(super) fn translate(go: &str) -> Result<Translated, PatternRefusal> {
    let mut reader = PatternReader {
        text: go,
        at: 0,
        out: String::with_capacity(go.len() + 16),
        changes: BTreeSet::new(),
        groups: 0,
        names: BTreeSet::new(),
        open: Vec::new(),
        fold: false,
        last: Last::Nothing,
        repeats: 1,
    };
    while let Some(c) = reader.peek() {
        reader.step(c)?;
    }
    if let Some(open) = reader.open.last() {
        return Err(reader.refusal(open.at, "`(` without its `)`"));
    }
    Ok(Translated {
        pattern: reader.out,
        groups: reader.groups,
        changes: reader.changes,
    })
}

/// A pattern that is being read.
struct PatternReader<'a> {
    text: &'a str,
    /// The next byte.
    at: usize,
    out: String,
    changes: BTreeSet<Rewrite>,
    groups: usize,
    names: BTreeSet<&'a str>,
    open: Vec<Open>,
    /// Set if the flag `i` is on.
    fold: bool,
    last: Last,
    /// The most repetitions of anything so far in this group.
    repeats: u64,
}

/// A group that is not closed yet.
struct Open {
    at: usize,
    /// `fold` and `repeats` of the group around it.
    fold: bool,
    repeats: u64,
}

/// The part that a repetition would repeat.
#[derive(Clone, Copy)]
enum Last {
    Nothing,
    Flags,
    Repetition,
    /// A part within which the repetitions multiply to this number.
    Thing(u64),
}

impl<'a> PatternReader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn refusal(&self, at: usize, why: impl Into<String>) -> PatternRefusal {
        PatternRefusal {
            at: 1 + self.text[..at].chars().count(),
            why: why.into(),
        }
    }

    /// Notes that a part was written that can be repeated.
    fn thing(&mut self, repeats: u64) {
        self.last = Last::Thing(repeats);
        self.repeats = self.repeats.max(repeats);
    }

    /// Writes a part that both read the same way.
    fn keep(&mut self, length: usize) {
        self.out.push_str(&self.rest()[..length]);
        self.at += length;
    }

    fn step(&mut self, c: char) -> Result<(), PatternRefusal> {
        match c {
            '(' => self.group()?,
            ')' => self.close()?,
            '|' => {
                self.keep(1);
                self.last = Last::Nothing;
            }
            '^' | '$' | '.' => {
                self.keep(1);
                self.thing(1);
            }
            '[' => self.class()?,
            '*' | '+' | '?' => self.repeat(1, 1)?,
            '{' => self.brace()?,
            '\\' => self.backslash()?,
            _ => {
                self.at += c.len_utf8();
                self.literal(c);
            }
        }
        Ok(())
    }

    /// Writes a character that stands for itself and is no sign of the syntax.
    fn literal(&mut self, c: char) {
        if self.fold && !c.is_ascii() {
            self.out.push_str("(?u:");
            self.out.push(c);
            self.out.push(')');
            self.changes.insert(Rewrite::Unicode);
        } else {
            self.out.push(c);
        }
        self.thing(1);
    }

    /// Reads `{`: a counted repetition, or else the character itself.
    fn brace(&mut self) -> Result<(), PatternRefusal> {
        let Some((length, low, high)) = counted(self.rest()) else {
            self.at += 1;
            self.out.push_str("\\{");
            self.changes.insert(Rewrite::Brace);
            self.thing(1);
            return Ok(());
        };
        if low > REPEATS || high.is_some_and(|high| high > REPEATS) {
            return Err(self.refusal(self.at, "a repetition of more than 1000"));
        }
        if high.is_some_and(|high| low > high) {
            return Err(self.refusal(self.at, "a repetition whose least is more than its most"));
        }
        let times = match high {
            Some(0) => 0,
            high => high.unwrap_or(low).max(1),
        };
        self.repeat(length, times)
    }

    /// Reads a repetition spelled in `length` bytes, which multiplies the repetitions within it by
    /// `times`.
    fn repeat(&mut self, length: usize, times: u64) -> Result<(), PatternRefusal> {
        let inner = match self.last {
            Last::Nothing => return Err(self.refusal(self.at, "a repetition of nothing")),
            Last::Flags => return Err(self.refusal(self.at, "a repetition of flags")),
            Last::Repetition => {
                return Err(self.refusal(self.at, "a repetition of a repetition"));
            }
            Last::Thing(inner) => inner,
        };
        let product = inner * times;
        if product > REPEATS {
            let why = "repetitions within repetitions, more than 1000 in all";
            return Err(self.refusal(self.at, why));
        }
        self.keep(length);
        if self.peek() == Some('?') {
            self.keep(1);
        }
        self.repeats = self.repeats.max(product);
        self.last = Last::Repetition;
        // A group around this one sees the product, whatever follows in this one.
        Ok(())
    }

    /// Reads `(` and the signs that name the kind of group.
    fn group(&mut self) -> Result<(), PatternRefusal> {
        let start = self.at;
        let rest = self.rest();
        if !rest.starts_with("(?") {
            self.keep(1);
            self.groups += 1;
            return self.enter(start);
        }
        for opening in ["(?=", "(?!", "(?<=", "(?<!", "(?>", "(?#", "(?P=", "(?P>"] {
            if rest.starts_with(opening) {
                let why = format!("`{opening}`, which Go does not know");
                return Err(self.refusal(start, why));
            }
        }
        if rest.starts_with("(?P<") {
            return self.named(4);
        }
        if rest.starts_with("(?<") {
            return self.named(3);
        }
        self.flags()
    }

    /// Reads a named group, whose name begins after `skip` bytes.
    fn named(&mut self, skip: usize) -> Result<(), PatternRefusal> {
        let start = self.at;
        let body = &self.rest()[skip..];
        let name = body.split_once('>').map_or("", |(name, _)| name);
        let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        if name.is_empty() || !name.bytes().all(fits) {
            return Err(self.refusal(start, "a group whose name is not letters, digits and `_`"));
        }
        if !self.names.insert(name) {
            return Err(self.refusal(start, format!("a second group named `{name}`")));
        }
        let length = skip + name.len() + 1;
        if name.as_bytes()[0].is_ascii_digit() {
            self.at += length;
            self.out.push('(');
            self.changes.insert(Rewrite::Name);
        } else {
            self.keep(length);
        }
        self.groups += 1;
        self.enter(start)
    }

    fn enter(&mut self, at: usize) -> Result<(), PatternRefusal> {
        if self.open.len() >= DEPTH {
            let why = format!("groups within groups, more than {DEPTH} deep");
            return Err(self.refusal(at, why));
        }
        self.open.push(Open {
            at,
            fold: self.fold,
            repeats: self.repeats,
        });
        self.repeats = 1;
        self.last = Last::Nothing;
        Ok(())
    }

    fn close(&mut self) -> Result<(), PatternRefusal> {
        let Some(open) = self.open.pop() else {
            return Err(self.refusal(self.at, "`)` without its `(`"));
        };
        self.keep(1);
        let inner = std::mem::replace(&mut self.repeats, open.repeats);
        self.fold = open.fold;
        self.thing(inner);
        Ok(())
    }

    /// Reads `(?flags)` or `(?flags:`.
    fn flags(&mut self) -> Result<(), PatternRefusal> {
        let start = self.at;
        self.at += 2;
        let (mut on, mut off, mut minus) = (BTreeSet::new(), BTreeSet::new(), false);
        loop {
            match self.take() {
                Some(flag @ ('i' | 'm' | 's' | 'U')) if minus => {
                    on.remove(&flag);
                    off.insert(flag);
                }
                Some(flag @ ('i' | 'm' | 's' | 'U')) => {
                    on.insert(flag);
                }
                Some('-') if !minus => minus = true,
                Some(end @ (':' | ')')) if !minus || !off.is_empty() => {
                    return self.set_flags(start, &on, &off, end);
                }
                Some(c) => {
                    let why = format!("`(?` with `{c}`, which is no flag of Go's");
                    return Err(self.refusal(start, why));
                }
                None => return Err(self.refusal(start, "`(` without its `)`")),
            }
        }
    }

    fn set_flags(
        &mut self,
        start: usize,
        on: &BTreeSet<char>,
        off: &BTreeSet<char>,
        end: char,
    ) -> Result<(), PatternRefusal> {
        let on_text: String = on.iter().collect();
        let off_text: String = off.iter().collect();
        let minus = if off.is_empty() { "" } else { "-" };
        let text = format!("(?{on_text}{minus}{off_text}{end}");
        if text.len() != self.at - start || text == "(?)" {
            self.changes.insert(Rewrite::Flags);
        }
        if text != "(?)" {
            self.out.push_str(&text);
        }
        if end == ':' {
            self.enter(start)?;
        } else {
            self.last = Last::Flags;
        }
        self.fold = (self.fold || on.contains(&'i')) && !off.contains(&'i');
        Ok(())
    }
}

/// Reads `{n}`, `{n,}` or `{n,m}` in Go's spelling. Returns its length in bytes, its least and its
/// most.
fn counted(text: &str) -> Option<(usize, u64, Option<u64>)> {
    let (low, rest) = number(text.strip_prefix('{')?)?;
    let (high, rest) = match rest.strip_prefix(',') {
        None => (Some(low), rest),
        Some(rest) if rest.starts_with('}') => (None, rest),
        Some(rest) => {
            let (high, rest) = number(rest)?;
            (Some(high), rest)
        }
    };
    let rest = rest.strip_prefix('}')?;
    Some((text.len() - rest.len(), low, high))
}

/// Reads a number that does not begin with a needless zero.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    Some((digits.parse().unwrap_or(u64::MAX), rest))
}

#[cfg(test)]
mod tests;
