//! Runs of base64, base64url and hexadecimal, and the texts inside them.

use std::ops::Range;

use zeroize::Zeroizing;

use crate::base64;

/// Shortest run that is decoded, in bytes: shorter ones hold no token.
const RUN_BYTES_MIN: usize = 16;
/// Shortest line of an encoding that goes on in the lines below, in bytes.
const LINE_BYTES_MIN: usize = 40;
/// Longest run that is decoded, in bytes.
const RUN_BYTES_MAX: usize = 512 * 1024;

/// A run, and the text it encodes.
pub(super) struct Encoded {
    pub(super) range: Range<usize>,
    pub(super) text: Zeroizing<Vec<u8>>,
}

/// Which bytes base64, in either alphabet, and hexadecimal are made of.
const BODY: [bool; 256] = {
    let mut table = [false; 256];
    let mut b = 0;
    while b < 256 {
        let byte = b as u8;
        table[b] = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
        b += 1;
    }
    table
};

/// Every run in a text that decodes to text.
pub(super) fn runs(text: &[u8]) -> Vec<Encoded> {
    let mut found = Vec::new();
    let mut at = 0;
    while at + RUN_BYTES_MIN <= text.len() {
        // A run of at least this length covers every such step.
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

/// A run and those that fill the lines below it: base64 is broken at 64 or 76 characters.
fn with_lines_below(text: &[u8], first: Range<usize>) -> (Zeroizing<Vec<u8>>, usize) {
    let mut lines = Zeroizing::new(text[first.clone()].to_vec());
    let mut end = first.end;
    while lines.len() < RUN_BYTES_MAX {
        let rest = &text[end..];
        let broken = match rest {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            [b'\\', b'n', ..] => 2,
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

/// Whether the first bytes of a run decode to text: then the rest is worth decoding.
fn begins_text(run: &[u8]) -> bool {
    base64::decode_any(&run[..12]).is_some_and(|bytes| printable(&bytes))
}

/// The text a run encodes, if it does.
fn decode(run: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let run = run.strip_prefix(b"0x").unwrap_or(run);
    if run.len() % 2 == 0 && run.iter().all(u8::is_ascii_hexdigit) {
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
    base64::decode_any(&run[..run.len() - usize::from(run.len() % 4 == 1)])
        .map(Zeroizing::new)
        .filter(|bytes| printable(bytes))
}

/// Whether nearly all of some bytes are text.
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

/// Whether the first two parts of a token, between full stops, are JSON objects in base64url.
pub(super) fn json_parts(token: &[u8]) -> bool {
    let mut parts = token.split(|b| *b == b'.');
    let object = |part: Option<&[u8]>| {
        let decoded = base64::decode_any(part?)?;
        let value: serde_json::Value = serde_json::from_slice(&decoded).ok()?;
        value.is_object().then_some(())
    };
    object(parts.next()).is_some() && object(parts.next()).is_some()
}

/// Whether the first part of a token, up to its full stop, is a decimal number in base64url.
pub(super) fn number_part(token: &[u8]) -> bool {
    let part = token.split(|b| *b == b'.').next().unwrap_or_default();
    base64::decode_any(part).is_some_and(|number| number.iter().all(u8::is_ascii_digit))
}
