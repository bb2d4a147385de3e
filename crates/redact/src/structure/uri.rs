//! Passwords and tokens before the host of a URI.

use std::ops::Range;

use super::near::{REACH, ahead, is_wide, report, run, run_back};
use super::value::{is_placeholder, is_token};
use crate::span::Span;

const KIND: &str = "uri-userinfo";

/// Shortest token that may stand alone before a host.
const TOKEN_MIN: usize = 16;

/// Longest userinfo that may hold an unencoded `/`.
const SLASHED_MAX: usize = 512;

/// Passwords that say that the user name is the token.
const TOKEN_MARKS: &[&[u8]] = &[b"", b"x-oauth-basic", b"x", b"X", b"api_token", b"unused"];

/// Finds the password or token from the `://` of a URI.
pub(crate) fn userinfo(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let scheme = run_back(text, at, 40, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'+' | b'.' | b'-' | b':')
    });
    if scheme == at {
        return;
    }
    let quoted = scheme > 0 && text[scheme - 1] == b'\'';
    let start = at + 3;
    let Some(info) = info(text, start, quoted) else {
        return;
    };
    let Some(colon) = text[info.clone()].iter().position(|b| *b == b':') else {
        let token = &text[info.clone()];
        if is_token(token, TOKEN_MIN) && token.iter().all(|b| is_token_byte(*b)) {
            report(text, info, KIND, found);
        }
        return;
    };
    let (user, password) = (
        info.start..info.start + colon,
        info.start + colon + 1..info.end,
    );
    if TOKEN_MARKS.contains(&&text[password.clone()]) {
        if is_token(&text[user.clone()], TOKEN_MIN) {
            report(text, user, KIND, found);
        }
        return;
    }
    report(text, password, KIND, found);
}

fn is_token_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'~' | b'%' | b'.' | b'=')
}

/// What stands between the scheme and the last `@` before the host.
fn info(text: &[u8], start: usize, quoted: bool) -> Option<Range<usize>> {
    let open = |b: u8| {
        b > b' ' && b != 0x7f && !matches!(b, b'"' | b'`' | b'\\') && (b != b'\'' || !quoted)
    };
    let reach = ahead(text, start, REACH);
    let authority = &reach[..run(reach, 0, |b| open(b) && b != b'/')];
    // A bracket ends the URI, but a placeholder in it is read to be recognised as one.
    let first = authority.iter().position(|b| matches!(b, b'?' | b'#'));
    let last = authority.iter().rposition(|b| *b == b'@');
    if let Some(end) = last {
        let past_authority =
            first.is_some_and(|mark| mark < end) && is_host(&authority[..first.unwrap_or(0)]);
        if past_authority || authority[..end].contains(&b')') && is_host_before_bracket(authority) {
            return None;
        }
        return is_host_start(&authority[end + 1..]).then_some(start..start + end);
    }
    let near = &reach[..reach.len().min(SLASHED_MAX)];
    (authority.len() < near.len())
        .then(|| password_with_slash(near, authority.len(), open))?
        .map(|end| start..start + end)
}

/// Whether an authority is a plain host with or without a port, so that what follows is no
/// password.
fn is_host(authority: &[u8]) -> bool {
    let mut parts = authority.splitn(2, |b| *b == b':');
    let host = parts.next().unwrap_or_default();
    let port = parts.next();
    !host.is_empty()
        && host
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'))
        && port.is_none_or(|port| port.iter().all(u8::is_ascii_digit))
}

/// Whether a closing bracket follows a plain host: `(http://host:80),me@example.org`.
fn is_host_before_bracket(authority: &[u8]) -> bool {
    let bracket = authority.iter().position(|b| *b == b')').unwrap_or(0);
    is_host(&authority[..bracket])
}

/// Whether what follows the `@` can be a host, a variable for one, or the end of a cut text.
fn is_host_start(host: &[u8]) -> bool {
    host.first().is_none_or(|b| {
        b.is_ascii_alphanumeric()
            || is_wide(*b)
            || *b >= 0x80
            || matches!(
                b,
                b'[' | b'$' | b'{' | b'<' | b'%' | b'.' | b'*' | b'_' | b'(' | 1
            )
    })
}

/// The end of a password that has an unencoded `/` in it: there is no `@` before the slash, what
/// stands after the colon is no port, and a host follows.
fn password_with_slash(reach: &[u8], slash: usize, open: impl Fn(u8) -> bool) -> Option<usize> {
    let colon = reach[..slash].iter().position(|b| *b == b':')?;
    let port = &reach[colon + 1..slash];
    let cut = port
        .iter()
        .any(|b| matches!(b, b'?' | b'#' | b')' | b',' | b'<' | b'{' | b']' | 1));
    if port.is_empty()
        || port.iter().all(u8::is_ascii_digit)
        || cut
        || reach.get(slash) != Some(&b'/')
    {
        return None;
    }
    let rest = run(reach, slash, &open);
    let at = slash + reach[slash..rest].iter().position(|b| *b == b'@')?;
    let inner = &reach[slash..at];
    let slashes = inner.split(|b| *b == b'/').count() - 1;
    let digit = reach[colon + 1..at].iter().any(u8::is_ascii_digit);
    let host = &reach[at + 1..rest];
    let name = run(host, 0, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-')
    });
    let ends = host.get(name).is_none_or(|b| matches!(b, b':' | b'/'));
    let plain = slashes <= 2 && digit && name > 0 && ends && !is_placeholder(inner);
    plain.then_some(at)
}

#[cfg(test)]
mod tests {
    use crate::structure::harness::{finds, keeps};

    #[test]
    fn passwords_of_any_scheme() {
        for scheme in [
            "postgres",
            "postgresql+asyncpg",
            "mysql",
            "mongodb+srv",
            "amqp",
            "https",
            "ftp",
            "smtp",
            "ldap",
            "sqlserver",
            "rediss",
            "jdbc:postgresql",
            "socks5",
        ] {
            finds(
                "uri-userinfo",
                &[&format!(
                    "url={scheme}://app:«S3cr3t»@db.example.com:5432/x"
                )],
            );
        }
    }

    #[test]
    fn odd_passwords() {
        finds(
            "uri-userinfo",
            &[
                "redis://:«p4ss»@cache:6379/0",
                "postgres://u:«p@ss@w0rd»@host/db",
                "postgres://u:«pa#ss?1»@host/db",
                "postgres://u:«pa/ss1»@host:5432/db",
                "postgres://u:«p!a$b&c'd*(e)+,;=1»@host/db",
                "postgres://u:«p%40ss%2Fw0rd»@host/db",
                "'postgres://u:«p4ss»@host/db'",
                "\"postgres://u:«p4ss»@host/db\"",
                r#"{\"url\":\"postgres://u:«p4ss»@host/db\"}"#,
                "(postgres://u:«p4ss»@host).",
                "连接postgres://u:«p4ss»@主机。",
                "mongodb://u:«p4ss»@h1:27017,h2:27017/x",
                "https://me@corp.com:«p4ss»@host/x",
                "https://host:«8080»@other/",
                "http://u:«p\u{e4}ss»@host",
                "postgres://postgres:«postgres»@localhost:5432",
                "http://u:«p4ss»@[::1]:80/",
                "http://u:«p4ss»@$HOST/",
                "a http://u:«p4ss»@h, b http://u:«p5ss»@h",
            ],
        );
    }

    #[test]
    fn tokens_alone() {
        finds(
            "uri-userinfo",
            &[
                "git clone https://«8f3kd92ks01lqp47vmz2»@github.com/o/r",
                "https://oauth2:«abc123def»@gitlab.com/o/r.git",
                "https://x-access-token:«v1.abc123»@github.com/o/r",
                "https://«8f3kd92ks01lqp47vmz2»:x-oauth-basic@github.com/o/r",
                "https://«8f3kd92ks01lqp47vmz2»:@api.example.com",
            ],
        );
    }

    #[test]
    fn no_secrets() {
        keeps(
            "uri-userinfo",
            &[
                "postgres://user:password@localhost/db",
                "postgres://user:***@localhost/db",
                "postgres://$USER:$PASS@localhost/db",
                "postgres://${USER}:${PASS}@localhost/db",
                "postgres://{user}:{password}@{host}/db",
                "postgres://user:<password>@host/db",
                "postgres://%s:%s@%s/db",
                "postgres://user:\x01\x01\x01@host/db",
                "postgres://localhost:5432/db",
                "http://localhost:8080/@foo",
                "https://host:8080/a/@b:c@d",
                "http://host:80?mail=a@b.org",
                "http://host?mail=a:1@b.org",
                "http://host#a:b@c",
                "ssh://git@github.com:org/repo",
                "git@github.com:org/repo",
                "https://someone@example.com/x",
                "https://registry.npmjs.org/@scope/name",
                "see http://host:80 and a@b.org",
                "[x](http://host:80),me@example.org",
                "://a:b@c",
                "https://example.com/x:y@z",
                "https://medium.com/@user",
            ],
        );
    }
}
