//! Codes and keys that people copy by hand: recovery codes in a list, recovery keys of disks, the
//! parts of a vault's key, seeds of one-time codes, passwords of programs.
//!
//! A label stands before each, on the line or above it. The labels are data, in the rules. The text
//! behind a label must look like such a code: letters and digits in groups, never a word.

use std::ops::Range;

use crate::entropy;
use crate::span::{Rank, Span, ahead, behind, is_joined};

/// Longest stretch behind its label in which a list is read, in bytes.
const LIST_BYTES_MAX: usize = 4096;
/// Longest stretch behind its label in which a key is read, in bytes.
const KEY_BYTES_MAX: usize = 640;
/// Longest rest of a line between a label and the code that it announces, in bytes.
const GAP_BYTES_MAX: usize = 120;
/// Most lines of a list.
const LINES_MAX: usize = 40;
/// Fewest and most letters and digits of a recovery code.
const CODE_CHARS: std::ops::RangeInclusive<usize> = 6..=40;
/// Most groups of a recovery code.
const CODE_GROUPS_MAX: usize = 8;
/// Fewest letters and digits of a recovery key.
const KEY_CHARS_MIN: usize = 16;
/// Fewest characters of a part of a vault's key: 16 bytes in base64.
const SHARE_CHARS_MIN: usize = 22;
/// Fewest characters of a seed of one-time codes: 80 bits in base 32.
const SEED_CHARS_MIN: usize = 16;
/// Number of groups in a recovery key of `BitLocker`, and of digits in each.
const DISK_GROUPS: usize = 8;
const DISK_DIGITS: usize = 6;

/// Tells whether a label stands at `at`: no letter goes before it.
fn is_label(text: &[u8], at: usize) -> bool {
    let before = behind(text, at, 4).chars().next_back();
    !before.is_some_and(|c| c.is_alphanumeric() && !is_joined(c))
}

/// Returns the text behind the label that begins at `at`, up to `most` bytes from there, and the
/// start of that text.
fn label(text: &[u8], at: usize, keyword: &str, most: usize) -> Option<(usize, String)> {
    let there = ahead(text, at, most);
    let words = super::rules::all()
        .find(|rule| rule.kind == keyword)?
        .keywords;
    let fits = |word: &&&str| {
        there.get(..word.len()).is_some_and(|there| {
            there.eq_ignore_ascii_case(word) || !word.is_ascii() && there.to_lowercase() == **word
        })
    };
    let word = words.iter().filter(fits).max_by_key(|word| word.len())?;
    // `codes`, `-codes`, `schlüssels`: the end of the word.
    let rest = &there[word.len()..];
    let joined = word.starts_with(is_joined);
    let tail = if joined {
        rest
    } else {
        rest.trim_start_matches(|c: char| c.is_alphabetic() && !is_joined(c))
    };
    let start = at + there.len() - tail.len();
    Some((start, tail.to_owned()))
}

/// Finds the recovery codes behind a label, on its line or on those below.
pub(super) fn recovery_codes(text: &[u8], at: usize, found: &mut Vec<Span>) {
    if !is_label(text, at) {
        return;
    }
    let Some((start, rest)) = label(text, at, "recovery-code", LIST_BYTES_MAX) else {
        return;
    };
    let mut push = |codes: Vec<Range<usize>>| {
        let spans = codes.into_iter().map(|code| {
            Span::new(
                start + code.start..start + code.end,
                "recovery-code",
                Rank::Structural,
            )
        });
        found.extend(spans);
    };
    let line = rest.find('\n').unwrap_or(rest.len());
    let mut shapes = Vec::new();
    let here = on_line(&rest[..line], &mut shapes);
    if !here.is_empty() {
        push(here);
    } else if !is_heading(&rest[..line]) {
        return;
    }
    let mut from = line;
    let mut blank = 0;
    for _ in 0..LINES_MAX {
        if from >= rest.len() {
            break;
        }
        let begin = from + 1;
        let end = rest[begin..]
            .find('\n')
            .map_or(rest.len(), |length| begin + length);
        from = end;
        let body = &rest[begin..end];
        if body.trim().is_empty() || is_rule(body) {
            blank += 1;
            if blank > 1 + usize::from(is_rule(body)) {
                break;
            }
            continue;
        }
        let Some(codes) = whole_line(body, &mut shapes) else {
            break;
        };
        blank = 0;
        push(
            codes
                .into_iter()
                .map(|code| begin + code.start..begin + code.end)
                .collect(),
        );
    }
}

/// Tells whether a line draws a frame or opens a block of code.
fn is_rule(line: &str) -> bool {
    line.trim().starts_with("```") || line.trim().bytes().all(|b| b"|-=+: ".contains(&b))
}

/// Tells whether the rest of a label's line lets a list begin below it.
fn is_heading(rest: &str) -> bool {
    rest.len() <= GAP_BYTES_MAX && !rest.contains(['\u{1}', '{', ';'])
}

/// Returns the codes on the line of a label: right behind it, or behind the last colon.
fn on_line(rest: &str, shapes: &mut Vec<Vec<usize>>) -> Vec<Range<usize>> {
    let trimmed = rest.trim_start_matches(|c: char| " :=-—–→\"'`*(|\t\u{a0}：".contains(c));
    let at_once = rest.len() - trimmed.len();
    let behind_colon = rest.rsplit([':', '：']).next().unwrap_or(rest);
    let body = behind_colon.trim_start_matches([' ', '"', '`', '*']);
    let last = rest.len() - body.len();
    for start in [at_once, last] {
        if start <= GAP_BYTES_MAX && start <= rest.len() && rest.is_char_boundary(start) {
            let codes = codes(&rest[start..], shapes).0;
            let direct = start == at_once && codes.first().is_some_and(|code| code.start == 0);
            if direct || start != at_once && codes.first().is_some_and(|code| code.start <= 3) {
                return codes
                    .into_iter()
                    .map(|code| start + code.start..start + code.end)
                    .collect();
            }
        }
    }
    Vec::new()
}

/// Returns the codes of a line that holds nothing else but bullets, numbers and marks for used
/// codes.
fn whole_line(line: &str, shapes: &mut Vec<Vec<usize>>) -> Option<Vec<Range<usize>>> {
    let mut body =
        line.trim_start_matches(|c: char| " \t>-*•·☐☑✓✔✗|+–~`\"'[(".contains(c) || c == '\u{a0}');
    let number = body.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=2).contains(&number) && body[number..].starts_with(['.', ')', ':', ']']) {
        body = body[number + 1..].trim_start_matches([' ', '\t', '`', '|', '*']);
    } else {
        let boxed = body
            .strip_prefix("x]")
            .or_else(|| body.strip_prefix("X]"))
            .or_else(|| body.strip_prefix(']'));
        body = boxed.unwrap_or(body).trim_start_matches([' ', '`', '|']);
    }
    // `| 1 | 3f9a1-c27de |`
    let cell = body.bytes().take_while(u8::is_ascii_digit).count();
    if line.trim_start().starts_with('|')
        && (1..=2).contains(&cell)
        && body[cell..].trim_start().starts_with('|')
    {
        body = body[cell..].trim_start_matches([' ', '|', '`']);
    }
    let offset = line.len() - body.len();
    let (codes, rest) = codes(body, shapes);
    let rest = rest
        .trim_matches(|c: char| " |~`*.,;\"'])✓✔✗\r\t".contains(c))
        .to_lowercase();
    let used = rest.is_empty()
        || rest.starts_with(['(', '#', '—', '–', '-', '←', '<'])
        || rest.starts_with("used");
    (!codes.is_empty() && used).then(|| {
        codes
            .into_iter()
            .map(|code| offset + code.start..offset + code.end)
            .collect()
    })
}

/// Returns the codes at the start of a text, and the rest of the text.
fn codes<'a>(text: &'a str, shapes: &mut Vec<Vec<usize>>) -> (Vec<Range<usize>>, &'a str) {
    let mut found = Vec::new();
    let mut at = 0;
    let mut rest = 0;
    while let Some(code) = code(text, at, shapes) {
        rest = code.end;
        found.push(code);
        let next = &text[rest..];
        let skip = next.trim_start_matches(|c: char| " \t,;/|`\"'*~、，".contains(c));
        at = text.len() - skip.len();
        if at == rest {
            break;
        }
    }
    (found, &text[rest..])
}

/// Returns the recovery code at `at`.
fn code(text: &str, at: usize, shapes: &mut Vec<Vec<usize>>) -> Option<Range<usize>> {
    let token = |from: usize| {
        let there = text.get(from..).unwrap_or_default().bytes();
        let length = there
            .take_while(|b| b.is_ascii_alphanumeric() || *b == b'-')
            .count();
        from..from + length
    };
    let first = token(at);
    let mut end = first.end;
    let whole = &text[first.clone()];
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    // `1947 3380`
    if digits(whole) && (3..=5).contains(&whole.len()) {
        let next = token(end + 1);
        let paired = text[end..].starts_with(' ') && next.end <= text.len();
        if !paired || !digits(&text[next.clone()]) || next.len() != whole.len() {
            return None;
        }
        end = next.end;
    }
    let whole = &text[at..end];
    let groups: Vec<usize> = whole.split(['-', ' ']).map(str::len).collect();
    let count: usize = groups.iter().sum();
    let bounded = !text[end..].starts_with(|c: char| {
        c.is_alphanumeric() || "_=@/\\:.+".contains(c) && !is_end(&text[end..])
    });
    let numbers = whole.bytes().filter(u8::is_ascii_digit).count();
    let letters = whole.bytes().filter(u8::is_ascii_alphabetic).count();
    let parts: Vec<&str> = whole.split('-').collect();
    // `AUTH-1932`
    let ticket = parts.len() == 2
        && digits(parts[1])
        && parts[1].len() <= 6
        && parts[0].bytes().all(|b| b.is_ascii_alphabetic());
    let date = parts.len() == 3 && numbers == 8 && letters == 0;
    let known = shapes.contains(&groups);
    let mixed = letters > 0 && numbers > 0 && (numbers >= 2 || known);
    let made = mixed || letters == 0 && numbers >= 6 || numbers == 0 && known && groups.len() > 1;
    let even =
        groups.len() <= CODE_GROUPS_MAX && groups.iter().all(|length| (2..=40).contains(length));
    let word = letters > 6 && entropy::words(whole.as_bytes()) * 2 > letters && groups.len() == 1;
    let same = whole
        .bytes()
        .filter(|b| *b != b'-' && *b != b' ')
        .all(|b| b.eq_ignore_ascii_case(&whole.as_bytes()[0]));
    if !CODE_CHARS.contains(&count) || !bounded || !made || !even || ticket || date || word || same
    {
        return None;
    }
    if entropy::placeholder_token(whole.as_bytes()) && letters > 0 {
        return None;
    }
    if !known {
        shapes.push(groups);
    }
    Some(at..end)
}

/// Tells whether a mark only ends a sentence.
fn is_end(rest: &str) -> bool {
    let mut chars = rest.chars();
    matches!(chars.next(), Some('.' | ':')) && chars.next().is_none_or(char::is_whitespace)
}

/// Returns the places where the announced code may begin: right behind the label, behind each colon
/// and word like `is` on its line, and on the next line.
fn places(rest: &str) -> Vec<usize> {
    let line = rest.find('\n').unwrap_or(rest.len());
    let mut places = Vec::new();
    if line <= KEY_BYTES_MAX {
        let marks = rest[..line]
            .char_indices()
            .filter(|(_, c)| " :=：は是\"'`“„«「→>\t".contains(*c));
        places.extend(
            marks
                .map(|(at, c)| at + c.len_utf8())
                .filter(|at| *at <= GAP_BYTES_MAX),
        );
    }
    let below = rest[line..].trim_start_matches(|c: char| c.is_whitespace() || "-*•>`".contains(c));
    if line <= GAP_BYTES_MAX && !below.is_empty() {
        places.push(rest.len() - below.len());
    }
    places.insert(0, 0);
    places
}

/// Returns the end of the run of groups at `at`, with blanks or dashes between them, and the number
/// of groups. All have the same length, one of `sizes`.
fn grouped(
    text: &str,
    at: usize,
    sizes: std::ops::RangeInclusive<usize>,
    fits: impl Fn(u8) -> bool,
) -> (usize, usize) {
    let group = |from: usize| {
        text.get(from..)
            .unwrap_or_default()
            .bytes()
            .take_while(|b| fits(*b))
            .count()
    };
    let size = group(at);
    if !sizes.contains(&size) {
        return (at, 0);
    }
    let (mut end, mut count) = (at + size, 1);
    let Some(separator) = text[end..]
        .chars()
        .next()
        .filter(|c| matches!(c, ' ' | '-'))
    else {
        return (end, count);
    };
    while text[end..].starts_with(separator) && group(end + 1) == size {
        end += 1 + size;
        count += 1;
    }
    (end, count)
}

/// Tells whether no part of a word follows.
fn is_closed(rest: &str) -> bool {
    !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "_=@/+\\".contains(c))
        && !rest
            .strip_prefix('-')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
}

/// Finds the recovery key behind a label.
pub(super) fn recovery_key(text: &[u8], at: usize, found: &mut Vec<Span>) {
    if !is_label(text, at) {
        return;
    }
    let Some((start, rest)) = label(text, at, "recovery-key", KEY_BYTES_MAX) else {
        return;
    };
    let key = places(&rest).into_iter().find_map(|place| {
        let (end, groups) = grouped(&rest, place, 3..=8, |b| b.is_ascii_alphanumeric());
        let key = &rest[place..end];
        let bare: Vec<u8> = key.bytes().filter(u8::is_ascii_alphanumeric).collect();
        let digits = bare.iter().filter(|b| b.is_ascii_digit()).count();
        let numbered = digits * 12 >= bare.len() && digits >= 2;
        let in_groups = groups >= 4
            && bare.len() >= KEY_CHARS_MIN
            && numbered
            && !entropy::placeholder_token(&bare);
        if in_groups && is_closed(&rest[end..]) {
            return Some(place..end);
        }
        let length = rest[place..]
            .bytes()
            .take_while(|b| b.is_ascii_alphanumeric() || b"+/=_".contains(b))
            .count();
        let token = &rest[place..place + length];
        let random = length >= KEY_CHARS_MIN
            && entropy::random(token.as_bytes())
            && token.bytes().any(|b| b.is_ascii_digit());
        (random && !token.contains('/') && is_closed(&rest[place + length..]))
            .then(|| place..place + length)
    });
    if let Some(key) = key {
        found.push(Span::new(
            start + key.start..start + key.end,
            "recovery-key",
            Rank::Structural,
        ));
    }
}

/// Finds recovery keys of `BitLocker`, which need no label: eight groups of six digits.
pub(super) fn disk_keys(text: &[u8], found: &mut Vec<Span>) {
    let length = DISK_GROUPS * (DISK_DIGITS + 1) - 1;
    let mut done = 0;
    for dash in memchr::memchr_iter(b'-', text) {
        let Some(start) = dash.checked_sub(DISK_DIGITS).filter(|start| *start >= done) else {
            continue;
        };
        let Some(key) = text.get(start..start + length) else {
            return;
        };
        let fits = key.iter().enumerate().all(|(at, b)| {
            if at % (DISK_DIGITS + 1) == DISK_DIGITS {
                *b == b'-'
            } else {
                b.is_ascii_digit()
            }
        });
        let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        let alone =
            !text[..start].last().is_some_and(part) && !text.get(start + length).is_some_and(part);
        let zero = key.iter().all(|b| matches!(b, b'-') || *b == key[0]);
        if fits && alone && !zero {
            found.push(Span::new(
                start..start + length,
                "recovery-key",
                Rank::Structural,
            ));
            done = start + length;
        }
    }
}

/// Finds a part of a vault's key: `Unseal Key 1: …`, `vault operator unseal …`.
pub(super) fn unseal_key(text: &[u8], at: usize, found: &mut Vec<Span>) {
    if !is_label(text, at) {
        return;
    }
    let Some((start, rest)) = label(text, at, "unseal-key", KEY_BYTES_MAX) else {
        return;
    };
    let key = places(&rest).into_iter().find_map(|place| {
        let length = rest[place..]
            .bytes()
            .take_while(|b| b.is_ascii_alphanumeric() || b"+/=_-".contains(b))
            .count();
        let token = &rest[place..place + length];
        let digest = token.len() >= 32 && token.bytes().all(|b| b.is_ascii_hexdigit());
        let random = entropy::random(token.as_bytes())
            && !token.starts_with(['/', '-'])
            && !token.contains("--");
        (length >= SHARE_CHARS_MIN
            && (digest || random)
            && !entropy::placeholder_token(token.as_bytes()))
        .then(|| place..place + length)
    });
    if let Some(key) = key {
        found.push(Span::new(
            start + key.start..start + key.end,
            "unseal-key",
            Rank::Structural,
        ));
    }
}

/// Finds a seed of one-time codes in base 32, whole or in groups.
pub(super) fn totp_seed(text: &[u8], at: usize, found: &mut Vec<Span>) {
    if !is_label(text, at) {
        return;
    }
    let Some((start, rest)) = label(text, at, "totp-seed", KEY_BYTES_MAX) else {
        return;
    };
    let seed = places(&rest).into_iter().find_map(|place| {
        let of_case = |upper: bool| {
            move |b: u8| {
                matches!(b, b'2'..=b'7')
                    || if upper {
                        b.is_ascii_uppercase()
                    } else {
                        b.is_ascii_lowercase()
                    }
            }
        };
        [true, false].into_iter().find_map(|upper| {
            let (mut end, groups) = grouped(&rest, place, 3..=5, of_case(upper));
            if groups < 4 {
                end = place
                    + rest[place..]
                        .bytes()
                        .take_while(|b| of_case(upper)(*b))
                        .count();
                end += rest[end..].bytes().take_while(|b| *b == b'=').count();
            }
            let bare: Vec<u8> = rest[place..end]
                .bytes()
                .filter(u8::is_ascii_alphanumeric)
                .collect();
            let numbered = bare.iter().any(u8::is_ascii_digit) || groups >= 4 && upper;
            let real = bare.len() >= SEED_CHARS_MIN
                && numbered
                && entropy::random(&bare)
                && !entropy::placeholder_token(&bare);
            (real && is_closed(&rest[end..])).then_some(place..end)
        })
    });
    if let Some(seed) = seed {
        found.push(Span::new(
            start + seed.start..start + seed.end,
            "totp-seed",
            Rank::Structural,
        ));
    }
}

/// Finds a password that a service made for one program: letters in groups of four, or sixteen.
pub(super) fn app_password(text: &[u8], at: usize, found: &mut Vec<Span>) {
    if !is_label(text, at) {
        return;
    }
    let Some((start, rest)) = label(text, at, "app-password", KEY_BYTES_MAX) else {
        return;
    };
    let password = places(&rest).into_iter().find_map(|place| {
        let (end, groups) = grouped(&rest, place, 4..=4, |b| b.is_ascii_alphanumeric());
        let bare: Vec<u8> = rest[place..end]
            .bytes()
            .filter(u8::is_ascii_alphanumeric)
            .collect();
        let shown = entropy::random(&bare) || entropy::random(&rest.as_bytes()[place..end]);
        let in_groups = matches!(groups, 4 | 6) && shown && is_closed(&rest[end..]);
        if in_groups {
            return Some(place..end);
        }
        let length = rest[place..]
            .bytes()
            .take_while(u8::is_ascii_alphanumeric)
            .count();
        let token = &rest.as_bytes()[place..place + length];
        let whole = matches!(length, 16 | 24)
            && entropy::random(token)
            && is_closed(&rest[place + length..]);
        whole.then(|| place..place + length)
    });
    if let Some(password) = password {
        found.push(Span::new(
            start + password.start..start + password.end,
            "app-password",
            Rank::Named,
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a text with `«` and `»` around the findings of a scanner that is called at `at`.
    fn marked(scan: fn(&[u8], usize, &mut Vec<Span>), text: &str, at: usize) -> String {
        let mut found = Vec::new();
        scan(text.as_bytes(), at, &mut found);
        let mut out = text.to_owned();
        found.sort_by_key(|span| std::cmp::Reverse(span.start));
        for span in found {
            out.insert(span.end, '»');
            out.insert(span.start, '«');
        }
        out
    }

    #[test]
    fn lists_are_read_in_every_form() {
        for wanted in [
            "recovery codes\n- «3f9a1-c27de»\n- «b80e4-11f6a»\nbye",
            "recovery codes:\n1. «k3v9x2mq»\n2. «p7w0d4zt» (used)\n",
            "recovery codes\n| 1 | «3f9a1-c27de» |\n| 2 | «b80e4-11f6a» |",
            "recovery codes:\n\n```\n«1947 3380» «6602 9415»\n«7058 2231»\n```\n",
            "recovery codes: «WQ4T-77LM», «9ZKD-20XP».",
            "recovery code «NWRK-4827-TQPL» is left",
            "recovery codes\n[ ] «12903478»\n[x] «88217460»",
        ] {
            let text = wanted.replace(['«', '»'], "");
            assert_eq!(marked(recovery_codes, &text, 0), wanted);
        }
    }

    #[test]
    fn prose_is_no_list() {
        for text in [
            "recovery code page is broken on Safari 17",
            "recovery codes: printed, in the blue folder",
            "recovery codes\nAUTH-1932 is the ticket\n",
            "recovery code 2024-05-12",
            "recovery codes: see https://example.org/a1b2c3d4",
            "recovery codes: XXXX-XXXX, 00000000",
            "recovery code v2.3.1 and build 17",
        ] {
            assert_eq!(marked(recovery_codes, text, 0), text);
        }
    }

    #[test]
    fn a_disk_key_needs_no_label() {
        let mut found = Vec::new();
        let text = b"id 1-2 418264-093577-620158-331716-507243-119460-284922-655028, kept";
        disk_keys(text, &mut found);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].start, found[0].end), (7, 62));
        for text in [
            "418264-093577-620158-331716-507243-119460-284922",
            "418264-093577-620158-331716-507243-119460-284922-655028-118822",
            "000000-000000-000000-000000-000000-000000-000000-000000",
        ] {
            let mut found = Vec::new();
            disk_keys(text.as_bytes(), &mut found);
            assert!(found.is_empty(), "{text}");
        }
    }

    #[test]
    fn groups_end_together() {
        let letters = |b: u8| b.is_ascii_lowercase();
        assert_eq!(
            grouped("qkzt mwnb vhae rpul then", 0, 4..=4, letters),
            (24, 5)
        );
        assert_eq!(
            grouped("qkzt mwnb vhae rpul, then", 0, 4..=4, letters),
            (19, 4)
        );
        assert_eq!(grouped("qkzt-mwnb vhae", 0, 4..=4, letters), (9, 2));
    }
}
