//! Private keys in blocks with a header and a footer line: PEM, OpenSSH, PGP, `PuTTY`.
//!
//! A block comes through mail, logs, diffs, JSON strings and chats: every line may carry a prefix,
//! its line breaks may be escaped or gone, its header or footer may be cut off. So the text is read
//! as lines between breaks of any spelling, and a line counts when nothing but base64 is left of it.

use std::ops::Range;

use crate::span::{BLANK, Rank, Span};
use crate::structure::near::{ahead, find, is_base64, is_blank, run, run_back, stands, trim};
use crate::structure::value::is_placeholder;

const PEM: &str = "private-key-pem";
const PUTTY: &str = "putty-key";

/// Longest label between the dashes of a header.
const LABEL_MAX: usize = 64;
/// Fewest base64 characters that can be a key.
const KEY_MIN: usize = 16;
/// Fewest base64 characters in a piece of a key beside others.
const PIECE_MIN: usize = 4;
/// Fewest base64 characters when dots say that the key was left out: beginnings of a key hold no
/// secret.
const ELIDED_KEY_MIN: usize = 64;

/// Finds the body of a PEM private key from its header or footer line.
pub(crate) fn pem(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let dashes = run(text, at, |b| b == b'-');
    let word = run(text, dashes, |b| b == b' ');
    let body = if stands(text, word, b"BEGIN") {
        header_end(text, word + 5).and_then(|end| below(text, at, end))
    } else if stands(text, word, b"END") {
        header_end(text, word + 3).and_then(|_| above(text, at))
    } else {
        None
    };
    if let Some(body) = body {
        push_around_markers(text, body, PEM, found);
    }
}

/// Reports the parts of a body around the markers in it: a marker does not shield the rest.
fn push_around_markers(text: &[u8], body: Range<usize>, kind: &'static str, found: &mut Vec<Span>) {
    let mut at = body.start;
    for piece in text[body].split(|b| *b == BLANK) {
        let start = at + skip_break(piece, 0, piece.len());
        let end = at + piece.trim_ascii_end().len();
        let words = &mut piece.split(|b| !is_base64(*b));
        if words.any(|word| word.len() >= PIECE_MIN && is_mixed(word)) {
            found.push(Span::new(start..end, kind, Rank::Armour));
        }
        at += piece.len() + 1;
    }
}

/// Returns the end of a header or footer whose label names a private key, or a key that two hosts
/// share (`OpenVPN Static key V1`).
fn header_end(text: &[u8], at: usize) -> Option<usize> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'+' | b'%' | b'_');
    let end = at + run(ahead(text, at, LABEL_MAX), 0, fits);
    let label = &text[at..end];
    let private = find(label, "private").is_some() && find(label, "key").is_some()
        || find(label, "static key").is_some();
    let close = run(text, end, |b| b == b'-');
    (private && close >= end + 4).then_some(close)
}

/// Returns the body below a header that ends at `start`: all up to the footer, or as many lines as
/// look like base64 if there is none.
fn below(text: &[u8], header: usize, start: usize) -> Option<Range<usize>> {
    let dashes = start
        + text[start..]
            .windows(4)
            .position(|s| s == b"----")
            .unwrap_or(text.len() - start);
    let word = run(text, run(text, dashes, |b| b == b'-'), |b| b == b' ');
    let closed = stands(text, word, b"END") && header_end(text, word + 3).is_some();
    let body = if closed {
        let first = skip_break(text, start, dashes);
        first..last_break(text, first, dashes)
    } else {
        lines_below(text, header, start, dashes)
    };
    is_key(&text[body.clone()]).then_some(body)
}

/// Returns the lines of base64 that follow a header without a footer, up to `limit`.
fn lines_below(text: &[u8], header: usize, start: usize, limit: usize) -> Range<usize> {
    let prefix = prefix_before(text, header);
    let first = skip_break(text, start, limit);
    let (mut at, mut end) = (first, first);
    while at < limit {
        let (line, next) = line_at(text, at, limit);
        let body = strip(text, line.clone(), prefix);
        let head = end == first;
        let padded = end > first && text[end - 1] == b'=' && !text[body.clone()].starts_with(b"=");
        if padded {
            break;
        }
        if is_base64_line(&text[body.clone()]) {
            end = body.end;
        } else if let Some(part) = base64_start(text, body.clone()) {
            return first..part;
        } else if !(body.is_empty() && (head || is_code_line(&text[line]))
            || head && is_rfc1421(&text[body]))
        {
            break;
        }
        at = next;
    }
    first..end
}

/// Tells whether a line without base64 is code that breaks a string into pieces, not an empty line.
fn is_code_line(line: &[u8]) -> bool {
    line.iter().any(|b| matches!(b, b'"' | b'\'' | b'+'))
}

/// Returns the lines of base64 right above a footer whose header was cut off.
fn above(text: &[u8], footer: usize) -> Option<Range<usize>> {
    let prefix = prefix_before(text, footer);
    let end = last_break(text, footer.saturating_sub(PREFIX_MAX), footer);
    let (mut start, mut at) = (end, end);
    loop {
        let line = line_back(text, at);
        let body = strip(text, line.clone(), prefix);
        // Only the last line of a key may be short.
        let first_word = text[body.clone()].split(|b| is_blank(*b)).next();
        let long = first_word.is_some_and(is_material);
        if !is_base64_line(&text[body.clone()]) || !(long || start == end) {
            // The first line may begin with something else: `key: MII...`.
            let word = run_back(text, body.end, body.len(), is_base64);
            if is_material(&text[word..body.end]) {
                start = word;
            }
            break;
        }
        start = body.start;
        let Some(before) = break_back(text, line.start) else {
            break;
        };
        at = before;
    }
    (start < end && is_key(&text[start..end])).then_some(start..end)
}

/// Returns the end of the body before the line of the footer: before the last break, and before the
/// code between two pieces of a string.
fn last_break(text: &[u8], from: usize, footer: usize) -> usize {
    let floor = from.max(footer.saturating_sub(PREFIX_MAX));
    let last = (floor..footer)
        .rev()
        .find(|at| break_at(text, *at).is_some_and(|length| at + length <= footer));
    let mut end = last.unwrap_or(footer);
    loop {
        let trimmed = text[from..end].trim_ascii_end();
        let code = trimmed
            .strip_suffix(b" +")
            .or_else(|| trimmed.strip_suffix(b"\""))
            .or_else(|| trimmed.strip_suffix(b"',"))
            .or_else(|| trimmed.strip_suffix(b"\","))
            .or_else(|| trimmed.strip_suffix(b"'"))
            .or_else(|| trimmed.strip_suffix(b"\\"))
            .unwrap_or(trimmed);
        let shorter = from + code.len();
        let shorter = break_back(text, shorter).map_or(shorter, |before| before.max(from));
        if shorter == end {
            return end;
        }
        end = shorter;
    }
}

/// Tells whether a line has nothing but base64: one word, or several of which all but the last are
/// long.
fn is_base64_line(line: &[u8]) -> bool {
    let cut = line.strip_suffix(b"...").unwrap_or(line);
    let mut words = cut.split(|b| is_blank(*b)).filter(|word| !word.is_empty());
    let last = words.next_back();
    last.is_some_and(|word| word.iter().all(|b| is_base64(*b)))
        && words.all(|word| word.iter().all(|b| is_base64(*b)) && is_material(word))
}

/// Returns the end of the base64 at the start of a line, if it is a key's and something else
/// follows.
fn base64_start(text: &[u8], line: Range<usize>) -> Option<usize> {
    let mut at = line.start;
    let mut last = None;
    while at < line.end {
        let end = run(&text[..line.end], at, is_base64);
        let word = &text[at..end];
        if is_material(word) {
            last = Some(trim(text, at, end));
        } else {
            // The last piece of a key is short.
            let piece = last.is_some() && word.len() >= PIECE_MIN && is_mixed(word);
            return if piece { Some(end) } else { last };
        }
        at = run(&text[..line.end], end, is_blank);
    }
    last
}

/// Tells whether a line is a header inside the armour: `Proc-Type`, `DEK-Info`, `Version`,
/// `Comment`.
fn is_rfc1421(line: &[u8]) -> bool {
    let name = run(line, 0, |b| b.is_ascii_alphanumeric() || b == b'-');
    name > 2 && line.get(name) == Some(&b':')
}

/// Tells whether a word is long enough for a key and mixed as base64 is.
fn is_material(word: &[u8]) -> bool {
    word.len() >= KEY_MIN && is_mixed(word) && !is_placeholder(word)
}

/// Tells whether a word has digits, or capitals past its start among lower-case letters.
fn is_mixed(word: &[u8]) -> bool {
    let inner = word.iter().skip(1).any(u8::is_ascii_uppercase);
    inner && word.iter().any(u8::is_ascii_lowercase) || word.iter().any(u8::is_ascii_digit)
}

/// Tells whether a body has a key in it: not dots, a placeholder or the words of a sentence.
fn is_key(body: &[u8]) -> bool {
    let words = body.split(|b| !is_base64(*b));
    let amount: usize = words.filter(|w| is_material(w)).map(<[u8]>::len).sum();
    let elided =
        body.windows(3).any(|s| s == b"...") || body.windows(3).any(|s| s == "\u{2026}".as_bytes());
    let least = if elided { ELIDED_KEY_MIN } else { KEY_MIN };
    amount >= least
}

/// Finds the private lines of a `PuTTY` key, and their authentication code, on which guesses could
/// be tried.
pub(crate) fn putty(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let Some(colon) = ahead(text, at, 32).iter().position(|b| *b == b':') else {
        return;
    };
    let (line, next) = line_at(text, at + colon + 1, text.len().min(at + PREFIX_MAX));
    if !stands(text, at, b"Private-Lines") {
        let code = strip(text, line, b"");
        let hex = run(&text[..code.end], code.start, |b| b.is_ascii_hexdigit());
        if hex >= code.start + 32 {
            found.push(Span::new(code.start..hex, PUTTY, Rank::Armour));
        }
        return;
    }
    let prefix = prefix_before(text, at);
    let (mut start, mut end, mut at) = (None, next, next);
    while at < text.len() {
        let (line, next) = line_at(text, at, text.len().min(at + 1024));
        let body = strip(text, line, prefix);
        if body.is_empty() || !is_base64_line(&text[body.clone()]) {
            break;
        }
        start.get_or_insert(body.start);
        (end, at) = (body.end, next);
        if text[end - 1] == b'=' {
            break;
        }
    }
    if let Some(body) = start
        .map(|start| start..end)
        .filter(|body| is_key(&text[body.clone()]))
    {
        push_around_markers(text, body, PUTTY, found);
    }
}

// Lines of armour as they come through mail, logs, diffs, JSON strings and chats: with a prefix on
// each, with line breaks of any spelling.

/// Longest prefix of a line in a log or a listing, in bytes.
pub(super) const PREFIX_MAX: usize = 120;

/// Returns the text before a header on its line, at most [`PREFIX_MAX`] bytes.
pub(super) fn prefix_before(text: &[u8], at: usize) -> &[u8] {
    let start = run_back(text, at, PREFIX_MAX, |b| b != b'\n');
    let escaped = text[start..at]
        .windows(2)
        .rposition(|s| s == b"\\n" || s == b"\\r");
    let start = escaped.map_or(start, |i| start + i + 2);
    &text[start..at]
}

/// Returns the length of the line break at `at`, in any spelling.
pub(super) fn break_at(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'\n' | b'\r' => Some(break_real(text, at)),
        b'\\' => {
            let slashes = run(ahead(text, at, 9), 0, |b| b == b'\\');
            let next = at + slashes + 1;
            match text.get(next - 1)? {
                b'n' => Some(slashes + 1),
                b'r' => {
                    let more = run(ahead(text, next, 9), 0, |b| b == b'\\');
                    let both = more > 0 && text.get(next + more) == Some(&b'n');
                    Some(slashes + 1 + if both { more + 1 } else { 0 })
                }
                _ => None,
            }
        }
        b'<' if stands(text, at, b"<br") => {
            let end = run(ahead(text, at, 8), 3, |b| matches!(b, b' ' | b'/'));
            // A line break may follow in the source as well.
            let real = break_real(text, at + end + 1);
            (text.get(at + end) == Some(&b'>')).then_some(end + 1 + real)
        }
        b'%' if stands(text, at, b"%0a") || stands(text, at, b"%0d") => Some(3),
        b'&' if stands(text, at, b"&#10;") || stands(text, at, b"&#13;") => Some(5),
        b'&' if stands(text, at, b"&#xa;") || stands(text, at, b"&#xd;") => Some(5),
        _ => None,
    }
}

/// Returns the length of the newline at `at`, or 0 if there is none.
fn break_real(text: &[u8], at: usize) -> usize {
    match text.get(at) {
        Some(b'\n') => 1,
        Some(b'\r') => 1 + usize::from(text.get(at + 1) == Some(&b'\n')),
        _ => 0,
    }
}

/// Returns the end of the line before the break that ends at `at`.
pub(super) fn break_back(text: &[u8], at: usize) -> Option<usize> {
    let ends = |mark: &[u8]| text[..at].ends_with(mark);
    let mut end = match at.checked_sub(1).map(|i| text[i])? {
        b'\n' | b'\r' => at - 1,
        b'n' | b'r' if at > 1 && text[at - 2] == b'\\' => at - 2,
        b'a' | b'A' | b'd' | b'D' if at > 2 && break_at(text, at - 3) == Some(3) => at - 3,
        b'>' if ends(b"<br>") => at - 4,
        b'>' if ends(b"<br/>") => at - 5,
        _ => return None,
    };
    while end > 0 && matches!(text[end - 1], b'\r' | b'\\') {
        end -= 1;
    }
    if end > 1 && text[..end].ends_with(b"\\r") {
        end = run_back(text, end - 1, 8, |b| b == b'\\');
    }
    Some(end)
}

fn break_in(text: &[u8], from: usize, to: usize) -> Option<usize> {
    (from..to).find(|at| break_at(text, *at).is_some())
}

/// Skips the blanks and breaks after a header, up to the start of the body.
pub(super) fn skip_break(text: &[u8], at: usize, limit: usize) -> usize {
    let mut at = at;
    while at < limit {
        if is_blank(text[at]) {
            at += 1;
        } else if let Some(length) = break_at(text, at) {
            at += length;
        } else {
            break;
        }
    }
    at.min(limit)
}

/// Returns the line that begins at `at`, and the start of the next line.
pub(super) fn line_at(text: &[u8], at: usize, limit: usize) -> (Range<usize>, usize) {
    let mut end = at;
    while end < limit {
        if let Some(length) = break_at(text, end) {
            return (at..end, (end + length).min(limit));
        }
        end += 1;
    }
    (at..limit, limit)
}

/// Returns the line that ends at `end`, no longer than one scan of a body may read back.
pub(super) fn line_back(text: &[u8], end: usize) -> Range<usize> {
    let fits = |b: u8| is_base64(b) || is_blank(b);
    let mut start = run_back(text, end, end, fits);
    // An escape ends in a letter that is base64 too.
    if start > 0 && text[start - 1] == b'\\' && matches!(text.get(start), Some(b'n' | b'r')) {
        start += 1;
        return start..end;
    }
    // So does a percent-encoded break.
    if start > 0 && break_at(text, start - 1) == Some(3) {
        return start + 2..end;
    }
    let real = run_back(text, start, PREFIX_MAX, |b| b != b'\n');
    if start - real < PREFIX_MAX && break_in(text, real, start).is_none() {
        start = real;
    }
    start..end
}

/// Strips a line of the prefix of a mail, a diff, a listing or a log, and of the quotes and commas
/// of code.
pub(super) fn strip(text: &[u8], line: Range<usize>, prefix: &[u8]) -> Range<usize> {
    let (mut start, mut end) = (line.start, line.end);
    if !prefix.is_empty() && same_shape(&text[start..end], prefix) {
        start += prefix.len();
    } else {
        let number = start + run(&text[start..end], 0, |b| b.is_ascii_digit() || is_blank(b));
        if number > start
            && number < end
            && matches!(text[number], b':' | b'|' | b'.' | b')' | b'\t')
        {
            start = number + 1;
        } else if number > start && number < end && text[number - 1] == b'\t' {
            start = number;
        }
    }
    let mark = |b: u8| {
        is_blank(b)
            || matches!(
                b,
                b'>' | b'|' | b'#' | b'*' | b';' | b'"' | b'\'' | b'`' | b'-' | b'\r' | b'('
            )
    };
    while start < end && mark(text[start]) {
        start += 1;
    }
    let close = |b: u8| mark(b) || matches!(b, b',' | b'\\' | b')');
    while start < end && close(text[end - 1]) {
        end -= 1;
    }
    // A string continued with a plus: `"MII..." +`.
    if end > start + 2 && text[end - 1] == b'+' && is_blank(text[end - 2]) {
        end -= 1;
        while start < end && close(text[end - 1]) {
            end -= 1;
        }
    }
    start..end
}

/// Tells whether a line begins like the prefix: the same characters, digits for digits.
fn same_shape(line: &[u8], prefix: &[u8]) -> bool {
    line.len() >= prefix.len()
        && prefix.iter().zip(line).all(|(p, l)| {
            p == l
                || p.is_ascii_digit() && (l.is_ascii_digit() || is_blank(*l))
                || is_blank(*p) && l.is_ascii_digit()
        })
}

#[cfg(test)]
mod tests {
    use crate::structure::harness::{finds, keeps};

    const BODY: &str = "MIIEpQIBAAKCAQEA4f5wg5l2hKsTeNem/V41fGnJm6gOdrj8ym3rFkEU/wT8RDtn\nSgFEZOQpHEgQ7JL38xUfU0Y3g6aYw9QT0hJ7mCpz9Er5qLaMXJwZxzHzAahlfA0i\ncqabvJOMvQtzD6uQv6wPEyZtDTWiQi9AXwBpHssPnpYGIn20ZZuNlX2BrClciHhC\nPUIIZOQn/MmqTD31jSyjoQoV7MhhMTATKJx2XrHhR+1DcKJzQBSTAGnpYVaqpsAR\nap+nwRipr3nUTuxyGohBTSmjJ2usSeQXHI3bODIRe1AuTyHceAbewn8b462yEWKA\nRdpd9AjQW5SIVPfdsz5B6GlYQ5LdYKtznTuy7wI=";

    /// Returns a key with `prefix` before every line, header and footer too.
    fn block(label: &str, prefix: &str, newline: &str) -> String {
        let body = BODY.replace('\n', &format!("{newline}{prefix}"));
        let lead = if prefix.trim_end().is_empty() {
            format!("{prefix}«")
        } else {
            format!("«{prefix}")
        };
        format!(
            "{prefix}-----BEGIN {label}-----{newline}{lead}{body}»{newline}{prefix}-----END {label}-----"
        )
    }

    #[test]
    fn every_kind_of_key() {
        for label in [
            "RSA PRIVATE KEY",
            "EC PRIVATE KEY",
            "DSA PRIVATE KEY",
            "PRIVATE KEY",
            "ENCRYPTED PRIVATE KEY",
            "OPENSSH PRIVATE KEY",
            "PGP PRIVATE KEY BLOCK",
            "ANY PRIVATE KEY",
        ] {
            for newline in [
                "\n", "\r\n", "\\n", "\\\\n", "\\r\\n", " ", "<br>", "<br/>\n",
            ] {
                let text = block(label, "", newline);
                finds(
                    "private-key-pem",
                    &[
                        &text,
                        &format!("key: \"{text}\", next"),
                        &format!("a\n{text}\nb"),
                    ],
                );
            }
        }
    }

    #[test]
    fn every_prefix() {
        for prefix in [
            "    ",
            "\t",
            "> ",
            "| ",
            "+",
            "-",
            ">> ",
            "# ",
            "// ",
            "12: ",
            "2024-05-01T10:00:00Z app INFO ",
        ] {
            finds(
                "private-key-pem",
                &[&block("RSA PRIVATE KEY", prefix, "\n")],
            );
        }
    }

    #[test]
    fn cut_off() {
        let body = BODY;
        finds(
            "private-key-pem",
            &[
                &format!("-----BEGIN RSA PRIVATE KEY-----\n«{body}»\n\nAnd then a text."),
                &format!("-----BEGIN RSA PRIVATE KEY-----\n«{body}»"),
                &format!(
                    "-----BEGIN RSA PRIVATE KEY----- «{}» (the rest is cut)",
                    body.replace('\n', " ")
                ),
                &format!(
                    "x: \"-----BEGIN PRIVATE KEY-----\\n«{}»\", more",
                    body.replace('\n', "\\n")
                ),
                &format!(
                    "   1\t-----BEGIN RSA PRIVATE KEY-----\n   «2\t{}»\n   3\t\n   4\tnext",
                    body.replace('\n', "\n   2\t")
                ),
                "-----BEGIN%20PRIVATE%20KEY-----%0A«MIIEowIBAAKCAQEAtW1lZGljYWxCb2R5123456789»%0A-----END%20PRIVATE%20KEY-----",
                &format!("key: «{body}»\n-----END RSA PRIVATE KEY-----"),
                "-----BEGIN OPENSSH PRIVATE KEY----- «b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAE QyNTUxOQAAACD» and it goes on",
                "-----BEGIN PRIVATE KEY-----\\r\\n«MIIEowIBAAKCAQEAtW1lZGljYWxCb2R5123456789\\r\\nabc123»",
                &format!("and a text\n«{body}»\n-----END RSA PRIVATE KEY-----\n"),
                &format!(
                    "> quoted text\n> «{}»\n> -----END RSA PRIVATE KEY-----",
                    body.replace('\n', "\n> ")
                ),
                &format!(
                    "\"text\\n«{}»\\n-----END PRIVATE KEY-----\\n\"",
                    body.replace('\n', "\\n")
                ),
                &format!(
                    "2024-05-01 10:00:00 -----BEGIN RSA PRIVATE KEY-----\n«2024-05-01 10:00:00 {}»\n2024-05-01 10:00:07 done",
                    body.replace('\n', "\n2024-05-01 10:00:01 ")
                ),
            ],
        );
    }

    #[test]
    fn headers_inside_and_short_bodies() {
        finds("private-key-pem", &[
            &format!("-----BEGIN RSA PRIVATE KEY-----\n«Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011223344556677\n\n{BODY}»\n-----END RSA PRIVATE KEY-----"),
            &format!("-----BEGIN RSA PRIVATE KEY-----\n«Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011223344556677\n\n{BODY}»\n"),
            "-----BEGIN PRIVATE KEY-----\n«MIIEowIBAAKCAQEAtW1lZGljYWxCb2R5123456789»\n\x01\x01\x01\n«aB3dE5fG7hI9»\n-----END PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\n«MC4CAQAwBQYDK2VwBCIEIH5mQ0kqT1v0hXn2»\n-----END PRIVATE KEY-----",
            &format!("---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n«Comment: \"me\"\n{BODY}»\n---- END SSH2 ENCRYPTED PRIVATE KEY ----"),
            &format!("key = \"-----BEGIN RSA PRIVATE KEY-----\\n\" +\n«  \"{}\\n\" +\n  \"»-----END RSA PRIVATE KEY-----\"", BODY.replace('\n', "\\n\" +\n  \"")).replace("\\n\" +\n«  \"", "\\n«\" +\n  \"").replace("\\n\" +\n  \"»", "»\\n\" +\n  \""),
        ]);
    }

    #[test]
    fn what_is_no_key() {
        keeps(
            "private-key-pem",
            &[
                "the file starts with -----BEGIN RSA PRIVATE KEY-----",
                "the file starts with -----BEGIN RSA PRIVATE KEY-----\nand then goes on for a while",
                "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
                "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA...\n-----END RSA PRIVATE KEY-----",
                "-----BEGIN PRIVATE KEY-----\n<your key here>\n-----END PRIVATE KEY-----",
                "-----BEGIN PRIVATE KEY-----\n\x01\x01\x01\n-----END PRIVATE KEY-----",
                "between -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY----- there is base64",
                "grep -l -- '-----BEGIN OPENSSH PRIVATE KEY-----' *",
                "-----END RSA PRIVATE KEY-----",
                "Internationalization of a text\n-----END RSA PRIVATE KEY-----",
                &format!("-----BEGIN CERTIFICATE-----\n{BODY}\n-----END CERTIFICATE-----"),
                &format!("-----BEGIN PUBLIC KEY-----\n{BODY}\n-----END PUBLIC KEY-----"),
                &format!("-----BEGIN PGP MESSAGE-----\n\n{BODY}\n-----END PGP MESSAGE-----"),
                &format!(
                    "-----BEGIN AGE ENCRYPTED FILE-----\n{BODY}\n-----END AGE ENCRYPTED FILE-----"
                ),
            ],
        );
    }

    #[test]
    fn putty_keys() {
        let body = "AAABAQCk1uXQ2mJt8v0bqYh3nR5wTz7LpD6sFgKjHe4Ux9CaVyMiNoBlWrEfGdSq\nAAAAgQDZ3mXk5Vq0pLw8tYr1uNj2sHcBfGeKdMiRoQvTzPaXyWnUbCl9EhJgFx==";
        for newline in ["\n", "\r\n", "\\n"] {
            let text = format!(
                "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nComment: me\nPublic-Lines: 1\nAAAAB3NzaC1yc2EAAAADAQABAAABAQC7\nPrivate-Lines: 2\n«{body}»\nPrivate-MAC: «0123456789abcdef0123456789abcdef01234567»\nend"
            );
            finds("putty-key", &[&text.replace('\n', newline)]);
        }
        finds("putty-key", &[&format!("Private-Lines: 14\n«{body}»")]);
        // A marker stands before each line, as in a log whose addresses were stripped.
        let logged = body.replace('\n', "»\n\u{1}«: ");
        finds(
            "putty-key",
            &[&format!("\u{1}: Private-Lines: 2\n\u{1}: «{logged}»")],
        );
        keeps(
            "putty-key",
            &[
                "PuTTY-User-Key-File-3: ssh-rsa\nPublic-Lines: 1\nAAAAB3NzaC1yc2EAAAADAQABAAABAQC7\n",
                "Private-Lines: 2\n...\nPrivate-MAC: ...",
                "The Private-Lines: field counts lines of base64.",
            ],
        );
    }
}
