//! Literals in a list that a call joins with an empty separator: `['a', 'b'].join('')`,
//! `"".join(["a", "b"])`, `concat('a', 'b')`.

use std::collections::BTreeMap;
use std::ops::Range;

/// Ends of the names of functions that join, and whether the call names the separator.
const CALLS: [(&[u8], bool); 7] = [
    (b"join(", true),
    (b"Join(", true),
    (b"mplode(", true),
    (b"oncat(", false),
    (b"Concat(", false),
    (b"CONCAT(", false),
    (b"paste0(", false),
];
/// Longest list that is read, and longest literal in it, in bytes.
const LIST_BYTES_MAX: usize = 2048;
const LITERAL_BYTES_MAX: usize = 512;
/// Longest name of a function, and longest word before a list, in bytes.
const NAME_BYTES_MAX: usize = 48;
const OPEN_BYTES_MAX: usize = 16;

/// Returns the stretches to leave out so that each list becomes one literal, as start and width.
pub(super) fn joined(text: &[u8]) -> BTreeMap<usize, usize> {
    let mut out = BTreeMap::new();
    // One pass for all calls, of which each is a text of its own.
    let mut opens: [Vec<usize>; CALLS.len()] = Default::default();
    for bracket in memchr::memchr_iter(b'(', text) {
        if bracket == 0 || !matches!(text[bracket - 1], b'n' | b'N' | b'e' | b't' | b'T' | b'0') {
            continue;
        }
        for (opens, (call, _)) in opens.iter_mut().zip(CALLS) {
            if text[..=bracket].ends_with(call) {
                opens.push(bracket + 1);
            }
        }
    }
    for ((call, separated), opens) in CALLS.into_iter().zip(opens) {
        let mut done = 0;
        for open in opens {
            let at = open - call.len();
            if at < done {
                continue;
            }
            let list = inside(text, at, open, separated).or_else(|| before(text, at, open));
            let Some((start, literals)) = list else {
                continue;
            };
            out.insert(start, literals[0].start - 1 - start);
            for pair in literals.windows(2) {
                out.insert(pair[0].end, pair[1].start - pair[0].end);
            }
            done = literals[literals.len() - 1].end.max(open);
        }
    }
    out
}

/// Returns the literals among the arguments of a call, and the start of its name or of the literal
/// before it.
fn inside(
    text: &[u8],
    at: usize,
    open: usize,
    separated: bool,
) -> Option<(usize, Vec<Range<usize>>)> {
    let named = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':' | b'\\');
    let name = text[at.saturating_sub(NAME_BYTES_MAX)..at].iter().rev();
    let mut start = at - name.take_while(|b| named(b)).count();
    let mut from = open;
    let mut joins = !separated;
    if text[..start].ends_with(b"\"\"") || text[..start].ends_with(b"''") {
        // `"".join(…)`, perhaps of bytes.
        joins |= text[start] == b'.';
        start -= 2;
        start -= usize::from(start > 0 && matches!(text[start - 1], b'b' | b'u' | b'r'));
    } else if separated && let Some(next) = empty(text, from) {
        joins = true;
        from = next;
    }
    let opens = |b: &&u8| b.is_ascii_alphanumeric() || b" \n[](){}".contains(b);
    let rest = text.get(from..)?;
    from += rest.iter().take(OPEN_BYTES_MAX).take_while(opens).count();
    from -= usize::from(matches!(text.get(from - 1), Some(b'b' | b'u' | b'r')));
    let (literals, end) = literals(text, from)?;
    // Go names the separator behind the list.
    let closed = blanks(text, end);
    let behind = text.get(closed).is_some_and(|b| matches!(b, b'}' | b']'))
        && text.get(closed + 1) == Some(&b',')
        && empty(text, blanks(text, closed + 2)).is_some();
    (joins || behind).then_some((start, literals))
}

/// Returns the literals of the list before `.join('')`, and the position of its bracket.
fn before(text: &[u8], at: usize, open: usize) -> Option<(usize, Vec<Range<usize>>)> {
    let close = text[..at].strip_suffix(b".")?.strip_suffix(b"]")?.len();
    let nothing = text.get(open..open + 3)?;
    let empty = matches!(nothing, b"'')" | b"\"\")" | b"``)");
    let floor = close.saturating_sub(LIST_BYTES_MAX);
    let start = floor + memchr::memrchr(b'[', &text[floor..close])?;
    let (literals, end) = literals(text, start + 1)?;
    (empty && blanks(text, end) == close).then_some((start, literals))
}

/// Returns the position behind an empty literal and its comma or bracket.
fn empty(text: &[u8], at: usize) -> Option<usize> {
    let quotes = text.get(at..at + 2)?;
    let next = blanks(text, at + 2);
    let ends = matches!(text.get(next), Some(b',' | b')'));
    (matches!(quotes, b"''" | b"\"\"") && ends).then(|| next + 1)
}

/// Returns the contents of two or more literals between commas, and the end of the last one.
fn literals(text: &[u8], from: usize) -> Option<(Vec<Range<usize>>, usize)> {
    let mut literals: Vec<Range<usize>> = Vec::new();
    let mut at = blanks(text, from);
    while at < from + LIST_BYTES_MAX {
        at += usize::from(matches!(text.get(at), Some(b'b' | b'u' | b'r' | b'@')));
        let quote = *text.get(at).filter(|b| matches!(b, b'"' | b'\''))?;
        let rest = &text[at + 1..text.len().min(at + 1 + LITERAL_BYTES_MAX)];
        let width = memchr::memchr2(quote, b'\n', rest)?;
        if rest[width] != quote {
            return None;
        }
        literals.push(at + 1..at + 1 + width);
        let end = at + 2 + width;
        let next = blanks(text, end);
        if text.get(next) != Some(&b',') {
            return (literals.len() > 1).then_some((literals, end));
        }
        at = blanks(text, next + 1);
        if matches!(text.get(at), Some(b']' | b')' | b'}')) {
            return (literals.len() > 1).then_some((literals, end));
        }
    }
    None
}

/// Returns the position behind the white space at `at`.
fn blanks(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest
        .iter()
        .take(96)
        .take_while(|b| b.is_ascii_whitespace())
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(text: &str) -> String {
        let joined = joined(text.as_bytes());
        let (mut out, mut at) = (String::new(), 0);
        while at < text.len() {
            if let Some(width) = joined.get(&at).filter(|width| **width > 0) {
                at += width;
            } else {
                out.push_str(&text[at..=at]);
                at += 1;
            }
        }
        out
    }

    #[test]
    fn lists_become_one_literal() {
        for (text, wanted) in [
            ("k = ['ab', 'cd','ef'].join('');", "k = 'abcdef'].join('');"),
            ("k = b\"\".join([b\"ab\", b\"cd\"])", "k = \"abcd\"])"),
            ("k = ''.join(('ab', 'cd'))", "k = 'abcd'))"),
            ("k = concat('ab', 'cd')", "k = 'abcd')"),
            ("k = implode('', ['ab', 'cd'])", "k = 'abcd'])"),
            ("k = String.join(\"\", \"ab\", \"cd\")", "k = \"abcd\")"),
            ("k = paste0(\"ab\", \"cd\")", "k = \"abcd\")"),
            (
                "k := strings.Join([]string{\"ab\", \"cd\"}, \"\")",
                "k := \"abcd\"}, \"\")",
            ),
        ] {
            assert_eq!(left(text), wanted);
        }
    }

    #[test]
    fn other_lists_stay() {
        for text in [
            "",
            "join(",
            "['ab', 'cd'].join(',')",
            "['ab', 'cd'].join()",
            "\", \".join([\"ab\", \"cd\"])",
            "path.join('ab', 'cd')",
            "implode(',', ['ab', 'cd'])",
            "['ab', 'cd']",
            "concat(a, 'cd')",
            "''.join(words)",
            "[x].join('')",
        ] {
            assert_eq!(left(text), text);
        }
    }
}
