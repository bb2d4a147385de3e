//! Secrets in settings whose form says where they stand: lists of keys, sections of their own,
//! lines that a value fills up to the end.

use std::ops::Range;

use crate::entropy;
use crate::named::refers;
use crate::span::Span;
use crate::structure::command::is_path;
use crate::structure::near::{
    after_any, ahead, behind, find, is_bare, is_blank, line_end, quote, report, run, run_back,
    stands, value,
};
use crate::structure::title::{NAME_BYTES_MAX, says_code, says_secret, says_secrets};
use crate::structure::value::{is_placeholder, is_token};

const KIND: &str = "settings-secret";

/// Longest list or section that is read, in bytes, and in lines.
const SECTION_BYTES_MAX: usize = 1024;
const LINES_MAX: usize = 32;
/// Longest line that is read, in bytes.
const LINE_BYTES_MAX: usize = 512;
/// Shortest key in a list; shortest key of a section. Both are in bytes.
const ITEM_BYTES_MIN: usize = 16;
const KEY_BYTES_MIN: usize = 12;
/// Least unrest of a key in a list: no name reaches it.
const UNREST_MIN: usize = 400;
/// Lengths of a WPA passphrase, in bytes (IEEE 802.11i, annex H.4).
const WPA_BYTES: std::ops::RangeInclusive<usize> = 8..=63;

/// Finds the secret that the word at `at` announces.
pub(crate) fn any(text: &[u8], at: usize, found: &mut Vec<Span>) {
    if stands(text, at, b"wpa_passphrase=") || stands(text, at, b"sae_password=") {
        passphrase(text, at, found);
    } else if let Some(open) = after_any(text, at, &["psk=", "psk ", "eap ", "xauth "])
        && text.get(open) == Some(&b'"')
    {
        quoted(text, open, found);
    } else if stands(text, at, b"<auth-user-pass>") {
        let password = lines_below(text, at).nth(1).map(|line| trimmed(text, line));
        if let Some(password) = password.filter(|line| !text[line.clone()].starts_with(b"<")) {
            report(text, password, KIND, found);
        }
    } else if stands(text, at, b"\"random_password\"") {
        state(text, at, found);
    } else if stands(text, at, b"chpasswd:") {
        chpasswd(text, at, found);
    } else if let Some(user) = after_any(text, at, &["snmp-server user ", "createuser "]) {
        usm(text, user, found);
    } else if stands(text, at, b"community") {
        setting(text, at, found);
    } else if stands(text, at, b"/snmp community") {
        community(text, at, found);
    } else if stands(text, at, b"register =>") {
        registration(text, at, found);
    } else if let Some(host) = after_any(text, at, &["tacacs-server host", "radius-server host"]) {
        device(text, host, found);
    } else if text[at] == b'=' {
        raw(text, at, found);
    } else if stands(text, at, b"chap-secrets") || stands(text, at, b"pap-secrets") {
        accounts(text, at, found);
    } else if stands(text, at, b"secrets.y") {
        settings(text, at, found);
    } else if stands(text, at, b"jwt") {
        section(text, at, found);
    } else {
        list(text, at, found);
    }
}

/// Returns the line that begins at `at`, without its end.
fn line(text: &[u8], at: usize) -> Range<usize> {
    at..line_end(text, at.min(text.len()), LINE_BYTES_MAX)
}

/// Returns the lines below the one that `at` stands on.
fn lines_below(text: &[u8], at: usize) -> impl Iterator<Item = Range<usize>> {
    let limit = text.len().min(at + SECTION_BYTES_MAX);
    let mut next = line_end(text, at, LINE_BYTES_MAX);
    let below = std::iter::from_fn(move || {
        let newline = next + run(ahead(text, next, 1), 0, |b| b == b'\r');
        if text.get(newline) != Some(&b'\n') || newline >= limit {
            return None;
        }
        let line = line(text, newline + 1);
        next = line.end;
        Some(line)
    });
    below.take(LINES_MAX)
}

/// Returns a range without the blanks at its ends.
fn trimmed(text: &[u8], range: Range<usize>) -> Range<usize> {
    let start = range.end - text[range.clone()].trim_ascii_start().len();
    start..start + text[start..range.end].trim_ascii_end().len()
}

/// Returns a range without the quotes around it, if there are any.
fn unquoted(text: &[u8], range: Range<usize>) -> Range<usize> {
    match &text[range.clone()] {
        [b'"', .., b'"'] | [b'\'', .., b'\''] => range.start + 1..range.end - 1,
        _ => range,
    }
}

/// Finds the passphrase of hostapd, which goes on to the end of its line.
fn passphrase(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let start = at + run(ahead(text, at, 32), 0, |b| b != b'=') + 1;
    let value = trimmed(text, start..line_end(text, start, LINE_BYTES_MAX));
    let begins = at == 0 || text[at - 1] == b'\n' || is_blank(text[at - 1]);
    let plain = |b: &u8| b.is_ascii_graphic() && !matches!(b, b'"' | b'\'' | b'`') || *b == b' ';
    let fits = WPA_BYTES.contains(&value.len()) && text[value.clone()].iter().all(plain);
    if begins && fits && text[value.start] != b'$' {
        report(text, value, KIND, found);
    }
}

/// Finds the passphrase in the quotes at `at`, which may have blanks.
fn quoted(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let end = line_end(text, at, LINE_BYTES_MAX);
    if let Some(close) = memchr::memchr(b'"', &text[at + 1..end])
        && WPA_BYTES.contains(&close)
    {
        report(text, at + 1..at + 1 + close, KIND, found);
    }
}

/// Finds the password that Terraform has generated, in its state.
fn state(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let mark = "\"result\": \"";
    if let Some(result) = find(ahead(text, at, SECTION_BYTES_MAX), mark) {
        quoted(text, at + result + mark.len() - 1, found);
    }
}

/// Words before a passphrase of an SNMP user. The length of the key may stand between.
const CIPHERS: &[&str] = &[
    "md5", "sha", "sha224", "sha256", "sha384", "sha512", "des", "3des", "aes",
];

/// Finds the passphrases of an SNMP user: `createUser ops SHA "…" AES "…"`.
fn usm(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let line = line(text, at);
    let mut next = line.start;
    let mut named = false;
    while next < line.end {
        let words = fields(text, next..line.end);
        let Some(word) = words.first() else { return };
        let bytes = &text[word.clone()];
        let is = |cipher: &&str| bytes.eq_ignore_ascii_case(cipher.as_bytes());
        let length = bytes.iter().all(u8::is_ascii_digit) && bytes.len() == 3;
        let cipher = CIPHERS.iter().any(is);
        if named && !cipher && !length && bytes.len() >= 8 && !refers(bytes) {
            report(text, word.clone(), KIND, found);
        }
        named = cipher || named && length;
        next = word.end + 1;
    }
}

/// Finds the passwords in a cloud-init list of `user:password` for `chpasswd`.
fn chpasswd(text: &[u8], at: usize, found: &mut Vec<Span>) {
    for line in lines_below(text, at) {
        let line = trimmed(text, line);
        let bytes = &text[line.clone()];
        let Some(colon) = memchr::memchr(b':', bytes) else {
            break;
        };
        let value = &bytes[colon + 1..];
        // A setting has a blank behind its colon.
        if value.first().is_some_and(|b| !is_blank(*b) && *b != b'$')
            && value != b"RANDOM"
            && value != b"R"
        {
            report(text, line.start + colon + 1..line.end, KIND, found);
        }
    }
}

/// Longest distance from the word `snmp` to the setting of a community, in bytes.
const SNMP_BYTES_MAX: usize = 160;

/// Finds the community in a setting of SNMP: `community: …`.
fn setting(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let name = at + "community".len();
    let name = name
        + run(ahead(text, name, 2), 0, |b| {
            matches!(b, b'"' | b'\'' | b'}')
        });
    let mark = name + run(ahead(text, name, 4), 0, is_blank);
    let known = find(behind(text, at, SNMP_BYTES_MAX), "snmp").is_some();
    if !known || !matches!(text.get(mark), Some(b':' | b'=')) {
        return;
    }
    let start = mark + 1 + run(ahead(text, mark + 1, 4), 0, is_blank);
    let (value, _) = value(text, start, |b| is_bare(b) && b != b',' && b != b';');
    let bytes = &text[value.clone()];
    if bytes.len() >= 4 && !refers(bytes) && !bytes.starts_with(b"{") && !bytes.starts_with(b"!") {
        report(text, value, KIND, found);
    }
}

/// Finds the community that the line below names, as `RouterOS` exports it.
fn community(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let Some(line) = lines_below(text, at).next() else {
        return;
    };
    if let Some(name) = find(&text[line.clone()], " name=") {
        let start = line.start + name + " name=".len();
        let start = start + usize::from(text.get(start) == Some(&b'"'));
        let end = start + run(&text[start..line.end], 0, |b| !is_blank(b) && b != b'"');
        report(text, start..end, KIND, found);
    }
}

/// Finds the password in `register => user:password@host` of Asterisk.
fn registration(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let line = line(text, at + "register =>".len());
    let bytes = &text[line.clone()];
    let host = memchr::memrchr(b'@', bytes);
    let colon = host.and_then(|host| memchr::memchr(b':', &bytes[..host]));
    if let (Some(colon), Some(host)) = (colon, host) {
        // The user name for authentication may follow.
        let value = &bytes[colon + 1..host];
        let width = memchr::memchr(b':', value).unwrap_or(value.len());
        let start = line.start + colon + 1;
        report(text, start..start + width, KIND, found);
    }
}

/// Finds the key at the end of a line that names a TACACS or RADIUS server.
fn device(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let line = line(text, at);
    let Some(key) = find(&text[line.clone()], " key ") else {
        return;
    };
    let start = line.start + key + " key ".len();
    let kind = usize::from(matches!(
        text[start..line.end],
        [b'0' | b'6' | b'7', b' ', ..]
    )) * 2;
    let value = unquoted(text, trimmed(text, start + kind..line.end));
    if !text[value.clone()].contains(&b' ') {
        report(text, value, KIND, found);
    }
}

/// Finds the value in `` NAME = `value` ``. Backticks keep every character of a value, as in the
/// settings of Go programs.
fn raw(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let name_end = run_back(text, at, 8, is_blank);
    let start = run_back(text, name_end, NAME_BYTES_MAX, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')
    });
    let alone = start == 0 || text[start - 1] == b'\n';
    let open = at + 1 + run(ahead(text, at + 1, 8), 0, is_blank);
    let line = line(text, open);
    if !alone || !says_secret(&text[start..name_end]) || text.get(open) != Some(&b'`') {
        return;
    }
    let value = trimmed(text, line);
    if value.len() > 2 && text[value.end - 1] == b'`' {
        let inner = value.start + 1..value.end - 1;
        if !text[inner.clone()].contains(&b'`') {
            report(text, inner, KIND, found);
        }
    }
}

/// Finds the secrets in the lines of `chap-secrets`: client, server, secret and addresses.
fn accounts(text: &[u8], at: usize, found: &mut Vec<Span>) {
    for line in lines_below(text, at) {
        let bytes = &text[line.clone()];
        if bytes.trim_ascii().is_empty() || bytes.starts_with(b"```") {
            break;
        }
        if bytes.trim_ascii_start().starts_with(b"#") {
            continue;
        }
        let fields = fields(text, line);
        let server = fields.get(1).map(|field| &text[field.clone()]);
        if let (Some(secret), Some(b"*" | b"pptpd" | b"l2tpd" | b"xl2tpd" | b"ppp")) =
            (fields.get(2), server)
        {
            report(text, secret.clone(), KIND, found);
        }
    }
}

/// Returns the words of a line, without their quotes, and at most four.
fn fields(text: &[u8], line: Range<usize>) -> Vec<Range<usize>> {
    let mut fields = Vec::new();
    let mut at = line.start;
    while fields.len() < 4 {
        at += run(&text[at..line.end], 0, is_blank);
        if at >= line.end {
            break;
        }
        let closing = matches!(text[at], b'"' | b'\'').then_some(text[at]);
        let start = at + usize::from(closing.is_some());
        let end = start
            + run(&text[start..line.end], 0, |b| match closing {
                Some(mark) => b != mark,
                None => !is_blank(b),
            });
        fields.push(start..end);
        at = (end + usize::from(closing.is_some())).min(line.end);
    }
    fields
}

/// Finds the secrets in the settings below the name of a file of secrets, by their names.
fn settings(text: &[u8], at: usize, found: &mut Vec<Span>) {
    for line in lines_below(text, at) {
        let bytes = &text[line.clone()];
        if bytes.trim_ascii().is_empty() {
            break;
        }
        let Some(colon) = memchr::memmem::find(bytes, b": ") else {
            continue;
        };
        let name = bytes[..colon].trim_ascii();
        let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        let value = trimmed(text, line.start + colon + 2..line.end);
        let value = unquoted(text, value);
        let bytes = &text[value.clone()];
        let one = !bytes.contains(&b' ') && !refers(bytes) && !bytes.starts_with(b"!");
        if name.iter().all(is_name) && says_code(name) && bytes.len() >= 4 && one {
            report(text, value, KIND, found);
        }
    }
}

/// Names of the key in a section about JSON Web Tokens.
const SIGNING: &[&str] = &[
    "key",
    "signingkey",
    "signing_key",
    "issuersigningkey",
    "secretkey",
    "secret_key",
    "secret",
    "symmetrickey",
];

/// Finds the key in a section of settings that is named for JSON Web Tokens.
fn section(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let name = at + run(ahead(text, at, 24), 0, |b| b.is_ascii_alphanumeric());
    let closed = name + run(ahead(text, name, 1), 0, |b| b == b'"');
    let colon = closed + run(ahead(text, closed, 4), 0, is_blank);
    if text.get(colon) != Some(&b':') {
        return;
    }
    let open = colon + 1 + run(ahead(text, colon + 1, 64), 0, |b| b.is_ascii_whitespace());
    let reach = ahead(text, open, SECTION_BYTES_MAX);
    let inside = match reach.first() {
        Some(b'{') => &reach[1..memchr::memchr(b'}', reach).unwrap_or(reach.len())],
        // YAML: the lines that are indented deeper.
        Some(_) if text[colon + 1..open].contains(&b'\n') => indented(text, at, open),
        _ => return,
    };
    let base = if reach[0] == b'{' { open + 1 } else { open };
    let mut start = base;
    for part in inside.split(|b| matches!(b, b'\n' | b',')) {
        let range = trimmed(text, start..start + part.len());
        start += part.len() + 1;
        let Some(colon) = memchr::memchr(b':', &text[range.clone()]) else {
            continue;
        };
        let name = trimmed(text, range.start..range.start + colon);
        let name = text[unquoted(text, name)].to_ascii_lowercase();
        let value = unquoted(text, trimmed(text, range.start + colon + 1..range.end));
        let bytes = &text[value.clone()];
        let real = bytes.len() >= KEY_BYTES_MIN
            && bytes.iter().all(|b| (b' '..=b'~').contains(b))
            && !is_path(bytes)
            && !refers(bytes);
        if SIGNING.iter().any(|known| name == known.as_bytes()) && real {
            report(text, value, KIND, found);
        }
    }
}

/// Returns the lines from `open` on that are indented deeper than the line of `at`.
fn indented(text: &[u8], at: usize, open: usize) -> &[u8] {
    let depth = at - run_back(text, at, NAME_BYTES_MAX, is_blank);
    let mut end = open;
    for line in lines_below(text, at) {
        let bytes = &text[line.clone()];
        if bytes.len() - bytes.trim_ascii_start().len() <= depth {
            break;
        }
        end = line.end.max(open);
    }
    &text[open..end]
}

/// Finds the keys in a list whose label ends in the word at `at`: in brackets, or on a line each.
fn list(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let end = at + run(ahead(text, at, 24), 0, |b| b.is_ascii_alphanumeric());
    let start = run_back(text, at, NAME_BYTES_MAX, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')
    });
    if !says_secrets(&text[start..end]) {
        return;
    }
    let mut next = end + run(ahead(text, end, 1), 0, |b| matches!(b, b'"' | b'\''));
    next += run(ahead(text, next, 8), 0, is_blank);
    if !matches!(text.get(next), Some(b':' | b'=')) {
        return;
    }
    next += 1 + run(ahead(text, next + 1, 8), 0, is_blank);
    if text.get(next) == Some(&b'[') {
        return bracketed(text, next + 1, found);
    }
    if !matches!(text.get(next), Some(b'\n' | b'\r')) {
        return;
    }
    for line in lines_below(text, next) {
        let line = trimmed(text, line);
        let Some(item) = text[line.clone()].strip_prefix(b"- ") else {
            break;
        };
        let item = trimmed(text, line.end - item.len()..line.end);
        key(text, unquoted(text, item), found);
    }
}

/// Finds the keys among the literals of a list that begins at `at`.
fn bracketed(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let limit = text.len().min(at + SECTION_BYTES_MAX);
    let mut next = at;
    while next < limit {
        next += run(&text[next..limit], 0, |b| {
            b.is_ascii_whitespace() || b == b','
        });
        let Some(mark) = quote(text, next) else {
            return;
        };
        let start = next + mark.len();
        let end = start
            + run(&text[start.min(limit)..limit], 0, |b| {
                b != mark[0] && b != b'\n'
            });
        if ahead(text, end, mark.len()) != mark {
            return;
        }
        key(text, start..end, found);
        next = end + mark.len();
    }
}

/// Reports an item of a list if it is a key: no name, and no word.
fn key(text: &[u8], value: Range<usize>, found: &mut Vec<Span>) {
    let bytes = &text[value.clone()];
    let random = is_token(bytes, ITEM_BYTES_MIN) && entropy::unrest(bytes) >= UNREST_MIN;
    if random && bytes.iter().all(u8::is_ascii_graphic) && !refers(bytes) && !is_placeholder(bytes)
    {
        report(text, value, KIND, found);
    }
}
