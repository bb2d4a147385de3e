//! SHA-256 digests: of texts, of sealed blobs, and of parent commits.

use std::fmt;

use hmac::{Hmac, Mac};
use sha2::Digest as _;

use crate::id::hex_form;

/// A SHA-256 digest (FIPS 180-4); shown as 64 lowercase hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub(crate) [u8; 32]);

impl Digest {
    /// Hashes `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// Hashes the concatenation of pieces.
    pub(crate) fn of_pieces(pieces: &[&[u8]]) -> Self {
        let mut hasher = sha2::Sha256::new();
        for piece in pieces {
            hasher.update(piece);
        }
        Self(hasher.finalize().into())
    }

    /// Starts a digest over pieces that arrive one by one.
    pub(crate) fn begin() -> Hasher {
        Hasher(sha2::Sha256::new())
    }
}

/// An incremental digest.
pub(crate) struct Hasher(sha2::Sha256);

impl Hasher {
    pub(crate) fn add(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    pub(crate) fn end(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

/// Computes HMAC-SHA-256 (RFC 2104) over pieces, each prefixed with its length.
pub(crate) fn keyed(key: &[u8], pieces: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(key).expect("a key of any length");
    for piece in pieces {
        mac.update(&(piece.len() as u64).to_le_bytes());
        mac.update(piece);
    }
    mac.finalize().into_bytes().into()
}

hex_form!(Digest, 64 digits);

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{self}")
    }
}
