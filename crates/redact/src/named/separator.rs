//! Finds the place of a value from what joins it to its name.

use crate::named::decide::Joint;
use crate::named::name::{Name, Strength};
use crate::named::value::{self, line_end};

/// Longest part of an element that is searched for its end, in bytes.
const ELEMENT_BYTES_MAX: usize = 4 * 1024;
/// Longest distance from a name to the word `value` of its pair, in bytes.
const PAIR_BYTES_MAX: usize = 80;
/// Longest distance from a name to either end of its template, in bytes.
const TEMPLATE_BYTES_MAX: usize = 160;
/// Elements that hold the value of the name before them.
const CELLS: &[&[u8]] = &[b"<td>", b"<dd>"];
/// Words before the value of a pair.
const PAIR_WORDS: &[&[u8]] = &[b"value", b"default", b"with"];

/// The place where the value of a name is searched for.
#[derive(Debug)]
pub(super) enum Lead {
    /// At this place.
    Value { at: usize, joint: Joint },
    /// In the next cell of a table.
    Cell { at: usize },
    /// In the arguments of a call; the second one for logins.
    Call { at: usize, second: bool },
    /// On the next line.
    Below { at: usize, joint: Joint },
    /// Behind the word `value` that follows the name.
    Pair { at: usize },
    /// Among the words that follow. `joined` is true once a verb has been seen.
    Sentence { at: usize, joined: bool },
    /// In a sentence without spaces.
    Spaceless { at: usize },
    /// Nowhere.
    Nothing,
}

/// Returns the lead to a value at `at` that a mark of its own announces.
fn said(at: usize) -> Lead {
    Lead::Value {
        at,
        joint: Joint::Said,
    }
}

/// Reads what follows a name, and returns the lead to its value.
pub(super) fn after(text: &[u8], name: &Name) -> Lead {
    let (closed, quoted) = closers(text, name.range.end);
    let at = spaces(text, closed);
    if name.spaceless {
        return after_spaceless(text, at);
    }
    let Some(&b) = text.get(at) else {
        return Lead::Nothing;
    };
    let rest = &text[at..];
    let column = text[closed..at].contains(&b'\t') && !matches!(b, b'=' | b':');
    if column || CELLS.iter().any(|tag| text[..at].ends_with(tag)) {
        return said(at);
    }
    if b >= 0xC2 && value::quoted(text, at).is_some() {
        return Lead::Value {
            at,
            joint: Joint::Near,
        };
    }
    if matches!(b, 0xE3..=0xED) {
        return Lead::Spaceless { at };
    }
    let element = name.range.start > 0 && matches!(text[name.range.start - 1], b'<' | b':');
    match b {
        b'?' if !rest.starts_with(b"?=") => answer(text, at).map_or(Lead::Nothing, said),
        b'\n' | b'\r' => below(text, at, name, Joint::Prose),
        // `process.env.X || "…"`: the fallback value.
        b'|' if rest.starts_with(b"|| ") && value::quoted(text, spaces(text, at + 2)).is_some() => {
            Lead::Value {
                at: spaces(text, at + 2),
                joint: Joint::Assigned,
            }
        }
        b'>' if (element || quoted) && closes(rest) => {
            said(spaces(text, at + 1).min(text.len() - 1))
        }
        b',' if rest.get(1) == Some(&b' ') && !quoted => Lead::Sentence {
            at: at + 1,
            joined: false,
        },
        b'.' if quoted => method(text, at),
        b'(' if closed == name.range.end && at == closed => Lead::Call {
            at: spaces(text, at + 1),
            second: name.strength != Strength::Password && name.strength != Strength::Secret,
        },
        b'|' if is_filtered(text, name.range.start, at) => Lead::Nothing,
        b'|' => Lead::Cell {
            at: spaces(text, at + 1),
        },
        b',' | b';' if quoted || is_column(text, name, at) => {
            pair(text, at).unwrap_or_else(|| Lead::Value {
                at: spaces(text, at + 1),
                joint: Joint::Assigned,
            })
        }
        b'"' | b'\'' | b'`' | b'\\' if at > name.range.end && !name.verb => said(at),
        _ => unmarked(text, name, at, closed, quoted),
    }
}

/// Tells whether a template passes the value to a filter: `{{ .Values.password | quote }}`.
fn is_filtered(text: &[u8], start: usize, at: usize) -> bool {
    let before = &text[start.saturating_sub(TEMPLATE_BYTES_MAX)..start];
    let behind = &text[at..text.len().min(at + TEMPLATE_BYTES_MAX)];
    let opened = memchr::memmem::rfind(before, b"{{").map(|at| &before[at..]);
    let line = |part: &[u8]| !part.contains(&b'\n');
    opened.is_some_and(|inside| line(inside) && memchr::memmem::find(inside, b"}}").is_none())
        && memchr::memmem::find(behind, b"}}").is_some_and(|end| line(&behind[..end]))
}

/// Returns the lead behind a name that no mark with a meaning of its own follows.
fn unmarked(text: &[u8], name: &Name, at: usize, closed: usize, quoted: bool) -> Lead {
    if let Some(width) = joiner(&text[at..]) {
        return joined(text, name, at, width);
    }
    if flag(text, name) && at > name.range.end {
        return said(at);
    }
    // `pre-shared-key ascii-text "…"` of Junos, `ENV PASSWORD …` of a Dockerfile.
    if text[at..].starts_with(b"ascii-text \"") {
        return said(at + b"ascii-text ".len());
    }
    if at == closed + 1 && text[..name.range.start].ends_with(b"ENV ") {
        return Lead::Value {
            at,
            joint: Joint::Tight,
        };
    }
    // `Credentials::new(user, password)`.
    if name.strength == Strength::Login && text[closed..].starts_with(b"::new(") {
        return Lead::Call {
            at: spaces(text, closed + b"::new(".len()),
            second: true,
        };
    }
    if quoted && let Some(pair) = pair(text, at) {
        return pair;
    }
    // A weak name needs its value straight beside it, and a sentence needs spaces.
    if at == closed || at - closed > 3 || name.strength == Strength::Weak {
        return Lead::Nothing;
    }
    Lead::Sentence { at, joined: false }
}

/// Returns the start of the answer to a question, on the same line or the next: `the key? lee> …`.
fn answer(text: &[u8], at: usize) -> Option<usize> {
    let gap = |at: usize| {
        let rest = text.get(at..).unwrap_or_default();
        rest.iter()
            .take(8)
            .take_while(|b| b.is_ascii_whitespace() || matches!(b, b'*' | b'<' | b'"'))
            .count()
    };
    let start = at + 1 + gap(at + 1);
    let rest = text.get(start..)?;
    let name = rest
        .iter()
        .take(24)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
        .count();
    let mark = matches!(rest.get(name), Some(b'>' | b':')) && name > 0;
    let next = start + name + 1;
    let next = next + gap(next);
    (start > at + 1 && mark && next < text.len()).then_some(next)
}

/// Returns the lead to the text typed into the field of that name: `('password').send_keys("…")`.
fn method(text: &[u8], at: usize) -> Lead {
    let rest = &text[at + 1..];
    let name = rest
        .iter()
        .take(24)
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
        .count();
    if name > 0 && rest.get(name) == Some(&b'(') {
        return Lead::Call {
            at: spaces(text, at + 1 + name + 1),
            second: false,
        };
    }
    Lead::Nothing
}

/// Tells whether the element whose tag ends here holds text and is closed.
fn closes(rest: &[u8]) -> bool {
    let line = &rest[..line_end(rest, 0).min(ELEMENT_BYTES_MAX)];
    if line
        .get(1..)
        .is_some_and(|text| text.starts_with(b"<![CDATA["))
    {
        return true;
    }
    let end = memchr::memchr(b'<', line);
    end.is_some_and(|end| end > 1 && matches!(line.get(end + 1), Some(b'/' | b'!')))
}

/// Tells whether a name stands in a line of values between commas: `DB_PASSWORD,…`.
fn is_column(text: &[u8], name: &Name, at: usize) -> bool {
    let next = text.get(at + 1);
    text[name.range.clone()].contains(&b'_') && next.is_some_and(u8::is_ascii_graphic)
}

fn after_spaceless(text: &[u8], at: usize) -> Lead {
    match text.get(at) {
        None => Lead::Nothing,
        Some(b'\n' | b'\r') => Lead::Below {
            at: (line_end(text, at) + 1).min(text.len()),
            joint: Joint::Said,
        },
        Some(b'|') => Lead::Cell {
            at: spaces(text, at + 1),
        },
        Some(_) => Lead::Spaceless { at },
    }
}

/// Returns the lead behind a joining mark.
fn joined(text: &[u8], name: &Name, at: usize, width: usize) -> Lead {
    let mark = &text[at..at + width];
    let tight = mark == b"=" && at == name.range.end;
    let mut next = spaces(text, emphasis(text, at + width));
    let mut joint = match mark {
        b"=" if tight && next == at + width => Joint::Tight,
        b":" | b"->" | b"=>" => Joint::Said,
        _ if mark[0] >= 0x80 => Joint::Said,
        _ => Joint::Assigned,
    };
    // A type before the value: `: &str = …`, `: string = …`.
    if mark == b":"
        && let Some(value) = typed(text, next)
    {
        next = value;
        joint = Joint::Assigned;
    }
    match text.get(next) {
        None => Lead::Nothing,
        // A setting without a value.
        Some(b'\n' | b'\r') if tight => Lead::Nothing,
        Some(b'\n' | b'\r') => below(text, next, name, Joint::Said),
        Some(b'|' | b'>') if is_block(text, next) => {
            below(text, line_end(text, next), name, Joint::Said)
        }
        // A colon in a sentence: words may stand before the value.
        Some(_) if mark == b":" && name.strength != Strength::Login && wordy(text, next) => {
            Lead::Sentence {
                at: next,
                joined: true,
            }
        }
        Some(_) => Lead::Value { at: next, joint },
    }
}

/// Tells whether several plain words stand at `at`: a sentence, not a value.
fn wordy(text: &[u8], at: usize) -> bool {
    let end = line_end(text, at).min(at + 60);
    let line = &text[at..end];
    let first = line.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    first > 0
        && line.get(first) == Some(&b' ')
        && line.get(first + 1).is_some_and(u8::is_ascii_graphic)
}

/// Returns the lead to the value of a `name`/`value` pair whose name has just ended.
fn pair(text: &[u8], at: usize) -> Option<Lead> {
    let window = &text[at..text.len().min(at + PAIR_BYTES_MAX)];
    let lower = window.to_ascii_lowercase();
    let (place, width) = PAIR_WORDS
        .iter()
        .filter_map(|word| Some((memchr::memmem::find(&lower, word)?, word.len())))
        .min()?;
    let between = &window[..place];
    let marks = |b: &u8| b.is_ascii_whitespace() || b",\"'\\-{}<>/".contains(b);
    if !between.iter().all(marks) {
        return None;
    }
    let (closed, _) = closers(text, at + place + width);
    let next = spaces(text, closed);
    let option = between.ends_with(b"--") && next > closed;
    let width = match text.get(next)? {
        _ if option => 0,
        b'>' => 1,
        _ => joiner(&text[next..])?,
    };
    Some(Lead::Pair {
        at: spaces(text, next + width),
    })
}

/// Returns the lead to the next line: to a pair, a block, or the value itself.
fn below(text: &[u8], at: usize, name: &Name, joint: Joint) -> Lead {
    if let Some(pair) = pair(text, at) {
        return pair;
    }
    let next = line_end(text, at) + 1;
    if next >= text.len() || matches!(name.strength, Strength::Weak | Strength::Login) {
        return Lead::Nothing;
    }
    Lead::Below { at: next, joint }
}

/// Tells whether a block mark ends the line of YAML at `at`: `|`, `>`, `|-`, `>-`.
fn is_block(text: &[u8], at: usize) -> bool {
    let line = text[at..line_end(text, at)].trim_ascii();
    line.len() <= 2 && matches!(line, b"|" | b">" | b"|-" | b">-" | b"|+" | b">+")
}

/// Tells whether a name is a flag of a command line.
fn flag(text: &[u8], name: &Name) -> bool {
    let before = &text[..name.range.start];
    let dashes = before.iter().rev().take_while(|b| **b == b'-').count();
    let option = dashes > 0
        && before[..before.len() - dashes]
            .last()
            .is_none_or(|b| !b.is_ascii_alphanumeric() && *b < 0x80);
    option || before.ends_with(b" /")
}

/// Returns the start of the value behind a type and `=`.
fn typed(text: &[u8], at: usize) -> Option<usize> {
    let end = line_end(text, at).min(at + 48);
    let line = &text[at..end];
    let equals = memchr::memchr(b'=', line)?;
    let part = |b: &u8| b.is_ascii_alphanumeric() || b"&'<>[]_?., |*:()".contains(b);
    let plain =
        line[..equals].iter().all(part) && line[..equals].iter().any(u8::is_ascii_alphabetic);
    let compares = line
        .get(equals + 1)
        .is_some_and(|b| matches!(b, b'=' | b'>'));
    let word = line[..equals].trim_ascii();
    // The type ends in a space before `=`; `a:b=c` is something else.
    (plain && !compares && line[..equals].ends_with(b" ") && word.len() < 40)
        .then(|| spaces(text, at + equals + 1))
}

// Marks between a name and its value: closers of the name, and joiners of the two.

/// Marks that join a name to its value. A longer mark stands before the one it begins with.
const JOINERS: &[&str] = &[
    ":=", "=>", "->", "===", "==", "?=", "||=", "+=", "=", ":", "：", "＝", "≔", "→", "⇒", "➜", "⟶",
];

/// Marks beyond ASCII and HTML that close a name.
const CLOSERS: &[&str] = crate::lists::SEPARATOR_CLOSERS;

/// Longest run of closing marks that is skipped behind a name, in bytes.
const CLOSERS_BYTES_MAX: usize = 80;

/// Returns the width of the joining mark at the start of `rest`.
pub(super) fn joiner(rest: &[u8]) -> Option<usize> {
    let mark = JOINERS
        .iter()
        .find(|mark| rest.starts_with(mark.as_bytes()))?;
    if *mark == ":" && rest.get(1) == Some(&b':') {
        return None;
    }
    Some(mark.len())
}

/// Skips the closers of a name: quotes, brackets, emphasis, a remark in parentheses. Returns the
/// position behind them, and whether the name was quoted.
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

/// Returns the width of a remark behind a name: ` (…)`.
fn remark(rest: &[u8]) -> usize {
    let gap = rest.iter().take_while(|b| **b == b' ').count();
    if gap == 0 || gap > 2 || rest.get(gap) != Some(&b'(') {
        return 0;
    }
    let inside = &rest[gap + 1..rest.len().min(gap + 40)];
    let Some(close) = memchr::memchr2(b')', b'\n', inside) else {
        return 0;
    };
    // A remark has only words. Text with digits or marks may be the value.
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
            // Typographic spaces and the ideographic space.
            [0xE2, 0x80, 0x80..=0x8A | 0xAF, ..] | [0xE3, 0x80, 0x80, ..] => width += 3,
            _ => break,
        }
    }
    at + width
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named::name::{self, Opener};

    /// Returns the lead behind the name between `«` and `»`, and the text it leads to.
    fn lead(marked: &str) -> String {
        let start = marked.find('«').expect(marked);
        let end = marked.find('»').expect(marked) - '«'.len_utf8();
        let text = marked.replace(['«', '»'], "");
        let opener = Opener::of(&text[start..end], Strength::Password);
        let name = name::read(text.as_bytes(), start..end, opener).expect(marked);
        match after(text.as_bytes(), &name) {
            Lead::Value { at, joint } => format!("{joint:?} {}", &text[at..]),
            Lead::Cell { at } => format!("Cell {}", &text[at..]),
            Lead::Call { at, second } => format!("Call {second} {}", &text[at..]),
            Lead::Below { at, joint } => format!("Below {joint:?} {}", &text[at..]),
            Lead::Pair { at } => format!("Pair {}", &text[at..]),
            Lead::Sentence { at, joined } => format!("Sentence {joined} {}", &text[at..]),
            Lead::Spaceless { at } => format!("Spaceless {}", &text[at..]),
            Lead::Nothing => "Nothing".to_owned(),
        }
    }

    #[test]
    fn what_leads_to_a_value() {
        for (text, expected) in [
            ("«password»=x", "Tight x"),
            ("«password» = x", "Assigned x"),
            ("«password» := x", "Assigned x"),
            ("«password»: x", "Said x"),
            ("\"«password»\": \"x\"", "Said \"x\""),
            ("**«Password»:** x", "Said x"),
            ("--«password» x", "Said x"),
            ("let «password»: &str = \"x\"", "Assigned \"x\""),
            ("<«password»>x</password>", "Said x</password>"),
            ("«password» || \"x\"", "Assigned \"x\""),
            ("| «password» | x |", "Cell x |"),
            ("«password»(x)", "Call false x)"),
            ("«login»(x)", "Call true x)"),
            ("«password»:\nx", "Below Said x"),
            ("«password»\nx", "Below Prose x"),
            ("«password»: |\n  x", "Below Said   x"),
            ("name: «password»\n  value: x", "Pair x"),
            ("the «password» is x", "Sentence false is x"),
            ("«password»: it is x", "Sentence true it is x"),
            ("«密码»是x", "Spaceless 是x"),
        ] {
            assert_eq!(lead(text), expected, "{text}");
        }
    }

    #[test]
    fn what_leads_nowhere() {
        for text in [
            "«password»",
            "«password»=",
            "«password»\n",
            "«password».",
            "«password»/x",
            "«password»::new",
            "«password»>x",
            "«password»}} x",
            "my_«key» x",
            "«密码»",
        ] {
            assert_eq!(lead(text), "Nothing", "{text}");
        }
    }
}
