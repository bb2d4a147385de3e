//! Constant-time base64 (RFC 4648) of keys and short ciphertexts inside JSON.

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

/// Encodes with padding, as in signed notes.
pub(crate) fn encode_padded(bytes: &[u8]) -> String {
    Base64::encode_string(bytes)
}

/// Decodes base64 with padding.
pub(crate) fn decode_padded(text: &str) -> Option<Vec<u8>> {
    Base64::decode_vec(text).ok()
}
