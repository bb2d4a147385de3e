//! Authenticated encryption of short values with XChaCha20-Poly1305.
//!
//! Every sealed value is a fresh 24-byte random nonce, the ciphertext and a 16-byte tag. Each use
//! has its own label in the associated data, so that a value sealed for one purpose never opens for
//! another.

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use zeroize::Zeroizing;

use crate::id::random;

/// Overhead of a sealed value, in bytes: nonce and tag.
pub(crate) const OVERHEAD: usize = 24 + 16;

/// A 256-bit key, wiped when dropped. It has no `Debug`.
pub(crate) struct Key(Zeroizing<[u8; 32]>);

impl Key {
    pub(crate) fn random() -> Self {
        Self(Zeroizing::new(random()))
    }

    pub(crate) fn from_slice(bytes: &[u8]) -> Option<Self> {
        let mut key = Zeroizing::new([0; 32]);
        if bytes.len() != key.len() {
            return None;
        }
        key.copy_from_slice(bytes);
        Some(Self(key))
    }

    /// Copies the key.
    pub(crate) fn again(&self) -> Self {
        Self(self.0.clone())
    }

    /// Tells whether both keys are the same.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    pub(crate) fn expose(&self) -> &[u8; 32] {
        &self.0
    }

    /// Seals `plain`. `context` is the associated data: authenticated, but not stored.
    pub(crate) fn seal(&self, context: &[u8], plain: &[u8]) -> Vec<u8> {
        let nonce: [u8; 24] = random();
        let payload = Payload {
            msg: plain,
            aad: context,
        };
        let sealed = self
            .cipher()
            .encrypt(XNonce::from_slice(&nonce), payload)
            .expect("a message far below 256 GiB");
        [&nonce[..], &sealed].concat()
    }

    /// Opens a value that [`Self::seal`] made with the same context; `None` for any other.
    pub(crate) fn open(&self, context: &[u8], sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (nonce, body) = sealed.split_at_checked(24)?;
        let payload = Payload {
            msg: body,
            aad: context,
        };
        self.cipher()
            .decrypt(XNonce::from_slice(nonce), payload)
            .ok()
            .map(Zeroizing::new)
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new((&*self.0).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_only_whole_and_in_its_own_context() {
        let key = Key::random();
        let sealed = key.seal(b"here", b"text");
        assert_eq!(sealed.len(), OVERHEAD + 4);
        assert_eq!(
            key.open(b"here", &sealed).expect("same").as_slice(),
            b"text"
        );
        assert!(key.open(b"there", &sealed).is_none());
        assert!(Key::random().open(b"here", &sealed).is_none());
        for i in 0..sealed.len() {
            let mut bad = sealed.clone();
            bad[i] ^= 1;
            assert!(key.open(b"here", &bad).is_none(), "byte {i}");
            assert!(key.open(b"here", &sealed[..i]).is_none(), "cut at {i}");
        }
    }
}
