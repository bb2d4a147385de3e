//! Credentials in HTTP headers, as they stand in requests, commands, code and prose.

use std::ops::Range;

use crate::named::refers;
use crate::span::{Rank, Span};
use crate::structure::near::{
    after_any, ahead, ends_in_word, find, has_word, is_bare, is_base64, is_blank, is_encoded_pair,
    is_word, line_before, quote, read_to, report, run, run_back, stands, value,
};
use crate::structure::value::{is_opaque, is_placeholder, is_token};

const KIND: &str = "http-authorization";

/// Shortest value that counts if a sentence goes on after it.
const IN_PROSE_MIN: usize = 16;

/// Schemes whose value is always a credential.
const SCHEMES: &[&str] = crate::lists::HTTP_SCHEMES;

/// Parameters of a scheme that are public, but show that parameters follow.
const PARAMETERS: &[&str] = crate::lists::HTTP_PARAMETERS;

/// Parameters of a scheme that hold the credential.
const SECRETS: &[&str] = crate::lists::HTTP_SECRETS;

/// Finds the credential that the name of a header or a scheme announces.
pub(crate) fn any(text: &[u8], at: usize, found: &mut Vec<Span>) {
    if stands(text, at, b"authorization") {
        authorization(text, at, found);
    } else if stands(text, at, b"bearer") {
        bearer(text, at, found);
    } else if stands(text, at, b"basic") {
        basic(text, at, found);
    } else {
        key(text, at, found);
    }
}

/// Finds the credential in the `Authorization` header: a scheme and its value.
fn authorization(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let Some(start) = joint(text, at + "authorization".len()) else {
        return;
    };
    let word = run(ahead(text, start, 40), 0, |b| is_word(b) || b == b'-') + start;
    let next = run(ahead(text, word, 8), 0, is_blank) + word;
    if next > word && quote(text, next).is_some() {
        // Only the scheme is in quotes: code adds the rest.
        return;
    }
    if word == start || next == word {
        let (single, _) = value(text, start, is_bare);
        let constant = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_';
        let secret = &text[single.clone()];
        let scheme = SCHEMES
            .iter()
            .any(|scheme| secret.eq_ignore_ascii_case(scheme.as_bytes()));
        if is_credential(secret, IN_PROSE_MIN)
            && !(scheme
                || secret.contains(&b'|')
                || secret.contains(&b'_') && secret.iter().all(constant))
        {
            report(text, single, KIND, found);
        }
        return;
    }
    let scheme = &text[start..word];
    if scheme.eq_ignore_ascii_case(b"basic") {
        let end = run(text, next, is_base64);
        let pair = &text[next..end];
        if is_encoded_pair(pair) || is_opaque(pair, 8) && closes(text, end) {
            found.push(Span::new(next..end, KIND, Rank::Structural));
        }
        return;
    }
    if parameters(text, next, found) {
        return;
    }
    let (single, _) = value(text, next, is_bare);
    let secret = &text[single.clone()];
    let known = SCHEMES
        .iter()
        .any(|s| scheme.eq_ignore_ascii_case(s.as_bytes()));
    if is_credential(secret, IN_PROSE_MIN)
        || known && closes(text, single.end) && is_opaque(secret, 6)
    {
        report(text, single, KIND, found);
    }
}

/// Finds the credentials among the parameters of `Digest`, `Hawk`, `OAuth` and AWS. Returns true if
/// there are any parameters.
fn parameters(text: &[u8], at: usize, found: &mut Vec<Span>) -> bool {
    let (mut at, mut any) = (at, false);
    for _ in 0..32 {
        let name = run(ahead(text, at, 64), 0, |b| is_word(b) || b == b'-') + at;
        let is = |list: &[&str]| {
            list.iter()
                .any(|n| text[at..name].eq_ignore_ascii_case(n.as_bytes()))
        };
        let secret = is(SECRETS);
        if text.get(name) != Some(&b'=') || !secret && !any && !is(PARAMETERS) {
            break;
        }
        any = true;
        let (part, next) = value(text, name + 1, |b| is_bare(b) && b != b',');
        if secret {
            report(text, part, KIND, found);
        }
        let comma = run(ahead(text, next, 8), 0, |b| is_blank(b) || b == b',');
        if comma == 0 {
            break;
        }
        at = next + comma;
    }
    any
}

/// Finds the key in a vendor's header, which holds nothing else.
fn key(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let end = run(ahead(text, at, 64), 0, |b| is_word(b) || b == b'-') + at;
    // Behind `://` the name is the user of a URI, whose password ends before the host.
    let inside =
        at > 0 && (text[at - 1].is_ascii_alphanumeric() || matches!(text[at - 1], b'.' | b'/'));
    if inside || !is_key_name(&text[at..end]) {
        return;
    }
    let Some(start) = joint(text, end) else {
        return;
    };
    // A parameter of a URL ends where the next begins.
    let query = at > 0 && matches!(text[at - 1], b'?' | b'&');
    let fits = |b: u8| is_bare(b) && !(query && matches!(b, b'&' | b'#'));
    let (single, _) = value(text, start, fits);
    let secret = &text[single.clone()];
    // Without a digit the value may be a member of something: `site.search.apiKey`.
    let code = !secret.iter().any(u8::is_ascii_digit) && refers(secret);
    let closed = start > 0 && quote(text, start - 1).is_some() || closes(text, single.end);
    if is_credential(secret, IN_PROSE_MIN) || closed && is_opaque(secret, 8) && !code {
        report(text, single, KIND, found);
    }
}

/// Tells whether a name ends as the name of a header with a key does: `ApiKeySourceType` has none.
fn is_key_name(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    [&b"key"[..], b"keys", b"token", b"secret", b"team"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// Finds the token behind `Bearer`, anywhere.
fn bearer(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let mut start = at + "bearer".len();
    let gap = run(ahead(text, start, 8), 0, |b| {
        is_blank(b) || matches!(b, b':' | b'=')
    });
    if gap == 0 || ends_in_word(text, at) {
        return;
    }
    start += gap;
    if let Some(end) = after_any(text, start, &["token"]) {
        start = end
            + run(ahead(text, end, 8), 0, |b| {
                is_blank(b) || matches!(b, b':' | b'=')
            });
    }
    let (single, _) = value(text, start, is_bare);
    let plain = text[single.clone()]
        .iter()
        .all(|b| is_base64(*b) || b"._~-%:|!".contains(b));
    if plain && is_credential(&text[single.clone()], IN_PROSE_MIN) {
        report(text, single, KIND, found);
    }
}

/// Finds the base64 of `user:password` behind `Basic`, anywhere.
fn basic(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let end = at + "basic".len();
    let start = end + run(ahead(text, end, 8), 0, is_blank);
    if start == end || ends_in_word(text, at) {
        return;
    }
    let end = run(text, start, is_base64);
    if end >= start + 6 && is_encoded_pair(&text[start..end]) {
        found.push(Span::new(start..end, KIND, Rank::Structural));
    }
}

/// Tells whether a value looks random, and is not the URL of a page about credentials.
fn is_credential(value: &[u8], least: usize) -> bool {
    is_token(value, least) && find(value, "://").is_none()
}

/// Returns the start of the value of a header whose name ends at `at`: behind a colon, or whatever
/// else code puts between the two strings.
fn joint(text: &[u8], at: usize) -> Option<usize> {
    let shut = run(ahead(text, at, 8), 0, |b| {
        matches!(b, b'\\' | b'"' | b'\'' | b'`' | b']' | b'*')
    }) + at;
    let sign = shut + run(ahead(text, shut, 8), 0, is_blank);
    let quoted = shut > at;
    let mut next = match text.get(sign)? {
        b':' | b'=' | b'|' => sign + 1,
        b',' if quoted => sign + 1,
        _ if quoted => after_any(text, sign, &["to "])?,
        _ => return None,
    };
    next += usize::from(matches!(text.get(next), Some(b'>' | b'=')));
    next += run(ahead(text, next, 16), 0, |b| is_blank(b) || b == b'*');
    if let Some(letter @ (b'f' | b'b' | b'r' | b'u' | b'@' | b'$' | b'[')) = text.get(next) {
        next += usize::from(quote(text, next + 1).is_some() && (*letter != b'[' || quoted));
    }
    Some(next + quote(text, next).map_or(0, <[u8]>::len))
}

/// Tells whether no sentence goes on at `at`: the line ends, or code or an option follows.
fn closes(text: &[u8], at: usize) -> bool {
    let rest = ahead(text, at, 64);
    let after = run(rest, 0, is_blank);
    let url = find(&rest[after..], "http") == Some(0);
    match rest.get(after) {
        _ if url => true,
        None => true,
        Some(b) if after > 0 => !(b.is_ascii_alphanumeric() || *b >= 0x80 || *b == b'('),
        Some(b) => !matches!(b, b'<' | b'>'),
    }
}

// Values of session cookies in headers, scripts and commands.

const COOKIE_KIND: &str = "cookie";

/// Most cookies of one header that are read.
const COOKIES_MAX: usize = 256;
/// Shortest value of a session cookie.
const SESSION_MIN: usize = 4;
/// Shortest random value that counts under any name.
const RANDOM_MIN: usize = 16;

/// Parts of the names of cookies that open a session.
const NAMES: &[&str] = crate::lists::HTTP_NAMES;

/// Attributes of a cookie, which are no secrets.
const ATTRIBUTES: &[&str] = &[
    "path", "expires", "max-age", "samesite", "domain", "version", "comment", "priority",
];

/// Finds the cookies that the name of a header, a script or an option announces.
pub(crate) fn any_cookie(text: &[u8], at: usize, found: &mut Vec<Span>) {
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
                report(text, value.clone(), COOKIE_KIND, found);
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
    read_to(read, COOKIE_KIND, found);
}

/// Finds the cookies in a dictionary whose name ends at `at`: `cookies={"sid": "abc"}`.
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
            report(text, secret, COOKIE_KIND, found);
        }
        at = next;
        read_to(at, COOKIE_KIND, found);
    }
}

/// Finds the cookie that a function sets, whose arguments begin at `at`: `cookie('sid', 'abc')`.
fn call(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let (name, next) = value(text, at, is_name);
    let comma = next + run(ahead(text, next, 8), 0, |b| is_blank(b) || b == b',');
    if name.start == at || quote(text, comma).is_none() {
        return;
    }
    let (secret, _) = value(text, comma, is_name);
    if is_secret(&text[name], &text[secret.clone()]) {
        report(text, secret, COOKIE_KIND, found);
    }
}

fn joint_blank(b: u8) -> bool {
    is_blank(b) || matches!(b, b':' | b'=' | b'>')
}

/// Returns the start of the first cookie: behind the colon of the header or the quote of the
/// script.
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

/// Returns the range of the value at `at`. Dates in attributes have blanks and commas.
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

/// Tells whether a cookie opens something: its name says so, or its value looks random.
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
    fn schemes() {
        finds(
            "http-authorization",
            &[
                "Authorization: Bearer «abc123»",
                "authorization: bearer «abc123def456»\r\nHost: x",
                "Authorization: Token «9944b09199c62bcf9418ad846dd0e4bb»",
                "Authorization: ApiKey «a1b2c3d4e5»",
                "Authorization: SSWS «00abcDEF123»",
                "Authorization: GenieKey «1c0e7a4f-0f2d-4c3b»",
                "Authorization: Negotiate «YIIZ9gYGKwYBBQUCoIIZ»",
                "Proxy-Authorization: Basic «dXNlcjpodW50ZXIy»",
                "Authorization: Basic «YTpi»",
                "Authorization: «9944b09199c62bcf9418ad846dd0e4bb»",
                "Authorization: Custom «9944b09199c62bcf9418»",
                "Authorization: Digest username=\"me\", realm=\"x\", nonce=\"abc\", response=\"«6629fae49393a05397450978507c4ef1»\", qop=auth",
                "Authorization: AWS4-HMAC-SHA256 Credential=AK/2024/s3, SignedHeaders=host, Signature=«fe5f80f77d5fa3beca038a248ff027»",
                "Authorization: OAuth oauth_consumer_key=\"c\", oauth_token=\"«t0ken1»\", oauth_signature=\"«wOJIO9A2W5%3D»\"",
            ],
        );
    }

    #[test]
    fn in_code_and_commands() {
        finds(
            "http-authorization",
            &[
                "curl -H 'Authorization: Bearer «abc123»' https://h",
                "curl -H \"X-Api-Key: «abcd1234»\" https://h",
                "{\"Authorization\": \"Bearer «abc123»\"}",
                r#""{\"Authorization\": \"Bearer «abc123»\"}""#,
                "{'Authorization': 'Bearer «abc123»', 'x': 1}",
                "headers[\"Authorization\"] = \"Bearer «abc123»\"",
                ".header(\"Authorization\", \"Bearer «abc123»\")",
                "'Authorization' => 'Bearer «abc123»'",
                "X-Auth-Token: «abcd1234»\n",
                "X-Vault-Token: «s.abcd1234»",
                "PRIVATE-TOKEN: «abcdEFGH12»",
                "apikey: «abcd1234efgh»",
                "api-key: «abcd1234efgh»",
                "\"x-api-key\": \"«abcdEFgh»\"",
                "**Authorization:** Bearer «abc123»",
            ],
        );
    }

    #[test]
    fn in_prose() {
        finds(
            "http-authorization",
            &[
                "Use Bearer «abcdef0123456789abcd». Then go.",
                "Send `Bearer «abcdef0123456789abcd»` with it",
                "bearer token: «abcdef0123456789abcd»,",
                "the header is Basic «YWRtaW46aHVudGVyMg==» and so on",
                "使用 Bearer «abcdef0123456789abcd»。",
            ],
        );
    }

    #[test]
    fn no_secrets() {
        keeps(
            "http-authorization",
            &[
                "Bearer authentication",
                "Basic auth",
                "Basic authentication is off",
                "Bearer <token>",
                "Authorization: Bearer <token>",
                "Authorization: Bearer ${TOKEN}",
                "Authorization: Bearer $TOKEN\"",
                "Authorization: Bearer {token}",
                "Authorization: Bearer {{ token }}",
                "Authorization: Bearer YOUR_API_KEY",
                "Authorization: Bearer xxxxxxxx",
                "Authorization: Bearer %s",
                "Authorization: Bearer ...",
                "Authorization: Bearer \x01\x01\x01",
                "Authorization: Basic \x01\x01",
                "f\"Bearer {token}\"",
                "\"Bearer \" + token",
                "'Authorization': 'Bearer ' + token",
                "'Authorization': f'Bearer {get_token()}'",
                "bearer of bad news",
                "Authorization: required",
                "headers = {\"Authorization\": \"Bearer \" + os.environ[\"TOKEN\"]}",
                "- Bearer https://tools.ietf.org/html/rfc6750",
                "authorization = authorization[1].encode('ascii')",
                "Authorization: SOME_KIND_OF_TYPE_0,",
                "Authorization: Bearer tokens are used here",
                "x-api-key: see the vault",
                "X-Api-Key: $KEY",
                "api-key: <your key>",
                "Basic training",
                "Authorization: AWS4-HMAC-SHA256",
                "apiKey: siteConfig.algolia.apiKey,",
                "ApiKeySourceType: PassThrough",
                "\"ApiKeySelectionExpression\": \"$request.header.x-api-key\"",
                "RUN|AUTHORIZATION|GET-ERROR-ROW|SAX-WRITE-TAG2|AUDIT-ENABLED|STREAM",
                "headers['Authorization'] = token",
                "Bearer YOUR_TOKEN_HERE",
            ],
        );
    }
}

#[cfg(test)]
mod cookie_tests {
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
