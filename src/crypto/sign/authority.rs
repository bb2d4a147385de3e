//! The authority of an epoch key over changes of keys: a signing key derived from it, whose public
//! half represents the epoch key in records.

use ed25519_dalek::{Signature, SigningKey, VerifyingKey};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use signature::{Signer, Verifier};
use zeroize::Zeroizing;

use crate::crypto::base64;

/// Signs for an epoch key (Ed25519, RFC 8032).
pub(crate) struct Authority(Box<SigningKey>);

/// The public half of an [`Authority`]: it reveals nothing about the epoch key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AuthorityMark(pub(crate) [u8; 32]);

/// A signature by an [`Authority`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AuthorityProof([u8; 64]);

impl Authority {
    pub(crate) fn of_seed(seed: &Zeroizing<[u8; 32]>) -> Self {
        Self(Box::new(SigningKey::from_bytes(seed)))
    }

    pub(crate) fn mark(&self) -> AuthorityMark {
        AuthorityMark(self.0.verifying_key().to_bytes())
    }

    pub(crate) fn sign(&self, said: &[u8]) -> AuthorityProof {
        AuthorityProof(self.0.sign(said).to_bytes())
    }
}

impl AuthorityMark {
    /// Verifies a proof over these bytes by a holder of the epoch key.
    pub(crate) fn proves(&self, said: &[u8], proof: &AuthorityProof) -> bool {
        let key = VerifyingKey::from_bytes(&self.0);
        key.is_ok_and(|key| key.verify(said, &Signature::from_bytes(&proof.0)).is_ok())
    }
}

/// Serializes as base64 in records.
macro_rules! as_base64 {
    ($name:ident) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&base64::encode(&self.0))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                let bytes = base64::decode(&text).and_then(|bytes| bytes.try_into().ok());
                let bytes = bytes.ok_or_else(|| serde::de::Error::custom("not base64 of a key"));
                bytes.map(Self)
            }
        }
    };
}
as_base64!(AuthorityMark);
as_base64!(AuthorityProof);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_holder_of_the_seed_signs_and_only_what_was_said() {
        let own = Authority::of_seed(&Zeroizing::new([7; 32]));
        let other = Authority::of_seed(&Zeroizing::new([8; 32]));
        let proof = own.sign(b"said");
        assert!(own.mark().proves(b"said", &proof));
        assert!(!own.mark().proves(b"unsaid", &proof));
        assert!(!other.mark().proves(b"said", &proof));
        assert!(!AuthorityMark([0xff; 32]).proves(b"said", &proof));
    }
}
