//! Values of session cookies in headers, scripts and commands.

use std::ops::Range;

use super::near::{
    ahead, find, has_word, is_blank, is_word, line_before, quote, read_to, report, run, run_back,
    stands, value,
};
use super::value::{is_placeholder, is_token};
use crate::span::Span;

const KIND: &str = "cookie";

/// Most cookies of one header that are read.
const COOKIES_MAX: usize = 256;
/// Shortest value that is taken for a session's.
const SESSION_MIN: usize = 4;
/// Shortest value that gives itself away under any name.
const RANDOM_MIN: usize = 16;

/// What the name of a cookie holds that opens a session.
const NAMES: &[&str] = &[
    "sess",
    "sid",
    "auth",
    "token",
    "jwt",
    "csrf",
    "xsrf",
    "remember",
    "login",
    "passw",
    "secret",
    "laravel",
    "identity",
    "credential",
    "apikey",
    "sso",
    "ticket",
];

/// Attributes of a cookie, which are no secrets.
const ATTRIBUTES: &[&str] = &[
    "path", "expires", "max-age", "samesite", "domain", "version", "comment", "priority",
];

/// Finds the cookies that a header's name, a script or an option announces.
pub(crate) fn any(text: &[u8], at: usize, found: &mut Vec<Span>) {
    if stands(text, at, b"cookies") {
        return jar(text, at + "cookies".len(), found);
    }
    if text.get(at + "cookie".len()) == Some(&b'(') {
        return call(text, at + "cookie(".len(), found);
    }
    let Some(start) = start(text, at) else {
        return;
    };
    let mark = text[..start]
        .last()
        .copied()
        .filter(|b| matches!(b, b'"' | b'\'' | b'`'));
    let (mut at, mut read) = (start, start);
    for _ in 0..COOKIES_MAX {
        let name = run(ahead(text, at, 128), 0, is_name) + at;
        if name == at {
            break;
        }
        if text.get(name) == Some(&b'=') {
            let value = cookie_value(text, name + 1, mark, is_attribute(&text[at..name]));
            if is_secret(&text[at..name], &text[value.clone()]) {
                report(text, value.clone(), KIND, found);
            }
            read = value.end;
            at = value.end + usize::from(text.get(value.end) == Some(&b'"') && mark != Some(b'"'));
        } else {
            at = name;
        }
        if text.get(at) != Some(&b';') {
            break;
        }
        at += 1 + run(ahead(text, at + 1, 8), 0, is_blank);
    }
    read_to(read, KIND, found);
}

/// The cookies of a dictionary whose name ends at `at`: `cookies={"sid": "abc"}`.
fn jar(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let joint =
        |b: u8| is_blank(b) || matches!(b, b'"' | b'\'' | b'\\' | b':' | b'=' | b'>' | b'\n');
    let mut at = at + run(ahead(text, at, 16), 0, joint);
    if text.get(at) != Some(&b'{') {
        return;
    }
    at += 1;
    for _ in 0..COOKIES_MAX {
        at += run(ahead(text, at, 32), 0, |b| {
            b.is_ascii_whitespace() || b == b','
        });
        let (name, next) = value(text, at, is_name);
        let colon = next + run(ahead(text, next, 8), 0, joint_blank);
        let secret = colon + run(ahead(text, colon, 8), 0, is_blank);
        if name.start == at || colon == next || quote(text, secret).is_none() {
            break;
        }
        let (secret, next) = value(text, secret, is_name);
        if is_secret(&text[name], &text[secret.clone()]) {
            report(text, secret, KIND, found);
        }
        at = next;
        read_to(at, KIND, found);
    }
}

/// A cookie that a function sets, whose arguments begin at `at`: `cookie('sid', 'abc')`.
fn call(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let (name, next) = value(text, at, is_name);
    let comma = next + run(ahead(text, next, 8), 0, |b| is_blank(b) || b == b',');
    if name.start == at || quote(text, comma).is_none() {
        return;
    }
    let (secret, _) = value(text, comma, is_name);
    if is_secret(&text[name], &text[secret.clone()]) {
        report(text, secret, KIND, found);
    }
}

fn joint_blank(b: u8) -> bool {
    is_blank(b) || matches!(b, b':' | b'=' | b'>')
}

/// Where the first cookie begins: after the colon of the header or the quote of the script.
fn start(text: &[u8], at: usize) -> Option<usize> {
    if text[at] == b' ' {
        let curl = has_word(line_before(text, at, 256), &["curl", "http", "wget"]);
        let word = at + " -b ".len();
        return curl.then(|| word + quote(text, word).map_or(0, <[u8]>::len));
    }
    let end = at + "cookie".len();
    let shut = end
        + run(ahead(text, end, 8), 0, |b| {
            matches!(b, b'\\' | b'"' | b'\'' | b'`' | b']' | b'*')
        });
    let sign = shut + run(ahead(text, shut, 8), 0, is_blank);
    let option = at > 1 && &text[at - 2..at] == b"--" && sign > shut;
    let mut next = match text.get(sign)? {
        b':' | b'=' => sign + 1,
        b',' if shut > end => sign + 1,
        _ if option => sign,
        _ => return None,
    };
    next += usize::from(matches!(text.get(next), Some(b'>')));
    next += run(ahead(text, next, 8), 0, |b| {
        is_blank(b) || matches!(b, b'*' | b'[')
    });
    Some(next + quote(text, next).map_or(0, <[u8]>::len))
}

fn is_name(b: u8) -> bool {
    is_word(b) || matches!(b, b'-' | b'.' | b'$' | b'%' | b'!' | b'~' | b'[' | b']')
}

fn is_attribute(name: &[u8]) -> bool {
    ATTRIBUTES
        .iter()
        .any(|a| name.eq_ignore_ascii_case(a.as_bytes()))
}

/// The value that begins at `at`; dates in attributes have blanks and commas.
fn cookie_value(text: &[u8], at: usize, mark: Option<u8>, attribute: bool) -> Range<usize> {
    let inner = mark != Some(b'"') && text.get(at) == Some(&b'"');
    let start = at + usize::from(inner);
    let fits = |b: u8| {
        let blank = b == b' ' && attribute;
        (b > b' ' || blank)
            && b < 0x7f
            && !matches!(b, b';' | b'"' | b'\'' | b'`' | b'<' | b'>')
            && (b != b'\\' || inner)
    };
    let end = if attribute {
        start + run(ahead(text, start, 128), 0, fits)
    } else {
        run(text, start, fits)
    };
    let escaped = run_back(text, end, 4, |b| b == b'\\').max(start);
    let end = if attribute {
        escaped
    } else {
        super::near::trim(text, start, escaped)
    };
    start..end
}

/// Whether a cookie opens something: its name says so, or its value looks random.
fn is_secret(name: &[u8], value: &[u8]) -> bool {
    if is_attribute(name) || is_placeholder(value) {
        return false;
    }
    let named = NAMES.iter().any(|word| find(name, word).is_some());
    let flag = value.iter().all(u8::is_ascii_alphabetic) && value.len() < 8;
    named && value.len() >= SESSION_MIN && !flag || is_token(value, RANDOM_MIN)
}

#[cfg(test)]
mod tests {
    use crate::structure::harness::{finds, keeps};

    #[test]
    fn headers() {
        finds(
            "cookie",
            &[
                "Cookie: theme=dark; sessionid=«38afes7a8»; lang=en",
                "Cookie: PHPSESSID=«298zf09hf012fh2»; csrftoken=«u32t4o3tb3gg43»",
                "Set-Cookie: sid=«a3fWa12»; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT; HttpOnly; SameSite=Lax",
                "set-cookie: connect.sid=«s%3AabcD12.efgh»; Domain=x.org\r\nHost: y",
                "Cookie: JSESSIONID=«8F3A11»\r\n",
                "Cookie: pref=«a8f3kd92ks01lqp47vmz2»; x=1",
                "document.cookie = \"auth=«abc123»; path=/\"",
                "curl -b 'laravel_session=«eyJpdiI6Ii9»' https://h",
                "curl --cookie \"sid=«abc123»\" https://h",
                "curl -H 'Cookie: sid=«abc123»; t=1' https://h",
                "{\"Cookie\": \"sid=«abc123»; x=1\"}",
                r#""{\"Cookie\": \"sid=«abc123»\"}""#,
                "requests.get(u, cookies={'sessionid': '«abc123xyz»', 'lang': 'en'})",
                "{\"cookies\": {\"session\": \"«abc123xyz»\"}}",
                "res.cookie('sid', '«abc123xyz»', { path: '/' })",
                "{'Set-Cookie': ['sid=«abc123»; Path=/']}",
                "Cookie: remember_token=«1|a8f3kd»。",
                "The header was Cookie: sid=«abc123». Then more.",
            ],
        );
    }

    #[test]
    fn no_secrets() {
        keeps(
            "cookie",
            &[
                "Cookie: theme=dark; lang=en",
                "Cookie: session=<session>; x=1",
                "Cookie: session=$SESSION",
                "Cookie: sid=\x01\x01\x01; x=1",
                "Cookie: logged_in=yes; auth=true",
                "Set-Cookie: lang=en; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/",
                "the cookie: it expires in a day",
                "cookie = jar.pop()",
                "document.cookie = name + '=' + value",
                "git checkout -b session=abc123",
                "Cookie: sid=...",
                "Cookie: token={{ token }}",
            ],
        );
    }
}
