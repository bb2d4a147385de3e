//! Reads the value behind a name, however it is quoted.

use std::ops::Range;

/// Longest value that is read, in bytes.
const VALUE_BYTES_MAX: usize = 8 * 1024;

/// Longest unquoted value that is read, in bytes: longer tokens have rules of their own.
const BARE_BYTES_MAX: usize = 2 * 1024;

/// Longest distance to the start or end of a line, in bytes: a text of one long line must not be
/// read again for each name in it.
const LINE_BYTES_MAX: usize = 1024;

/// The way a value is delimited in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// In quotes or code marks.
    Quoted,
    /// Bare, and alone to the end of its line.
    Line,
    /// Bare, with more text behind it.
    Bare,
}

/// A value, and the position behind its closing quote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) range: Range<usize>,
    pub(super) frame: Frame,
    pub(super) after: usize,
}

impl Value {
    /// Returns the value as if nothing else stood beside it.
    pub(super) fn alone(self) -> Self {
        let frame = match self.frame {
            Frame::Quoted => Frame::Quoted,
            Frame::Line | Frame::Bare => Frame::Line,
        };
        Self { frame, ..self }
    }
}

/// Quotes beyond ASCII: an opening quote, and the marks that may close it.
const QUOTES: &[(&str, &[&str])] = &[
    ("“", &["”", "“", "\""]),
    ("„", &["“", "”", "\""]),
    ("”", &["”"]),
    ("‘", &["’", "‘"]),
    ("‚", &["‘", "’"]),
    ("«", &["»"]),
    ("»", &["«"]),
    ("‹", &["›"]),
    ("「", &["」"]),
    ("『", &["』"]),
    ("【", &["】"]),
    ("《", &["》"]),
    ("（", &["）"]),
    ("&quot;", &["&quot;"]),
    ("&#34;", &["&#34;"]),
    ("&#39;", &["&#39;"]),
    ("&apos;", &["&apos;"]),
    ("<code>", &["</code>"]),
    ("<b>", &["</b>"]),
    ("<strong>", &["</strong>"]),
    ("<kbd>", &["</kbd>"]),
    ("<td>", &["</td>"]),
    ("<![CDATA[", &["]]>"]),
];

/// Marks beyond ASCII that end a bare value.
const BREAKING: &[&str] = &["”", "“", "’", "»", "…"];

/// Returns the length in bytes of the marks without meaning at `at`: emphasis, string prefixes.
fn marks(text: &[u8], mut at: usize) -> usize {
    let begun = at;
    while let Some(&b) = text.get(at) {
        let stars = matches!(b, b'*' | b'_' | b'~') && text.get(at + 1) == Some(&b);
        let one = b == b'*'
            && text
                .get(at + 1)
                .is_some_and(|b| matches!(b, b'`' | b'"' | b'\''))
            || b == b'('
                && text
                    .get(at + 1)
                    .is_some_and(|b| matches!(b, b'`' | b'"' | b'\''));
        if stars {
            at += 2;
        } else if one {
            at += 1;
        } else {
            break;
        }
    }
    // b"…", r'…', f"…", @"…", u"…", L"…"
    let prefix = text[at..].iter().take(2);
    let prefix = prefix.take_while(|b| b"bBrRfFuUL@$".contains(b)).count();
    let hashes = text[at + prefix..]
        .iter()
        .take(3)
        .take_while(|b| **b == b'#')
        .count();
    if prefix > 0 && matches!(text.get(at + prefix + hashes), Some(b'"' | b'\'')) {
        at += prefix + hashes;
    }
    at - begun
}

/// Reads the value that begins at `at`, which is neither whitespace nor the end.
pub(super) fn read(text: &[u8], at: usize) -> Option<Value> {
    let at = at + marks(text, at);
    if let Some(quoted) = quoted(text, at) {
        return Some(quoted);
    }
    bare(text, at)
}

/// Tells whether a bare value is the name of a call whose first argument is quoted: `fetch!("X")`.
pub(super) fn is_called(text: &[u8], value: &Value) -> bool {
    let name = |b: &u8| b.is_ascii_alphanumeric() || b"_.:!?".contains(b);
    value.frame != Frame::Quoted
        && text[value.range.clone()].iter().all(name)
        && matches!(&text[value.range.end..], [b'(', b'"' | b'\'' | b'`', ..])
}

/// Reads the quoted value that begins at `at`.
pub(super) fn quoted(text: &[u8], at: usize) -> Option<Value> {
    let rest = &text[at..];
    let escapes = rest.iter().take_while(|b| **b == b'\\').count();
    match rest.get(escapes) {
        Some(&quote @ (b'"' | b'\'' | b'`')) if escapes <= 7 => {
            let same = rest[escapes..].iter().take_while(|b| **b == quote).count();
            if escapes == 0 && same == 2 {
                return None;
            }
            let open = if escapes == 0 && same >= 3 { 3 } else { 1 };
            let begin = at + escapes + open;
            let end = if open == 3 {
                let rest = &text[begin..text.len().min(begin + VALUE_BYTES_MAX)];
                begin
                    + memchr::memmem::find(rest, &[quote; 3])
                        .filter(|end| !rest[..*end].contains(&b'\n'))?
            } else {
                close(text, begin, quote, escapes)?
            };
            Some(Value {
                range: begin..end,
                frame: Frame::Quoted,
                after: (end + escapes + open).min(text.len()),
            })
        }
        _ if escapes > 0 => None,
        _ => {
            let (open, closes) = QUOTES
                .iter()
                .find(|(open, _)| rest.starts_with(open.as_bytes()))?;
            let begin = at + open.len();
            let line = line_end(text, begin).min(begin + VALUE_BYTES_MAX);
            let ends = closes.iter().filter_map(|close| {
                let found = memchr::memmem::find(&text[begin..line], close.as_bytes())?;
                Some((begin + found, close.len()))
            });
            let (end, width) = ends.min()?;
            Some(Value {
                range: begin..end,
                frame: Frame::Quoted,
                after: end + width,
            })
        }
    }
}

/// Returns the end of the value whose opening quote has `escapes` backslashes before it. A quote
/// inside with more backslashes is escaped one level deeper.
fn close(text: &[u8], begin: usize, quote: u8, escapes: usize) -> Option<usize> {
    let limit = text.len().min(begin + VALUE_BYTES_MAX);
    let mut at = begin;
    while at < limit {
        let ahead = memchr::memchr3(quote, b'\n', 0x01, &text[at..limit])?;
        let found = at + ahead;
        if text[found] != quote {
            return None;
        }
        // A doubled quote belongs to the value: `'it''s'`.
        if escapes == 0 && is_doubled(text, found, quote) {
            at = found + 2;
            continue;
        }
        let before = text[begin..found].iter().rev();
        let slashes = before.take_while(|b| **b == b'\\').count();
        if slashes == escapes
            || (slashes > 0 && slashes < escapes)
            || (escapes == 0 && slashes % 2 == 0)
        {
            return Some(found - slashes.min(escapes));
        }
        at = found + 1;
    }
    None
}

/// Tells whether the quote at `at` is doubled and the value goes on behind it.
fn is_doubled(text: &[u8], at: usize, quote: u8) -> bool {
    quote != b'`'
        && text.get(at + 1) == Some(&quote)
        && text.get(at + 2).is_some_and(u8::is_ascii_alphanumeric)
        && at > 0
        && text[at - 1].is_ascii_alphanumeric()
}

/// Reads a bare value, up to whitespace, a quote or a delimiter of its notation.
fn bare(text: &[u8], at: usize) -> Option<Value> {
    let limit = text.len().min(at + BARE_BYTES_MAX);
    let mut stop = at;
    let mut read = ReadValue::default();
    while stop < limit && !breaks(text, stop) && !separates(text, stop, limit, &read) {
        read.add(text[stop]);
        stop += 1;
    }
    let mut end = stop;
    while end > at && trails(text, at, end) {
        end -= 1;
    }
    if end == at {
        return None;
    }
    let rest = &text[stop..line_end(text, stop)];
    let comment = rest.trim_ascii_start();
    let alone = comment.is_empty()
        || comment.starts_with(b"#")
        || comment.starts_with(b"//")
        || comment.starts_with(b"</")
        || comment.starts_with(b"|")
        || comment.starts_with(b"\\n");
    Some(Value {
        range: at..end,
        frame: if alone { Frame::Line } else { Frame::Bare },
        after: stop,
    })
}

/// Tells whether the byte at `at` ends a bare value in any notation.
fn breaks(text: &[u8], at: usize) -> bool {
    let b = text[at];
    // A shortcut for most bytes: a text of one long word is read again for each name in it.
    if b.is_ascii_alphanumeric() {
        return false;
    }
    let escape = b == b'\\' && text.get(at + 1).is_some_and(|b| b"nrt\"'".contains(b));
    // Ideographs, their punctuation and full-width forms: their sentences go on without a space.
    let wide = matches!(b, 0xE3..=0xED | 0xEF);
    let mark = |mark: &&str| text[at..].starts_with(mark.as_bytes());
    b.is_ascii_whitespace()
        || b < 0x20
        || matches!(b, b'"' | b'\'' | b'`' | b'|' | b'<')
        || escape
        || wide
        || !b.is_ascii() && BREAKING.iter().any(mark)
}

/// Tells whether the separator at `at` ends the value read so far: only where something else could
/// follow it.
fn separates(text: &[u8], at: usize, limit: usize, read: &ReadValue) -> bool {
    let rest = &text[at + 1..limit];
    match text[at] {
        b',' | b';' => {
            text.get(at + 1).is_none_or(|next| {
                next.is_ascii_whitespace() || matches!(next, b'"' | b'\'' | b'}' | b')' | b']')
            }) || read.is_token()
                || read.letters == read.bytes
                || assigns(rest)
        }
        b'&' => assigns(rest),
        b'#' => read.is_token(),
        _ => false,
    }
}

/// Tells whether the last byte closes a sentence, a bracket or an emphasis, and is not part of the
/// value.
fn trails(text: &[u8], at: usize, end: usize) -> bool {
    let value = &text[at..end];
    match text[end - 1] {
        // An opening bracket begins a remark: `X (for tests)`, even where a view has made it ASCII.
        b'.' | b',' | b';' | b':' | b'"' | b'\'' | b'`' | b'>' | b'(' | b'[' | b'{' => true,
        b'*' => {
            value.ends_with(b"**")
                || text[..at].ends_with(b"*")
                || !value.iter().any(u8::is_ascii_digit)
        }
        last @ (b'_' | b'~') => value.len() >= 2 && text[end - 2] == last,
        // A question about a token: `is it still …?`
        b'?' => super::shape::token(&value[..value.len() - 1]),
        b')' => !value.contains(&b'('),
        b']' => !value.contains(&b'['),
        b'}' => !value.contains(&b'{'),
        _ => false,
    }
}

/// Tells whether another name and `=` follow.
fn assigns(rest: &[u8]) -> bool {
    let part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b' ' | b'.');
    let name = rest.iter().take(32).take_while(part).count();
    name > 0 && rest.get(name) == Some(&b'=')
}

/// Byte counts of the value read so far.
#[derive(Default)]
struct ReadValue {
    bytes: usize,
    letters: usize,
    digits: usize,
    /// Joining marks, as tokens have them.
    marks: usize,
}

impl ReadValue {
    fn add(&mut self, b: u8) {
        self.bytes += 1;
        self.letters += usize::from(b.is_ascii_alphabetic());
        self.digits += usize::from(b.is_ascii_digit());
        self.marks += usize::from(matches!(b, b'_' | b'-' | b'+' | b'/' | b'=' | b'.'));
    }

    /// Tells whether the bytes so far are as long and as plain as a token.
    fn is_token(&self) -> bool {
        let plain = self.letters + self.digits + self.marks == self.bytes;
        self.bytes >= 16 && plain && self.digits > 0
    }
}

/// Returns the end of the line that `at` stands in.
pub(super) fn line_end(text: &[u8], at: usize) -> usize {
    let reach = text.len().min(at + LINE_BYTES_MAX);
    memchr::memchr(b'\n', &text[at..reach]).map_or(reach, |found| at + found)
}

/// Returns the start of the line that `at` stands in.
pub(super) fn line_start(text: &[u8], at: usize) -> usize {
    let reach = at.saturating_sub(LINE_BYTES_MAX);
    memchr::memrchr(b'\n', &text[reach..at]).map_or(reach, |found| reach + found + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_cut_where_their_notation_ends_them() {
        for (text, cut, frame) in [
            ("\"a b\" c", "a b", Frame::Quoted),
            ("\\\"a1\\\" c", "a1", Frame::Quoted),
            ("\"\"\"a\"b\"\"\"", "a\"b", Frame::Quoted),
            ("b'a1'", "a1", Frame::Quoted),
            ("**`a1`**", "a1", Frame::Quoted),
            ("„a1“", "a1", Frame::Quoted),
            ("<code>a1</code>", "a1", Frame::Quoted),
            ("a1 # why", "a1", Frame::Line),
            ("a1 and more", "a1", Frame::Bare),
            ("a1, then", "a1", Frame::Bare),
            ("a1).", "a1", Frame::Line),
            ("f(a1).", "f(a1)", Frame::Line),
            ("a1&b=2", "a1", Frame::Bare),
            ("a1&b", "a1&b", Frame::Line),
            ("a1,b", "a1,b", Frame::Line),
            ("a1。b", "a1", Frame::Bare),
            ("a1!", "a1!", Frame::Line),
            ("a1\\nb", "a1", Frame::Line),
        ] {
            let value = read(text.as_bytes(), 0).expect(text);
            assert_eq!((&text[value.range], value.frame), (cut, frame), "{text}");
        }
    }

    #[test]
    fn where_no_value_stands() {
        for text in ["", " a", "\"\"", "\n", "...", "|", "<b>", "`"] {
            assert_eq!(read(text.as_bytes(), 0), None, "{text}");
        }
        for text in ["a", "\"a\nb\"", "\"a", "„a", "\\a\\"] {
            assert_eq!(quoted(text.as_bytes(), 0), None, "{text}");
        }
    }

    #[test]
    fn the_ends_of_a_line_are_not_looked_for_without_end() {
        let text = vec![b'a'; LINE_BYTES_MAX * 3];
        assert_eq!(line_end(&text, 1), LINE_BYTES_MAX + 1);
        assert_eq!(line_start(&text, text.len()), LINE_BYTES_MAX * 2);
        assert_eq!((line_end(b"a\nb", 0), line_start(b"a\nb", 3)), (1, 2));
    }
}
