//! JSON Web Tokens, signed or encrypted, and the private members of JSON Web Keys.

use std::ops::Range;

use crate::decode::decode_any;
use crate::span::{Rank, Span};
use crate::structure::near::{ahead, is_base64url, quote, run, stands};
use crate::structure::value::is_placeholder;

/// Longest first part of a token: headers with a chain of certificates are the longest.
const HEADER_MAX: usize = 8192;
/// Most objects and lists in the first part of a token.
const NESTED_MAX: usize = 32;
/// Longest distance from the type of a key to its members: an RSA key of 8192 bits fits.
const KEY_REACH: usize = 8192;
/// Shortest private member that is worth removing.
const MEMBER_MIN: usize = 8;

/// Finds a token from the start of its first part.
pub(crate) fn jwt(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let Some((mut end, encrypted)) = header(text, at) else {
        return;
    };
    let parts = if encrypted { 4 } else { 2 };
    let first = end;
    for _ in 0..parts {
        let Some(next) = part(text, end, encrypted) else {
            break;
        };
        end = next;
    }
    // Disclosures of a selective token, which are claims in clear.
    while end > first && text.get(end) == Some(&b'~') {
        let next = run(text, end + 1, is_base64url);
        if next == end + 1 {
            break;
        }
        end = next;
    }
    if end > first {
        found.push(Span::new(at..end, "jwt", Rank::Structural));
    }
}

/// Reads the first part of a token. Returns its end, and whether the token is encrypted. Returns
/// `None` if the part does not say that it heads a token.
///
/// The part is read in growing pieces, each of which must be the beginning of an object. So text
/// that only begins like a token is dropped after a few bytes.
fn header(text: &[u8], at: usize) -> Option<(usize, bool)> {
    for reach in [64, 512, 2048, HEADER_MAX] {
        let length = run(ahead(text, at, reach), 0, is_base64url);
        let plain = decode_any(&text[at..at + length])?;
        // Each bracket could begin another token.
        if plain.iter().filter(|b| matches!(b, b'{' | b'[')).count() > NESTED_MAX {
            return None;
        }
        let json = serde_json::from_slice::<serde_json::Value>(&plain);
        let json = match json {
            Err(fault) if fault.is_eof() && length == reach => continue,
            json => json.ok()?,
        };
        let end = at + length + run(ahead(text, at + length, 2), 0, |b| b == b'=');
        let named = |name: &str| json.get(name).is_some();
        let heads =
            named("alg") || named("typ") || named("kid") || text[end..].starts_with(b".eyJ");
        let whole = text.get(end) == Some(&b'.') && json.is_object();
        return (whole && heads).then_some((end, named("enc")));
    }
    None
}

/// Returns the end of the part after the full stop at `at`. An encrypted token may have empty parts
/// inside.
fn part(text: &[u8], at: usize, encrypted: bool) -> Option<usize> {
    if text.get(at) != Some(&b'.') {
        return None;
    }
    let end = run(text, at + 1, is_base64url);
    let filled = end > at + 1 || encrypted && text.get(end) == Some(&b'.');
    let padding = run(ahead(text, end, 2), 0, |b| b == b'=');
    let padded = if text.get(end + padding) == Some(&b'.') {
        end + padding
    } else {
        end
    };
    filled.then_some(padded)
}

/// Finds the private members of the key whose type is named at `at`.
pub(crate) fn jwk(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let Some(mark) = at.checked_sub(1).and_then(|before| quote(text, before)) else {
        return;
    };
    let end = at + 3;
    let slashes = run(ahead(text, end, 8), 0, |b| b == b'\\');
    if text.get(end + slashes) != mark.last() {
        return;
    }
    let object = object_around(text, at);
    let mut at = object.start;
    while at < object.end {
        let Some(member) = next_member(text, at, object.end) else {
            break;
        };
        at = member.end + 1;
        let value = &text[member.clone()];
        if value.len() >= MEMBER_MIN && !is_placeholder(value) {
            found.push(Span::new(member, "jwk", Rank::Structural));
        }
    }
}

/// Returns the stretch of the same object around `at`: up to a brace, another type or
/// [`KEY_REACH`].
fn object_around(text: &[u8], at: usize) -> Range<usize> {
    let brace = |b: &u8| matches!(b, b'{' | b'}');
    let floor = at.saturating_sub(KEY_REACH);
    let other = text[floor..at].windows(3).rposition(|s| s == b"kty");
    let start = other.map_or(floor, |i| floor + i + 3);
    let start = text[start..at]
        .iter()
        .rposition(brace)
        .map_or(start, |i| start + i + 1);
    let rest = &ahead(text, at, KEY_REACH)[3..];
    let other = rest.windows(3).position(|s| s == b"kty");
    let rest = &rest[..other.unwrap_or(rest.len())];
    start..at + 3 + rest.iter().position(brace).unwrap_or(rest.len())
}

/// Returns the value of the next private member between `at` and `end`.
fn next_member(text: &[u8], at: usize, end: usize) -> Option<Range<usize>> {
    let mut at = at;
    while at < end {
        at = run(&text[..end], at, |b| !matches!(b, b'"' | b'\''));
        let mark = *text[..end].get(at)?;
        at += 1;
        let name = run(&text[..end], at, |b| b.is_ascii_lowercase());
        let private = matches!(
            &text[at..name],
            b"d" | b"p" | b"q" | b"dp" | b"dq" | b"qi" | b"k" | b"priv"
        );
        let close = run(&text[..end], name, |b| b == b'\\');
        if !private || text.get(close) != Some(&mark) {
            continue;
        }
        let joint = run(&text[..end], close + 1, |b| {
            matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b':' | b'=' | b'>')
        });
        if joint == close + 1 {
            continue;
        }
        let start = run(&text[..end], joint, |b| b == b'\\' || b == mark);
        let value = run(&text[..end], start, |b| {
            is_base64url(b) || matches!(b, b'=' | b'+' | b'/')
        });
        if start > joint && value > start {
            return Some(start..value);
        }
        at = joint;
        if stands(text, at, b"kty") {
            break;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::structure::harness::{finds, keeps};

    const TOKEN: &str = "«eyJ¦hbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI2MDE3NTUzNyIsImlhdCI6MTc2MTg1OTM0Mn0.E9NR84xX-t1tvj9Hd-CctYKkiT9BFeEG8SekDP6EZnc»";

    #[test]
    fn tokens_in_all_places() {
        for (before, after) in [
            ("", ""),
            ("id token ", ". Next"),
            ("`", "`,"),
            ("(", ")"),
            ("\"", "\","),
            ("https://h/p?t=", "&x=1"),
            ("令牌", "。"),
            ("<", ">"),
            ("**", "**"),
            ("Bearer ", "\r\n"),
            ("x=", ";"),
        ] {
            finds("jwt", &[&format!("{before}{TOKEN}{after}")]);
        }
    }

    #[test]
    fn other_forms() {
        finds(
            "jwt",
            &[
                "«eyJ¦hbGciOiJub25lIn0.eyJzdWIiOiIxIn0».",
                "«eyJ¦hbGciOiJIUzI1NiJ9.eyJzdWIiOiI2MDE3NTUzNyIs»...",
                "«eyJ¦hbGciOiJkaXIiLCJlbmMiOiJBMTI4R0NNIn0..48V1_ALb6US04U3b.5eym8TW_c8SuK0ltJ3rpYIzOeDQz7TALvtu6UG9oMo4vpzs9.XFBoMYUZodetZdvTiFvSkQ»",
                "«eyJ¦hbGciOiJSUzI1NiJ9.c29tZXRoaW5nIGVsc2U.c2lnbmF0dXJlMTIz»",
                "«eyJ¦hbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln~WyJhIl0~WyJiIl0»~ done",
                &format!("{}{}", TOKEN.trim_end_matches('»'), "a".repeat(9000) + "»."),
            ],
        );
        keeps(
            "jwt",
            &[
                "a JWT begins with eyJ and has three parts",
                "eyJ¦hbGciOiJIUzI1NiJ9",
                "eyJ¦hbGciOi... is cut",
                "eyJ¦0ZXN0IjoxfQ.json",
                "eyJ.eyJ.eyJ",
                "<eyJ...>.<eyJ...>.<sig>",
                "eyJ¦hbGciOiJIUzI1NiJ9.\x01\x01",
            ],
        );
    }

    #[test]
    fn keys() {
        finds(
            "jwk",
            &[
                r#"{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","d":"«870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE»"}"#,
                r#"{"d": "«870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE»", "kty": "OKP"}"#,
                r#"{\"kty\":\"oct\",\"k\":\"«AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1»\"}"#,
                "{'kty': 'oct',\n 'k': '«AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr»'}",
                r#"{"keys":[{"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9n","p":"«83i-7IvMGXoMXCskv73TKr8637»","qi":"«GyM_p6JrXySiz1toFgKbWV-JdI»"},{"kty":"RSA","n":"0vx7agoebGcQ"}]}"#,
            ],
        );
        keeps(
            "jwk",
            &[
                r#"{"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx","e":"AQAB"}"#,
                r#"{"kty":"EC","d":"..."}"#,
                r#"{"d":"870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE"}"#,
                "the kty member says what it is; 'd' is private",
                r#"{"kty":"oct"},{"k":"870MB6gfuTJ4HtUnUvYMyJpr"}"#,
            ],
        );
    }
}
