//! Credentials in the configuration files of tools: npmrc, docker, kubeconfig, `WireGuard`.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::entropy::{self, Makeup};
use crate::span::{Rank, Span};
use crate::structure::near::{
    ahead, behind, ends_in_word, has_any_word, is_bare, is_base64, is_blank, is_encoded_pair,
    line_before, report, run, value, words,
};
use crate::structure::value::{is_opaque, is_token};

/// Returns the start of the value of a key whose name ends at `at`: behind `signs` and quotes.
fn joint(text: &[u8], at: usize, signs: &[u8]) -> Option<usize> {
    let shut = at + run(ahead(text, at, 8), 0, |b| matches!(b, b'\\' | b'"' | b'\''));
    let sign = shut + run(ahead(text, shut, 8), 0, is_blank);
    let next = match text.get(sign) {
        Some(b) if signs.contains(b) => sign + 1,
        _ if signs.contains(&b' ') && sign > at => sign,
        _ => return None,
    };
    Some(next + run(ahead(text, next, 16), 0, is_blank))
}

/// Finds tokens and passwords of npm and Yarn.
pub(crate) fn npmrc(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let end = run(ahead(text, at, 32), 0, |b| {
        b.is_ascii_alphanumeric() || b == b'_'
    }) + at;
    let name = &text[at..end];
    let registry = at > 1 && text[at - 1] == b':' && !text[at - 2].is_ascii_whitespace();
    let known = matches!(
        name,
        b"_authToken" | b"_auth" | b"_password" | b"npmAuthToken" | b"npmAuthIdent"
    );
    if !known || !registry && ends_in_word(text, at) || at > 0 && text[at - 1] == b'.' {
        return;
    }
    let signs: &[u8] = if registry { b"= " } else { b"=:" };
    let Some(start) = joint(text, end, signs) else {
        return;
    };
    let (value, _) = value(text, start, |b| is_bare(b) || matches!(b, b'<' | b'>'));
    let alone = line_before(text, at, 64).iter().all(|b| is_blank(*b));
    let bytes = &text[value.clone()];
    if registry || is_token(bytes, 16) || alone && is_opaque(bytes, 6) {
        report(text, value, "npmrc", found);
    }
}

/// Finds the credentials in Docker's config: `user:password` in base64, tokens, and the whole
/// config as a secret of Kubernetes.
pub(crate) fn docker(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let end = run(ahead(text, at, 32), 0, |b| {
        b.is_ascii_alphabetic() || b == b'.'
    }) + at;
    let Some(start) = joint(text, end, b":=") else {
        return;
    };
    let (value, _) = value(text, start, is_bare);
    let bytes = &text[value.clone()];
    let secret = match text[at..end].to_ascii_lowercase().as_slice() {
        b"auth" => is_encoded_pair(bytes),
        b"identitytoken" | b"registrytoken" => is_opaque(bytes, 8) && !ends_in_word(text, at),
        b".dockerconfigjson" | b".dockercfg" => is_token(bytes, 32),
        _ => false,
    };
    if secret {
        report(text, value, "docker-auth", found);
    }
}

/// Words before the credentials of a user in a kubeconfig.
static USER: LazyLock<AhoCorasick> =
    LazyLock::new(|| words(&["user:", "users:", "\"user\"", "auth-provider:"]));

/// Finds client keys, tokens and passwords of a kubeconfig. Certificates stay.
pub(crate) fn kubeconfig(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let end = run(ahead(text, at, 32), 0, |b| {
        b.is_ascii_alphabetic() || b == b'-'
    }) + at;
    if at > 0 && (ends_in_word(text, at) || text[at - 1] == b'-') {
        return;
    }
    let key = text[at..end].eq_ignore_ascii_case(b"client-key-data");
    let opens = |b: &u8| is_blank(*b) || matches!(b, b'"' | b'\\' | b'{' | b'-');
    if !key && !line_before(text, at, 64).iter().all(opens) {
        return;
    }
    let Some(start) = joint(text, end, b":=") else {
        return;
    };
    let (value, _) = value(text, start, |b| is_bare(b) || matches!(b, b'<' | b'>'));
    let bytes = &text[value.clone()];
    let secret = if key {
        bytes.len() >= 16 && bytes.iter().all(|b| is_base64(*b))
    } else {
        is_opaque(bytes, 6) && has_any_word(behind(text, at, 512), &USER)
    };
    if secret {
        report(text, value, "kubeconfig", found);
    }
}

/// Finds `WireGuard` keys: 32 bytes in base64. The public key stays.
pub(crate) fn wireguard(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let end = run(ahead(text, at, 32), 0, |b| {
        b.is_ascii_alphabetic() || matches!(b, b'_' | b'-')
    }) + at;
    let Some(start) = joint(text, end, b"=: ") else {
        return;
    };
    let (value, _) = value(text, start, is_bare);
    let bytes = &text[value.clone()];
    if bytes.len() == 44 && bytes[43] == b'=' && bytes.iter().all(|b| is_base64(*b)) {
        found.push(Span::new(value, "wireguard", Rank::Structural));
    }
}

// Secret access keys of AWS. They have no prefix, but stand beside a key id, which has one.

/// Length of a key id, its prefix included.
const ID_BYTES: usize = 20;
/// Length of a secret access key.
const SECRET_BYTES: usize = 40;
/// Longest distance from a key id to its secret, in bytes: the rest of the line and the next.
const NEAR: usize = 140;

/// Finds the secret key of the key id at `at`: behind it, or else before it.
pub(crate) fn pair(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let end = at
        + run(ahead(text, at, ID_BYTES + 1), 0, |b| {
            b.is_ascii_uppercase() || b.is_ascii_digit()
        });
    if end != at + ID_BYTES || ends_in_word(text, at) {
        return;
    }
    let reach = NEAR + SECRET_BYTES;
    let after = end..end + ahead(text, end, reach).len();
    let before = at - behind(text, at, reach).len()..at;
    if let Some(secret) = secret_in(text, after).or_else(|| secret_in(text, before))
        && report(text, secret, "aws-key-pair", found)
    {
        report(text, at..end, "aws-key-pair", found);
    }
}

/// Returns the first random run of exactly the length of a secret.
fn secret_in(text: &[u8], window: Range<usize>) -> Option<Range<usize>> {
    let mut at = window.start;
    while at < window.end {
        let end = run(&text[..window.end], at, is_key_byte);
        let whole = end - at == SECRET_BYTES
            && !text.get(end).is_some_and(|b| is_key_byte(*b) || *b == b'=')
            && (at == 0 || !is_key_byte(text[at - 1]));
        if whole && is_rolled(&text[at..end]) {
            return Some(at..end);
        }
        at = end + 1;
    }
    None
}

/// Tells whether a run looks like 40 random characters of base64, as no path or digest does.
fn is_rolled(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    makeup.lower > 0
        && makeup.upper > 0
        && makeup.digits > 0
        && entropy::random(value)
        && !entropy::placeholder_token(value)
}

/// Tells whether a byte is in the alphabet of secret keys.
fn is_key_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'/' | b'+')
}

#[cfg(test)]
mod tests {
    use crate::structure::harness::{finds, keeps};

    #[test]
    fn npm() {
        finds(
            "npmrc",
            &[
                "//registry.npmjs.org/:_authToken=«9f8c2f4a-0b1d»",
                "//npm.example.com/:_password=\"«c2VjcmV0»\"",
                "_auth = «Ym9iOmh1bnRlcjI=»",
                "npm config set //registry.npmjs.org/:_authToken «9f8c2f4a-0b1d»",
                "npmAuthToken: \"«9f8c2f4a0b1d4c5e»\"",
            ],
        );
        keeps(
            "npmrc",
            &[
                "//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
                "//registry.npmjs.org/:_authToken=<token>",
                "self._password = getpass()",
                "_auth = None",
                "//registry.npmjs.org/:_authToken=\x01\x01",
                "the _authToken is in .npmrc",
                "one of :_authToken, :_auth, :_password and :username",
            ],
        );
    }

    #[test]
    fn docker_and_kubernetes() {
        finds(
            "docker-auth",
            &[
                r#"{"auths": {"https://h": {"auth": "«Ym9iOmh1bnRlcjI=»"}}}"#,
                r#"{\"auth\":\"«Ym9iOmh1bnRlcjI=»\"}"#,
                r#""identitytoken": "«a1b2c3d4e5»""#,
                ".dockerconfigjson: «eyJhdXRocyI6eyJodHRwczovL2gv4oCmIn19fX1hYmMx»",
            ],
        );
        keeps(
            "docker-auth",
            &[
                r#""auth": "basic""#,
                r#""auth": "<base64>""#,
                r#""auth": {"user": 1}"#,
                r#""identitytoken": """#,
                "oidcIdentityToken: identityToken,",
            ],
        );
        finds(
            "kubeconfig",
            &[
                "    client-key-data: «LS0tLS1CRUdJTiBSU0Eg»\n",
                "users:\n- name: x\n  user:\n    token: «abc123def456»\n",
                "users:\n- name: x\n  user:\n    username: y\n    password: «hunter2»\n",
                r#"{"client-key-data":"«LS0tLS1CRUdJTiBSU0Eg»"}"#,
            ],
        );
        keeps(
            "kubeconfig",
            &[
                "certificate-authority-data: LS0tLS1CRUdJTiBDRVJU",
                "client-certificate-data: LS0tLS1CRUdJTiBDRVJU",
                "client-key-data: DATA+OMITTED",
                "client-key-data: <base64>",
                "user:\n  token: ${TOKEN}",
                "token: abc123def456",
            ],
        );
    }

    #[test]
    fn wireguard() {
        finds(
            "wireguard",
            &[
                "PrivateKey = «yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=»",
                "PresharedKey=«yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=»\r\n",
                "privateKey: \"«yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=»\"",
            ],
        );
        keeps(
            "wireguard",
            &[
                "PublicKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=",
                "PrivateKey = <private key>",
                "PrivateKey = (hidden)",
            ],
        );
    }
}

#[cfg(test)]
mod aws_tests {
    use crate::structure::harness::{finds, keeps};

    #[test]
    fn pairs() {
        finds(
            "aws-key-pair",
            &[
                "«AK¦IAQYLPMN5HFIQR7XYA»:«Zq8Wn3Lx0Vb5Tc7Yr2Mk9Pd4Hs6Jf1Gu/Ae+Ri4N»",
                "keys: «AK¦IAQYLPMN5HFIQR7XYA» / «Zq8Wn3Lx0Vb5Tc7Yr2Mk9Pd4Hs6Jf1Gu/Ae+Ri4N».",
                "«AS¦IAQYLPMN5HFIQR7XYA»\n«Zq8Wn3Lx0Vb5Tc7Yr2Mk9Pd4Hs6Jf1Gu/Ae+Ri4N»\n",
                "bob,«AK¦IAQYLPMN5HFIQR7XYA»,«Zq8Wn3Lx0Vb5Tc7Yr2Mk9Pd4Hs6Jf1Gu/Ae+Ri4N»",
                "connect(\"«AK¦IAQYLPMN5HFIQR7XYA»\", \"«Zq8Wn3Lx0Vb5Tc7Yr2Mk9Pd4Hs6Jf1Gu/Ae+Ri4N»\")",
                "«Zq8Wn3Lx0Vb5Tc7Yr2Mk9Pd4Hs6Jf1Gu/Ae+Ri4N» belongs to «AK¦IAQYLPMN5HFIQR7XYA»",
            ],
        );
    }

    #[test]
    fn no_pairs() {
        keeps(
            "aws-key-pair",
            &[
                "AK¦IAQYLPMN5HFIQR7XYA was rotated in da39a3ee5e6b4b0d3255bfef95601890afd80709",
                "AK¦IAQYLPMN5HFIQR7XYA lives in src/module/handlers/authentication/tokenB",
                "AK¦IAQYLPMN5HFIQR7XYA: Zq8Wn3Lx0Vb5Tc7Yr2Mk9Pd4Hs6Jf1Gu/Ae+Ri4N8x",
                "AK¦IAQYLPMN5HFIQR7XYA: \x01\x01\x01",
                "AK¦IAQYLPMN Zq8Wn3Lx0Vb5Tc7Yr2Mk9Pd4Hs6Jf1Gu/Ae+Ri4N",
                "the ids begin with AKIA or ASIA",
            ],
        );
    }
}
