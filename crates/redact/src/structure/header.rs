//! Credentials in HTTP headers, as they stand in requests, commands, code and prose.

use super::near::{
    after_any, ahead, ends_in_word, find, is_bare, is_base64, is_blank, is_encoded_pair, is_word,
    quote, report, run, stands, value,
};
use super::value::{is_opaque, is_token};
use crate::named::refers;
use crate::span::{Rank, Span};

const KIND: &str = "http-authorization";

/// Shortest value that counts when a sentence goes on after it.
const IN_PROSE_MIN: usize = 16;

/// Schemes after which any value is a credential.
const SCHEMES: &[&str] = &[
    "bearer",
    "basic",
    "token",
    "digest",
    "apikey",
    "api-key",
    "ssws",
    "geniekey",
    "negotiate",
    "ntlm",
    "hawk",
    "key",
    "bot",
    "oauth",
    "splunk",
    "sharedkey",
    "sharedaccesssignature",
    "jwt",
    "aws4-hmac-sha256",
    "discogs",
    "snowflake",
    "googlelogin",
    "mediabrowser",
    "deepl-auth-key",
    "klaviyo-api-key",
    "zoho-oauthtoken",
    "endpointkey",
    "bearer_token",
    "apitoken",
    "api-token",
    "pveapitoken",
    "signature",
    "user",
    "client-id",
];

/// Parameters of a scheme that name what follows.
const PARAMETERS: &[&str] = &[
    "username",
    "realm",
    "nonce",
    "uri",
    "credential",
    "signedheaders",
    "id",
    "ts",
    "hash",
    "ext",
    "keyid",
    "algorithm",
    "headers",
    "qop",
    "nc",
    "cnonce",
    "opaque",
    "oauth_consumer_key",
    "oauth_nonce",
    "oauth_timestamp",
    "oauth_version",
    "oauth_signature_method",
    "client",
];

/// Parameters of a scheme that are the credential.
const SECRETS: &[&str] = &[
    "response",
    "signature",
    "mac",
    "token",
    "access_token",
    "oauth_token",
    "oauth_signature",
    "apikey",
    "api_key",
    "auth",
    "sig",
    "password",
    "secret",
];

/// Finds the credential that a header's name or a scheme announces.
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

/// The header of HTTP itself: a scheme and what it takes.
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

/// The parameters of `Digest`, `Hawk`, `OAuth` and AWS: true if there are any.
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

/// A header of a vendor's, with nothing but a key.
fn key(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let end = run(ahead(text, at, 64), 0, |b| is_word(b) || b == b'-') + at;
    // Behind `://` it is the user of a URI, whose password ends before the host.
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
    // Without a digit it may be a member of something: `site.search.apiKey`.
    let code = !secret.iter().any(u8::is_ascii_digit) && refers(secret);
    let closed = start > 0 && quote(text, start - 1).is_some() || closes(text, single.end);
    if is_credential(secret, IN_PROSE_MIN) || closed && is_opaque(secret, 8) && !code {
        report(text, single, KIND, found);
    }
}

/// Whether a name ends as those of headers that carry a key do: `ApiKeySourceType` carries none.
fn is_key_name(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    [&b"key"[..], b"keys", b"token", b"secret", b"team"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// `Bearer` and a token, anywhere.
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

/// `Basic` and what decodes to `user:password`, anywhere.
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

/// Whether a value looks random and is no address of a page about it.
fn is_credential(value: &[u8], least: usize) -> bool {
    is_token(value, least) && find(value, "://").is_none()
}

/// Where the value of a header begins whose name ends at `at`: after a colon, or whatever else
/// code puts between the two strings.
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

/// Whether nothing of a sentence follows: the line ends, or code or an option goes on.
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
