//! Passwords in account files: netrc, pgpass, pypirc, LDIF.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::named;
use crate::span::Span;
use crate::structure::near::{
    REACH, ahead, behind, ends_in_word, is_bare, is_blank, line_end, report, run, run_back, stands,
    trim, value, words,
};
use crate::structure::value::is_opaque;

/// Finds the password of a netrc entry, on one line or several.
pub(crate) fn netrc(text: &[u8], at: usize, found: &mut Vec<Span>) {
    if ends_in_word(text, at) {
        return;
    }
    let reach = text.len().min(at + 1024);
    let (_, mut next) = word(text, at, reach);
    let mut known = stands(text, at, b"default");
    if !known {
        let (host, end) = word(text, next, reach);
        known = text[host.clone()].contains(&b'.') || stands(text, host.start, b"localhost");
        next = end;
    }
    for _ in 0..8 {
        let (name, after) = word(text, next, reach);
        let (_, end) = word(text, after, reach);
        let (value, _) = value(text, after + blanks(text, after), |b| {
            is_bare(b) || b == b'<' || b == b'>'
        });
        let secret = match text[name].to_ascii_lowercase().as_slice() {
            b"login" | b"user" => {
                known = true;
                false
            }
            b"password" | b"passwd" | b"account" => true,
            b"port" | b"protocol" => false,
            _ => break,
        };
        if secret && known && value.end <= reach {
            report(text, value, "netrc", found);
        }
        next = end;
    }
}

fn blanks(text: &[u8], at: usize) -> usize {
    run(ahead(text, at, 64), 0, |b| b.is_ascii_whitespace())
}

/// Returns the next word from `at` on, and its end.
fn word(text: &[u8], at: usize, limit: usize) -> (Range<usize>, usize) {
    let start = (at + blanks(text, at)).min(limit);
    let end = start
        + run(&text[start..limit], 0, |b| {
            !b.is_ascii_whitespace() && b != 1
        });
    (start..end, end)
}

/// Finds the password in a line `host:port:database:user:password`, from the colon before its port.
pub(crate) fn pgpass(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let is_host = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'*');
    let host = run_back(text, at, 256, is_host);
    let before = host.checked_sub(1).map(|i| text[i]);
    let opens =
        before.is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`' | b'>'));
    if host == at || !opens {
        return;
    }
    let port = run(ahead(text, at + 1, 8), 0, |b| {
        b.is_ascii_digit() || b == b'*'
    }) + at
        + 1;
    let field = |start: usize| {
        let end = run(ahead(text, start, 256), 0, |b| {
            is_bare(b) && b != b':' && b != b'/'
        }) + start;
        (end > start && text.get(end) == Some(&b':')).then_some(end + 1)
    };
    if text.get(port) != Some(&b':') {
        return;
    }
    if let Some(start) = field(port + 1).and_then(field) {
        let end = run(text, start, is_bare);
        // In `shadow`, the ages of a password follow in fields of their own.
        let is_age = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
        let value = ahead(text, start, end - start);
        if value.split(|b| *b == b':').count() > 2 && value.split(|b| *b == b':').all(is_age) {
            return;
        }
        report(text, start..trim(text, start, end), "pgpass", found);
    }
}

/// Finds the password in a line `[host]:port user:password`, from the bracket before its port.
pub(crate) fn sasl(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let port = at + 2 + run(ahead(text, at + 2, 8), 0, |b| b.is_ascii_digit());
    let host = run_back(text, at, 256, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_')
    });
    let user = port + run(ahead(text, port, 16), 0, is_blank);
    if host == at || host == 0 || text[host - 1] != b'[' || user == port {
        return;
    }
    let colon = user
        + run(ahead(text, user, 256), 0, |b| {
            is_bare(b) && b != b':' && b != b'/'
        });
    if colon > user && text.get(colon) == Some(&b':') && text.get(colon + 1) != Some(&b'/') {
        let end = trim(text, colon + 1, run(text, colon + 1, is_bare));
        report(text, colon + 1..end, "sasl-passwd", found);
    }
}

/// Words before the password in a section of `.pypirc`.
static PYTHON: LazyLock<AhoCorasick> = LazyLock::new(|| {
    words(&[
        "pypi]",
        "distutils]",
        "server-login]",
        "pypi.org",
        "repository:",
        "repository=",
        "repository =",
    ])
});

/// Finds the password in a section of `.pypirc`.
pub(crate) fn pypirc(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let line = run_back(text, at, 64, |b| b != b'\n');
    if text[line..at].iter().any(|b| !is_blank(*b)) {
        return;
    }
    let sign = at + "password".len();
    let sign = sign + run(ahead(text, sign, 8), 0, is_blank);
    if !matches!(text.get(sign), Some(b'=' | b':')) || !PYTHON.is_match(behind(text, at, 256)) {
        return;
    }
    let start = sign + 1 + run(ahead(text, sign + 1, 8), 0, is_blank);
    let (value, next) = value(text, start, |b| is_bare(b) || matches!(b, b'<' | b'>'));
    // A password fills its line, and is no code that fetches one.
    let rest = ahead(text, next, 4);
    let alone = matches!(rest.first(), None | Some(b'\n' | b'\r'));
    if alone && !named::refers(&text[value.clone()]) {
        report(text, value, "pypirc", found);
    }
}

/// Finds the password of an LDIF entry, in clear, hashed or in base64.
pub(crate) fn ldif(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let mut start = run(ahead(text, at, 32), 0, |b| b.is_ascii_alphabetic()) + at;
    let colons = run(ahead(text, start, 3), 0, |b| b == b':');
    if !(1..=2).contains(&colons) || ends_in_word(text, at) {
        return;
    }
    start += colons;
    start += run(ahead(text, start, 8), 0, is_blank);
    let mut end = trim(text, start, run(text, start, is_bare));
    // Long values go on after a line break and one blank.
    while end > start
        && end - start < REACH
        && text.get(end) == Some(&b'\n')
        && text.get(end + 1) == Some(&b' ')
    {
        let next = run(text, end + 2, is_bare);
        if next == end + 2 || next != line_end(text, end + 2, next - end) {
            break;
        }
        end = next;
    }
    let value = &text[start..end];
    let hashed = value.starts_with(b"{") && value.contains(&b'}') && value.len() >= 16;
    if hashed && !value.windows(3).any(|s| s == b"...") {
        found.push(Span::new(
            start..end,
            "ldif-password",
            crate::span::Rank::Structural,
        ));
    } else if colons == 2 || is_opaque(value, 4) {
        report(text, start..end, "ldif-password", found);
    }
}

#[cfg(test)]
mod tests {
    use crate::structure::harness::{finds, keeps};

    #[test]
    fn netrc() {
        finds(
            "netrc",
            &[
                "machine api.example.com login bob password «hunter2»",
                "machine api.example.com\n  login bob\n  password «s3cret.»x"
                    .replace(".»x", "»")
                    .as_str(),
                "machine a.b login x password «p1»\nmachine c.d login y password «p2»\n",
                "default login anonymous password «me@here»",
                "machine localhost login bob password \"«a b»\"",
                "machine h\r\nlogin bob\r\npassword «hunter2»\r\n",
            ],
        );
        keeps(
            "netrc",
            &[
                "machine learning password reset",
                "machine api.example.com login bob password <password>",
                "machine api.example.com login bob password $PASS",
                "machine api.example.com login bob password \x01\x01",
                "the machine password is set",
                "machine api.example.com login bob",
            ],
        );
    }

    #[test]
    fn pgpass() {
        finds(
            "pgpass",
            &[
                "localhost:5432:mydb:bob:«s3cret»",
                "db.example.com:*:*:bob:«p@ss\\:w»\n*:5432:*:postgres:«x9»",
                "echo \"localhost:5432:mydb:bob:«s3cret»\" >> ~/.pgpass",
                "`localhost:5432:mydb:bob:«s3cret»`.",
            ],
        );
        keeps(
            "pgpass",
            &[
                "localhost:5432:mydb:bob:password",
                "hostname:port:database:username:password",
                "-p 127.0.0.1:5432:5432",
                "postgres://h:5432:x:y:z1",
                "localhost:5432:mydb:bob:$PASS",
                "localhost:5432:mydb:bob:\x01\x01",
                "*:*:*",
            ],
        );
    }

    #[test]
    fn pypirc_and_ldif() {
        finds(
            "pypirc",
            &[
                "[pypi]\nusername = bob\npassword = «hunter2»",
                "[testpypi]\r\nusername: bob\r\npassword: «hunter2»\r\n",
                "[x]\nrepository = https://h\nusername=bob\npassword=«hunter2»\n",
            ],
        );
        keeps(
            "pypirc",
            &[
                "[pypi]\nusername = bob\npassword = <password>",
                "username = bob\npassword = hunter2",
                "[pypi]\nthe password = hunter2",
            ],
        );
        finds(
            "ldif-password",
            &[
                "userPassword: «{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=»",
                "userPassword:: «e1NTSEF9VzZwaDVNbTVQejhHZ2lVTGJQZ3pHMzdtajln»\n",
                "dn: x\nuserPassword: «s3cret»\r\ncn: y",
                "olcRootPW: «{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=»",
            ],
        );
        keeps(
            "ldif-password",
            &[
                "userPassword: <password>",
                "userPassword: {{ pass }}",
                "the attribute userPassword: it holds a hash",
            ],
        );
    }
}
