//! Passwords and tokens before the host of a URI.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::span::Span;
use crate::structure::near::{
    REACH, ahead, find, is_bare, is_wide, report, run, run_back, stands, trim, words,
};
use crate::structure::value::{is_placeholder, is_token};

const KIND: &str = "uri-userinfo";

/// Shortest token that may stand alone before a host.
const TOKEN_MIN: usize = 16;

/// Longest userinfo that may hold an unencoded `/`.
const SLASHED_MAX: usize = 512;

/// Passwords that mark the user name as the token.
const TOKEN_MARKS: &[&[u8]] = &[b"", b"x-oauth-basic", b"x", b"X", b"api_token", b"unused"];

/// Finds the password or token behind the `://` of a URI.
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

/// Returns the userinfo: the range between the scheme and the last `@` before the host.
fn info(text: &[u8], start: usize, quoted: bool) -> Option<Range<usize>> {
    let open = |b: u8| {
        b > b' ' && b != 0x7f && !matches!(b, b'"' | b'`' | b'\\') && (b != b'\'' || !quoted)
    };
    let reach = ahead(text, start, REACH);
    let authority = &reach[..run(reach, 0, |b| open(b) && b != b'/')];
    // A bracket ends the URI, but a placeholder in brackets is read too, so that it is recognised.
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

/// Tells whether an authority is a plain host with or without a port: no password follows it.
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

/// Tells whether a closing bracket follows a plain host: `(http://host:80),me@example.org`.
fn is_host_before_bracket(authority: &[u8]) -> bool {
    let bracket = authority.iter().position(|b| *b == b')').unwrap_or(0);
    is_host(&authority[..bracket])
}

/// Tells whether the text behind the `@` can be a host, a variable for one, or the end of a cut
/// text.
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

/// Returns the end of a password that has an unencoded `/` in it: there is no `@` before the slash,
/// the text after the colon is no port, and a host follows.
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

// Signed URLs and seeds of one-time passwords: the signature goes, the address stays.

/// Longest distance from the start of a URI to its seed, in bytes.
const SEED_REACH: usize = 512;
/// Longest distance from a signature to the other parameters of its URL, in bytes.
const URL_REACH: usize = 1024;
/// Shortest signature.
const SIGNATURE_MIN: usize = 16;

/// Returns the URL around `at`, up to [`URL_REACH`] bytes on either side.
fn url_around(text: &[u8], at: usize) -> Range<usize> {
    let start = run_back(text, at, URL_REACH, |b| {
        is_bare(b) && b != b')' && b != b'('
    });
    start..at + run(ahead(text, at, URL_REACH), 0, is_bare)
}

/// Returns the range of the parameter value that begins at `at`.
fn parameter(text: &[u8], at: usize) -> Range<usize> {
    // Inside a percent-encoded URL an encoded `&` ends the value, in JSON an escaped one.
    let mut end = at;
    while let Some(b) = text.get(end) {
        let fits = b.is_ascii_alphanumeric()
            || matches!(b, b'%' | b'+' | b'/' | b'=' | b'_' | b'-' | b'.' | b'~');
        // An equals sign is padding only at the end of the value: otherwise another parameter
        // begins.
        let joins = *b == b'=' && text.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
        if !fits || joins || *b == b'%' && stands(text, end, b"%26") {
            break;
        }
        end += 1;
    }
    at..trim(text, at, end)
}

/// Tells whether a parameter begins at `at`: after `?`, `&` or a substitute for them.
fn begins_parameter(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(6)..at];
    before.is_empty()
        || matches!(
            before.last(),
            Some(b'?' | b'&' | b'"' | b'\'' | b' ' | b'\n' | b'`' | b'=')
        )
        || [&b"&amp;"[..], b"%26", b"%3F", b"%3f", b"\\u0026"]
            .iter()
            .any(|mark| before.ends_with(mark))
}

/// Finds the signature behind the name at `at`, if the URL also has one of the names in `beside`.
fn signature(
    text: &[u8],
    at: usize,
    beside: Option<&AhoCorasick>,
    kind: &'static str,
    found: &mut Vec<Span>,
) {
    let name = at
        + run(ahead(text, at, 40), 0, |b| {
            b.is_ascii_alphanumeric() || b == b'-'
        });
    let start = match text.get(name) {
        Some(b'=') => name + 1,
        _ if stands(text, name, b"%3d") => name + 3,
        _ => return,
    };
    if !begins_parameter(text, at) {
        return;
    }
    let value = parameter(text, start);
    if value.len() < SIGNATURE_MIN {
        return;
    }
    let url = &text[url_around(text, at)];
    if beside.is_none_or(|names| names.is_match(url)) {
        report(text, value, kind, found);
    }
}

/// Finds the signature of an Azure shared access URL.
pub(crate) fn azure(text: &[u8], at: usize, found: &mut Vec<Span>) {
    static BESIDE: LazyLock<AhoCorasick> = LazyLock::new(|| {
        words(&[
            "sv=", "se=", "sr=", "sp=", "skn=", "sv%3d", "se%3d", "sr%3d",
        ])
    });
    signature(text, at, Some(&BESIDE), "azure-sas", found);
}

/// Finds the signature or session token of a presigned AWS URL.
pub(crate) fn aws(text: &[u8], at: usize, found: &mut Vec<Span>) {
    static BESIDE: LazyLock<AhoCorasick> =
        LazyLock::new(|| words(&["AWSAccessKeyId", "Key-Pair-Id"]));
    let own = stands(text, at, b"x-amz-");
    let beside = (!own).then_some(&*BESIDE);
    signature(text, at, beside, "aws-presigned", found);
}

/// Finds the signature of a signed Google Cloud URL.
pub(crate) fn gcp(text: &[u8], at: usize, found: &mut Vec<Span>) {
    static BESIDE: LazyLock<AhoCorasick> = LazyLock::new(|| words(&["GoogleAccessId"]));
    let own = stands(text, at, b"x-goog-");
    let beside = (!own).then_some(&*BESIDE);
    signature(text, at, beside, "gcp-signed-url", found);
}

/// Finds the seed in a URI for one-time passwords.
pub(crate) fn otpauth(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let uri = ahead(text, at, SEED_REACH);
    let uri = &uri[..run(uri, 0, |b| is_bare(b) || matches!(b, b'<' | b'>'))];
    for name in ["secret=", "secret%3d", "data=", "data%3d"] {
        let Some(start) = find(uri, name).map(|i| at + i + name.len()) else {
            continue;
        };
        let end = if name.starts_with('d') {
            parameter(text, start).end
        } else {
            run(text, start, |b| b.is_ascii_alphanumeric() || b == b'=')
        };
        let value = &text[start..end];
        // A seed is base32, and may look like words and digits.
        if value.len() >= 8 && !is_placeholder(value) {
            report(text, start..end, "otpauth", found);
        }
    }
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

#[cfg(test)]
mod signed_tests {
    use crate::structure::harness::{finds, keeps};

    #[test]
    fn signatures() {
        finds(
            "azure-sas",
            &[
                "https://x.blob.core.windows.net/c?sv=2022-11-02&se=2026-01-01&sig=«aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7bC9%3D»&sp=r",
                "https://x.blob.core.windows.net/c?sv=2022&sig=«aB3dE5fG7hI9jK1lM3nO5+Q7/S9tU1vW3xY5zA7bC9=». Next",
                "https://x/c?sv=2022&amp;sig=«aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3x»&amp;se=1",
                "u=https%3A%2F%2Fx%3Fsv%3D2022%26sig%3D«aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3x»%26se%3D1",
            ],
        );
        finds(
            "aws-presigned",
            &[
                "https://b.s3.amazonaws.com/k?X-Amz-Date=1&X-Amz-Signature=«fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc963176630326f1024»",
                "https://b/k?X-Amz-Security-Token=«IQoJb3JpZ2luX2VjEJr%2F%2F»&X-Amz-Signature=«fe5f80f77d5fa3beca038a248ff027»).",
                "https://b/k?AWSAccessKeyId=AK&Expires=1&Signature=«vjbyPxybdZaNmGa%2ByT272YEAiv4%3D»",
            ],
        );
        finds(
            "gcp-signed-url",
            &[
                "https://storage.googleapis.com/b/o?X-Goog-Date=1&X-Goog-Signature=«247a2aa45f169edf4d187d54e7cc46e4»",
                "https://storage.googleapis.com/b/o?GoogleAccessId=x&Expires=1&Signature=«vjbyPxybdZaNmGa%2ByT272YEAiv4%3D»",
                "X-Goog-Signature=«247a2aa45f169edf4d187d54e7cc46e4»",
            ],
        );
        keeps(
            "azure-sas",
            &[
                "https://x/c?sv=2022&sig=<signature>",
                "https://x/c?sv=2022&sig=\x01\x01\x01",
                "https://x/c?sig=aB3dE5fG7hI9jK1lM3nO5pQ7",
                "https://x/c?sv=1&sig=xxxxxxxxxxxxxxxxxxxx",
                "orig=aB3dE5fG7hI9jK1lM3nO5pQ7&sv=1",
            ],
        );
        keeps(
            "aws-presigned",
            &[
                "X-Amz-Signature=...",
                "X-Amz-Signature=<hex>",
                "Signature=aB3dE5fG7hI9jK1lM3nO5pQ7",
            ],
        );
    }

    #[test]
    fn seeds() {
        finds(
            "otpauth",
            &[
                "otpauth://totp/X:me?secret=«JBSWY3DPEHPK3PXP»&issuer=X",
                "otpauth://hotp/X?issuer=X&secret=«jbswy3dpehpk3pxq».",
                "otpauth%3A%2F%2Ftotp%2FX%3Fsecret%3D«JBSWY3DPEHPK3PXR»%26issuer%3DX",
                "otpauth-migration://offline?data=«CjEKCkhlbGxvId6tvu8SGEV4YW1wbGU%3D»",
            ],
        );
        keeps(
            "otpauth",
            &[
                "otpauth://totp/X?secret=<SECRET>&issuer=X",
                "otpauth://totp/X?secret=${SECRET}",
                "otpauth://totp/X?secret=\x01\x01",
                "an otpauth:// URI holds the secret",
            ],
        );
    }
}
