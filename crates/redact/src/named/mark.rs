//! Marks between a name and its value: what closes the name, and what joins the two.

/// Marks that join a name to its value; a longer one before the one it begins with.
const JOINERS: &[&str] = &[
    ":=", "=>", "->", "===", "==", "?=", "||=", "+=", "=", ":", "：", "＝", "≔", "→", "⇒", "➜", "⟶",
];

/// What closes a name beyond ASCII and in HTML.
const CLOSERS: &[&str] = &[
    "”",
    "“",
    "’",
    "»",
    "」",
    "』",
    "】",
    "）",
    "&quot;",
    "</b>",
    "</strong>",
    "</code>",
    "</td>",
    "</th>",
    "</dt>",
    "</label>",
    "<td>",
    "<dd>",
];

/// How far marks that close a name are skipped, in bytes.
const CLOSERS_BYTES_MAX: usize = 80;

/// The width of a joining mark at the start of `rest`.
pub(super) fn joiner(rest: &[u8]) -> Option<usize> {
    let mark = JOINERS
        .iter()
        .find(|mark| rest.starts_with(mark.as_bytes()))?;
    if *mark == ":" && rest.get(1) == Some(&b':') {
        return None;
    }
    Some(mark.len())
}

/// Skips what closes a name: quotes, brackets, emphasis, a remark in parentheses. Says whether the
/// name was quoted.
pub(super) fn closers(text: &[u8], at: usize) -> (usize, bool) {
    let mut place = at;
    let mut quoted = false;
    loop {
        let rest = &text[place..];
        let width = match rest {
            [b'\\', b'"' | b'\'' | b'\\', ..] => {
                quoted = true;
                let slashes = rest.iter().take_while(|b| **b == b'\\').count();
                slashes + usize::from(matches!(rest.get(slashes), Some(b'"' | b'\'')))
            }
            [b'"' | b'\'', ..] => {
                quoted = true;
                1
            }
            [b'}', b'}', ..] => 0,
            [b'`' | b']' | b'}' | b'*' | b'_' | b'~' | b')', ..] => 1,
            _ => CLOSERS
                .iter()
                .find(|end| rest.starts_with(end.as_bytes()))
                .map_or_else(|| remark(rest), |end| end.len()),
        };
        if width == 0 || place - at > CLOSERS_BYTES_MAX {
            return (place, quoted);
        }
        place += width;
    }
}

/// Skips the end of an emphasis: `**Password:** …`.
pub(super) fn emphasis(text: &[u8], at: usize) -> usize {
    let rest = &text[at..];
    let width = rest
        .iter()
        .take(3)
        .take_while(|b| matches!(b, b'*' | b'_'))
        .count();
    let ends = rest
        .get(width)
        .is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b'`' | b'"'));
    if ends { at + width } else { at }
}

/// The width of ` (…)` behind a name.
fn remark(rest: &[u8]) -> usize {
    let gap = rest.iter().take_while(|b| **b == b' ').count();
    if gap == 0 || gap > 2 || rest.get(gap) != Some(&b'(') {
        return 0;
    }
    let inside = &rest[gap + 1..rest.len().min(gap + 40)];
    let Some(close) = memchr::memchr2(b')', b'\n', inside) else {
        return 0;
    };
    // A remark is words; what holds digits or marks may be the value.
    let words = |b: &u8| b.is_ascii_alphabetic() || *b == b' ' || *b >= 0x80;
    if inside[close] != b')' || !inside[..close].iter().all(words) {
        return 0;
    }
    let after = rest[gap + 1 + close + 1..].trim_ascii_start();
    if joiner(after).is_none() && !after.starts_with(b"is ") {
        return 0;
    }
    gap + 1 + close + 1
}

pub(super) fn spaces(text: &[u8], at: usize) -> usize {
    let rest = &text[at.min(text.len())..];
    let mut width = 0;
    loop {
        match &rest[width..] {
            [b' ' | b'\t', ..] => width += 1,
            [0xC2, 0xA0, ..] => width += 2,
            // The spaces of typography, and the ideographic one.
            [0xE2, 0x80, 0x80..=0x8A | 0xAF, ..] | [0xE3, 0x80, 0x80, ..] => width += 3,
            _ => break,
        }
    }
    at + width
}
