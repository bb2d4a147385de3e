//! The generic rule: a name that says password, token or key, and a value that could be one.
//!
//! The name and the value may stand in an assignment, a table, a pair of `name` and `value`, a
//! sentence in any of many languages, a call, an element, a flag, or on two lines.

mod joint;
mod likely;
pub(super) mod name;
pub(super) mod value;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

use std::ops::Range;

use self::joint::Lead;
use self::likely::Joint;
use self::name::Name;
pub(super) use self::name::Strength;
use self::value::{Frame, Value, line_end, line_start};
use super::span::{Kind, Rank, Span};

/// How far behind a name in a sentence its value may stand, in bytes.
const SENTENCE_REACH: usize = 140;
/// Longest head of a table, in bytes; the columns and the bytes below it that are looked at: names
/// in a head are few, so that rows are read a few times at most.
const HEAD_BYTES_MAX: usize = 2_000;
const COLUMNS_MAX: usize = 24;
const TABLE_BYTES_MAX: usize = 64 * 1024;
/// How many words behind the verb of a sentence are tried.
const WORDS_TRIED: usize = 5;

/// Whether a value could be a password.
pub(super) fn is_password(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    value.iter().all(u8::is_ascii_graphic)
        && likely::secret(value, Strength::Password, Joint::Said, Frame::Quoted)
}

/// Whether a value is code, a path or points to where the secret is kept.
pub(super) fn refers(value: &[u8]) -> bool {
    !value.is_empty() && likely::refers(value)
}

/// Whether a text is a login and nothing else: `name:password`.
pub(super) fn is_login(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let Some(colon) = memchr::memchr(b':', text) else {
        return false;
    };
    let (user, password) = (&text[..colon], &text[colon + 1..]);
    let part = |b: &u8| b.is_ascii_alphanumeric() || b"_.@-+".contains(b);
    !user.is_empty()
        && user.len() <= 64
        && user.iter().all(part)
        && password.len() >= 8
        && is_password(password)
}

/// Looks for the value that the word at `word` names. Answers where the value ends.
pub(super) fn at(
    text: &[u8],
    word: Range<usize>,
    opened: Strength,
    found: &mut Vec<Span>,
) -> Option<usize> {
    let name = name::read(text, word, opened)?;
    let seek = Seek { text, name: &name };
    let begun = found.len();
    seek.ahead(found);
    if found.len() == begun {
        seek.behind(found);
    }
    found[begun..].iter().map(|span| span.end).max()
}

/// A name whose value is looked for.
struct Seek<'a> {
    text: &'a [u8],
    name: &'a Name,
}

impl Seek<'_> {
    fn ahead(&self, found: &mut Vec<Span>) {
        let lead = joint::after(self.text, self.name);
        match lead {
            Lead::Value { at, joint } => {
                if self.takes_login() && matches!(self.text.get(at), Some(b'(' | b'[')) {
                    return self.call(at + 1, true, found);
                }
                if self.name.strength == Strength::Login {
                    return self.login(at, found);
                }
                let taken = self.take(at, joint, found);
                if !taken && matches!(joint, Joint::Said | Joint::Assigned) {
                    self.fallback(at, found);
                }
            }
            Lead::Cell { at } => {
                let end = memchr::memchr2(b'|', b'\n', &self.text[at..]);
                let end = end.map_or(self.text.len(), |found| at + found);
                let taken = self.take(at, Joint::Said, found);
                if !taken && self.text.get(end) == Some(&b'|') {
                    self.column(found);
                }
                if taken {
                    return;
                }
                self.column(found);
            }
            Lead::Call { at, second } => self.call(at, second, found),
            Lead::Below { at, joint } => self.below(at, joint, found),
            Lead::Pair { at } => {
                self.take(at, Joint::Said, found);
            }
            Lead::Sentence { at, joined } => {
                self.sentence(at, joined, found);
            }
            Lead::Spaceless { at } => {
                let end = line_end(self.text, at).min(at + SENTENCE_REACH);
                self.spaceless(at, end, found);
            }
            Lead::Nothing => {}
        }
        if found.is_empty() {
            self.column(found);
            self.csv(found);
        }
    }

    /// Whether a pair in brackets behind the name is a login: `auth=("bob", "…")`.
    fn takes_login(&self) -> bool {
        let name = &self.text[self.name.range.clone()];
        let auth = name.len() >= 4 && name[name.len() - 4..].eq_ignore_ascii_case(b"auth");
        self.name.strength == Strength::Login || auth
    }

    /// Takes the value at `at` if it is likely.
    fn take(&self, at: usize, joint: Joint, found: &mut Vec<Span>) -> bool {
        // A name with its own value is no value: told before all of it is read.
        if likely::names(&self.text[at.min(self.text.len())..]) {
            return false;
        }
        let Some(value) = value::read(self.text, at) else {
            return false;
        };
        self.accept(&value, joint, found)
    }

    fn accept(&self, value: &Value, joint: Joint, found: &mut Vec<Span>) -> bool {
        let range = self.trimmed(value);
        if range.is_empty() {
            return false;
        }
        let strength = match self.name.strength {
            Strength::Login => Strength::Password,
            strength => strength,
        };
        self.accept_as(range, strength, joint, value.frame, found)
    }

    fn accept_as(
        &self,
        range: Range<usize>,
        strength: Strength,
        joint: Joint,
        frame: Frame,
        found: &mut Vec<Span>,
    ) -> bool {
        let bytes = &self.text[range.clone()];
        if !likely::secret(bytes, strength, joint, frame) {
            return false;
        }
        found.push(Span {
            start: range.start,
            end: range.end,
            kind: Kind::known(self.name.kind),
            rank: Rank::Named,
        });
        true
    }

    /// A value without the white space at its ends and the scheme of a header before it.
    fn trimmed(&self, value: &Value) -> Range<usize> {
        let bytes = &self.text[value.range.clone()];
        let front = bytes.len() - bytes.trim_ascii_start().len();
        let mut start = value.range.start + front;
        let end = start + bytes.trim_ascii().len();
        for scheme in [&b"bearer "[..], b"token ", b"basic ", b"apikey "] {
            let head = &self.text[start..end.min(start + scheme.len())];
            if head.eq_ignore_ascii_case(scheme) {
                start += scheme.len();
            }
        }
        start..end
    }

    /// Code that reads the value from elsewhere may still hold one in case there is none there.
    fn fallback(&self, at: usize, found: &mut Vec<Span>) {
        if let Some(quote) = joint::wrapped(&self.text[at..])
            && let Some(value) = value::quoted(self.text, at + quote)
            && self.accept(&value, Joint::Assigned, found)
        {
            return;
        }
        let end = line_end(self.text, at).min(at + 200);
        let line = &self.text[at..end];
        for join in [&b"|| "[..], b" or ", b"?? ", b", ", b"?: "] {
            let Some(place) = memchr::memmem::find(line, join) else {
                continue;
            };
            let next = at + place + join.len();
            if matches!(self.text.get(next), Some(b'"' | b'\'' | b'`'))
                && let Some(value) = value::quoted(self.text, next)
                && self.accept(&value, Joint::Assigned, found)
            {
                return;
            }
        }
    }

    /// `admin / hunter2!`, `admin:hunter2!`: the second half of a login.
    fn login(&self, at: usize, found: &mut Vec<Span>) {
        let end = line_end(self.text, at).min(at + SENTENCE_REACH);
        let line = &self.text[at..end];
        for (separator, open) in [
            (&b" / "[..], true),
            (b" : ", true),
            (b": ", true),
            (b" | ", true),
            (b" - ", true),
            (b", ", true),
            (b" with ", true),
            (b" and ", true),
            (b"/", false),
            (b":", false),
            (b" ", true),
        ] {
            let Some(place) = memchr::memmem::find(line, separator) else {
                continue;
            };
            // What stands before the separator is one name, not a sentence.
            let user = line[..place].trim_ascii();
            if user.is_empty()
                || user.len() > 64
                || (user.iter().filter(|b| **b == b' ').count() > 1)
            {
                continue;
            }
            if !open && user.contains(&b' ') {
                continue;
            }
            let next = at + place + separator.len();
            // The rest of `https://` is no password.
            if self.text.get(next) == Some(&b'/') {
                continue;
            }
            if let Some(value) = self
                .text
                .get(next)
                .and_then(|_| value::read(self.text, next))
                && self.accept(&value, Joint::Prose, found)
            {
                return;
            }
        }
    }

    /// `login("user", "value")`, `set_password("value")`.
    fn call(&self, at: usize, second: bool, found: &mut Vec<Span>) {
        if !second {
            if let Some(first) = value::quoted(self.text, at) {
                self.accept(&first, Joint::Assigned, found);
            }
            return;
        }
        // The password is the last of a few arguments between quotes, and never the first.
        let mut place = at;
        let mut last = None;
        for number in 0..5 {
            let value = value::quoted(self.text, place);
            let after = match &value {
                Some(value) => value.after,
                None => place + joint::expression(&self.text[place..]),
            };
            last = value.filter(|_| number > 0).or(last);
            let rest = &self.text[after..];
            let gap = rest.iter().take(40);
            let gap = gap.take_while(|b| b", \n\r\t".contains(b)).count();
            if after == place || !rest[..gap].contains(&b',') {
                break;
            }
            place = after + gap;
        }
        if let Some(value) = last {
            let range = self.trimmed(&value);
            let strength = match self.name.strength {
                Strength::Login | Strength::Weak => Strength::Password,
                strength => strength,
            };
            self.accept_as(range, strength, Joint::Assigned, Frame::Quoted, found);
        }
    }

    /// The value alone on the next line that is not empty.
    fn below(&self, at: usize, joint: Joint, found: &mut Vec<Span>) {
        let mut start = at;
        for _ in 0..4 {
            let end = line_end(self.text, start);
            let line = &self.text[start..end];
            let marks = line
                .iter()
                .take_while(|b| b" \t>-*+|\r".contains(b))
                .count();
            let body = line[marks..].trim_ascii_end();
            if body.starts_with(b"```") || body.is_empty() || body.starts_with(b"~~~") {
                start = end + 1;
                if start >= self.text.len() {
                    return;
                }
                continue;
            }
            let begin = start + marks;
            // A line that ends in a colon is a name of its own.
            if body.ends_with(b":") || (joint == Joint::Prose && !self.heads()) {
                return;
            }
            if let Some(value) = value::read(self.text, begin) {
                // Alone on its line: but for marks nothing follows.
                let rest = self.text[value.after.min(end)..end].trim_ascii();
                if rest.len() <= 3 {
                    let line = Value {
                        frame: if value.frame == Frame::Quoted {
                            Frame::Quoted
                        } else {
                            Frame::Line
                        },
                        ..value
                    };
                    let joint = if joint == Joint::Prose {
                        Joint::Near
                    } else {
                        joint
                    };
                    self.accept(&line, joint, found);
                }
            }
            return;
        }
    }

    /// Whether the name's line is hardly more than the name: a heading.
    fn heads(&self) -> bool {
        let start = line_start(self.text, self.name.range.start);
        let end = line_end(self.text, start);
        let before = &self.text[start..self.name.range.start];
        let after = self.text[self.name.range.end..end.max(self.name.range.end)].trim_ascii();
        // Words alone, as a heading has them: `### Meraki dashboard API key`.
        let heading =
            |b: &u8| b.is_ascii_alphanumeric() || b" #*>-_'&()\t".contains(b) || *b >= 0x80;
        before.len() <= 60
            && after.len() <= 24
            && before.iter().all(heading)
            && after.iter().all(heading)
    }

    /// A little of what stands before the name.
    fn before(&self) -> &[u8] {
        let name = self.name.range.start;
        &self.text[name.saturating_sub(80)..name]
    }

    /// The words of a sentence behind the name.
    fn sentence(&self, at: usize, joined: bool, found: &mut Vec<Span>) {
        let end = line_end(self.text, at).min(at + SENTENCE_REACH);
        let end = at + self.text[at..end].trim_ascii_end().len();
        let mut joined = joined;
        let mut tried = 0;
        let mut first = !self.name.verb;
        // Whether nothing but a verb stands between the name and the word.
        let mut near = matches!(self.name.strength, Strength::Password | Strength::Pin)
            || matches!(self.name.kind, "api-key" | "secret")
            || joined
            || joint::introduced(self.before())
            || joint::qualified(self.before());
        let mut ids = false;
        let mut place = at;
        while place < end && tried < WORDS_TRIED {
            let gap = self.text[place..end]
                .iter()
                .take_while(|b| b" \t(,[".contains(b))
                .count();
            place += gap;
            // A wide gap is the next column of a listing.
            if place >= end || (gap > 3 && !joined) {
                return;
            }
            // What stands in brackets straight behind a name says what it is.
            let bracket = first && matches!(self.text[place - 1], b'(' | b'[');
            joined |= bracket;
            near |= bracket;
            let word = joint::word(self.text, place, end);
            let bytes = &self.text[word.clone()];
            let value = value::read(self.text, place).filter(|value| value.range.start < end);
            if let Some(value) = &value
                && (joined || first)
                && self.accept(
                    value,
                    if near || (first && value.frame == Frame::Quoted) {
                        Joint::Near
                    } else {
                        Joint::Prose
                    },
                    found,
                )
            {
                return;
            }
            ids |= joint::identifies(bytes);
            near = !ids
                && (joint::equates(bytes) || near && (joint::joins(bytes) || joint::fills(bytes)));
            if joint::ends_sentence(bytes) {
                return;
            }
            if joined {
                tried += 1;
            } else {
                joined = joint::joins(bytes);
                if self.name.verb && !joined {
                    // `login admin / …`
                    let pair =
                        memchr::memmem::find(&self.text[at..end], b" / ").is_some_and(|i| i < 40);
                    if pair && self.name.strength == Strength::Login {
                        self.login(at, found);
                    }
                    return;
                }
            }
            first = false;
            let line = line_end(self.text, end);
            if joined && word.end == end && line < self.text.len() && bytes.ends_with(b":") {
                return self.below(line + 1, Joint::Said, found);
            }
            if joined && self.name.strength == Strength::Login {
                let next = word.end
                    + self.text[word.end..end]
                        .iter()
                        .take_while(|b| **b == b' ')
                        .count();
                return self.login(next, found);
            }
            place = match value {
                Some(value) if value.frame == Frame::Quoted => value.after.max(word.end),
                _ => word.end.max(place + 1),
            };
        }
    }

    /// The first run of ASCII in a sentence without spaces.
    fn spaceless(&self, at: usize, end: usize, found: &mut Vec<Span>) {
        let graphic = |b: &u8| b.is_ascii_graphic() && !b":=,;".contains(b);
        let mut place = at;
        for _ in 0..3 {
            let Some(gap) = self.text[place..end].iter().position(graphic) else {
                return;
            };
            place += gap;
            let Some(value) = value::read(self.text, place) else {
                place += 1;
                continue;
            };
            let value = Value {
                frame: if value.frame == Frame::Quoted {
                    Frame::Quoted
                } else {
                    Frame::Line
                },
                ..value
            };
            if self.accept(&value, Joint::Near, found) {
                return;
            }
            place = value.after.max(place + 1).min(end);
        }
    }

    /// The cells below a name in the head of a table.
    fn column(&self, found: &mut Vec<Span>) {
        let head = line_start(self.text, self.name.range.start);
        let head_end = line_end(self.text, head);
        let line = &self.text[head..head_end];
        if head_end - head > HEAD_BYTES_MAX
            || head_end < self.name.range.end
            || !line.contains(&b'|')
            || head_end + 1 >= self.text.len()
        {
            return;
        }
        let rule_end = line_end(self.text, head_end + 1);
        if !is_rule(&self.text[head_end + 1..rule_end]) {
            return;
        }
        let column = line[..self.name.range.start - head]
            .iter()
            .filter(|b| **b == b'|')
            .count();
        if column > COLUMNS_MAX {
            return;
        }
        let outer = line.trim_ascii_start().starts_with(b"|");
        let mut row = rule_end + 1;
        let limit = self.text.len().min(head + TABLE_BYTES_MAX);
        while row < limit {
            let end = line_end(self.text, row);
            let cells = &self.text[row..end];
            let next_end = if end < self.text.len() {
                line_end(self.text, end + 1)
            } else {
                end
            };
            if !cells.contains(&b'|') || (end < next_end && is_rule(&self.text[end + 1..next_end]))
            {
                return;
            }
            let shift = usize::from(!outer && cells.trim_ascii_start().starts_with(b"|"));
            self.cell(row, cells, column + shift, found);
            row = end + 1;
        }
    }

    /// The cells below a name in the first line of comma-separated values.
    fn csv(&self, found: &mut Vec<Span>) {
        let head = line_start(self.text, self.name.range.start);
        let head_end = line_end(self.text, head);
        let (name, line) = (&self.name.range, &self.text[head..head_end]);
        let sure = matches!(self.name.strength, Strength::Password | Strength::Secret);
        if !sure || head_end - head > 400 || head_end < name.end || head_end >= self.text.len() {
            return;
        }
        let Some(&mark) = line.iter().find(|b| matches!(b, b',' | b';' | b'\t')) else {
            return;
        };
        let heading = |b: &u8| {
            b.is_ascii_alphanumeric()
                || matches!(b, b'_' | b'-' | b' ' | b'"' | b'\r')
                || *b == mark
        };
        let before = name.start.checked_sub(1).map(|i| self.text[i]);
        let after = self.text[name.end];
        let edge = |b: u8| b == mark || matches!(b, b'"' | b'\n' | b'\r');
        // A list of quoted words, one a line, ends its lines in a comma.
        if line.trim_ascii_end().last() == Some(&mark) {
            return;
        }
        if !line.iter().all(heading) || !before.is_none_or(edge) || !edge(after) {
            return;
        }
        let column = line[..name.start - head]
            .iter()
            .filter(|b| **b == mark)
            .count();
        let columns = line.iter().filter(|b| **b == mark).count();
        let limit = self.text.len().min(head + TABLE_BYTES_MAX);
        let mut row = head_end + 1;
        while row < limit && column <= COLUMNS_MAX {
            let end = line_end(self.text, row);
            let cells = &self.text[row..end];
            if cells.iter().filter(|b| **b == mark).count() < columns {
                return;
            }
            let mut start = row;
            for cell in cells.split(|b| *b == mark).take(column) {
                start += cell.len() + 1;
            }
            let cell = self.text[start..end]
                .split(|b| *b == mark)
                .next()
                .unwrap_or_default();
            let front = cell.len() - cell.trim_ascii_start().len();
            let quote =
                usize::from(cell.trim_ascii().len() > 1 && cell.trim_ascii().starts_with(b"\""));
            let range = start + front + quote..start + front + cell.trim_ascii().len() - quote;
            let value = Value {
                after: range.end,
                range,
                frame: Frame::Quoted,
            };
            self.accept(&value, Joint::Said, found);
            row = end + 1;
        }
    }

    fn cell(&self, row: usize, cells: &[u8], column: usize, found: &mut Vec<Span>) {
        let mut start = 0;
        for _ in 0..column {
            match memchr::memchr(b'|', &cells[start..]) {
                Some(bar) => start += bar + 1,
                None => return,
            }
        }
        let end = memchr::memchr(b'|', &cells[start..]).map_or(cells.len(), |bar| start + bar);
        let cell = &cells[start..end];
        let front = cell.len() - cell.trim_ascii_start().len();
        if cell.trim_ascii().is_empty() {
            return;
        }
        let at = row + start + front;
        if let Some(value) = value::read(self.text, at) {
            // A cell that holds one word is as good as quoted.
            let alone = value.after + 2 >= row + start + cell.trim_ascii_end().len();
            let frame = if alone { Frame::Quoted } else { Frame::Bare };
            self.accept(&Value { frame, ..value }, Joint::Said, found);
        }
    }

    /// `… with X as the password`, `X is the token`, `X (password)`.
    fn behind(&self, found: &mut Vec<Span>) {
        let line = line_start(self.text, self.name.range.start)
            .max(self.name.range.start.saturating_sub(SENTENCE_REACH));
        let name = self.name.range.start;
        // `X is the Snyk API token` says it of any value, an id too.
        let said = joint::predicate(self.text, line, name).map(|end| (end, Joint::Near));
        let either = said.or_else(|| Some((joint::before(self.text, line, name)?, Joint::Prose)));
        if let Some((end, joint)) = either
            && let Some(value) = joint::value_before(self.text, line, end)
        {
            self.accept(&value, joint, found);
        }
    }
}

/// The line below the head of a table.
fn is_rule(line: &[u8]) -> bool {
    line.contains(&b'-') && line.iter().all(|b| b"|-: \t+\r".contains(b))
}
