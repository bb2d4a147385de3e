//! Runs of base64, base64url and hexadecimal, and the texts inside them.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use zeroize::Zeroizing;

/// Shortest run that is decoded, in bytes: shorter ones hold no token.
const RUN_BYTES_MIN: usize = 16;
/// Shortest line of an encoding that may go on in the lines below, in bytes.
const LINE_BYTES_MIN: usize = 40;
/// Longest run that is decoded, in bytes.
const RUN_BYTES_MAX: usize = 512 * 1024;

/// A decoder of base64 (RFC 4648) that may have been cut short.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

/// A run and the text that it encodes.
pub(super) struct Encoded {
    pub(super) range: Range<usize>,
    pub(super) text: Zeroizing<Vec<u8>>,
}

/// The bytes of base64, in either alphabet, and of hexadecimal.
const BODY: [bool; 256] = {
    let mut table = [false; 256];
    let mut b = 0_u8;
    while b < 128 {
        table[b as usize] = b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_');
        b += 1;
    }
    table
};

/// Decodes base64 of either alphabet, padded or not, cut short or not.
pub(crate) fn decode_any(text: &[u8]) -> Option<Vec<u8>> {
    let unpadded = text.len() - text.iter().rev().take_while(|b| **b == b'=').count();
    let standard = |b: &u8| match b {
        b'-' => b'+',
        b'_' => b'/',
        b => *b,
    };
    let mut text: Vec<u8> = text[..unpadded].iter().map(standard).collect();
    // The last character of a group that was cut makes no byte.
    text.truncate(text.len() - usize::from(text.len() % 4 == 1));
    LENIENT.decode(text).ok()
}

/// Finds every run in a text that decodes to text.
pub(super) fn runs(text: &[u8]) -> Vec<Encoded> {
    let mut found = Vec::new();
    let mut at = 0;
    while at + RUN_BYTES_MIN <= text.len() {
        // Every run of this length or more covers one of these steps.
        let step = at + RUN_BYTES_MIN - 1;
        if !BODY[usize::from(text[step])] {
            at = step + 1;
            continue;
        }
        let back = text[at..step]
            .iter()
            .rev()
            .take_while(|b| BODY[usize::from(**b)])
            .count();
        let start = step - back;
        let ahead = text[step..]
            .iter()
            .take_while(|b| BODY[usize::from(**b)])
            .count();
        let end = step + ahead;
        at = end + 1;
        if end - start < RUN_BYTES_MIN || end - start > RUN_BYTES_MAX {
            continue;
        }
        let padding = text[end..]
            .iter()
            .take(2)
            .take_while(|b| **b == b'=')
            .count();
        let end = end + padding;
        if end - start >= LINE_BYTES_MIN && padding == 0 && begins_text(&text[start..end]) {
            let (lines, end) = with_lines_below(text, start..end);
            if let Some(text) = decode(&lines) {
                at = end + 1;
                found.push(Encoded {
                    range: start..end,
                    text,
                });
                continue;
            }
        }
        if let Some(text) = decode(&text[start..end - padding]) {
            found.push(Encoded {
                range: start..end,
                text,
            });
        }
    }
    found
}

/// Joins a run to the runs that fill the lines below it: base64 is broken at 64 or 76 characters.
fn with_lines_below(text: &[u8], first: Range<usize>) -> (Zeroizing<Vec<u8>>, usize) {
    let mut lines = Zeroizing::new(text[first.clone()].to_vec());
    let mut end = first.end;
    while lines.len() < RUN_BYTES_MAX {
        let rest = &text[end..];
        let broken = match rest {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] | [b'\\', b'n', ..] => 2,
            _ => break,
        };
        let marks = rest[broken..]
            .iter()
            .take(40)
            .take_while(|b| b" \t>|".contains(b))
            .count();
        let line = &rest[broken + marks..];
        let run = line.iter().take_while(|b| BODY[usize::from(**b)]).count();
        let padding = line[run..]
            .iter()
            .take(2)
            .take_while(|b| **b == b'=')
            .count();
        let closed = line
            .get(run + padding)
            .is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b' ' && *b != b':');
        // A last line may be short; it ends in padding or stands alone.
        if run == 0 || !closed {
            break;
        }
        lines.extend_from_slice(&line[..run]);
        end += broken + marks + run + padding;
        if padding > 0 || run + 4 < first.len() {
            break;
        }
    }
    (lines, end)
}

/// Tells whether the first bytes of a run decode to text, so that the rest is worth decoding.
fn begins_text(run: &[u8]) -> bool {
    decode_any(&run[..12]).is_some_and(|bytes| printable(&bytes))
}

/// Returns the text that a run encodes, if it encodes one.
fn decode(run: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let run = run.strip_prefix(b"0x").unwrap_or(run);
    if run.len().is_multiple_of(2) && run.iter().all(u8::is_ascii_hexdigit) {
        let nibble = |b: u8| char::from(b).to_digit(16);
        let bytes: Option<Vec<u8>> = run
            .chunks(2)
            .map(|pair| u8::try_from(nibble(pair[0])? << 4 | nibble(pair[1])?).ok())
            .collect();
        let text = bytes.filter(|bytes| printable(bytes));
        if text.is_some() {
            return text.map(Zeroizing::new);
        }
    }
    if !begins_text(run) {
        return None;
    }
    decode_any(&run[..run.len() - usize::from(run.len() % 4 == 1)])
        .map(Zeroizing::new)
        .filter(|bytes| printable(bytes))
}

/// Tells whether nearly all of the bytes are text.
fn printable(bytes: &[u8]) -> bool {
    let plain =
        |b: &&u8| matches!(b, b' '..=b'~' | b'\n' | b'\r' | b'\t' | 0xC2..=0xF4 | 0x80..=0xBF);
    let ascii = bytes
        .iter()
        .filter(|b| matches!(b, b' '..=b'~' | b'\n' | b'\r' | b'\t'))
        .count();
    let all = bytes.iter().filter(plain).count();
    !bytes.is_empty() && all * 100 >= bytes.len() * 97 && ascii * 10 >= bytes.len() * 8
}

/// Tells whether the first two parts of a token, between full stops, are JSON objects in base64url.
pub(super) fn json_parts(token: &[u8]) -> bool {
    let mut parts = token.split(|b| *b == b'.');
    let object = |part: Option<&[u8]>| {
        let decoded = decode_any(part?)?;
        let value: serde_json::Value = serde_json::from_slice(&decoded).ok()?;
        value.is_object().then_some(())
    };
    object(parts.next()).is_some() && object(parts.next()).is_some()
}

/// Tells whether the first part of a token, up to its full stop, is a decimal number in base64url.
pub(super) fn number_part(token: &[u8]) -> bool {
    let part = token.split(|b| *b == b'.').next().unwrap_or_default();
    decode_any(part)
        .is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let runs = runs(text.as_bytes()).into_iter();
        runs.map(|run| String::from_utf8_lossy(&run.text).into_owned())
            .collect()
    }

    #[test]
    fn runs_are_decoded() {
        for (encoded, plain) in [
            ("dXNlcjogYm9iIHBhc3M6IHg=", "user: bob pass: x"),
            ("757365723a20626f62", "user: bob"),
            ("0x757365723a20626f62", "user: bob"),
            ("x: dXNlcjogYm9iIHBhc3M6IHg, y", "user: bob pass: x"),
        ] {
            assert_eq!(texts(encoded), [plain]);
        }
    }

    #[test]
    fn what_is_no_text_stays_encoded() {
        for text in [
            "",
            "short",
            "internationalization",
            "9f2c1be07d5a4c83a6e1d0b7f4938c52",
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB",
        ] {
            assert!(texts(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_run_goes_on_over_lines() {
        let lines = "dXNlcjogYm9iIHdpdGggYSBsb25nIGxpbmUgb2YgdGV4dCBh\n  bmQgYSBwYXNzd29yZA==\nend";
        let found = runs(lines.as_bytes());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].range, 0..lines.len() - 4);
        assert_eq!(
            *found[0].text,
            b"user: bob with a long line of text and a password"
        );
    }

    #[test]
    fn parts_of_tokens_are_judged() {
        assert!(json_parts(b"eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.x"));
        assert!(!json_parts(b"eyJhbGciOiJub25lIn0.x.y") && !json_parts(b"eyJhbGciOiJub25lIn0"));
        assert!(number_part(b"MTIzNDU2Nzg5.a.b"));
        assert!(!number_part(b"YWJjZGVm.a.b") && !number_part(b"!.a"));
    }

    proptest! {
        #[test]
        fn no_text_breaks_a_run(text in any::<String>(), run in "[A-Za-z0-9+/_-]{0,90}={0,3}\n?[A-Za-z0-9]{0,60}") {
            let text = format!("{text}{run}");
            let mut before = 0;
            for run in runs(text.as_bytes()) {
                prop_assert!(before <= run.range.start && run.range.start < run.range.end);
                prop_assert!(text.is_char_boundary(run.range.start) && text.is_char_boundary(run.range.end));
                before = run.range.end;
            }
        }
    }
}
