//! Views of a text, in which disguised or split values stand plainly. A view leads from each of its
//! bytes back to the text.

mod lists;

use std::cell::LazyCell;
use std::ops::Range;

use zeroize::Zeroizing;

use crate::entropy;
use crate::span::BLANK;

/// A text made from pieces of another text.
#[derive(Default)]
pub(super) struct TextView {
    bytes: Zeroizing<Vec<u8>>,
    /// The source of each byte: its start and end in the text.
    from: Vec<(u32, u32)>,
}

impl TextView {
    /// Returns the text of the view.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the source of a range of the view.
    pub(super) fn source(&self, range: &Range<usize>) -> Range<usize> {
        let (start, end) = (self.from[range.start].0, self.from[range.end - 1].1);
        start as usize..end as usize
    }

    /// Returns the sources of a range of the view, without the quotes and line ends that were
    /// undone inside it.
    pub(super) fn pieces(&self, text: &[u8], range: Range<usize>) -> Vec<Range<usize>> {
        let mut pieces: Vec<Range<usize>> = Vec::new();
        for (start, end) in &self.from[range] {
            let (start, end) = (*start as usize, *end as usize);
            match pieces.last_mut() {
                Some(last) if !parts(&text[last.end.min(start)..start]) => last.end = end,
                _ => pieces.push(start..end),
            }
        }
        pieces
    }

    fn push(&mut self, byte: u8, from: Range<usize>) {
        let at = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        self.bytes.push(byte);
        self.from.push((at(from.start), at(from.end)));
    }

    fn copy(&mut self, text: &[u8], range: Range<usize>) {
        for at in range {
            self.push(text[at], at..at + 1);
        }
    }
}

/// Tells whether the undone bytes separate two literals or two lines.
fn parts(undone: &[u8]) -> bool {
    undone.iter().any(|b| matches!(b, b'"' | b'\'' | b'\n'))
}

/// Returns a view of the lines that hold something to undo, with that undone. Returns `None` if
/// there are no such lines.
///
/// `undo` looks at one position, and returns the bytes that replace the text there and the number
/// of bytes that it read.
fn lines_with(
    text: &[u8],
    candidates: impl Iterator<Item = usize>,
    undo: impl Fn(&[u8], usize) -> Option<(Vec<u8>, usize)>,
    wide: bool,
) -> Option<TextView> {
    let mut view = TextView::default();
    let mut done = 0;
    for candidate in candidates {
        if candidate < done || undo(text, candidate).is_none() {
            continue;
        }
        if view.bytes.is_empty() {
            // A buffer that grows leaves copies of secrets behind.
            view.bytes.reserve_exact(text.len() + 1);
        }
        let mut start = memchr::memrchr(b'\n', &text[..candidate]).map_or(0, |n| n + 1);
        // A name may stand on the line above, and a split may go on in the lines below.
        if wide {
            start = memchr::memrchr(b'\n', &text[..start.saturating_sub(1)]).map_or(0, |n| n + 1);
        }
        let start = start
            .max(done)
            .max(candidate.saturating_sub(LINE_BYTES_MAX));
        let mut at = start;
        let mut last = candidate;
        while at < text.len() && at < last + LINE_BYTES_MAX {
            if let Some((instead, width)) = undo(text, at) {
                for byte in instead {
                    view.push(byte, at..at + width);
                }
                at += width;
                last = at;
                continue;
            }
            if text[at] == b'\n' && at >= last {
                break;
            }
            view.push(text[at], at..at + 1);
            at += 1;
        }
        view.push(b'\n', at.min(text.len())..at.min(text.len()));
        done = at;
    }
    (!view.bytes.is_empty()).then_some(view)
}

/// Longest stretch of one line that a view takes on either side of what it undoes, in bytes.
const LINE_BYTES_MAX: usize = 8 * 1024;

/// Shortest value that is read without the brackets around it, in bytes, and its least unrest,
/// which no name in brackets reaches.
const BARE_BYTES_MIN: usize = 8;
const BARE_UNREST_MIN: usize = 400;
/// Longest text that is read behind a bracket, in bytes.
const BRACKET_BYTES_MAX: usize = 320;

/// Undoes escapes: `%41`, `\u0041`, `\x41`, `\101`, `&#65;`, `&#x41;`, `&amp;`, `=3D`, and the
/// marks that Markdown escapes inside a word.
pub(super) fn unescaped(text: &[u8]) -> Option<TextView> {
    let marks = memchr::memchr3_iter(b'%', b'\\', b'&', text);
    let printed = memchr::memmem::find_iter(text, b"=3D");
    let mut candidates: Vec<usize> = marks
        .chain(printed)
        .filter(|at| unescape(text, *at).is_some())
        .collect();
    candidates.sort_unstable();
    lines_with(text, candidates.into_iter(), unescape, false)
}

fn unescape(text: &[u8], at: usize) -> Option<(Vec<u8>, usize)> {
    let rest = &text[at..];
    let number = |digits: &[u8], radix: u32| {
        let digits = std::str::from_utf8(digits).ok()?;
        u32::from_str_radix(digits, radix).ok()
    };
    let plain = |code: u32, width: usize| {
        let letter = char::from_u32(code)?;
        let mut buffer = [0; 4];
        Some((letter.encode_utf8(&mut buffer).as_bytes().to_vec(), width))
    };
    match rest {
        [b'%', a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => {
            let code = u8::try_from(number(&rest[1..3], 16)?).ok()?;
            // Letters beyond ASCII stay as they are: `%DB_PASSWORD%` is not an escape.
            (b' '..=b'~').contains(&code).then(|| (vec![code], 3))
        }
        [b'\\', b'x', a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => {
            let code = u8::try_from(number(&rest[2..4], 16)?).ok()?;
            (b' '..=b'~').contains(&code).then(|| (vec![code], 4))
        }
        [b'\\', b'u', b'{', ..] => {
            let close = rest.iter().take(10).position(|b| *b == b'}')?;
            plain(number(&rest[3..close], 16)?, close + 1)
        }
        [b'\\', b'u', ..] => {
            let digits = rest
                .get(2..6)
                .filter(|d| d.iter().all(u8::is_ascii_hexdigit))?;
            plain(number(digits, 16)?, 6)
        }
        [b'\\', a @ b'0'..=b'1', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] => {
            let code = (a - b'0') << 6 | (b - b'0') << 3 | (c - b'0');
            (b' '..=b'~').contains(&code).then(|| (vec![code], 4))
        }
        [
            b'\\',
            mark @ (b'_' | b'-' | b'*' | b'~' | b'.' | b'+'),
            next,
            ..,
        ] => {
            let inside = at > 0 && text[at - 1].is_ascii_alphanumeric();
            (inside && next.is_ascii_alphanumeric()).then(|| (vec![*mark], 2))
        }
        // The escape of quoted-printable (RFC 2045) for its own mark, `=`.
        [b'=', b'3', b'D', ..] => Some((vec![b'='], 3)),
        [b'&', b'#', b'x' | b'X', ..] => {
            let close = rest.iter().take(10).position(|b| *b == b';')?;
            plain(number(rest.get(3..close)?, 16)?, close + 1)
        }
        [b'&', b'#', ..] => {
            let close = rest.iter().take(10).position(|b| *b == b';')?;
            plain(number(rest.get(2..close)?, 10)?, close + 1)
        }
        [b'&', ..] => {
            let named = [
                ("&amp;", b'&'),
                ("&lt;", b'<'),
                ("&gt;", b'>'),
                ("&quot;", b'"'),
                ("&apos;", b'\''),
            ];
            let (name, byte) = named
                .iter()
                .find(|(name, _)| rest.starts_with(name.as_bytes()))?;
            Some((vec![*byte], name.len()))
        }
        _ => None,
    }
}

/// Undoes splits and disguises: zero-width characters, full-width letters, strings joined by `+`,
/// lines continued by a backslash.
pub(super) fn joined(text: &[u8]) -> Option<TextView> {
    // Zero-width characters and full-width letters begin with one of four bytes.
    let hidden = memchr::memchr3_iter(0xE2, 0xEF, 0xC2, text);
    let hidden = hidden.chain(memchr::memchr_iter(0xE1, text));
    let quotes = memchr::memchr3_iter(b'"', b'\'', b'\\', text);
    let breaks = memchr::memmem::find_iter(text, b"=\n");
    let breaks = breaks.chain(memchr::memmem::find_iter(text, b"=\r\n"));
    let is_printed = LazyCell::new(|| is_quoted_printable(text));
    let soft = |at: usize| soft_break(text, at, || *is_printed);
    let lists = lists::joined(text);
    let listed = |at: usize| Some((Vec::new(), *lists.get(&at)?));
    let mut candidates: Vec<usize> = hidden
        .filter(|at| unhide(text, *at).is_some())
        .chain(quotes.filter(|at| unsplit(text, *at).is_some()))
        .chain(breaks.filter(|at| soft(*at).is_some()))
        .chain(lists.keys().copied())
        .collect();
    candidates.sort_unstable();
    let undo = |text: &[u8], at: usize| {
        let undone = unhide(text, at).or_else(|| unsplit(text, at));
        undone.or_else(|| soft(at)).or_else(|| listed(at))
    };
    lines_with(text, candidates.into_iter(), undo, true)
}

/// Longest line of quoted-printable, and the shortest that programs break, with the mark at its end
/// (RFC 2045, section 6.7).
const PRINTED_LINE_BYTES_MAX: usize = 76;
const PRINTED_LINE_BYTES_MIN: usize = 73;
/// Shortest line that counts as broken in a text that is surely quoted-printable.
const PRINTED_LINE_BYTES_LEAST: usize = 20;

/// Tells whether a text says that it is quoted-printable: by its header, or by `=3D`, which such a
/// text has in place of every `=`.
fn is_quoted_printable(text: &[u8]) -> bool {
    let says = |word: &[u8]| memchr::memmem::find(text, word).is_some();
    says(b"=3D") || says(b"uoted-printable") || says(b"UOTED-PRINTABLE")
}

/// Undoes a soft line break of quoted-printable: an `=` at the end of a line. Base64 ends in `=`
/// too, behind a name and before the next line. So both lines must be encoded as a whole, and the
/// first must be as long as a line that programs break.
fn soft_break(
    text: &[u8],
    at: usize,
    is_printed: impl FnOnce() -> bool,
) -> Option<(Vec<u8>, usize)> {
    let width = match &text[at..] {
        [b'=', b'\n', ..] => 2,
        [b'=', b'\r', b'\n', ..] => 3,
        _ => return None,
    };
    let back = &text[at.saturating_sub(PRINTED_LINE_BYTES_MAX)..at];
    let start = memchr::memrchr(b'\n', back).map_or(0, |newline| newline + 1);
    let line = &back[start..];
    let rest = &text[at + width..text.len().min(at + width + PRINTED_LINE_BYTES_MAX)];
    let next = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
    let is_part = |b: Option<&u8>| b.is_some_and(|b| is_part(*b));
    if line.last() == Some(&b'=') || !is_part(line.last()) || !is_part(next.first()) {
        return None;
    }
    let length = line.len() + 1;
    let is_long = (PRINTED_LINE_BYTES_MIN..=PRINTED_LINE_BYTES_MAX).contains(&length);
    let is_broken = is_long || length >= PRINTED_LINE_BYTES_LEAST && is_printed();
    (is_broken && is_encoded(line) && is_encoded(next)).then_some((Vec::new(), width))
}

/// Tells whether every `=` on a line begins an escape of quoted-printable or ends the line.
fn is_encoded(line: &[u8]) -> bool {
    let hex = |b: &u8| matches!(b, b'0'..=b'9' | b'A'..=b'F');
    memchr::memchr_iter(b'=', line).all(|at| match &line[at + 1..] {
        [] | [b'\r'] => true,
        [a, b, ..] => hex(a) && hex(b),
        _ => false,
    })
}

/// Tells whether a value in pieces may hold the byte.
fn is_part(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"_-+/=.!@#$%^*~:".contains(&b)
}

fn unhide(text: &[u8], at: usize) -> Option<(Vec<u8>, usize)> {
    match &text[at..] {
        [0xE2, 0x80, 0x8B..=0x8F | 0xAA..=0xAE, ..]
        | [0xE2, 0x81, 0xA0..=0xA4 | 0xA6..=0xA9, ..]
        | [0xEF, 0xB8, 0x80..=0x8F, ..]
        | [0xEF, 0xBB, 0xBF, ..]
        | [0xE1, 0xA0, 0x8E, ..] => Some((Vec::new(), 3)),
        [0xC2, 0xAD, ..] => Some((Vec::new(), 2)),
        [0xEF, 0xBC, low @ 0x81..=0xBF, ..] => Some((vec![low - 0x81 + b'!'], 3)),
        [0xEF, 0xBD, low @ 0x80..=0x9E, ..] => Some((vec![low - 0x80 + b'`'], 3)),
        _ => None,
    }
}

/// Undoes brackets and blanked markers around a value or inside it. The brackets may hold a word
/// before the value, as a marker does.
pub(super) fn bared(text: &[u8]) -> Option<TextView> {
    let marks = memchr::memchr_iter(BLANK, text).filter(|at| unmark(text, *at).is_some());
    let opens = memchr::memchr3_iter(b'[', b'<', b'{', text);
    let mut candidates: Vec<usize> = opens
        .filter(|at| bracketed(text, *at).is_some())
        .chain(marks)
        .collect();
    candidates.sort_unstable();
    lines_with(text, candidates.into_iter(), bare, true)
}

fn bare(text: &[u8], at: usize) -> Option<(Vec<u8>, usize)> {
    let open = match text[at] {
        BLANK => return unmark(text, at),
        b'[' | b'<' | b'{' => return Some((Vec::new(), bracketed(text, at)?.start - at)),
        b']' => b'[',
        b'>' => b'<',
        b'}' => b'{',
        _ => return None,
    };
    let from = at.saturating_sub(BRACKET_BYTES_MAX + 1);
    let start = from + memchr::memrchr(open, &text[from..at])?;
    (bracketed(text, start)?.end == at).then(|| (Vec::new(), 1))
}

/// Returns the value in the brackets that open at `at`: the text behind the last colon in them.
fn bracketed(text: &[u8], at: usize) -> Option<Range<usize>> {
    let close = match text[at] {
        b'[' => b']',
        b'<' => b'>',
        _ => b'}',
    };
    // `list[index]`, `Vec<T>`, `${name}`, `[text](link)[note]`.
    let before = at.checked_sub(1).map(|before| text[before]);
    if before.is_some_and(|b| b.is_ascii_alphanumeric() || b"_)]}>$#%@".contains(&b)) {
        return None;
    }
    let reach = &text[at + 1..text.len().min(at + 1 + BRACKET_BYTES_MAX)];
    let width = memchr::memchr(close, reach)?;
    let end = at + 1 + width;
    let behind = text.get(end + 1);
    if behind.is_some_and(|b| b.is_ascii_alphanumeric() || b"_([".contains(b)) {
        return None;
    }
    let inside = &reach[..width];
    let value = memchr::memrchr(b':', inside).map_or(inside, |colon| &inside[colon + 1..]);
    let mark = |b: &u8| b.is_ascii_alphanumeric() || b"_-+/=.!@#$%^&*~?".contains(b);
    let telling = value.len() >= BARE_BYTES_MIN
        && value.iter().all(mark)
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_alphabetic)
        && entropy::unrest(value) >= BARE_UNREST_MIN;
    telling.then(|| end - value.len()..end)
}

/// Undoes a marker with a value right behind or before it.
fn unmark(text: &[u8], at: usize) -> Option<(Vec<u8>, usize)> {
    let before = at.checked_sub(1).map(|before| text[before]);
    if before == Some(BLANK) {
        // A run of blanked bytes is read from its first byte alone: markers side by side make
        // one long run.
        return None;
    }
    let width = text[at..].iter().take_while(|b| **b == BLANK).count();
    let mark = |b: &u8| b.is_ascii_alphanumeric() || b"_-+!$%".contains(b);
    let behind = text.get(at + width).is_some_and(mark);
    let glued = behind || before.is_some_and(|b| b.is_ascii_alphanumeric());
    glued.then(|| (Vec::new(), width))
}

/// Undoes the end of one string and the beginning of the next, or the break of a continued line.
fn unsplit(text: &[u8], at: usize) -> Option<(Vec<u8>, usize)> {
    let next = text.get(at + 1).copied().unwrap_or_default();
    // Nothing else may stand behind a mark that is undone below.
    let goes_on = match text[at] {
        b'\\' => matches!(next, b'\n' | b'\r'),
        quote => {
            next == quote
                || next.is_ascii_whitespace()
                || matches!(next, b'\\' | b'.' | b'|' | b'<' | b'+' | b'&')
        }
    };
    if !goes_on || at == 0 || !is_part(text[at - 1]) {
        return None;
    }
    let window = &text[at..text.len().min(at + 120)];
    let blank = |from: usize| {
        window[from..]
            .iter()
            .take_while(|b| b.is_ascii_whitespace())
            .count()
    };
    match window {
        [b'\\', b'\n', ..] | [b'\\', b'\r', b'\n', ..] => {
            let width = 1 + blank(1);
            window.get(width).filter(|b| is_part(**b))?;
            Some((Vec::new(), width))
        }
        [quote @ (b'"' | b'\''), ..] => {
            let mut width = 1 + blank(1);
            let lines = window[1..width].contains(&b'\n');
            let continued = window.get(width) == Some(&b'\\');
            if continued {
                width += 1 + blank(width + 1);
            }
            let operator = match &window[width.min(window.len())..] {
                [b'.', b'.', ..] | [b'|', b'|', ..] | [b'<', b'>', ..] | [b'+', b'+', ..] => 2,
                [b'+' | b'.' | b'&', ..] => 1,
                _ => 0,
            };
            // A shell joins them without a blank as well.
            let glued = continued && width == 3 + usize::from(window.contains(&b'\r'));
            // A shell and C join `"a""b"`, whatever stands before it.
            let direct = window.get(1) == Some(quote);
            let near = lines || continued || direct;
            if operator == 0 && !glued && !adjoins(text, at, *quote, near, CHAIN_MAX) {
                return None;
            }
            if operator == 0 && !near && width != 2 {
                return None;
            }
            width += operator;
            width += blank(width.min(window.len()));
            let prefix = window
                .get(width..)?
                .iter()
                .take(2)
                .take_while(|b| b"bfru@$".contains(b))
                .count();
            width += prefix;
            if window.get(width) != Some(quote)
                || !window.get(width + 1).is_some_and(|b| is_part(*b))
            {
                return None;
            }
            Some((Vec::new(), width + 1))
        }
        _ => None,
    }
}

/// How far back the beginning of a literal is searched, in bytes, and how many literals before it
/// are read.
const LITERAL_BYTES_MAX: usize = 256;
const CHAIN_MAX: usize = 8;

/// Returns the number of blanks at the end of a text.
fn blanks(text: &[u8]) -> usize {
    text.len() - text.trim_ascii_end().len()
}

/// Tells whether a literal that ends at `at` goes on in the next one without an operator, as in C
/// and Python: on the next line, or behind one blank inside an expression. The arguments of a
/// command stand side by side too, but are not one value.
fn adjoins(text: &[u8], at: usize, quote: u8, lines: bool, chain: usize) -> bool {
    let from = at.saturating_sub(LITERAL_BYTES_MAX);
    let Some(open) = memchr::memrchr(quote, &text[from..at]) else {
        return false;
    };
    let before = &text[from..from + open];
    let line = memchr::memrchr(b'\n', before).map_or(before, |newline| &before[newline + 1..]);
    let prefix = line.iter().rev().take(2);
    let prefix = prefix.take_while(|b| b"bfru@$".contains(b)).count();
    let line = line[..line.len() - prefix].trim_ascii_end();
    match line.last() {
        // `PASSWORD="a" "b"` sets a variable for a command.
        Some(b'=') => lines || line.ends_with(b" =") || line.contains(&b'('),
        Some(b'(' | b',' | b'[' | b'{' | b':' | b'+') => true,
        // The literal before this one, if any, must be joined as well.
        Some(last) if *last == quote && chain > 0 => {
            let before = from + open - prefix - blanks(&text[..from + open - prefix]) - 1;
            adjoins(text, before, quote, lines, chain - 1)
        }
        None => lines,
        Some(_) => false,
    }
}

/// A token broken over lines, with its pieces joined in a view.
pub(super) struct Wrapped {
    pub(super) view: TextView,
    /// The end of the first line, in the view.
    pub(super) seam: usize,
    /// The length of the first piece on the next line.
    pub(super) piece: usize,
}

/// Most lines over which one token is followed.
const LINES_WRAPPED_MAX: usize = 40;

/// Joins runs of token characters at the ends of lines to the runs that begin the next lines.
pub(super) fn wrapped(text: &[u8]) -> Vec<Wrapped> {
    let mut found = Vec::new();
    let mut done = 0;
    for newline in memchr::memchr_iter(b'\n', text) {
        if newline < done || newline == 0 {
            continue;
        }
        let Some(first) = run_before(text, newline) else {
            continue;
        };
        let mut view = TextView::default();
        view.copy(text, first.clone());
        let seam = view.bytes.len();
        let mut piece = 0;
        let mut line = newline;
        for _ in 0..LINES_WRAPPED_MAX {
            let Some((run, whole)) = run_after(text, line + 1) else {
                break;
            };
            if piece == 0 {
                piece = run.len();
            }
            view.copy(text, run.clone());
            line = run.end;
            if text.get(line) == Some(&b'\r') {
                line += 1;
            }
            if !whole || text.get(line) != Some(&b'\n') {
                break;
            }
        }
        if piece > 0 {
            done = line;
            found.push(Wrapped { view, seam, piece });
        }
    }
    found
}

fn token_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric()
        || matches!(
            b,
            b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b':' | b'$' | b'~' | b'!'
        )
}

/// Returns the run that ends a line, if it could be the first piece of a token.
fn run_before(text: &[u8], newline: usize) -> Option<Range<usize>> {
    let end = newline - usize::from(text[newline - 1] == b'\r');
    let width = text[..end]
        .iter()
        .rev()
        .take(512)
        .take_while(|b| token_byte(**b))
        .count();
    let run = &text[end - width..end];
    let upper = run.iter().filter(|b| b.is_ascii_uppercase()).count();
    let lower = run.iter().filter(|b| b.is_ascii_lowercase()).count();
    let marked = |b: &u8| b.is_ascii_digit() || matches!(b, b'_' | b'-');
    let telling = run.iter().any(marked) || (upper >= 3 && lower >= 3);
    (width >= 8 && telling && run.iter().any(u8::is_ascii_alphabetic)).then_some(end - width..end)
}

/// Returns the run that begins a line, behind indentation and quote marks, and tells whether the
/// line holds nothing else.
fn run_after(text: &[u8], line: usize) -> Option<(Range<usize>, bool)> {
    let rest = text.get(line..)?;
    let marks = rest
        .iter()
        .take(24)
        .take_while(|b| b" \t>|".contains(b))
        .count();
    let width = rest[marks..]
        .iter()
        .take(512)
        .take_while(|b| token_byte(**b))
        .count();
    let start = line + marks;
    let after = text.get(start + width).copied().unwrap_or(b'\n');
    let run = &text[start..start + width];
    // Most lines begin with a word of prose; a piece of a token is not a word.
    let mixed = run.iter().any(u8::is_ascii_uppercase) && run.iter().any(u8::is_ascii_lowercase);
    let telling = run.iter().any(u8::is_ascii_digit) || mixed && width >= 10;
    (width >= 4 && telling).then_some((start..start + width, matches!(after, b'\n' | b'\r')))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(view: Option<TextView>) -> Option<String> {
        let view = view?;
        let text = std::str::from_utf8(view.bytes()).ok()?;
        Some(text.trim_end_matches('\n').to_owned())
    }

    #[test]
    fn escapes_are_undone() {
        for (escaped, plain) in [
            ("a%41b", "aAb"),
            ("\\u0041\\u{42}\\x43", "ABC"),
            ("&#65;&#x42;&amp;&lt;&gt;&quot;&apos;", "AB&<>\"'"),
            ("%e2%82%ac%20", "%e2%82%ac "),
        ] {
            assert_eq!(whole(unescaped(escaped.as_bytes())).as_deref(), Some(plain));
        }
    }

    #[test]
    fn what_is_no_escape_makes_no_view() {
        for text in [
            "",
            "100% sure",
            "a & b",
            "C:\\users",
            "&nope;",
            "%DB_PASSWORD%",
            "\\u00",
            "&#;",
        ] {
            assert!(unescaped(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn what_splits_is_undone() {
        for (split, plain) in [
            ("gh\u{200b}p", "ghp"),
            ("\u{ff41}\u{ff11}", "a1"),
            ("'abc' + 'def'", "'abcdef'"),
            ("\"abc\"\n  \"def\"", "\"abcdef\""),
            ("abc\\\n  def", "abcdef"),
        ] {
            assert_eq!(whole(joined(split.as_bytes())).as_deref(), Some(plain));
        }
    }

    #[test]
    fn pieces_are_without_what_parts_them() {
        for (split, pieces) in [
            ("'abc' + 'def'", &["abc", "def"][..]),
            ("\"abc\"\n  \"def\"", &["abc", "def"]),
            ("\"abc\"\"def\"", &["abc", "def"]),
            ("['abc', 'def'].join('')", &["abc", "def"]),
            ("abc\\\n  def", &["abc", "def"]),
            ("ab\u{200b}cd", &["ab\u{200b}cd"]),
        ] {
            let view = joined(split.as_bytes()).expect(split);
            let bytes = view.bytes();
            let first = bytes.iter().position(u8::is_ascii_alphabetic).expect(split);
            let width = bytes[first..]
                .iter()
                .take_while(|b| b.is_ascii_alphabetic());
            let range = first..first + width.count();
            let found = view.pieces(split.as_bytes(), range);
            let found: Vec<&str> = found.into_iter().map(|piece| &split[piece]).collect();
            assert_eq!(found, pieces, "{split}");
        }
    }

    #[test]
    fn what_stands_around_a_value_is_undone() {
        for (around, plain) in [
            ("a [FOO:Xk3jd8Fs2Qw9] b", "a Xk3jd8Fs2Qw9 b"),
            ("a:<Xk3jd8Fs2Qw9>@b", "a:Xk3jd8Fs2Qw9@b"),
            ("=\u{1}\u{1}Xk3", "=Xk3"),
            ("Xk\u{1}3j\u{1}", "Xk3j"),
        ] {
            assert_eq!(whole(bared(around.as_bytes())).as_deref(), Some(plain));
        }
    }

    #[test]
    fn what_is_no_value_in_brackets_makes_no_view() {
        for text in [
            "",
            "[",
            "list[Xk3jd8Fs2Qw9]",
            "[YOUR_API_KEY_2]",
            "<password1>",
            "{accessToken1}",
            "${Xk3jd8Fs2Qw9}",
            "[Xk3 jd8Fs2Qw9]",
            "=\u{1}@b \u{1}, \u{1}",
        ] {
            assert!(bared(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn what_is_not_split_makes_no_view() {
        for text in ["", "it's 'a'", "'a', 'b'", "\"a\", \"b\"", "é"] {
            assert!(joined(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn a_token_over_two_lines_is_joined() {
        let found = wrapped(b"key abcd1234\n  > efgh5678 more");
        let [one] = &found[..] else {
            panic!("one break");
        };
        assert_eq!(one.view.bytes(), b"abcd1234efgh5678");
        assert_eq!((one.seam, one.piece), (8, 8));
        assert_eq!(one.view.source(&(0..16)), 4..25);
    }

    #[test]
    fn lines_of_prose_are_not_joined() {
        for text in [
            "\n",
            "a\nb",
            "the first line\nthe second line",
            "abcd1234\nthe",
            "abcd1234\n\n12345678",
        ] {
            assert!(wrapped(text.as_bytes()).is_empty(), "{text}");
        }
    }

    /// Asserts that every byte of a view stands for a stretch of the text, in order.
    fn holds(text: &[u8], view: &TextView) {
        let mut before = 0;
        for at in 0..view.bytes().len() {
            let source = view.source(&(at..at + 1));
            assert!(before <= source.start && source.start <= source.end);
            assert!(source.end <= text.len());
            before = source.start;
            let same = text.get(source.clone()) == Some(&view.bytes()[at..=at]);
            let ends = source.is_empty();
            // The source of an undone byte is longer than the byte.
            assert!(same || ends || source.len() > 1);
        }
    }

    proptest! {
        #[test]
        fn a_view_leads_back_to_its_text(text in r#"([a-z%&;#x\\u0-9\n"' +]|&amp;|%41|\\u0041|é){0,60}"#) {
            if let Some(view) = unescaped(text.as_bytes()) {
                holds(text.as_bytes(), &view);
            }
        }

        #[test]
        fn no_text_breaks_a_view(text in any::<String>(), tail in r#"["'+ \\\na7Xq\[\]\u{1}\u{200b}\u{ff41}]{0,40}"#) {
            let text = format!("{text}{tail}");
            let views = [unescaped, joined, bared].map(|view| view(text.as_bytes()));
            for view in views.into_iter().flatten() {
                let end = view.bytes().len();
                prop_assert!(view.source(&(0..end)).end <= text.len());
            }
            for one in wrapped(text.as_bytes()) {
                let end = one.view.bytes().len();
                let source = one.view.source(&(0..end));
                prop_assert!(one.seam < end && source.end <= text.len());
                prop_assert!(text.is_char_boundary(source.start) && text.is_char_boundary(source.end));
            }
        }
    }
}
