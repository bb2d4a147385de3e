//! Tells lines of programs, of shells and of data from lines that people write.

/// Tells whether a line belongs to a program, to a shell or to data. Such lines have rules of their
/// own, which know where a value ends.
pub(super) fn is_code(line: &str) -> bool {
    let bytes = trimmed(line);
    bytes.ends_with(b";")
        || bytes.ends_with(b"{")
        || bytes.starts_with(b"//")
        || bytes.starts_with(b"@")
        || bytes.starts_with(b"\"") && bytes.ends_with(b",")
        || is_row(bytes)
        || is_setting(bytes)
        || has_code(bytes)
}

/// Returns a line without the space around it, which is seldom other than ASCII.
fn trimmed(line: &str) -> &[u8] {
    let bytes = line.as_bytes().trim_ascii();
    let plain = |b: Option<&u8>| b.is_none_or(u8::is_ascii_graphic);
    if plain(bytes.first()) && plain(bytes.last()) {
        bytes
    } else {
        line.trim().as_bytes()
    }
}

/// Returns a table that has these bytes: one look is less than the comparisons with ranges.
const fn table(bytes: &[u8]) -> [bool; 256] {
    let (mut table, mut at) = ([false; 256], 0);
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
}

/// The marks that code may have.
const MARKS: [bool; 256] = table(b"!\"#$%&'(-.:;<=[\\|}");

/// Counts the words of a line of code.
#[allow(clippy::needless_bitwise_bool)] // without branches the compiler takes many bytes at once
pub(super) fn count_words(line: &[u8]) -> usize {
    let is_space = |b: u8| (b == b' ') | (b == b'\t') | (b == b'\r') | (b == b'\x0C');
    let pairs = line.iter().zip(line.get(1..).unwrap_or_default());
    let ends = pairs.map(|(one, next)| u32::from(!is_space(*one) & is_space(*next)));
    let last = line.last().is_some_and(|b| !is_space(*b));
    ends.sum::<u32>() as usize + usize::from(last)
}

/// Counts the ASCII letters and digits at the start of a text.
pub(super) fn alphanumerics(text: &[u8]) -> usize {
    const THOSE: [bool; 256] =
        table(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
    let those = text.iter().take_while(|b| THOSE[usize::from(**b)]);
    those.count()
}

/// Tells whether marks of code stand in a line.
fn has_code(line: &[u8]) -> bool {
    let (mut equals, mut semicolons) = (0, 0);
    for (at, mark) in line.iter().enumerate() {
        // One look at all that are asked for below.
        if !MARKS[usize::from(*mark)] {
            continue;
        }
        let rest = &line[at + 1..];
        let next = rest.first().copied().unwrap_or_default();
        let is_code = match mark {
            b'(' => is_call(line, at),
            // An option of a program: ` -u`, ` --password`.
            b'-' => {
                let begins = at > 0 && line[at - 1] == b' ' && rest.len() >= 2;
                begins
                    && (next.is_ascii_alphabetic() || next == b'-' && rest[1].is_ascii_alphabetic())
            }
            // Two arguments in quotes.
            b'"' | b'\'' => next == b' ' && rest.get(1) == Some(mark),
            b'=' => {
                equals += 1;
                next == b'='
            }
            b';' => {
                semicolons += 1;
                false
            }
            b':' | b'&' | b'|' => next == *mark,
            b'!' => next == b'=',
            b'.' => next == b'*',
            // Behind it comes the next rule of a style sheet.
            b'}' => {
                let is_class =
                    b".#".contains(&next) && rest.get(1).is_some_and(u8::is_ascii_alphabetic);
                next == b';' || is_class
            }
            b'[' => next == b'^',
            b'$' => next == b'(',
            b'\\' => matches!(next, b'(' | b's' | b'n'),
            _ => false,
        };
        if is_code {
            return true;
        }
    }
    equals >= 2 && semicolons >= 2
}

/// Tells whether a line is a row of data in brackets: `(3, 'Till Dawn', 4, 210886, 0.99),`.
fn is_row(line: &[u8]) -> bool {
    let row = line.strip_suffix(b",").unwrap_or(line);
    let inside = row
        .strip_prefix(b"(")
        .and_then(|row| row.strip_suffix(b")"));
    inside.is_some_and(|inside| {
        let first = inside.strip_prefix(b"N").unwrap_or(inside).first();
        inside.contains(&b',')
            && inside.iter().filter(|b| b"'\"".contains(b)).count() >= 2
            && first.is_some_and(|b| b"'\"".contains(b) || b.is_ascii_digit())
    })
}

/// Tells whether a function is called at a bracket: `len(x)`. In `Haushalt(26)plan` and
/// `vK!3s8(Lq^d`, none is.
fn is_call(line: &[u8], open: usize) -> bool {
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let name = line[..open].iter().rev().take_while(|b| is_name(b)).count();
    let begins = line[open - name..open].first();
    let inside = line[open + 1..].iter().take_while(|b| is_name(b)).count();
    let rest = &line[open + 1 + inside..];
    let goes_on = rest.first() == Some(&b')') && rest.get(1).is_some_and(is_name);
    begins.is_some_and(|b| !b.is_ascii_digit()) && !goes_on
}

/// Tells whether a line assigns to a name of a program: `db_password = …`, `spring.mail.user: …`.
fn is_setting(line: &[u8]) -> bool {
    let name = line
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || b"_.".contains(b));
    let (name, rest) = line.split_at(name.count());
    let joined = name.iter().any(|b| b"_.".contains(b)) && !name.ends_with(b".");
    joined && matches!(rest.trim_ascii_start(), [b'=' | b':', ..])
}
