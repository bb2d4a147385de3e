//! Values below their name in a table or in comma-separated values.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::entropy::{self, Makeup};
use crate::named::decide::{Joint, stands_for_value};
use crate::named::name::Strength;
use crate::named::refers::address;
use crate::named::setting::{is_chosen, is_literal};
use crate::named::value::{self, Frame, Value, line_end, line_start};
use crate::named::words::{WRAPPERS, holds};
use crate::named::{Seek, chosen};
use crate::span::{Rank, Span};

/// Longest header row of a table, in bytes.
const HEAD_BYTES_MAX: usize = 2_000;
/// Longest header row of comma-separated values, in bytes.
const SEPARATED_HEAD_BYTES_MAX: usize = 400;
/// Most columns of a table that are read.
const COLUMNS_MAX: usize = 24;
/// Most rows that are read in a table whose columns are separated by blanks.
const ALIGNED_ROWS_MAX: usize = 64;
/// Most bytes of a table that are read.
const TABLE_BYTES_MAX: usize = 16 * 1024;

/// The separator between the cells of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TableStyle {
    Bars,
    Blanks,
    Marks,
}

/// The end of the part that has been read, for each column of a text. A row is read once for each
/// column: otherwise rows that could be headers themselves would be read again for each of them.
#[derive(Debug, Default)]
pub(crate) struct Columns(BTreeMap<(TableStyle, usize), usize>);

impl Columns {
    /// Tells whether the rows below a header are still unread in the column that begins there.
    fn unread(&self, style: TableStyle, column: usize, head: usize) -> bool {
        let read = self.0.get(&(style, column));
        read.is_none_or(|end| head >= *end)
    }

    fn read(&mut self, style: TableStyle, column: usize, end: usize) {
        self.0.insert((style, column), end);
    }
}

impl Seek<'_> {
    /// Finds the cells below a name in the header row of a table.
    pub(super) fn column(&self, columns: &mut Columns, found: &mut Vec<Span>) {
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
        let bars = memchr::memchr_iter(b'|', line).count();
        let next = line_end(self.text, head_end + 1);
        let below = &self.text[head_end + 1..next];
        // Chats omit the line below the header: then each row must have as many cells.
        let rule_end = if is_rule(below) {
            next
        } else if bars >= 3
            && memchr::memchr_iter(b'|', below).count() == bars
            && self.fills_cell(line, head)
        {
            head_end
        } else {
            return;
        };
        let column = memchr::memchr_iter(b'|', &line[..self.name.range.start - head]).count();
        if column > COLUMNS_MAX || !columns.unread(TableStyle::Bars, column, head) {
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
                break;
            }
            let shift = usize::from(!outer && cells.trim_ascii_start().starts_with(b"|"));
            self.cell(row, cells, column + shift, found);
            row = end + 1;
        }
        columns.read(TableStyle::Bars, column, row);
    }

    /// Tells whether a name fills its cell in a row.
    fn fills_cell(&self, line: &[u8], head: usize) -> bool {
        let name = &self.name.range;
        let before = line[..name.start - head].trim_ascii_end();
        let after = line[name.end - head..].trim_ascii_start();
        before.ends_with(b"|") && after.starts_with(b"|")
    }

    /// Finds the values below a name in a header whose columns are separated by blanks.
    pub(super) fn aligned(&self, columns: &mut Columns, found: &mut Vec<Span>) {
        let head = line_start(self.text, self.name.range.start);
        let head_end = line_end(self.text, head);
        let name = &self.name.range;
        let sure = self.name.strength == Strength::Password;
        if !sure
            || head_end >= self.text.len()
            || head_end - head > SEPARATED_HEAD_BYTES_MAX
            || head_end < name.end
        {
            return;
        }
        // The name, perhaps with words before it, is a column: two blanks stand on either side.
        let line = &self.text[head..head_end];
        let wide = memchr::memmem::rfind(&line[..name.start - head], b"  ");
        let Some(gap) = wide else { return };
        let start = gap + 2;
        let rest = &line[name.end - head..];
        let alone = rest.starts_with(b"  ") || rest.trim_ascii().is_empty();
        if !alone || !columns.unread(TableStyle::Blanks, start, head) {
            return;
        }
        let limit = self.text.len().min(head + TABLE_BYTES_MAX);
        let mut row = head_end + 1;
        for _ in 0..ALIGNED_ROWS_MAX {
            let end = line_end(self.text, row.min(limit));
            let at = row + start;
            if row >= limit || at >= end || self.text[at - 1] != b' ' || self.text[at] == b' ' {
                break;
            }
            let cell = &self.text[at..end];
            let width = memchr::memmem::find(cell, b"  ").unwrap_or(cell.len());
            if let Some(value) =
                value::read(self.text, at).filter(|value| value.after >= at + width)
            {
                self.accept(&value.alone(), Joint::Said, found);
            }
            row = end + 1;
        }
        columns.read(TableStyle::Blanks, start, row);
    }

    /// Finds the cells below a name in the first line of comma-separated values.
    pub(super) fn csv(&self, columns: &mut Columns, found: &mut Vec<Span>) {
        let head = line_start(self.text, self.name.range.start);
        let head_end = line_end(self.text, head);
        let (name, line) = (&self.name.range, &self.text[head..head_end]);
        let sure = matches!(self.name.strength, Strength::Password | Strength::Secret);
        if !sure
            || head_end - head > SEPARATED_HEAD_BYTES_MAX
            || head_end < name.end
            || head_end >= self.text.len()
        {
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
        // A list of quoted words, one per line, has a comma at the end of each line.
        if line.trim_ascii_end().last() == Some(&mark) {
            return;
        }
        if !line.iter().all(heading) || !before.is_none_or(edge) || !edge(after) {
            return;
        }
        let column = memchr::memchr_iter(mark, &line[..name.start - head]).count();
        if column > COLUMNS_MAX || !columns.unread(TableStyle::Marks, column, head) {
            return;
        }
        let marks = memchr::memchr_iter(mark, line).count();
        let limit = self.text.len().min(head + TABLE_BYTES_MAX);
        let mut row = head_end + 1;
        while row < limit {
            let end = line_end(self.text, row);
            let cells = &self.text[row..end];
            if memchr::memchr_iter(mark, cells).count() < marks {
                break;
            }
            let value = separated(self.text, row..end, mark, column);
            // Another header: the rows below belong to it.
            if self.text[value.range.clone()] == self.text[name.clone()] {
                break;
            }
            self.accept(&value, Joint::Said, found);
            row = end + 1;
        }
        columns.read(TableStyle::Marks, column, row);
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
            let cell = &self.text[value.range.clone()];
            let accepted = self.accept(
                &Value {
                    frame,
                    ..value.clone()
                },
                Joint::Said,
                found,
            );
            // A plain word has nothing but its column to tell what it is.
            let is_word = alone && cell.iter().all(u8::is_ascii_lowercase) && is_chosen(cell);
            if !accepted && is_word && self.name.strength == Strength::Password {
                found.push(self.span(value.range));
            }
        }
    }
}

/// Returns the cell of this column in a row of separated values, without its quotes.
fn separated(text: &[u8], row: Range<usize>, mark: u8, column: usize) -> Value {
    let mut start = row.start;
    for cell in text[row.clone()].split(|b| *b == mark).take(column) {
        start += cell.len() + 1;
    }
    let mut cells = text[start..row.end].split(|b| *b == mark);
    let cell = cells.next().unwrap_or_default();
    let front = cell.len() - cell.trim_ascii_start().len();
    let body = cell.trim_ascii();
    let quote = usize::from(body.len() > 1 && body.starts_with(b"\""));
    let range = start + front + quote..start + front + body.len() - quote;
    Value {
        after: range.end,
        range,
        frame: Frame::Quoted,
    }
}

/// Tells whether a line is the rule below the header of a table.
fn is_rule(line: &[u8]) -> bool {
    line.contains(&b'-') && line.iter().all(|b| b"|-: \t+\r".contains(b))
}

// Values on a line of their own below their name.

/// Most lines that are read below a name: fences and empty lines may come before the value.
const LINES_MAX: usize = 4;

impl Seek<'_> {
    /// Finds the value that stands alone on the next line that is not empty.
    pub(super) fn below(&self, at: usize, joint: Joint, found: &mut Vec<Span>) {
        let mut start = at;
        for _ in 0..LINES_MAX {
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
            // A line that ends in a colon is a name of its own, and so is a name before `=`.
            if body.ends_with(b":") || is_setting(body) || (joint == Joint::Prose && !self.heads())
            {
                return;
            }
            if let Some(value) = value::read(self.text, begin) {
                // The value stands alone on its line: at most marks follow.
                let rest = self.text[value.after.min(end)..end].trim_ascii();
                if rest.len() <= 3 {
                    let line = value.alone();
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

    /// Tells whether the line of the name is hardly more than the name: a heading.
    fn heads(&self) -> bool {
        let start = line_start(self.text, self.name.range.start);
        let end = line_end(self.text, start);
        let before = &self.text[start..self.name.range.start];
        let after = self.text[self.name.range.end..end.max(self.name.range.end)].trim_ascii();
        // Words alone, as in a heading: `### Meraki dashboard API key`.
        let heading =
            |b: &u8| b.is_ascii_alphanumeric() || b" #*>-_'&()\t".contains(b) || *b >= 0x80;
        before.len() <= 60
            && after.len() <= 24
            && before.iter().all(heading)
            && after.iter().all(heading)
    }
}

/// Tells whether a line is a name, `=` and a value: `JWT_TTL=3600`.
fn is_setting(line: &[u8]) -> bool {
    let part = |b: &&u8| b.is_ascii_alphabetic() || matches!(b, b'_' | b'.' | b'-');
    let name = line.iter().take_while(part).count();
    let rest = line[name..].trim_ascii_start();
    name > 0 && rest.starts_with(b"=") && !rest.starts_with(b"==") && rest.len() > 1
}

// Values among the arguments of calls, and in code that falls back to them.

/// Prefixes of a literal: a type of YAML, and the mark of a string of wide characters in SQL.
const PREFIXES: &[&[u8]] = &[b"!!str ", b"N"];
/// Separators between code that reads a value and its fallback value.
const FALLBACKS: &[&[u8]] = &[b"|| ", b" or ", b"?? ", b", ", b"?: "];
/// Longest distance to a fallback value, in bytes.
const FALLBACK_REACH: usize = 200;
/// Most arguments of a call that are read.
const ARGUMENTS_MAX: usize = 5;

impl Seek<'_> {
    /// Tells whether a pair in brackets behind the name is a login: `auth=("bob", "…")`.
    pub(super) fn takes_login(&self) -> bool {
        let name = &self.text[self.name.range.clone()];
        let auth = name.len() >= 4 && name[name.len() - 4..].eq_ignore_ascii_case(b"auth");
        self.name.strength == Strength::Login || auth
    }

    /// Tells whether the call belongs to a Redis client, which takes a password alone:
    /// `redis:auth("…")`.
    fn is_of_redis(&self) -> bool {
        let before = &self.text[..self.name.range.start];
        let name = &self.text[self.name.range.clone()];
        let name = name.to_ascii_lowercase();
        let object = name.strip_suffix(b".auth").unwrap_or(b"");
        let arrow = [&b":"[..], b"->"].iter().any(|mark| {
            before.strip_suffix(*mark).is_some_and(|before| {
                let low = before.len().saturating_sub(8);
                let object = before[low..].to_ascii_lowercase();
                object.ends_with(b"red") || object.ends_with(b"redis")
            })
        });
        object.ends_with(b"red") || object.ends_with(b"redis") || name == b"auth" && arrow
    }

    /// Finds the fallback value in code that reads the value from elsewhere.
    pub(super) fn fallback(&self, at: usize, found: &mut Vec<Span>) {
        if let Some(quote) = wrapped(&self.text[at..])
            && let Some(value) = value::quoted(self.text, at + quote)
            && self.accept(&value, Joint::Assigned, found)
        {
            return;
        }
        let end = line_end(self.text, at).min(at + FALLBACK_REACH);
        let line = &self.text[at..end];
        for join in FALLBACKS {
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

    /// Finds the password among the arguments of a call: `login("user", "value")`,
    /// `set_password("value")`.
    pub(super) fn call(&self, at: usize, second: bool, found: &mut Vec<Span>) {
        if !second {
            if let Some(first) = value::quoted(self.text, at) {
                let sets = self.text[self.name.range.clone()]
                    .split(|b| *b == b'.')
                    .next_back();
                let sets = sets.is_some_and(|name| name.eq_ignore_ascii_case(b"setPassword"));
                if sets && is_chosen(&self.text[first.range.clone()]) {
                    found.push(self.span(first.range));
                } else {
                    self.accept(&first, Joint::Assigned, found);
                }
            }
            return;
        }
        // The password is the last of a few quoted arguments, and never the first.
        let mut place = at;
        let mut last = None;
        for number in 0..ARGUMENTS_MAX {
            let value = value::quoted(self.text, place);
            let after = match &value {
                Some(value) => value.after + turned(&self.text[value.after..]),
                None => place + expression(&self.text[place..]),
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
        let redis = last.is_none() && self.is_of_redis();
        if redis {
            last = value::quoted(self.text, at);
        }
        if let Some(value) = last {
            let range = self.trimmed(&value);
            let strength = match self.name.strength {
                Strength::Login | Strength::Weak => Strength::Password,
                strength => strength,
            };
            let bytes = &self.text[range.clone()];
            // `auth=('bob', '…')` is a login, and so is the only argument of a Redis client.
            let pair = self.text.get(self.name.range.end) != Some(&b'(');
            let chosen = is_literal(bytes) || (redis || pair) && is_chosen(bytes);
            if chosen && strength == Strength::Password {
                found.push(self.span(range));
            } else {
                self.accept_as(range, strength, Joint::Assigned, Frame::Quoted, found);
            }
        }
    }
}

/// Returns the width of a call that only converts the literal before it: `.to_owned()`.
fn turned(rest: &[u8]) -> usize {
    let name = expression(rest);
    let call = rest.starts_with(b".") && rest[name..].starts_with(b"()");
    if call { name + 2 } else { 0 }
}

/// Returns the width of an unquoted argument: a name, a number, a member.
fn expression(rest: &[u8]) -> usize {
    let part = |b: &&u8| b.is_ascii_alphanumeric() || b"_.$@&*?".contains(b);
    rest.iter().take(64).take_while(part).count()
}

/// Returns the offset of the quoted literal behind a prefix or in a call that only wraps it.
fn wrapped(rest: &[u8]) -> Option<usize> {
    for mark in PREFIXES {
        if rest.starts_with(mark) && matches!(rest.get(mark.len()), Some(b'"' | b'\'')) {
            return Some(mark.len());
        }
    }
    let part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'.');
    let name = rest.iter().take(48).take_while(part).count();
    let last = rest[..name].rsplit(|b| matches!(b, b':' | b'.')).next()?;
    let known = holds(WRAPPERS, last);
    let quote = matches!(rest.get(name + 1), Some(b'"' | b'\''));
    (known && rest.get(name) == Some(&b'(') && quote).then_some(name + 1)
}

// Passwords of logins without a label: `admin / hunter2!`, `admin:hunter2!`.

/// Longest user name, in bytes.
const USER_BYTES_MAX: usize = 64;

/// Names of accounts that every machine has.
const ACCOUNTS: &[&[u8]] = &[
    b"root",
    b"admin",
    b"administrator",
    b"administrateur",
    b"user",
    b"guest",
    b"sa",
    b"sysadmin",
    b"superuser",
    b"postgres",
    b"mysql",
    b"deploy",
    b"ubuntu",
    b"test",
    b"demo",
    b"info",
    b"support",
];

/// Finds the password of a login without a label: `root / vmware1!`. Before the slash stands an
/// account that every machine has, or an address. Before a slash between blanks any name may stand,
/// if the value can only be a password.
pub(crate) fn login_pair(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let blank = text[at] == b' ';
    let slash = at
        + text[at..]
            .iter()
            .position(|b| *b == b'/')
            .unwrap_or_default();
    let end = if blank { at } else { slash };
    let part = |b: &u8| b.is_ascii_alphanumeric() || *b >= 0x80 || b"._-+@\\".contains(b);
    let name = &text[end.saturating_sub(USER_BYTES_MAX)..end];
    let name = name.strip_suffix(b"`").unwrap_or(name);
    let width = name.iter().rev().take_while(|b| part(b)).count();
    let (before, user) = name.split_at(name.len() - width);
    // A path, a URL, a variable.
    let inside = matches!(
        before.last(),
        Some(b'/' | b':' | b'$' | b'~' | b'<' | b'{' | b'=')
    );
    if user.is_empty() || inside || width == USER_BYTES_MAX {
        return;
    }
    let known = ACCOUNTS
        .iter()
        .any(|account| user.eq_ignore_ascii_case(account));
    let start = slash + 1 + usize::from(blank);
    let Some(value) = text.get(start).and_then(|_| value::read(text, start)) else {
        return;
    };
    let bytes = &text[value.range.clone()];
    if !(6..=64).contains(&bytes.len()) || bytes.contains(&b'/') || stands_for_value(bytes) {
        return;
    }
    let makeup = Makeup::of(bytes);
    let marks = bytes.iter().filter(|b| b"!#*^~$@&?%".contains(b)).count();
    let numbered = makeup.digits > 0 && makeup.letters() + makeup.foreign >= 3;
    let marked = marks > 0 && numbered && makeup.upper + makeup.foreign > 0;
    let sure = marked && chosen::is_chosen(bytes, Joint::Near, Frame::Bare);
    let likely = numbered && chosen::is_chosen(bytes, Joint::Near, Frame::Bare);
    let takes = if blank && (known || address(user)) {
        likely
    } else {
        sure && (blank || known)
    };
    if takes && !entropy::placeholder(bytes) {
        found.push(Span::new(value.range, "login-password", Rank::Structural));
    }
}
