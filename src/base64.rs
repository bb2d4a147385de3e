//! Base64 (RFC 4648) of keys and small ciphertexts inside JSON, in constant time.

use base64ct::{Base64, Base64Unpadded, Encoding};
use zeroize::Zeroizing;

pub(crate) fn encode(bytes: &[u8]) -> String {
    Base64Unpadded::encode_string(bytes)
}

pub(crate) fn encode_secret(bytes: &[u8]) -> Zeroizing<String> {
    Zeroizing::new(encode(bytes))
}

pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    Base64Unpadded::decode_vec(text).ok()
}

/// With padding, as signed notes have it.
pub(crate) fn encode_padded(bytes: &[u8]) -> String {
    Base64::encode_string(bytes)
}

/// Decodes what has its padding.
pub(crate) fn decode_padded(text: &str) -> Option<Vec<u8>> {
    Base64::decode_vec(text).ok()
}

/// Decodes what may be of either alphabet, padded or not, cut short or not.
pub(crate) fn decode_any(text: &[u8]) -> Option<Vec<u8>> {
    let unpadded = text.len() - text.iter().rev().take_while(|b| **b == b'=').count();
    let standard = |b: &u8| match b {
        b'-' => b'+',
        b'_' => b'/',
        b => *b,
    };
    let mut text: Vec<u8> = text[..unpadded].iter().map(standard).collect();
    // What is left of a group that was cut has bits of no byte.
    text.truncate(text.len() - usize::from(text.len() % 4 == 1));
    if !text.len().is_multiple_of(4) {
        let last = text.len() - 1;
        let keep: u8 = if text.len() % 4 == 2 {
            0b11_0000
        } else {
            0b11_1100
        };
        text[last] = clear(text[last], keep)?;
    }
    decode(std::str::from_utf8(&text).ok()?)
}

/// A letter of the standard alphabet with all bits cleared but these.
fn clear(letter: u8, keep: u8) -> Option<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let value = ALPHABET.iter().position(|b| *b == letter)?;
    Some(ALPHABET[value & usize::from(keep)])
}
