//! Values below their name in a table or in comma-separated values.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Seek;
use super::decide::Joint;
use super::name::Strength;
use super::value::{self, Frame, Value, line_end, line_start};
use crate::span::Span;

/// Longest head of a table, in bytes.
const HEAD_BYTES_MAX: usize = 2_000;
/// Longest head of comma-separated values, in bytes.
const SEPARATED_HEAD_BYTES_MAX: usize = 400;
/// How many columns of a table are looked at.
const COLUMNS_MAX: usize = 24;
/// How many rows of a table whose columns are set apart by blanks are looked at.
const ALIGNED_ROWS_MAX: usize = 64;
/// How many bytes of a table are looked at.
const TABLE_BYTES_MAX: usize = 16 * 1024;

/// How the cells of a row are set apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Style {
    Bars,
    Blanks,
    Marks,
}

/// Up to where each column of a text has been read. A row is read once for each column: otherwise
/// rows that could be heads themselves would be read again for each of them.
#[derive(Debug, Default)]
pub(crate) struct Columns(BTreeMap<(Style, usize), usize>);

impl Columns {
    /// Whether the rows below a head are still to be read, in the column that begins there.
    fn unread(&self, style: Style, column: usize, head: usize) -> bool {
        let read = self.0.get(&(style, column));
        read.is_none_or(|end| head >= *end)
    }

    fn read(&mut self, style: Style, column: usize, end: usize) {
        self.0.insert((style, column), end);
    }
}

impl Seek<'_> {
    /// The cells below a name in the head of a table.
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
        // In a chat the line below the head is left out: then each row has as many cells.
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
        if column > COLUMNS_MAX || !columns.unread(Style::Bars, column, head) {
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
        columns.read(Style::Bars, column, row);
    }

    /// Whether a name is all of its cell in a line of cells.
    fn fills_cell(&self, line: &[u8], head: usize) -> bool {
        let name = &self.name.range;
        let before = line[..name.start - head].trim_ascii_end();
        let after = line[name.end - head..].trim_ascii_start();
        before.ends_with(b"|") && after.starts_with(b"|")
    }

    /// The values below a name in a head whose columns are set apart by blanks.
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
        // The name and perhaps words before it are a column: two blanks stand on either side.
        let line = &self.text[head..head_end];
        let wide = memchr::memmem::rfind(&line[..name.start - head], b"  ");
        let Some(gap) = wide else { return };
        let start = gap + 2;
        let rest = &line[name.end - head..];
        let alone = rest.starts_with(b"  ") || rest.trim_ascii().is_empty();
        if !alone || !columns.unread(Style::Blanks, start, head) {
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
        columns.read(Style::Blanks, start, row);
    }

    /// The cells below a name in the first line of comma-separated values.
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
        // A list of quoted words, one a line, ends its lines in a comma.
        if line.trim_ascii_end().last() == Some(&mark) {
            return;
        }
        if !line.iter().all(heading) || !before.is_none_or(edge) || !edge(after) {
            return;
        }
        let column = memchr::memchr_iter(mark, &line[..name.start - head]).count();
        if column > COLUMNS_MAX || !columns.unread(Style::Marks, column, head) {
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
            // Another head: the rows below it are its own.
            if self.text[value.range.clone()] == self.text[name.clone()] {
                break;
            }
            self.accept(&value, Joint::Said, found);
            row = end + 1;
        }
        columns.read(Style::Marks, column, row);
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
}

/// The cell of this column in a row of values between marks, without its quotes.
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

/// The line below the head of a table.
fn is_rule(line: &[u8]) -> bool {
    line.contains(&b'-') && line.iter().all(|b| b"|-: \t+\r".contains(b))
}
