//! Passwords and keys in connection strings: ADO.NET, ODBC, JDBC, libpq, Azure, Go.

use std::ops::Range;

use crate::span::Span;
use crate::structure::near::{
    ahead, behind, ends_in_word, is_bare, is_blank, is_word, line_before, line_end, quote, report,
    run, run_back, stands, trim,
};
use crate::structure::value::is_opaque;

const KIND: &str = "connection-string";

/// Longest distance from a password to the rest of its connection string, in bytes.
const CONTEXT: usize = 256;

/// Names that need no context: nothing else has such a name.
const KEYS: &[&str] = &["accountkey", "sharedaccesskey", "sharedaccesssignature"];

/// Names that stand in other places too.
const PASSWORDS: &[&str] = &["password", "passwd", "pwd"];

/// Names of the other parts of a connection string, before a `=`.
const PARTS: &[&str] = crate::lists::CONNECTION_PARTS;

/// Finds the value behind the name of a password or key in a connection string.
pub(crate) fn pair(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let name = run(ahead(text, at, 32), 0, is_word) + at;
    let joint = run(&text[..text.len().min(name + 8)], name, is_blank);
    if text.get(joint) != Some(&b'=') || matches!(text.get(joint + 1), Some(b'=' | b'>' | b'~')) {
        return;
    }
    let is = |names: &[&str]| {
        let name = &text[at..name];
        names
            .iter()
            .any(|n| name.eq_ignore_ascii_case(n.as_bytes()))
    };
    let known = is(KEYS);
    if !known && !is(PASSWORDS) {
        return;
    }
    let before = at.checked_sub(1).map_or(b' ', |i| text[i]);
    let query = matches!(before, b'?' | b'&') || behind(text, at, 5) == b"&amp;";
    // `PWD=/…` is the working directory of a shell.
    let directory = &text[at..name] == b"PWD" && text.get(joint + 1) == Some(&b'/');
    if directory || before == b'-' || !known && !query && !has_parts(text, at, joint) {
        return;
    }
    let mut value = value(text, joint + 1, query);
    // Commas separate the options of a mount: `username=a,password=b,uid=1`.
    if before == b','
        && let Some(comma) = memchr::memchr(b',', &text[value.clone()])
    {
        value.end = value.start + comma;
    }
    // Code concatenates the string: `'AccountKey=', parameters('key')`,
    // `"Password=" & Read() & ";"`.
    let joined = [&b","[..], b" & ", b" + ", b" . "];
    if joined
        .iter()
        .any(|mark| text[value.clone()].starts_with(mark))
    {
        return;
    }
    // With blanks around the `=` it may be code: `user = passwd = other`.
    if known || joint == name || is_opaque(&text[value.clone()], 4) {
        report(text, value, KIND, found);
    }
}

/// Tells whether another part of a connection string stands on the same line.
fn has_parts(text: &[u8], at: usize, after: usize) -> bool {
    let end = line_end(text, after, CONTEXT);
    let line = (at - line_before(text, at, CONTEXT).len())..end;
    let mut from = line.start;
    while let Some(next) = text[from..line.end].iter().position(|b| *b == b'=') {
        let joint = from + next;
        let end = run_back(text, joint, 4, is_blank);
        let fits = |part: &&str| {
            let start = end.checked_sub(part.len());
            start.is_some_and(|s| {
                s >= line.start && stands(text, s, part.as_bytes()) && !ends_in_word(text, s)
            })
        };
        let last = end.checked_sub(1).map(|i| text[i].to_ascii_lowercase());
        let alike = |part: &&&str| part.as_bytes().last().copied() == last;
        if PARTS.iter().filter(alike).any(fits) {
            return true;
        }
        from = joint + 1;
    }
    false
}

/// Returns the range of the value at `at`: quoted, in braces, up to `;`, or one word.
fn value(text: &[u8], at: usize, query: bool) -> Range<usize> {
    let at = run(&text[..text.len().min(at + 8)], at, is_blank);
    if query {
        let fits = |b: u8| is_bare(b) && !matches!(b, b'&' | b'#' | b';' | b')' | b'\\' | b'|');
        return at..trim(text, at, run(text, at, fits));
    }
    if let Some(inner) = enclosed(text, at) {
        return inner;
    }
    let open = |b: u8| !matches!(b, b'"' | b'`' | b'\n' | b'\r' | b';' | b'\'' | b'<' | 1);
    let mut end = run(text, at, open);
    // In XML a semicolon may end an entity, which stands for a letter of the value.
    while [&b"&amp"[..], b"&lt", b"&gt", b"&apos"]
        .iter()
        .any(|e| text[at..end].ends_with(e))
        && text.get(end) == Some(&b';')
    {
        end = run(text, end + 1, open);
    }
    // A quote in the value, escaped in the string around it: `"…;Password=Ll@ma\"quote;…"`.
    while text[at..end].ends_with(b"\\")
        && text.get(end) == Some(&b'"')
        && text.get(end + 1).is_some_and(u8::is_ascii_alphanumeric)
    {
        end = run(text, end + 1, open);
    }
    let stop = text.get(end);
    let whole = match stop {
        Some(b';') => ends_pair(text, end + 1),
        Some(b'"' | b'\'' | b'`') => !has_blank_pair(&text[at..end]),
        _ => false,
    };
    if whole {
        let escaped = matches!(stop, Some(b'"' | b'\''));
        let end = if escaped {
            run_back(text, end, 8, |b| b == b'\\').max(at)
        } else {
            end
        };
        return at..at + text[at..end].trim_ascii_end().len();
    }
    // A placeholder in angle brackets is read whole, so that it is recognised.
    let fits = |b: u8| (is_bare(b) && b != b';') || matches!(b, b'<' | b'>');
    let end = run(text, at, fits);
    at..trim(text, at, end)
}

/// Returns the range of a value in quotes or ODBC braces.
fn enclosed(text: &[u8], at: usize) -> Option<Range<usize>> {
    if text.get(at) == Some(&b'{') {
        let end = line_end(text, at, CONTEXT);
        // A brace in the value is doubled.
        let mut close = 0;
        loop {
            close += text[at + close..end].iter().position(|b| *b == b'}')?;
            if text.get(at + close + 1) != Some(&b'}') {
                break;
            }
            close += 2;
        }
        let odbc = matches!(
            text.get(at + close + 1),
            None | Some(b';' | b'"' | b'\'' | b'\n' | b'\r')
        );
        let name = text[at + 1..at + close]
            .iter()
            .all(|b| is_word(*b) || matches!(b, b'{' | b'.'));
        let digit = text[at..at + close].iter().any(u8::is_ascii_digit);
        return (odbc && (!name || digit)).then_some(at + 1..at + close);
    }
    let mark = quote(text, at)?;
    let start = at + mark.len();
    let end = line_end(text, start, CONTEXT);
    let close = text[start..end]
        .windows(mark.len())
        .position(|s| s == mark)?;
    (close > 0).then_some(start..start + close)
}

/// Tells whether a `;` ends a pair: another name or nothing follows, not the rest of a sentence.
fn ends_pair(text: &[u8], at: usize) -> bool {
    let rest = ahead(text, at, 64);
    let start = run(rest, 0, is_blank);
    let name = run(rest, start, |b| {
        is_word(b) || matches!(b, b' ' | b'-' | b'.')
    });
    matches!(rest.get(name), Some(b'='))
        || matches!(
            rest.get(start),
            None | Some(b'"' | b'\'' | b'`' | b'\n' | b'\r' | b'\\' | b'<')
        )
}

/// Tells whether the value holds a blank and another `name=`: then blanks separate the pairs.
fn has_blank_pair(value: &[u8]) -> bool {
    value.contains(&b'=') && value.iter().any(|b| is_blank(*b))
}

/// Finds the password of a Go data source: `user:password@tcp(host)`.
pub(crate) fn go(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let start = run_back(text, at, 256, |b| is_bare(b) && b != b'/');
    if let Some(colon) = text[start..at].iter().position(|b| *b == b':') {
        report(text, start + colon + 1..at, KIND, found);
    }
}

/// Finds the password of an Oracle thin driver: `jdbc:oracle:thin:user/password@`.
pub(crate) fn oracle(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let start = at + "jdbc:oracle:thin:".len();
    let end = run(ahead(text, start, 256), 0, |b| is_bare(b) && b != b'@') + start;
    let slash = text[start..end].iter().position(|b| *b == b'/');
    if let (Some(slash), Some(b'@')) = (slash, text.get(end)) {
        report(text, start + slash + 1..end, KIND, found);
    }
}

/// Finds the secret that the literal at `at` announces.
pub(crate) fn any(text: &[u8], at: usize, found: &mut Vec<Span>) {
    if text[at] == b'@' {
        go(text, at, found);
    } else if stands(text, at, b"jdbc:") {
        oracle(text, at, found);
    } else if !ends_in_word(text, at) {
        pair(text, at, found);
    }
}

#[cfg(test)]
mod tests {
    use crate::structure::harness::{finds, keeps};

    #[test]
    fn every_form() {
        finds(
            "connection-string",
            &[
                "Server=db;Database=x;User Id=sa;Password=«S3 cr=et!»;Encrypt=true",
                "Server=db;Uid=sa;Pwd=«S3cret»;",
                "\"Server=db;Uid=sa;Pwd=«S3cret»\"",
                "'Server=db;Uid=sa;Pwd=«S3cret»'",
                r#"{"cs": "Server=db;User Id=sa;Password=«S3cret;»"}"#
                    .replace(";»", "»;")
                    .as_str(),
                r#"{\"cs\": \"Server=db;User Id=sa;Password=«S3cret»\"}"#,
                "Server=db;Password = «S3cret» ;Database=x",
                "Server=db;Password=\"«a;b c1»\";Database=x",
                "Driver={ODBC Driver 18};Server=db;PWD={«a;b1»};",
                "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=«dGhpcyBpcyBhIGtleQ==»;EndpointSuffix=core.windows.net",
                "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«dGhpc0lzQUtleTE=»",
                "jdbc:postgresql://h/db?user=x&password=«S3cret»&ssl=true",
                "jdbc:sqlserver://h;user=sa;password=«S3cret»;",
                "host=db port=5432 user=app password=«S3cret» dbname=x",
                "host=db user=app password='«S3 cret»' dbname=x",
                "psql \"host=db user=app password=«S3cret»\"",
                "Use Server=db;Password=«S3cret». Then go.",
                "app:«S3cret»@tcp(db:3306)/x",
                "mount -o username=bob,password=«S3cret»,uid=1 //h/s /mnt",
                "jdbc:oracle:thin:scott/«T1ger»@//h:1521/x",
                "Server=db;Password=«hunter2»\r\nNext",
                "Server=db;Pwd=«S3cret»。",
                "\"Server=db;Pwd=«S3&amp;cr&lt;et»;\"",
                "Server=db;Pwd=«S3cret!»;",
            ],
        );
    }

    #[test]
    fn no_secrets() {
        keeps(
            "connection-string",
            &[
                "Server=db;Password=;Database=x",
                "Server=db;Password=${PASS};Database=x",
                "Server=db;Password=<password>;Database=x",
                "Server=db;Password={password};Database=x",
                "Server=db;Password=***;Database=x",
                "Server=db;Password=%DB_PASS%;",
                "Server=db;Password=\x01\x01;",
                "host=db user=app password=$PGPASSWORD",
                "The password = field is empty",
                "user = passwd = acct = ''",
                "Email=credentials[0], Passwd=credentials[1], service=x, user=1",
                "if password == other: user = 1",
                "https://h/?user=a&password={{ pass }}",
                "Server=db;Integrated Security=true",
                "user={user};password={password}",
            ],
        );
    }
}
