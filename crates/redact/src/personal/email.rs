//! E-mail addresses (RFC 5321, RFC 6531), as people write them: without quoted local parts, and
//! without the names kept for examples (RFC 2606, RFC 6761).

use crate::span::{Rank, Span};

/// The kind of these findings.
pub(super) const KIND: &str = "email";

/// Most bytes of a local part.
const LOCAL_LENGTH_MAX: usize = 64;
/// Most bytes of a domain name.
const DOMAIN_LENGTH_MAX: usize = 253;
/// Most bytes of a label of a domain name.
const LABEL_LENGTH_MAX: usize = 63;
/// Bytes before an address in which `://` makes it the user of a URL.
const SCHEME_LENGTH_MAX: usize = 80;

/// Local parts that belong to nobody: machines, and the users of version control.
const NOBODY: &[&str] = &[
    "do-not-reply",
    "do_not_reply",
    "donotreply",
    "git",
    "hg",
    "mailer-daemon",
    "no-reply",
    "no_reply",
    "noreply",
    "svn",
];

/// Top-level names for examples and for use inside a network.
const RESERVED: &[&str] = &[
    "example",
    "internal",
    "invalid",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "test",
];

/// Ends of file names and units that look like a top-level name.
const FILES: &[&str] = &[
    "avif", "bmp", "css", "csv", "gif", "html", "ico", "jpeg", "jpg", "js", "json", "log", "lock",
    "mount", "pdf", "png", "scope", "service", "slice", "socket", "svg", "target", "timer", "toml",
    "ts", "tsx", "txt", "webp", "xml", "yaml", "yml",
];

/// Finds every address in a text.
pub(super) fn scan(text: &[u8], found: &mut Vec<Span>) {
    let mut from = 0;
    for at in memchr::memchr_iter(b'@', text) {
        if at < from {
            continue;
        }
        let (Some(start), Some(end)) = (local_start(text, from, at), domain_end(text, at + 1))
        else {
            continue;
        };
        if belongs_to_someone(text, start, at, end) {
            found.push(Span::new(start..end, KIND, Rank::Personal));
            from = end;
        }
    }
}

/// Returns the start of the local part that ends at `at`. Next to ASCII, Chinese, Japanese and
/// Korean signs belong to the sentence around it; they are a local part only by themselves.
fn local_start(text: &[u8], from: usize, at: usize) -> Option<usize> {
    let low = from.max(at.saturating_sub(LOCAL_LENGTH_MAX));
    let ideographs = last_char(&text[low..at]).is_some_and(ideographic);
    let mut start = at;
    while let Some(sign) = last_char(&text[low..start]) {
        let fits = match sign {
            '.' | '_' | '+' | '-' | '\'' | '&' => true,
            _ => sign.is_alphanumeric() && (ideographic(sign) <= ideographs),
        };
        if !fits {
            break;
        }
        start -= sign.len_utf8();
    }
    let skipped = text[start..at].iter().take_while(|b| b".'+-&".contains(b));
    start += skipped.count();
    let cut = start < at && low > from && start == low;
    (start < at && !cut && text[at - 1] != b'.').then_some(start)
}

/// Returns the end of the domain that begins at `start`: two labels or more, the last of them a
/// word.
fn domain_end(text: &[u8], start: usize) -> Option<usize> {
    let high = text.len().min(start + DOMAIN_LENGTH_MAX);
    let (mut end, mut labels) = (label_end(text, start, high)?, 1);
    let mut top = start..end;
    while text.get(end) == Some(&b'.') {
        let Some(next) = label_end(text, end + 1, high) else {
            break;
        };
        (top, end, labels) = (end + 1..next, next, labels + 1);
    }
    let top = &text[top];
    let word =
        top.starts_with(b"xn--") || top.iter().all(|b| b.is_ascii_alphabetic() || !b.is_ascii());
    let file = FILES
        .iter()
        .any(|name| top.eq_ignore_ascii_case(name.as_bytes()));
    let glued = matches!(text.get(end), Some(b'_' | b'@' | b'('));
    (labels > 1 && word && top.len() > 1 && !file && !glued).then_some(end)
}

fn label_end(text: &[u8], start: usize, high: usize) -> Option<usize> {
    let rest = text.get(start..high)?;
    let mut ideographs = None;
    let mut end = start;
    while let Some(sign) = first_char(&text[end..high]) {
        let fits = sign == '-' || sign.is_alphanumeric();
        if !fits || *ideographs.get_or_insert(ideographic(sign)) != ideographic(sign) {
            break;
        }
        end += sign.len_utf8();
    }
    let dashes = text[start..end]
        .iter()
        .rev()
        .take_while(|b| **b == b'-')
        .count();
    end -= dashes;
    let length = end - start;
    (length > 0 && length <= LABEL_LENGTH_MAX && rest[0] != b'-').then_some(end)
}

/// Tells whether an address belongs to a person, and is not an example, a machine, a version or the
/// user of a URL.
fn belongs_to_someone(text: &[u8], start: usize, at: usize, end: usize) -> bool {
    let local = text[start..at].to_ascii_lowercase();
    let domain = text[at + 1..end].to_ascii_lowercase();
    let labels: Vec<&[u8]> = domain.split(|b| *b == b'.').collect();
    let (name, top) = (labels[labels.len() - 2], labels[labels.len() - 1]);
    let is_one_of = |list: &[&str], word: &[u8]| list.iter().any(|w| w.as_bytes() == word);
    let example = name == b"example" && is_one_of(&["com", "edu", "net", "org"], top);
    let version = labels[..2].iter().all(|label| {
        let digits = label.strip_prefix(b"v").unwrap_or(label);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    });
    let handle = text[..start].ends_with(b"@");
    !(is_one_of(NOBODY, &local)
        || labels.contains(&&b"noreply"[..])
        || is_one_of(RESERVED, top)
        || example
        || version
        || handle
        || user_of_url(text, start))
}

fn user_of_url(text: &[u8], start: usize) -> bool {
    let head = &text[start.saturating_sub(SCHEME_LENGTH_MAX)..start];
    let word = head
        .rsplit(|b| b.is_ascii_whitespace() || b"\"'<>()[]\x01".contains(b))
        .next()
        .unwrap_or_default();
    let Some(scheme) = memchr::memmem::rfind(word, b"://") else {
        return false;
    };
    // After the host, `@` no longer names a user: `https://host/?to=me@there.org`.
    !word[scheme + 3..].iter().any(|b| b"/?#".contains(b))
}

fn ideographic(sign: char) -> bool {
    matches!(sign,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn first_char(text: &[u8]) -> Option<char> {
    let length = text.len().min(4);
    let chunk = text[..length].utf8_chunks().next()?;
    chunk.valid().chars().next()
}

fn last_char(text: &[u8]) -> Option<char> {
    let back = text.iter().rev().take(4).position(|b| b & 0xc0 != 0x80)?;
    let sign = std::str::from_utf8(&text[text.len() - back - 1..]).ok()?;
    sign.chars().next()
}
