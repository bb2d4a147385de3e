//! Signed URLs and seeds of one-time passwords: the signature goes, the address stays.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::near::{ahead, find, is_bare, report, run, run_back, stands, trim, words};
use super::value::is_placeholder;
use crate::span::Span;

/// How far into its URI the name of a seed may stand.
const SEED_REACH: usize = 512;
/// How far the other parameters of a URL may stand from its signature.
const URL_REACH: usize = 1024;
/// Shortest signature.
const SIGNATURE_MIN: usize = 16;

/// The URL around `at`, or as much of it as is worth looking at.
fn url_around(text: &[u8], at: usize) -> Range<usize> {
    let start = run_back(text, at, URL_REACH, |b| {
        is_bare(b) && b != b')' && b != b'('
    });
    start..at + run(ahead(text, at, URL_REACH), 0, is_bare)
}

/// The value of a parameter that begins at `at`.
fn parameter(text: &[u8], at: usize) -> Range<usize> {
    // Inside a percent-encoded URL an encoded `&` ends it, in JSON an escaped one.
    let mut end = at;
    while let Some(b) = text.get(end) {
        let fits = b.is_ascii_alphanumeric()
            || matches!(b, b'%' | b'+' | b'/' | b'=' | b'_' | b'-' | b'.' | b'~');
        // Only at its end is a sign of equality padding: else another parameter begins.
        let joins = *b == b'=' && text.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
        if !fits || joins || *b == b'%' && stands(text, end, b"%26") {
            break;
        }
        end += 1;
    }
    at..trim(text, at, end)
}

/// Whether a parameter begins at `at`: after `?`, `&` or what stands for them.
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

/// Finds the value after the name at `at` if the URL has one of `beside` too.
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

/// Finds the signature of a shared access of Azure.
pub(crate) fn azure(text: &[u8], at: usize, found: &mut Vec<Span>) {
    static BESIDE: LazyLock<AhoCorasick> = LazyLock::new(|| {
        words(&[
            "sv=", "se=", "sr=", "sp=", "skn=", "sv%3d", "se%3d", "sr%3d",
        ])
    });
    signature(text, at, Some(&BESIDE), "azure-sas", found);
}

/// Finds the signature or session token of a presigned URL of AWS.
pub(crate) fn aws(text: &[u8], at: usize, found: &mut Vec<Span>) {
    static BESIDE: LazyLock<AhoCorasick> =
        LazyLock::new(|| words(&["AWSAccessKeyId", "Key-Pair-Id"]));
    let own = stands(text, at, b"x-amz-");
    let beside = (!own).then_some(&*BESIDE);
    signature(text, at, beside, "aws-presigned", found);
}

/// Finds the signature of a signed URL of Google Cloud.
pub(crate) fn gcp(text: &[u8], at: usize, found: &mut Vec<Span>) {
    static BESIDE: LazyLock<AhoCorasick> = LazyLock::new(|| words(&["GoogleAccessId"]));
    let own = stands(text, at, b"x-goog-");
    let beside = (!own).then_some(&*BESIDE);
    signature(text, at, beside, "gcp-signed-url", found);
}

/// Finds the seed in a URI of one-time passwords.
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
        // A seed is base32, in which words of digits and letters stand too.
        if value.len() >= 8 && !is_placeholder(value) {
            report(text, start..end, "otpauth", found);
        }
    }
}

#[cfg(test)]
mod tests {
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
