//! Text operations: numbering, ranges, replacing, inserting. Lines are split on `\n` only.

use std::fmt::Write;

use crate::Text;

/// Lines shown before and after the start of a replacement.
const SNIPPET_CONTEXT_LINES: usize = 2;

/// An invalid `view_range`, with the number of lines.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RangeFault {
    pub(crate) lines: usize,
}

/// The reasons why a replacement failed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReplaceFault {
    Empty,
    NotFound,
    /// The lines, counted from 1, where the occurrences start.
    Several(Vec<usize>),
}

/// An invalid line for an insertion, with the number of lines of the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InsertFault {
    pub(crate) lines: usize,
}

/// Counts lines as `view` does: a final newline starts one more, empty line.
pub(crate) fn line_count(text: &str) -> usize {
    1 + text.bytes().filter(|b| *b == b'\n').count()
}

/// Appends the numbered lines `from..=to` (counted from 1) to `out`, which begins with a heading
/// line. The result has at most `characters_max` characters (0 = no limit). Longer text is cut at a
/// line end, and a last line says which lines are shown and how to see more.
pub(crate) fn number_lines(
    mut out: String,
    text: &str,
    from: usize,
    to: usize,
    characters_max: usize,
) -> Text {
    let total = line_count(text);
    let mut characters = out.chars().count();
    out.reserve(text.len() + 8 * (to + 1 - from).min(total));
    for (index, line) in text.split('\n').enumerate().take(to).skip(from - 1) {
        let number = index + 1;
        let start = out.len();
        let _ = write!(out, "\n{number:>6}\t{line}");
        characters += out[start..].chars().count();
        if characters_max == 0 || characters <= characters_max {
            continue;
        }
        if number > from {
            out.truncate(start);
            let last = number - 1;
            let _ = write!(
                out,
                "\n[Truncated: lines {from}-{last} of {total} shown. Use view_range to see more.]"
            );
        } else {
            cut_line(&mut out, characters - characters_max);
            let _ = write!(
                out,
                "\n[Truncated: lines {number}-{number} of {total} shown, and line {number} is cut. \
                 Use view_range to see more.]"
            );
        }
        break;
    }
    out.into()
}

/// Drops the last `excess` characters.
fn cut_line(out: &mut String, excess: usize) {
    let at = out
        .char_indices()
        .rev()
        .nth(excess - 1)
        .map_or(0, |(i, _)| i);
    out.truncate(at);
}

/// Resolves a `view_range` to its first and last line, both counted from 1.
pub(crate) fn resolve_range(
    text: &str,
    range: Option<(i64, i64)>,
) -> Result<(usize, usize), RangeFault> {
    let lines = line_count(text);
    let Some((start, end)) = range else {
        return Ok((1, lines));
    };
    let fault = || RangeFault { lines };
    let start = usize::try_from(start.max(1)).map_err(|_| fault())?;
    let end = if end == -1 {
        lines
    } else {
        usize::try_from(end).map_err(|_| fault())?.min(lines)
    };
    if start > lines || end < start {
        return Err(fault());
    }
    Ok((start, end))
}

/// Replaces the only occurrence of `old`. Returns the new text and the line, counted from 1, where
/// the replacement starts.
pub(crate) fn replace(text: &str, old: &str, new: &str) -> Result<(Text, usize), ReplaceFault> {
    if old.is_empty() {
        return Err(ReplaceFault::Empty);
    }
    let mut found = text.match_indices(old).map(|(at, _)| at);
    let Some(at) = found.next() else {
        return Err(ReplaceFault::NotFound);
    };
    if found.next().is_some() {
        return Err(ReplaceFault::Several(occurrence_lines(text, old)));
    }
    let mut out = String::with_capacity(text.len() + new.len());
    out.push_str(&text[..at]);
    out.push_str(new);
    out.push_str(&text[at + old.len()..]);
    Ok((out.into(), line_count(&text[..at])))
}

fn occurrence_lines(text: &str, old: &str) -> Vec<usize> {
    let (mut line, mut seen) = (1, 0);
    text.match_indices(old)
        .map(|(at, _)| {
            line += text[seen..at].matches('\n').count();
            seen = at;
            line
        })
        .collect()
}

/// Formats the numbered lines around the start of a replacement, below `heading`.
pub(crate) fn snippet(heading: &str, text: &str, line: usize, characters_max: usize) -> Text {
    let from = line.saturating_sub(SNIPPET_CONTEXT_LINES).max(1);
    let to = (line + SNIPPET_CONTEXT_LINES).min(line_count(text));
    number_lines(heading.to_owned(), text, from, to, characters_max)
}

/// Inserts `insert` as whole lines after line `after`; 0 is the start.
pub(crate) fn insert(text: &str, after: i64, insert: &str) -> Result<Text, InsertFault> {
    let lines = text.strip_suffix('\n').map_or_else(
        || if text.is_empty() { 0 } else { line_count(text) },
        line_count,
    );
    let after = usize::try_from(after)
        .ok()
        .filter(|after| *after <= lines)
        .ok_or(InsertFault { lines })?;
    let at = match after {
        0 => 0,
        n => text
            .match_indices('\n')
            .nth(n - 1)
            .map_or(text.len(), |(i, _)| i + 1),
    };
    let (head, tail) = text.split_at(at);
    let mut out = String::with_capacity(text.len() + insert.len() + 3);
    for part in [head, insert, tail] {
        out.push_str(part);
        if !part.is_empty() && !part.ends_with('\n') {
            out.push('\n');
        }
    }
    if insert.is_empty() {
        out.insert(
            if head.is_empty() || head.ends_with('\n') {
                at
            } else {
                at + 1
            },
            '\n',
        );
    }
    Ok(out.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbered(text: &str, from: usize, to: usize, max: usize) -> String {
        number_lines("H".into(), text, from, to, max)
            .as_str()
            .to_owned()
    }

    #[test]
    fn numbers_are_right_aligned_and_grow() {
        assert_eq!(
            numbered("a\nb\n", 1, 3, 0),
            "H\n     1\ta\n     2\tb\n     3\t"
        );
        let many = "\n".repeat(1_000_001);
        assert_eq!(numbered(&many, 1_000_000, 1_000_000, 0), "H\n1000000\t");
    }

    #[test]
    fn cut_at_a_line_end_with_a_notice() {
        // "H" and two numbered lines of one character are 1 + 9 + 9 characters.
        assert_eq!(numbered("a\nb", 1, 2, 19), "H\n     1\ta\n     2\tb");
        assert_eq!(
            numbered("a\nb\nc", 1, 3, 19),
            "H\n     1\ta\n     2\tb\n[Truncated: lines 1-2 of 3 shown. Use view_range to see more.]"
        );
        assert_eq!(
            numbered("äöü\nb", 1, 2, 11),
            "H\n     1\täö\n[Truncated: lines 1-1 of 2 shown, and line 1 is cut. Use view_range to see more.]"
        );
    }

    #[test]
    fn ranges() {
        let text = "a\nb\nc";
        for (range, want) in [
            (None, Ok((1, 3))),
            (Some((2, 2)), Ok((2, 2))),
            (Some((0, 2)), Ok((1, 2))),
            (Some((-5, -1)), Ok((1, 3))),
            (Some((2, 99)), Ok((2, 3))),
            (Some((i64::MIN, i64::MAX)), Ok((1, 3))),
            (Some((4, 9)), Err(RangeFault { lines: 3 })),
            (Some((4, -1)), Err(RangeFault { lines: 3 })),
            (Some((3, 2)), Err(RangeFault { lines: 3 })),
            (Some((1, 0)), Err(RangeFault { lines: 3 })),
            (Some((1, -2)), Err(RangeFault { lines: 3 })),
        ] {
            assert_eq!(resolve_range(text, range), want, "{range:?}");
        }
    }

    #[test]
    fn replacing_needs_exactly_one_occurrence() {
        assert_eq!(replace("abc", "", "x"), Err(ReplaceFault::Empty));
        assert_eq!(replace("abc", "x", "y"), Err(ReplaceFault::NotFound));
        assert_eq!(
            replace("a\naa\nb a", "a", "x"),
            Err(ReplaceFault::Several(vec![1, 2, 2, 3]))
        );
        assert_eq!(replace("aaa", "aa", "b"), Ok(("ba".into(), 1)));
        assert_eq!(replace("l\r\nm", "l\nm", "x"), Err(ReplaceFault::NotFound));
        assert_eq!(replace("1\n2\n3", "2\n3", "x"), Ok(("1\nx".into(), 2)));
    }

    #[test]
    fn inserting_keeps_every_other_byte() {
        for (text, line, new, want) in [
            ("a\nb\n", 1, "X", "a\nX\nb\n"),
            ("a\nb", 1, "X", "a\nX\nb\n"),
            ("a\nb", 2, "X", "a\nb\nX\n"),
            ("a\nb", 0, "X\n", "X\na\nb\n"),
            ("", 0, "X", "X\n"),
            ("", 0, "", "\n"),
            ("a\n", 1, "", "a\n\n"),
            ("a", 1, "", "a\n\n"),
            ("a", 0, "", "\na\n"),
            ("a\n\n\n", 0, "X", "X\na\n\n\n"),
            ("a\r\nb\r\n", 1, "X", "a\r\nX\nb\r\n"),
            ("a\n", 1, "X\n\n", "a\nX\n\n"),
        ] {
            assert_eq!(
                insert(text, line, new),
                Ok(want.into()),
                "{text:?} {line} {new:?}"
            );
        }
        assert_eq!(insert("a\nb\n", 3, "X"), Err(InsertFault { lines: 2 }));
        assert_eq!(insert("a\nb", -1, "X"), Err(InsertFault { lines: 2 }));
        assert_eq!(insert("", 1, "X"), Err(InsertFault { lines: 0 }));
        assert_eq!(insert("\n", 2, "X"), Err(InsertFault { lines: 1 }));
    }

    proptest! {
        #[test]
        fn an_insert_can_be_found_again(lines in prop::collection::vec("[a-c\r]{0,3}", 0..6), at in 0usize..7) {
            let whole = |lines: &[String]| lines.join("\n") + if lines.is_empty() { "" } else { "\n" };
            let text = whole(&lines);
            let result = insert(&text, i64::try_from(at).expect("small"), "NEW");
            if at > lines.len() {
                prop_assert_eq!(result, Err(InsertFault { lines: lines.len() }));
            } else {
                let mut want = lines.clone();
                want.insert(at, "NEW".into());
                let want = whole(&want);
                prop_assert_eq!(result, Ok(want.as_str().into()));
            }
        }

        #[test]
        fn a_replacement_undone_is_the_text(head in "[ab\n]{0,20}", tail in "[ab\n]{0,20}", new in "[^x]{1,8}") {
            let text = format!("{head}x{tail}");
            let (edited, line) = replace(&text, "x", &new).expect("one occurrence");
            prop_assert_eq!(line, line_count(&head));
            prop_assert_eq!(edited.as_str(), format!("{head}{new}{tail}"));
        }

        #[test]
        fn a_view_never_passes_its_limit(text in "[aä\n]{0,200}", max in 20usize..120) {
            let view = number_lines("H".into(), &text, 1, line_count(&text), max);
            let body = view.as_str().split("\n[Truncated").next().expect("first piece");
            prop_assert!(body.chars().count() <= max);
        }
    }
}
