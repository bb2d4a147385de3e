//! What joins a name to its value.

use std::ops::Range;

use super::likely::Joint;
use super::name::{Name, Strength};
use super::value::{Frame, Value, line_end};

/// Where the value of a name is to be looked for.
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
    /// Among the words that follow; `joined` if a verb has been seen.
    Sentence { at: usize, joined: bool },
    /// In a sentence without spaces.
    Spaceless { at: usize },
    /// Nowhere.
    Nothing,
}

/// Verbs and marks that join a name to its value in a sentence.
const VERBS: &[&str] = &[
    "is",
    "was",
    "are",
    "be",
    "to",
    "equals",
    "reads",
    "became",
    "becomes",
    "remains",
    "as",
    "ist",
    "lautet",
    "war",
    "wurde",
    "wird",
    "heißt",
    "es",
    "est",
    "era",
    "fue",
    "sera",
    "será",
    "è",
    "é",
    "sarà",
    "foi",
    "jest",
    "är",
    "er",
    "on",
    "это",
    "был",
    "изменён",
    "je",
    "bylo",
    "a",
    "az",
    "używaj",
    "-",
    "–",
    "—",
    "->",
    "→",
    "=>",
    "=",
    ":",
    "==",
    ":=",
    "~",
    "•",
    "»",
    "⇒",
    "➜",
    "using",
    "use",
    "by",
    "with",
    "con",
    "mit",
    "avec",
    "met",
    "com",
    "op",
    "enter",
    "type",
    "try",
    "set",
];

/// What comes after a name.
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
    if at > closed && text[closed..at].contains(&b'\t')
        || [&b"<td>"[..], b"<dd>"]
            .iter()
            .any(|tag| text[..at].ends_with(tag))
    {
        return Lead::Value {
            at,
            joint: Joint::Said,
        };
    }
    if matches!(b, 0xE3..=0xED) && super::value::quoted(text, at).is_none() {
        return Lead::Spaceless { at };
    }
    if b >= 0xC2 && super::value::quoted(text, at).is_some() {
        return Lead::Value {
            at,
            joint: Joint::Near,
        };
    }
    let element = name.range.start > 0 && matches!(text[name.range.start - 1], b'<' | b':');
    match b {
        b'?' => answer(text, at).map_or(Lead::Nothing, |at| Lead::Value {
            at,
            joint: Joint::Said,
        }),
        b'\n' | b'\r' => below(text, at, name, Joint::Prose),
        // `process.env.X || "…"`: what holds if there is none.
        b'|' | b'?'
            if (rest.starts_with(b"|| ") || rest.starts_with(b"?? "))
                && super::value::quoted(text, spaces(text, at + 2)).is_some() =>
        {
            Lead::Value {
                at: spaces(text, at + 2),
                joint: Joint::Assigned,
            }
        }
        b'>' if (element || quoted) && closes(rest) => Lead::Value {
            at: spaces(text, at + 1).min(text.len() - 1),
            joint: Joint::Said,
        },
        b',' if rest.get(1) == Some(&b' ') && !quoted => Lead::Sentence {
            at: at + 1,
            joined: false,
        },
        b'.' if quoted => method(text, at),
        b'(' if closed == name.range.end && at == closed => Lead::Call {
            at: spaces(text, at + 1),
            second: name.strength != Strength::Password && name.strength != Strength::Secret,
        },
        b'|' => Lead::Cell {
            at: spaces(text, at + 1),
        },
        b',' | b';' if quoted || is_column(text, name, at) => {
            pair(text, at).unwrap_or_else(|| Lead::Value {
                at: spaces(text, at + 1),
                joint: Joint::Assigned,
            })
        }
        b'"' | b'\'' | b'`' | b'\\' if at > name.range.end && !name.verb => Lead::Value {
            at,
            joint: Joint::Said,
        },
        _ => match joiner(rest) {
            Some(width) => joined(text, name, at, width),
            None if flag(text, name) && at > name.range.end => Lead::Value {
                at,
                joint: Joint::Said,
            },
            None if quoted && pair(text, at).is_some() => pair(text, at).unwrap_or(Lead::Nothing),
            // A weak name needs its value straight beside it, and a sentence needs spaces.
            None if at == closed || at - closed > 3 || name.strength == Strength::Weak => {
                Lead::Nothing
            }
            None => Lead::Sentence { at, joined: false },
        },
    }
}

/// Where the answer to a question begins: `the key? lee> …`, on the same line or the next.
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

/// The width of an argument without quotes: a name, a number, a member.
pub(super) fn expression(rest: &[u8]) -> usize {
    let part = |b: &&u8| b.is_ascii_alphanumeric() || b"_.$@&*?".contains(b);
    rest.iter().take(64).take_while(part).count()
}

/// Where the quoted argument begins of a call that does no more than hold it.
pub(super) fn wrapped(rest: &[u8]) -> Option<usize> {
    const WRAPPERS: &[&str] = &[
        "from",
        "new",
        "string",
        "str",
        "some",
        "bytes",
        "text",
        "secret",
        "securestring",
        "secretstring",
        "password",
        "encode",
        "literal",
        "quote",
    ];
    // A type of YAML, or a string of wide characters in SQL.
    for mark in [&b"!!str "[..], b"N"] {
        if rest.starts_with(mark) && matches!(rest.get(mark.len()), Some(b'"' | b'\'')) {
            return Some(mark.len());
        }
    }
    let part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'.');
    let name = rest.iter().take(48).take_while(part).count();
    let last = rest[..name].rsplit(|b| matches!(b, b':' | b'.')).next()?;
    let known = WRAPPERS
        .iter()
        .any(|word| last.eq_ignore_ascii_case(word.as_bytes()));
    let quote = matches!(rest.get(name + 1), Some(b'"' | b'\''));
    (known && rest.get(name) == Some(&b'(') && quote).then_some(name + 1)
}

/// Whether what stands before a name tells the reader to use it: `use the token …`.
pub(super) fn introduced(before: &[u8]) -> bool {
    const VERBS: &[&str] = &[
        "use", "using", "with", "via", "paste", "enter", "set", "send", "pass", "try", "add",
        "rotate", "revoke", "provide", "type", "export",
    ];
    const BETWEEN: &[&str] = &[
        "the",
        "this",
        "our",
        "my",
        "your",
        "an",
        "a",
        "api",
        "access",
        "auth",
        "bearer",
        "server",
        "app",
        "application",
        "client",
        "user",
        "account",
        "project",
        "team",
        "workspace",
        "live",
        "prod",
        "staging",
        "internal",
        "new",
        "old",
        "secret",
        "service",
        "deploy",
        "admin",
        "test",
        "shared",
    ];
    let words = before.rsplit(u8::is_ascii_whitespace);
    for word in words.filter(|word| !word.is_empty()).take(6) {
        let is = |list: &[&str]| list.iter().any(|w| word.eq_ignore_ascii_case(w.as_bytes()));
        if is(VERBS) {
            return true;
        }
        // A vendor's name, or one of the words that stand before a secret's.
        if !is(BETWEEN) && !word[0].is_ascii_uppercase() {
            return false;
        }
    }
    false
}

/// Where the value ends in `X is the Snyk API token`: the name closes a phrase of a few words that
/// an article opens.
pub(super) fn predicate(text: &[u8], line: usize, name: usize) -> Option<usize> {
    const ARTICLES: &[&str] = &["the", "our", "my", "your", "their", "its", "an", "a"];
    const COPULAS: &[&str] = &["is", "was", "as"];
    const CLAUSES: &[&str] = &[
        "of", "that", "which", "where", "for", "with", "to", "and", "or", "in", "on", "by",
    ];
    let mut end = name;
    let mut article = false;
    for _ in 0..6 {
        let head = text[line..end].trim_ascii_end();
        let width = head
            .iter()
            .rev()
            .take_while(|b| !b.is_ascii_whitespace())
            .count();
        let word = &head[head.len() - width..];
        let is = |list: &[&str]| list.iter().any(|w| word.eq_ignore_ascii_case(w.as_bytes()));
        end = line + head.len() - width;
        if article {
            let value = line + text[line..end].trim_ascii_end().len();
            return (is(COPULAS) && value > line).then_some(value);
        }
        article = is(ARTICLES);
        let plain = word
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'&'));
        if width == 0 || !plain || is(CLAUSES) || identifies(word) {
            return None;
        }
    }
    None
}

/// `('password').send_keys("…")`: what is typed into the field of that name.
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

/// Whether an element that begins here holds text and is closed.
fn closes(rest: &[u8]) -> bool {
    let line = &rest[..line_end(rest, 0).min(4_096)];
    let end = memchr::memchr(b'<', line);
    end.is_some_and(|end| end > 1 && matches!(line.get(end + 1), Some(b'/' | b'!')))
}

/// Whether a name stands in a line of values between commas: `DB_PASSWORD,…`.
fn is_column(text: &[u8], name: &Name, at: usize) -> bool {
    let next = text.get(at + 1);
    text[name.range.clone()].contains(&b'_') && next.is_some_and(|b| b.is_ascii_graphic())
}

fn after_spaceless(text: &[u8], at: usize) -> Lead {
    match text.get(at) {
        None => Lead::Nothing,
        Some(b'\n' | b'\r') => Lead::Below {
            at: line_end(text, at) + 1,
            joint: Joint::Said,
        },
        Some(b'|') => Lead::Cell {
            at: spaces(text, at + 1),
        },
        Some(_) => Lead::Spaceless { at },
    }
}

/// What stands behind a joining mark.
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
    // `: &str = …`, `: string = …`
    if mark == b":"
        && let Some(value) = typed(text, next)
    {
        next = value;
        joint = Joint::Assigned;
    }
    match text.get(next) {
        None => Lead::Nothing,
        Some(b'\n' | b'\r') => below(text, next, name, Joint::Said),
        Some(b'|' | b'>') if is_block(text, next) => {
            below(text, line_end(text, next), name, Joint::Said)
        }
        // A colon in a sentence: what follows may begin with words.
        Some(_) if mark == b":" && name.strength != Strength::Login && wordy(text, next) => {
            Lead::Sentence {
                at: next,
                joined: true,
            }
        }
        Some(_) => Lead::Value { at: next, joint },
    }
}

/// Whether several plain words stand at `at`: then it is a sentence, not a value.
fn wordy(text: &[u8], at: usize) -> bool {
    let end = line_end(text, at).min(at + 60);
    let line = &text[at..end];
    let first = line.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    first > 0
        && line.get(first) == Some(&b' ')
        && line.get(first + 1).is_some_and(u8::is_ascii_graphic)
}

/// The value of a `name`/`value` pair, whose name has just ended.
fn pair(text: &[u8], at: usize) -> Option<Lead> {
    let window = &text[at..text.len().min(at + 80)];
    let lower = window.to_ascii_lowercase();
    let (place, width) = [&b"value"[..], b"default", b"with"]
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

/// The next line: of a pair, of a block, or the value itself.
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

/// `|`, `>`, `|-`, `>-` at the end of a line of YAML.
fn is_block(text: &[u8], at: usize) -> bool {
    let line = text[at..line_end(text, at)].trim_ascii();
    line.len() <= 2 && matches!(line, b"|" | b">" | b"|-" | b">-" | b"|+" | b">+")
}

/// Whether a name is a flag of a command line.
fn flag(text: &[u8], name: &Name) -> bool {
    let before = &text[..name.range.start];
    before.ends_with(b"-") || before.ends_with(b" /")
}

/// The width of a joining mark at the start of `rest`.
fn joiner(rest: &[u8]) -> Option<usize> {
    const MARKS: &[&str] = &[
        ":=", "=>", "->", "===", "==", "?=", "||=", "+=", "=", ":", "：", "＝", "→", "⇒", "➜", "⟶",
    ];
    let mark = MARKS
        .iter()
        .find(|mark| rest.starts_with(mark.as_bytes()))?;
    if *mark == ":" && rest.get(1) == Some(&b':') {
        return None;
    }
    Some(mark.len())
}

/// Where the value begins behind a type and `=`.
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

/// Skips what closes a name: quotes, brackets, emphasis, a remark in parentheses. Says whether the
/// name was quoted.
fn closers(text: &[u8], at: usize) -> (usize, bool) {
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
            [b'`' | b']' | b'}', ..] => 1,
            [b'*' | b'_' | b'~', ..] => 1,
            [b')', ..] => 1,
            _ => {
                let ends = [
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
                match ends.iter().find(|end| rest.starts_with(end.as_bytes())) {
                    Some(end) => end.len(),
                    None => remark(rest),
                }
            }
        };
        if width == 0 || place - at > 80 {
            return (place, quoted);
        }
        place += width;
    }
}

/// Skips the end of an emphasis: `**Password:** …`.
fn emphasis(text: &[u8], at: usize) -> usize {
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

fn spaces(text: &[u8], at: usize) -> usize {
    let rest = &text[at.min(text.len())..];
    let mut width = 0;
    loop {
        match &rest[width..] {
            [b' ' | b'\t', ..] => width += 1,
            [0xC2, 0xA0, ..] => width += 2,
            [0xE3, 0x80, 0x80, ..] => width += 3,
            _ => break,
        }
    }
    at + width
}

/// The word at `at`, up to white space.
pub(super) fn word(text: &[u8], at: usize, end: usize) -> Range<usize> {
    let width = text[at..end]
        .iter()
        .take_while(|b| !b.is_ascii_whitespace())
        .count();
    at..at + width
}

/// Whether a word ends its sentence.
pub(super) fn ends_sentence(word: &[u8]) -> bool {
    matches!(word.last(), Some(b'.' | b';' | b'?' | b'!')) || word.ends_with("。".as_bytes())
}

/// Whether a word joins a name to a value.
pub(super) fn joins(word: &[u8]) -> bool {
    let lower = word.to_ascii_lowercase();
    matches!(word.last(), Some(b':' | b'=')) || VERBS.iter().any(|verb| verb.as_bytes() == lower)
}

/// Whether a word says that what follows is the value, whatever stands before it.
pub(super) fn equates(word: &[u8]) -> bool {
    const COPULAS: &[&str] = &[
        "is", "ist", "lautet", "es", "est", "è", "é", "jest", "är", "er", "on", "это", "je", "=",
        ":", "->", "→", "was", "equals", "reads",
    ];
    word.ends_with(b":")
        || COPULAS
            .iter()
            .any(|copula| word.eq_ignore_ascii_case(copula.as_bytes()))
}

/// Whether a word speaks of what has ids and digests.
pub(super) fn identifies(word: &[u8]) -> bool {
    const WORDS: &[&str] = &[
        "commit",
        "digest",
        "hash",
        "sha",
        "sha1",
        "sha256",
        "checksum",
        "id",
        "ids",
        "fingerprint",
        "uuid",
        "guid",
        "version",
        "revision",
        "md5",
        "request",
        "trace",
        "thumbprint",
        "serial",
    ];
    let word = word.to_ascii_lowercase();
    let word = word.strip_suffix(b":").unwrap_or(&word);
    WORDS.iter().any(|known| known.as_bytes() == word)
}

/// Whether a word may stand between a verb and the value without meaning.
pub(super) fn fills(word: &[u8]) -> bool {
    const FILLERS: &[&str] = &[
        "now",
        "still",
        "set",
        "to",
        "currently",
        "just",
        "always",
        "simply",
        "actually",
        "jetzt",
        "ahora",
        "ora",
        "maintenant",
        "again",
        "only",
        "currently:",
        "now:",
        "this:",
        "following:",
    ];
    FILLERS
        .iter()
        .any(|filler| word.eq_ignore_ascii_case(filler.as_bytes()))
}

/// Marks behind which it is said what the value before them is.
const REMARKS: &[&str] = &["<-", "<--", "←", "#", "//"];

/// Whether the word before a name says what the secret opens: `deploy token`.
pub(super) fn qualified(before: &[u8]) -> bool {
    const WORDS: &[&str] = &[
        "api",
        "access",
        "auth",
        "bearer",
        "bot",
        "deploy",
        "refresh",
        "personal",
        "service",
        "webhook",
        "session",
        "admin",
        "secret",
        "oauth",
        "integration",
        "registry",
    ];
    let word = before
        .rsplit(u8::is_ascii_whitespace)
        .find(|word| !word.is_empty());
    word.is_some_and(|word| {
        WORDS
            .iter()
            .any(|w| word.eq_ignore_ascii_case(w.as_bytes()))
    })
}

/// Where a value would end that stands before a name, as in `X as the password`.
pub(super) fn before(text: &[u8], line: usize, name: usize) -> Option<usize> {
    const FILLERS: &[&str] = &[
        "the",
        "our",
        "my",
        "its",
        "their",
        "your",
        "a",
        "an",
        "new",
        "old",
        "current",
        "root",
        "admin",
        "db",
        "api",
        "access",
        "auth",
        "bearer",
        "master",
        "das",
        "le",
        "la",
        "el",
        "as",
        "is",
        "for",
        "default",
        "initial",
        "temporary",
        "temp",
        "secret",
        "database",
        "user",
        "service",
        "account",
        "deploy",
        "test",
        "staging",
        "prod",
        "production",
        "dev",
        "login",
        "wifi",
        "github",
        "gitlab",
        "slack",
    ];
    let mut end = name;
    let mut linked = false;
    for _ in 0..5 {
        let head = text[line..end].trim_ascii_end();
        let word = head
            .iter()
            .rev()
            .take_while(|b| !b.is_ascii_whitespace())
            .count();
        let begun = line + head.len() - word;
        let bytes = text[begun..line + head.len()].to_ascii_lowercase();
        // What the brackets say is about what stands before them.
        if let Some(inside) = bytes.strip_prefix(b"(")
            && (inside.is_empty() || FILLERS.iter().any(|filler| filler.as_bytes() == inside))
        {
            return Some(line + text[line..begun].trim_ascii_end().len()).filter(|end| *end > line);
        }
        if REMARKS.iter().any(|mark| mark.as_bytes() == bytes) {
            return Some(line + text[line..begun].trim_ascii_end().len()).filter(|end| *end > line);
        }
        let known = FILLERS.iter().any(|filler| filler.as_bytes() == bytes)
            || matches!(
                &bytes[..],
                b"=" | b"was"
                    | b"als"
                    | b"como"
                    | b"comme"
                    | b"come"
                    | b"jako"
                    | b"som"
                    | b"est"
                    | b"ist"
                    | b"es"
            );
        if !known || word == 0 {
            break;
        }
        linked |= matches!(
            &bytes[..],
            b"as"
                | b"is"
                | b"="
                | b"was"
                | b"als"
                | b"como"
                | b"comme"
                | b"come"
                | b"jako"
                | b"som"
                | b"est"
                | b"ist"
                | b"es"
        );
        end = begun;
        if linked
            && matches!(
                &bytes[..],
                b"as"
                    | b"is"
                    | b"="
                    | b"was"
                    | b"als"
                    | b"como"
                    | b"comme"
                    | b"come"
                    | b"jako"
                    | b"som"
                    | b"est"
                    | b"ist"
                    | b"es"
            )
        {
            break;
        }
    }
    if !linked {
        return None;
    }
    Some(line + text[line..end].trim_ascii_end().len()).filter(|end| *end > line)
}

/// The word or quoted text that ends at `end`.
pub(super) fn value_before(text: &[u8], line: usize, end: usize) -> Option<Value> {
    let mut end = end;
    while end > line && matches!(text[end - 1], b',' | b')' | b'*') {
        end -= 1;
    }
    let quote = *text[line..end].last()?;
    if matches!(quote, b'"' | b'\'' | b'`') {
        let open = memchr::memrchr(quote, &text[line..end - 1])?;
        return Some(Value {
            range: line + open + 1..end - 1,
            frame: Frame::Quoted,
            after: end,
        });
    }
    let word = text[line..end]
        .iter()
        .rev()
        .take_while(|b| !b.is_ascii_whitespace() && !b"\"'`(<>|\x01".contains(b))
        .count();
    let mut word = word;
    while word > 0 && text[end - 1] >= 0x80 {
        end -= 1;
        word -= 1;
    }
    while word > 0 && text[end - word] >= 0x80 {
        word -= 1;
    }
    // `bob:…` is a login, of which the name stays.
    let login = &text[end - word..end];
    if let Some(colon) = memchr::memchr(b':', login)
        && colon > 0
        && login.get(colon + 1).is_some_and(|b| *b != b'/')
    {
        word -= colon + 1;
    }
    (word > 0).then(|| Value {
        range: end - word..end,
        frame: Frame::Bare,
        after: end,
    })
}
